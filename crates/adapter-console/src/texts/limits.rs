//! Texts of limits.

use super::{Text, texts};

texts! {
    LIMIT = "Limit", "Лимит";
    NO_LIMIT = "none: anywhere, at any time", "нет: везде и в любое время";
    SET_LIMITS = "Set limits", "Установить лимиты";
    CHANGE_LIMIT = "Change the limit", "Изменить лимит";
    A_DAY = "a day", "в день";
    A_WEEK = "a week", "в неделю";
    A_MONTH = "a month", "в месяц";
    A_QUARTER = "a quarter", "в квартал";
    PAYS_ONLY_AT = "Pays only at", "Платит только в";
    PAYS_EXCEPT_AT = "Pays anywhere but at", "Платит везде, кроме";
    WHEN_IT_PAYS = "When it pays", "Когда платит";
    PAYS_AT = "Pays at", "Платит";
    DOES_NOT_PAY_THEN = "does not pay", "не платит";
    PAYS_ANY_TIME = "It pays on any day, at any time.", "Платит в любой день и в любое время.";
    NO_LIMIT_GIVEN = "Give an amount, days, times or merchants, in the form that the hints show, or choose none.", "Укажите сумму, дни, время или магазины, как в подсказках, или выберите «нет».";
    PREPARE_RUN = "Prepare the run", "Подготовить ведомость";
    SHOW_WEEK = "Show the week", "Показать неделю";
    A_CATEGORY = "a category", "категория";
    AT_MOST = "At most, in roubles", "Не больше, в рублях";
    AT_MOST_HINT = "Optional.", "Необязательно.";
    ON_DAYS = "On these days; none chosen: on any", "В эти дни; если не выбраны — в любой";
    AT_TIMES = "At these times", "В это время";
    AT_TIMES_HINT = "Optional: 08:00-20:00, 22:00-06:00", "Необязательно: 08:00-20:00, 22:00-06:00";
    CODES = "Merchants by category code", "Магазины по коду категории";
    CODES_HINT = "Optional: four digits or ranges, 5812, 5411-5499", "Необязательно: четыре цифры или диапазоны, 5812, 5411-5499";
}
