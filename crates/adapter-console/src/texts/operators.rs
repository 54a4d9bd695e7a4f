//! Texts of operators.

use super::{Text, texts};

texts! {
    PARTNERS = "Partners", "Партнёры";
    NO_PARTNERS = "No partners.", "Партнёров нет.";
    SUSPENDED = "suspended", "приостановлен";
    IDENTIFIER = "Identifier", "Идентификатор";
    OPEN_SESSIONS = "Open sessions of programs", "Открытых сеансов программ";
    OPEN_REQUESTS = "Open requests", "Открытых заявок";
}
