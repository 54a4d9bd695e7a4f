//! Texts of users and the audit log.

use super::{Text, texts};

texts! {
    USERS = "Users", "Пользователи";
    ADD_USER = "Add a user", "Добавить пользователя";
    ACTIVE = "active", "действует";
    DISABLED = "disabled", "отключён";
    LAST_LOGIN = "Last login", "Последний вход";
    KEEP_PASSWORD = "The first password of this user, shown once. It has to be replaced within seven days.", "Первый пароль этого пользователя, показан один раз. Его нужно сменить за семь дней.";
    NEW_FIRST_PASSWORD = "New first password", "Новый первый пароль";
    RESET_SECOND_FACTOR = "Reset the second factor", "Сбросить второй фактор";
    AUDIT_LOG = "Audit log", "Журнал действий";
    WHO = "Who", "Кто";
    SUBJECT = "About", "О чём";
    UNKNOWN = "unknown", "неизвестно";
}
