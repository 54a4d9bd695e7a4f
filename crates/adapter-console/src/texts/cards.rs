//! Texts of cards.

use super::{Text, texts};

texts! {
    CARD = "Card", "Карта";
    CARD_NUMBER = "Card number", "Номер карты";
    CARD_TYPE = "Product", "Продукт";
    NO_CARDS = "No cards.", "Карт нет.";
    BALANCE = "Balance", "Баланс";
    CAN_BE_TOPPED_UP = "Can be topped up by", "Можно пополнить на";
    AT_THE_BANK = "At the bank", "В банке";
    VALID_UNTIL = "Valid until", "Действует до";
    ACTIVATED = "Activated", "Активирована";
    MAIN_CARD = "main", "основная";
    ADDITIONAL_CARD = "additional", "дополнительная";
    FROZEN = "frozen", "заморожена";
    OPEN = "open", "открыта";
    FREEZING = "being frozen", "замораживается";
    UNFREEZING = "being unfrozen", "размораживается";
    BLOCKED_BY_BANK = "blocked by the bank", "заблокирована банком";
    CLOSED = "closed", "закрыта";
    PAYS_UP_TO = "Pays now, up to", "Сейчас платит, до";
    DOES_NOT_PAY = "Does not pay now:", "Сейчас не платит:";
    LIMIT_RESETS = "The limit starts anew on", "Лимит начнётся заново";
    LATEST_TRANSACTIONS = "Latest transactions of card", "Последние операции карты";
    NO_TRANSACTIONS = "No transactions.", "Операций нет.";
    DATE = "Date", "Дата";
    KIND = "Kind", "Вид";
    PLACE = "Place", "Место";
    CATEGORY_CODE = "Category code", "Код категории";
    AMOUNT = "Amount", "Сумма";
    TOP_UP = "top-up", "пополнение";
    PAYMENT = "payment", "покупка";
    REFUND = "refund", "возврат покупки";
    TAKEN_BACK = "taken back", "возврат компании";
    CORRECTION = "correction", "корректировка";
    FREEZE = "Freeze", "Заморозить";
    UNFREEZE = "Unfreeze", "Разморозить";
    AS = "As", "Как";
    CLOSE_CARD = "Close for good", "Закрыть навсегда";
    CLOSE_HINT = "Its money returns to the company. A lost or stolen card is frozen at once.", "Деньги вернутся компании. Потерянная или украденная карта замораживается сразу.";
    REASON = "Reason", "Причина";
    LOST = "lost", "потеряна";
    STOLEN = "stolen", "украдена";
    DAMAGED = "damaged", "повреждена";
    LEAVER = "the person has left", "сотрудник ушёл";
    UNLINK = "Unlink", "Отвязать";
    LINK_CARD = "Link a card", "Привязать карту";
    NEXT_CARD = "Next unassigned card:", "Следующая свободная карта:";
    NO_CARD_TO_LINK = "There is no unassigned card.", "Свободных карт нет.";
    CARD_FROZEN = "The card is frozen. The bank learns of it within seconds.", "Карта заморожена. Банк узнает об этом за несколько секунд.";
    CARD_CLOSING = "The card is being closed.", "Карта закрывается.";
    CARD_LINKED = "The card is linked.", "Карта привязана.";
}
