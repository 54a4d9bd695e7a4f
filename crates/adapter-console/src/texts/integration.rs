//! Texts of what programs see.

use super::{Text, texts};

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
    DELETED = "Deleted.", "Удалено.";
    QUEUED = "On its way.", "Отправляется.";
}
