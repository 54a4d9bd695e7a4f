//! Texts of the login.

use super::{Text, texts};

texts! {
    LOG_IN = "Log in", "Войти";
    LOG_OUT = "Log out", "Выйти";
    CONTINUE = "Continue", "Продолжить";
    EMAIL = "E-mail", "Эл. почта";
    PASSWORD = "Password", "Пароль";
    SECOND_FACTOR = "Second factor", "Второй фактор";
    SET_UP_APP = "Scan this code with an authenticator app, then enter the code that the app shows.", "Отсканируйте этот код приложением-аутентификатором и введите код, который покажет приложение.";
    APP_SECRET = "Secret of the app:", "Секрет для приложения:";
    CODE = "Code", "Код";
    CODE_OF_APP = "Six digits from the app.", "Шесть цифр из приложения.";
    CODE_OR_RECOVERY = "Six digits from the app, or a recovery code.", "Шесть цифр из приложения или код восстановления.";
    BEGIN_AGAIN = "Begin again", "Начать сначала";
    RECOVERY_CODES = "Recovery codes", "Коды восстановления";
    KEEP_CODES = "Keep these codes in a safe place. Each works once in the place of a code of the app. They are not shown again.", "Сохраните эти коды в надёжном месте. Каждый действует один раз вместо кода из приложения. Больше они не будут показаны.";
    WRONG_CREDENTIALS = "Wrong e-mail or password.", "Неверная почта или пароль.";
    WRONG_CODE = "Wrong code.", "Неверный код.";
    LOGIN_EXPIRED = "The login took too long. Begin again.", "Время входа истекло. Начните сначала.";
    TOO_MANY_LOGINS = "Too many failed logins. Try again later.", "Слишком много неудачных попыток входа. Попробуйте позже.";
    SESSION_ENDED = "Your session has ended. Nothing further was changed.", "Сеанс завершён. Ничего больше не изменено.";
    NOT_SENT = "Not sent", "Не отправлено";
    NOT_SENT_YET = "Your session ended before this arrived, and nothing was changed. What you typed is below. Log in in another tab, come back here, and send it again.", "Сеанс завершился раньше, и ничего не изменено. Введённые данные показаны ниже. Войдите в другой вкладке, вернитесь сюда и отправьте их ещё раз.";
    LOG_IN_ELSEWHERE = "Log in in another tab", "Войти в другой вкладке";
    SEND_AGAIN = "Send again", "Отправить ещё раз";
    LOGGED_OUT = "You are logged out.", "Вы вышли.";
}
