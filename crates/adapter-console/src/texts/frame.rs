//! Texts of every page.

use super::{Text, texts};

texts! {
    SKIP_TO_CONTENT = "Skip to content", "К содержанию";
    NAVIGATION = "Parts of the console", "Разделы консоли";
    NOT_DONE = "Not done", "Не выполнено";
    NOTHING_HERE = "There is nothing here, or you may not see it.", "Здесь ничего нет, или у вас нет доступа.";
    FAILED = "The service failed. Nothing was changed; try again.", "Ошибка сервиса. Ничего не изменено, повторите попытку.";
    BUSY = "The service is busy, try again.", "Сервис занят, повторите попытку.";
    FOREIGN_FORM = "The form is too old or comes from elsewhere. Nothing was changed; open the page again.", "Форма устарела или пришла с другого сайта. Ничего не изменено, откройте страницу заново.";
    FORM_INCOMPLETE = "The form is incomplete.", "Форма заполнена не полностью.";
    FORM_TOO_LARGE = "The form is too large.", "Форма слишком большая.";
    PREVIOUS = "Previous", "Назад по списку";
    NEXT = "Next", "Дальше";
    PAGE_NUMBER = "Page", "Страница";
    BACK = "Back", "Назад";
    SAVE = "Save", "Сохранить";
    EDIT = "Edit", "Изменить";
    ALL = "All", "Все";
    YES = "yes", "да";
    NO = "no", "нет";
    OTHER = "other", "другое";
}
