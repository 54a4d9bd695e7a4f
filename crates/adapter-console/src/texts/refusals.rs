//! What refusals of operations, and faults of rows, say to people.

use super::Language;

/// The refusals in Russian, by their codes: those of the API, of payments, and of faulty rows.
const RUSSIAN: &[(&str, &str)] = &[
    ("bad_credentials", "Неверные данные для входа."),
    ("unauthorized", "Вход не выполнен."),
    ("forbidden", "У вас нет доступа к этому действию."),
    ("too_many_requests", "Слишком много запросов, попробуйте позже."),
    ("not_found", "Такой страницы нет."),
    ("session_not_found", "Такого сеанса нет."),
    ("employee_not_found", "Такого сотрудника нет."),
    ("card_not_found", "Такой карты нет."),
    ("category_not_found", "Такой категории нет."),
    ("category_exists", "Категория с таким названием уже есть."),
    ("category_in_use", "В категории есть сотрудники."),
    ("employee_has_main_card", "У сотрудника уже есть основная карта."),
    ("card_already_linked", "Карта уже привязана к этому сотруднику."),
    ("card_linked_to_another", "Карта привязана к другому сотруднику."),
    ("card_not_available", "Карта заблокирована или закрыта в банке."),
    ("card_expired", "Срок действия карты истёк."),
    ("card_blocked", "Карта заблокирована."),
    ("card_closed", "Карта закрыта."),
    ("card_in_use", "Карта используется."),
    ("employee_has_cards", "У сотрудника есть карта, которая не закрыта и не просрочена."),
    ("card_not_main", "Карта не основная."),
    ("card_in_request", "Карта участвует в другой заявке. Дождитесь её завершения."),
    ("insufficient_balance", "На балансе компании недостаточно денег."),
    ("order_not_found", "Такого заказа нет."),
    ("order_cancelled", "Заказ отменён."),
    ("order_declined", "Заказ отклонён."),
    ("order_not_processed", "Заказ ещё не выполнен."),
    ("order_not_confirmable", "Заказ в этом состоянии нельзя подтвердить."),
    ("order_not_cancellable", "Заказ в этом состоянии нельзя отменить."),
    ("request_not_found", "Такой заявки нет."),
    ("request_not_processed", "Заявка ещё не выполнена."),
    ("request_cancelled", "Заявка отменена."),
    ("request_not_cancellable", "Заявку в этом состоянии нельзя отменить."),
    ("run_not_found", "Такой ведомости нет."),
    ("run_faulty", "В ведомости есть ошибочные строки. Исправьте их или отправьте без них."),
    ("run_changed", "Ведомость изменилась или уже в другом состоянии. Посмотрите её ещё раз."),
    ("run_not_cancellable", "Начатую или просроченную ведомость нельзя отменить."),
    ("reference_taken", "Другая ведомость этого вида уже имеет такое обозначение."),
    ("programme_not_found", "Такой программы нет."),
    ("too_many_programmes", "Программ уже столько, сколько может быть."),
    ("events_expired", "События до этого номера уже не хранятся."),
    ("events_ahead", "События с таким номером ещё нет."),
    ("too_many_webhooks", "Вебхуков уже столько, сколько может быть."),
    ("webhook_not_found", "Такого вебхука нет."),
    ("period_closed", "Месяц уже закрыт."),
    ("webhook_disabled", "Вебхук выключен, сначала включите его."),
    ("limit_conflict", "Неограниченный лимит не сочетается с другими настройками."),
    ("precondition_failed", "Данные сотрудника изменились."),
    ("not_supported", "Банк этого не поддерживает."),
    ("request_in_progress", "Первый такой запрос ещё выполняется."),
    ("request_timeout", "Данные не пришли вовремя."),
    ("method_not_allowed", "Такое действие здесь невозможно."),
    ("payload_too_large", "Данных слишком много."),
    ("uri_too_long", "Слишком длинный запрос."),
    ("unsupported_media_type", "Такой вид данных не поддерживается."),
    ("bank_unavailable", "Банк недоступен, попробуйте ещё раз."),
    ("internal", "Ошибка сервиса."),
    // -- payments
    ("not_activated", "Карта не активирована."),
    ("merchant_category", "Лимит не разрешает такой вид магазина."),
    ("day_not_allowed", "Лимит не разрешает этот день недели."),
    ("time_not_allowed", "Лимит не разрешает это время."),
    ("limit_exceeded", "Лимит исчерпан."),
    ("insufficient_funds", "На карте нет денег."),
    // -- rows
    ("invalid", "Недопустимое значение."),
    ("missing", "Нет значения."),
    ("duplicate", "Повтор."),
    ("ambiguous", "Неоднозначно."),
    ("no_main_card", "У сотрудника нет основной карты."),
    ("over_card_limit", "Больше, чем можно зачислить на карту."),
    ("employee_left", "Сотрудник не работает."),
    ("formula", "Формула вместо значения."),
];

/// Names of fields in Russian, as far as forms of the console have them.
const FIELDS: &[(&str, &str)] = &[
    ("customId", "Табельный номер"),
    ("surname", "Фамилия"),
    ("name", "Имя"),
    ("patronymic", "Отчество"),
    ("phone", "Телефон"),
    ("email", "Эл. почта"),
    ("status", "Статус"),
    ("idCategory", "Категория"),
    ("customIdCard", "Номер карты"),
    ("q", "Поиск"),
    ("amount", "Сумма"),
    ("rubles", "Сумма"),
    ("reference", "Обозначение"),
    ("items", "Строки"),
    ("file", "Файл"),
    ("at", "Выполнить в"),
    ("month", "Месяц"),
    ("url", "Адрес"),
    ("description", "Описание"),
    ("types", "События"),
    ("leavers.takeBackAfterDays", "Дней до возврата"),
    ("leavers.close", "Закрыть карты"),
    ("for", "Кому"),
    ("statuses", "Только те, кто"),
    ("amount.fixed", "Сумма"),
    ("amount.cap", "Предел на карте"),
    ("amount.upTo", "Сумма"),
    ("amount.downTo", "Сумма"),
    ("every", "Период"),
    ("day", "День"),
    ("time", "Время"),
    ("from", "Первый день"),
    ("until", "Последний день"),
    ("forecastUntil", "До какого дня"),
];

/// The field of an idempotency key, which a form has from its page.
pub(crate) const SENT_BEFORE: &str = "idempotency-key";

fn find(table: &'static [(&str, &str)], word: &str) -> Option<&'static str> {
    table.iter().find(|(other, _)| *other == word).map(|(_, text)| *text)
}

/// What a refusal with this code and message says.
pub(crate) fn code_text(language: Language, code: &str, message: &str) -> String {
    let russian = match language {
        Language::English => None,
        Language::Russian => find(RUSSIAN, code),
    };
    russian.map_or_else(|| sentence(message), str::to_owned)
}

/// The name of a field of a form.
pub(crate) fn field_name(language: Language, field: &str) -> &str {
    match language {
        Language::English => field,
        Language::Russian => find(FIELDS, field).unwrap_or(field),
    }
}

/// What a faulty field of a form says.
pub(crate) fn field_text(language: Language, field: &str, detail: &str) -> String {
    match language {
        Language::English if field == SENT_BEFORE => {
            "This form was sent before with other values.".to_owned()
        }
        Language::English => format!("{field}: {}", sentence(detail)),
        Language::Russian if field == SENT_BEFORE => "Эта форма уже отправлена с другими данными.".to_owned(),
        Language::Russian => {
            format!("{}: недопустимое значение.", field_name(language, field))
        }
    }
}

/// The text with a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let end = if text.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use kopeck_api::Code;
    use kopeck_domain::run::FaultCode;

    use super::*;

    #[test]
    fn every_code_has_a_text_in_russian() {
        let api = Code::ALL.iter().map(|code| code.as_str());
        let rows = FaultCode::ALL.iter().map(|code| code.as_str());
        for code in api.chain(rows) {
            assert!(find(RUSSIAN, code).is_some(), "{code}");
        }
        assert_eq!(code_text(Language::Russian, "newer", "some text"), "Some text.");
        assert_eq!(code_text(Language::English, "forbidden", "not allowed"), "Not allowed.");
    }

    #[test]
    fn a_faulty_field_is_named() {
        let says = |language| field_text(language, "phone", "must have 10 digits");
        assert_eq!(says(Language::English), "phone: Must have 10 digits.");
        assert_eq!(says(Language::Russian), "Телефон: недопустимое значение.");
    }
}
