//! Texts of operators.

use super::{Text, texts};

texts! {
    PARTNERS = "Partners", "Партнёры";
    NO_PARTNERS = "No partners.", "Партнёров нет.";
    SUSPENDED = "suspended", "приостановлен";
    IDENTIFIER = "Identifier", "Идентификатор";
    OPEN_SESSIONS = "Open sessions of programs", "Открытых сеансов программ";
    PARTNER_LOGIN_TAKEN = "Another partner has this login.", "Этот логин уже занят.";
    AMOUNT_ABOVE_ZERO = "The amount has to be above zero.", "Сумма должна быть больше нуля.";
    REFERENCE_USED = "This reference has moved another amount before:", "По этому основанию уже проведена другая сумма:";
    OPEN_REQUESTS = "Open requests", "Открытых заявок";
}
