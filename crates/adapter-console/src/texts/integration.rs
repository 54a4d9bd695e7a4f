//! Texts of what programs see.

use super::{Language, Text, texts};

/// What the scopes of this name are about, such as `cards`.
pub(crate) fn scope_text(language: Language, group: &'static str) -> &'static str {
    let text = match group {
        "employees" => Text::PEOPLE,
        "categories" => Text::SCOPE_CATEGORIES,
        "cards" => Text::CARDS,
        "orders" => Text::SCOPE_ORDERS,
        "replenishments" => Text::TOP_UPS,
        "withdrawals" => Text::WITHDRAWALS,
        "limits" => Text::LIMIT_CHANGES,
        "closings" => Text::SCOPE_CLOSINGS,
        "statements" => Text::SCOPE_STATEMENTS,
        "events" => Text::SCOPE_EVENTS,
        "webhooks" => Text::WEBHOOKS,
        "runs" => Text::RUNS,
        "approvals" => Text::APPROVALS,
        "programmes" => Text::SCOPE_PROGRAMMES,
        _ => return group,
    };
    text.of(language)
}

texts! {
    INTEGRATION = "Integration", "Интеграция";
    REQUEST_LOG = "Request log", "Журнал запросов";
    EVENTS = "Events", "События";
    WEBHOOKS = "Webhooks", "Вебхуки";
    NO_WEBHOOKS = "No webhooks.", "Вебхуков нет.";
    ADD_WEBHOOK = "Add a webhook", "Добавить вебхук";
    WEBHOOK_HINT = "An address that begins with https.", "Адрес, который начинается с https.";
    WEBHOOK_SECRET = "Secret of the webhook", "Секрет вебхука";
    KEEP_SECRET = "It signs the events. No other page shows it.", "Им подписаны события. Больше он нигде не показывается.";
    DESCRIPTION = "Description", "Описание";
    ENABLED = "Enabled", "Включён";
    ENABLE = "Enable", "Включить";
    DISABLE = "Disable", "Отключить";
    LAST_SUCCESS = "Last success", "Последний успех";
    LAST_FAILURE = "Last failure", "Последняя ошибка";
    WAITING = "Waiting", "Ожидают";
    SEND_PING = "Send a ping", "Послать проверку";
    NEW_SECRET = "New secret", "Новый секрет";
    DELETE = "Delete", "Удалить";
    EVENT_ID = "Identifier of the event", "Идентификатор события";
    DELIVER_AGAIN = "Deliver again", "Доставить ещё раз";
    DELIVERIES = "Deliveries", "Доставки";
    NO_DELIVERIES = "No deliveries.", "Доставок нет.";
    LAST_ATTEMPT = "Last attempt", "Последняя попытка";
    ATTEMPTS = "Attempts", "Попыток";
    RESPONSE = "Response", "Ответ";
    CREDENTIALS = "Scoped credentials", "Учётные данные программ";
    NO_CREDENTIALS = "No scoped credentials.", "Учётных данных программ нет.";
    SCOPES = "Scopes", "Права";
    ADDRESSES = "Addresses", "Адреса";
    REVOKED = "Revoked", "Отозваны";
    OPERATION = "Operation", "Операция";
    HTTP_STATUS = "HTTP status", "Статус HTTP";
    REQUEST_ID = "Request id", "Номер запроса";
    FIELDS = "Faulty fields", "Ошибочные поля";
    MILLISECONDS = "Milliseconds", "Миллисекунды";
    NO_REQUESTS = "No requests.", "Запросов нет.";
    NO_EVENTS = "No events.", "Событий нет.";
    API_REFERENCE = "API reference", "Справочник API";
    API_KEY = "API key", "Ключ API";
    LOGIN = "Login", "Логин";
    SEALING_KEY = "Sealing key", "Ключ шифрования";
    FORMER_UNTIL = "The former one is accepted until", "Прежний принимается до";
    KEEP_SECRETS = "Keep these now: no other page shows them.", "Сохраните сейчас: больше это нигде не показывается.";
    TOO_MANY_CREDENTIALS = "There can be 20 credentials; revoke one first.", "Может быть не больше 20 учётных данных, сначала отзовите одни из них.";
    NEW_CREDENTIAL = "New credential", "Новые учётные данные";
    CREDENTIAL_ABOUT = "A credential lets one program do what you choose here, and nothing else. Whoever may write may also read.", "По учётным данным программа может только то, что отмечено здесь. Право изменять включает право читать.";
    ADDRESSES_HINT = "Optional: networks or addresses with commas between them, such as 10.0.0.0/16. Without any it is accepted from everywhere.", "Необязательно: сети или адреса через запятую, например 10.0.0.0/16. Без них принимается отовсюду.";
    ANY_ADDRESS = "any", "любые";
    CREATE = "Create", "Создать";
    NOTHING = "nothing", "ничего";
    MAY_READ = "read", "читать";
    MAY_WRITE = "read and write", "читать и изменять";
    NO_SCOPE = "Choose at least one thing that the program may do.", "Отметьте хотя бы одно право.";
    REVOKE = "Revoke for good", "Отозвать навсегда";
    REVOKE_SURE = "I know that the program stops at once and that this cannot be undone.", "Я понимаю, что программа сразу перестанет работать и это нельзя отменить.";
    CREDENTIAL_REVOKED = "The credential is revoked.", "Учётные данные отозваны.";
    SCOPE_CATEGORIES = "Categories", "Категории";
    SCOPE_ORDERS = "Orders of cards", "Заказы карт";
    SCOPE_CLOSINGS = "Closings of cards", "Закрытие карт";
    SCOPE_STATEMENTS = "Balance, transactions, statements", "Баланс, операции, выписки";
    SCOPE_EVENTS = "Events and request log", "События и журнал запросов";
    SCOPE_PROGRAMMES = "Programmes and settings", "Программы и настройки";
    STATUS_IS_A_NUMBER = "A status is a number, such as 422.", "Статус — это число, например 422.";
    NEWEST = "Newest", "Новые";
    OLDER = "Older", "Более ранние";
    REPLAYED = "Retry", "Повтор";
    OWN_LOGIN = "technical login", "технический логин";
    FAILING_SINCE = "Failing since", "Не принимает с";
    SEALED_EVENTS = "Encrypted", "Шифрование";
    SEAL_EVENTS = "Encrypt the data of events under the sealing key", "Шифровать данные событий ключом шифрования";
    EVENT_TYPES_HINT = "Events that are delivered; if none is chosen, all are.", "Какие события доставлять; если не отмечено ни одно, все.";
    ALL_AFTER_NUMBER = "Or: all events after the number", "Или: все события после номера";
    DELIVER_AGAIN_HINT = "Fill in one of the two.", "Заполните одно из двух.";
    DELETED = "Deleted.", "Удалено.";
    QUEUED = "On its way.", "Отправляется.";
}
