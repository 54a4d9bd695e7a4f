//! Texts of one's own account.

use super::{Text, texts};

texts! {
    ACCOUNT = "Account", "Учётная запись";
    ROLE = "Role", "Роль";
    OWNER = "owner", "владелец";
    HR = "HR", "отдел кадров";
    FINANCE = "finance", "бухгалтерия";
    AUDITOR = "auditor", "аудитор";
    OPERATOR = "operator", "оператор";
    CHANGE_PASSWORD = "Change the password", "Сменить пароль";
    REPLACE_FIRST_PASSWORD = "Another person has made your password. Replace it before you go on.", "Ваш пароль создал другой человек. Смените его, чтобы продолжить.";
    CURRENT_PASSWORD = "Current password", "Текущий пароль";
    NEW_PASSWORD = "New password", "Новый пароль";
    NEW_PASSWORD_AGAIN = "New password again", "Новый пароль ещё раз";
    PASSWORD_RULE = "At least 12 characters, and no common password.", "Не менее 12 знаков, не из числа распространённых.";
    PASSWORD_REFUSED = "The new password is too short, too common, contains your name, or is the present one.", "Новый пароль слишком короткий, распространённый, содержит ваше имя или совпадает с текущим.";
    PASSWORDS_DIFFER = "The new passwords differ.", "Новые пароли не совпадают.";
    WRONG_PASSWORD = "The current password is wrong.", "Текущий пароль неверен.";
    PASSWORD_CHANGED = "The password is changed. Your other sessions have ended.", "Пароль изменён. Другие сеансы завершены.";
    LOGIN_TAKEN = "Another user has this e-mail.", "Эта почта уже занята.";
    SESSIONS = "Your sessions", "Ваши сеансы";
    BEGAN = "Began", "Начало";
    LAST_USED = "Last used", "Последнее действие";
    ADDRESS = "Address", "Адрес";
    THIS_SESSION = "This one", "Этот";
    END_OTHER_SESSIONS = "End the other sessions", "Завершить другие сеансы";
    SESSIONS_ENDED = "Your other sessions have ended.", "Другие сеансы завершены.";
}
