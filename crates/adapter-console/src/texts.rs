//! The texts of the pages: one table, each text in both languages.

mod refusals;

use kopeck_domain::access::Role;

pub(crate) use refusals::{code_text, field_text};

/// A language of the console.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Russian.
    Russian,
}

impl Language {
    /// Its tag in HTML.
    pub(crate) const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Russian => "ru",
        }
    }
}

/// Declares the texts.
macro_rules! texts {
    ($($name:ident = $english:literal, $russian:literal;)*) => {
        /// A text of the pages.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Text {
            $($name,)*
        }

        impl Text {
            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$name),*];

            /// The text in a language.
            pub(crate) const fn of(self, language: Language) -> &'static str {
                match (self, language) {
                    $((Self::$name, Language::English) => $english,
                    (Self::$name, Language::Russian) => $russian,)*
                }
            }
        }
    };
}

texts! {
    // -- every page
    SkipToContent = "Skip to content", "К содержанию";
    Navigation = "Parts of the console", "Разделы консоли";
    NotDone = "Not done", "Не выполнено";
    NothingHere = "There is nothing here, or you may not see it.", "Здесь ничего нет, или у вас нет доступа.";
    Failed = "The service failed. Nothing was changed; try again.", "Ошибка сервиса. Ничего не изменено, повторите попытку.";
    Busy = "The service is busy, try again.", "Сервис занят, повторите попытку.";
    ForeignForm = "The form is too old or comes from elsewhere. Nothing was changed; open the page again.", "Форма устарела или пришла с другого сайта. Ничего не изменено, откройте страницу заново.";
    FormIncomplete = "The form is incomplete.", "Форма заполнена не полностью.";
    Previous = "Previous", "Назад по списку";
    Next = "Next", "Дальше";
    PageNumber = "Page", "Страница";
    Back = "Back", "Назад";
    Save = "Save", "Сохранить";
    Edit = "Edit", "Изменить";
    All = "All", "Все";
    Yes = "yes", "да";
    No = "no", "нет";
    Other = "other", "другое";
    // -- login
    LogIn = "Log in", "Войти";
    LogOut = "Log out", "Выйти";
    Continue = "Continue", "Продолжить";
    Email = "E-mail", "Эл. почта";
    Password = "Password", "Пароль";
    SecondFactor = "Second factor", "Второй фактор";
    SetUpApp = "Scan this code with an authenticator app, then enter the code that the app shows.", "Отсканируйте этот код приложением-аутентификатором и введите код, который покажет приложение.";
    AppSecret = "Secret of the app:", "Секрет для приложения:";
    Code = "Code", "Код";
    CodeOfApp = "Six digits from the app.", "Шесть цифр из приложения.";
    CodeOrRecovery = "Six digits from the app, or a recovery code.", "Шесть цифр из приложения или код восстановления.";
    BeginAgain = "Begin again", "Начать сначала";
    RecoveryCodes = "Recovery codes", "Коды восстановления";
    KeepCodes = "Keep these codes in a safe place. Each works once in the place of a code of the app. They are not shown again.", "Сохраните эти коды в надёжном месте. Каждый действует один раз вместо кода из приложения. Больше они не будут показаны.";
    WrongCredentials = "Wrong e-mail or password.", "Неверная почта или пароль.";
    WrongCode = "Wrong code.", "Неверный код.";
    LoginExpired = "The login took too long. Begin again.", "Время входа истекло. Начните сначала.";
    TooManyLogins = "Too many failed logins. Try again later.", "Слишком много неудачных попыток входа. Попробуйте позже.";
    SessionEnded = "Your session has ended. Nothing further was changed.", "Сеанс завершён. Ничего больше не изменено.";
    LoggedOut = "You are logged out.", "Вы вышли.";
    // -- one's own account
    Account = "Account", "Учётная запись";
    Role = "Role", "Роль";
    Owner = "owner", "владелец";
    Hr = "HR", "отдел кадров";
    Finance = "finance", "бухгалтерия";
    Auditor = "auditor", "аудитор";
    Operator = "operator", "оператор";
    ChangePassword = "Change the password", "Сменить пароль";
    ReplaceFirstPassword = "Another person has made your password. Replace it before you go on.", "Ваш пароль создал другой человек. Смените его, чтобы продолжить.";
    CurrentPassword = "Current password", "Текущий пароль";
    NewPassword = "New password", "Новый пароль";
    NewPasswordAgain = "New password again", "Новый пароль ещё раз";
    PasswordRule = "At least 12 characters, and no common password.", "Не менее 12 знаков, не из числа распространённых.";
    PasswordRefused = "The new password is too short, too common, contains your name, or is the present one.", "Новый пароль слишком короткий, распространённый, содержит ваше имя или совпадает с текущим.";
    PasswordsDiffer = "The new passwords differ.", "Новые пароли не совпадают.";
    WrongPassword = "The current password is wrong.", "Текущий пароль неверен.";
    PasswordChanged = "The password is changed. Your other sessions have ended.", "Пароль изменён. Другие сеансы завершены.";
    LoginTaken = "Another user has this e-mail.", "Эта почта уже занята.";
    Sessions = "Your sessions", "Ваши сеансы";
    Began = "Began", "Начало";
    LastUsed = "Last used", "Последнее действие";
    Address = "Address", "Адрес";
    ThisSession = "This one", "Этот";
    EndOtherSessions = "End the other sessions", "Завершить другие сеансы";
    SessionsEnded = "Your other sessions have ended.", "Другие сеансы завершены.";
    // -- people
    People = "People", "Сотрудники";
    Search = "Search", "Найти";
    SearchPeople = "Name, personnel number, card number or identifier", "Имя, табельный номер, номер карты или идентификатор";
    SearchHint = "Part of a name is enough.", "Достаточно части имени.";
    Status = "Status", "Статус";
    Category = "Category", "Категория";
    NoCategory = "none", "нет";
    NobodyFound = "Nobody found.", "Никто не найден.";
    NewPerson = "New person", "Новый сотрудник";
    Name = "Name", "Имя";
    PersonnelNumber = "Personnel number", "Табельный номер";
    PersonnelNumberRule = "Latin or Cyrillic letters, digits and hyphens.", "Латинские или русские буквы, цифры и дефис.";
    Surname = "Surname", "Фамилия";
    GivenName = "Given name", "Имя";
    Patronymic = "Patronymic", "Отчество";
    Phone = "Phone", "Телефон";
    PhoneRule = "Ten digits without +7.", "Десять цифр без +7.";
    Added = "Added", "Добавлен";
    Since = "since", "с";
    Works = "works", "работает";
    OnVacation = "on vacation", "в отпуске";
    OnSickLeave = "on sick leave", "на больничном";
    Left = "left", "не работает";
    ChangeStatus = "Change the status", "Изменить статус";
    LeftHint = "Somebody who has left gets no more top-ups.", "Тот, кто не работает, больше не получает пополнений.";
    ErasePerson = "Erase this person", "Стереть данные сотрудника";
    Erase = "Erase", "Стереть";
    EraseSure = "I know that names, phone, e-mail and personnel number cannot be restored.", "Я понимаю, что имя, телефон, почту и табельный номер нельзя восстановить.";
    Saved = "Saved.", "Сохранено.";
    Erased = "The person's data is erased.", "Данные сотрудника стёрты.";
    // -- cards
    Card = "Card", "Карта";
    CardNumber = "Card number", "Номер карты";
    CardType = "Product", "Продукт";
    NoCards = "No cards.", "Карт нет.";
    Balance = "Balance", "Баланс";
    CanBeToppedUp = "Can be topped up by", "Можно пополнить на";
    AtTheBank = "At the bank", "В банке";
    ValidUntil = "Valid until", "Действует до";
    Activated = "Activated", "Активирована";
    MainCard = "main", "основная";
    AdditionalCard = "additional", "дополнительная";
    Frozen = "frozen", "заморожена";
    Open = "open", "открыта";
    Freezing = "being frozen", "замораживается";
    Unfreezing = "being unfrozen", "размораживается";
    BlockedByBank = "blocked by the bank", "заблокирована банком";
    Closed = "closed", "закрыта";
    PaysUpTo = "Pays now, up to", "Сейчас платит, до";
    DoesNotPay = "Does not pay now:", "Сейчас не платит:";
    LimitResets = "The limit starts anew on", "Лимит начнётся заново";
    LatestTransactions = "Latest transactions of card", "Последние операции карты";
    NoTransactions = "No transactions.", "Операций нет.";
    Date = "Date", "Дата";
    Kind = "Kind", "Вид";
    Place = "Place", "Место";
    CategoryCode = "Category code", "Код категории";
    Amount = "Amount", "Сумма";
    TopUp = "top-up", "пополнение";
    Payment = "payment", "покупка";
    Refund = "refund", "возврат покупки";
    TakenBack = "taken back", "возврат компании";
    Correction = "correction", "корректировка";
    Freeze = "Freeze", "Заморозить";
    Unfreeze = "Unfreeze", "Разморозить";
    As = "As", "Как";
    CloseCard = "Close for good", "Закрыть навсегда";
    CloseHint = "Its money returns to the company. A lost or stolen card is frozen at once.", "Деньги вернутся компании. Потерянная или украденная карта замораживается сразу.";
    Reason = "Reason", "Причина";
    Lost = "lost", "потеряна";
    Stolen = "stolen", "украдена";
    Damaged = "damaged", "повреждена";
    Leaver = "the person has left", "сотрудник ушёл";
    Unlink = "Unlink", "Отвязать";
    LinkCard = "Link a card", "Привязать карту";
    NextCard = "Next unassigned card:", "Следующая свободная карта:";
    NoCardToLink = "There is no unassigned card.", "Свободных карт нет.";
    CardFrozen = "The card is frozen. The bank learns of it within seconds.", "Карта заморожена. Банк узнает об этом за несколько секунд.";
    CardClosing = "The card is being closed.", "Карта закрывается.";
    CardLinked = "The card is linked.", "Карта привязана.";
    // -- runs
    ThisMonth = "This month", "Этот месяц";
    DraftsToMend = "Drafts to submit", "Черновики для отправки";
    CardsExpire = "Cards that expire within 30 days", "Карты, срок которых кончается за 30 дней";
    NoneExpires = "No card expires.", "Таких карт нет.";
    Runs = "Runs", "Ведомости";
    NewRun = "New run", "Новая ведомость";
    NoRuns = "None.", "Нет.";
    Approvals = "Approvals", "Согласования";
    OthersApprove = "Owners and finance approve; you see what waits.", "Согласуют владелец и бухгалтерия, вы видите, что ждёт.";
    TopUps = "Top-ups", "Пополнения";
    Withdrawals = "Withdrawals", "Списания с карт";
    LimitChanges = "Limits", "Лимиты";
    CardOrder = "Order of virtual cards", "Заказ виртуальных карт";
    PeopleImport = "Import of people", "Загрузка сотрудников";
    Draft = "draft", "черновик";
    WaitsForApproval = "Waiting for approval", "Ждут согласования";
    Scheduled = "Scheduled", "Запланировано";
    InProcess = "In process", "Выполняется";
    Done = "done", "выполнено";
    PartlyDone = "partly done", "выполнено частично";
    Declined = "declined", "не выполнено";
    Rejected = "cancelled", "отменено";
    Expired = "expired", "просрочено";
    Created = "Created", "Создано";
    Reference = "Reference", "Обозначение";
    ReferenceHint = "Optional. No other run of the kind may have it, so that a list is not paid twice.", "Необязательно. Ни у какой другой ведомости этого вида его не будет, чтобы не заплатить дважды.";
    State = "State", "Состояние";
    Rows = "Rows", "Строки";
    RowsHint = "One person a line: number; amount in roubles. For example T-1; 1500,50. A withdrawal without an amount takes all.", "По одному сотруднику в строке: номер; сумма в рублях. Например Т-1; 1500,50. Списание без суммы забирает всё.";
    PeopleNamedBy = "People are named by", "Сотрудники указаны как";
    RunsAt = "Carried out at", "Выполнить в";
    RunsAtHint = "Optional: DD.MM.YYYY HH:MM. Otherwise at once.", "Необязательно: ДД.ММ.ГГГГ ЧЧ:ММ. Иначе сразу.";
    NothingHappensYet = "Nothing happens yet: the next page shows totals and refusals, and you submit there.", "Пока ничего не происходит: на следующей странице будут итоги и отказы, там же отправка.";
    Check = "Check", "Проверить";
    LookAgain = "Look again", "Обновить";
    OnlyFaulty = "Only faulty rows", "Только строки с ошибками";
    FaultyRows = "Faulty rows", "Строк с ошибками";
    Available = "Available", "Доступно";
    AvailableAfter = "Available afterwards", "Доступно после";
    Held = "Held", "Удержано";
    CreatedBy = "Created by", "Создал";
    SubmittedBy = "Submitted by", "Отправил";
    ApprovedBy = "Approved by", "Согласовал";
    Digest = "Digest", "Отпечаток";
    Submit = "Submit", "Отправить";
    SubmitRun = "Submit exactly this", "Отправить именно это";
    SkipFaulty = "Leave the faulty rows out.", "Пропустить строки с ошибками.";
    Approve = "Approve", "Согласовать";
    ApproveRun = "Approve exactly this", "Согласовать именно это";
    Refuse = "Refuse", "Отклонить";
    RefuseRun = "Refuse this run", "Отклонить ведомость";
    CancelRun = "Cancel this run", "Отменить ведомость";
    Line = "Line", "Строка";
    Outcome = "Outcome", "Итог";
    NoRows = "No rows.", "Строк нет.";
    Refused = "refused", "отказано";
    Skipped = "skipped", "пропущено";
    Faulty = "faulty", "ошибка";
    AProgram = "a program", "программа";
    TheService = "the service", "сервис";
    RunSubmitted = "Submitted.", "Отправлено.";
    RunApproved = "Approved.", "Согласовано.";
    RunRefused = "Refused.", "Отклонено.";
    RunCancelled = "Cancelled.", "Отменено.";
    // -- orders
    Orders = "Orders and stock", "Заказы и карты";
    Order = "Order", "Заказ";
    NoOrders = "No orders.", "Заказов нет.";
    Accepted = "accepted", "принят";
    ReceiptConfirmed = "receipt confirmed", "получение подтверждено";
    PlasticCards = "Plastic cards", "Пластиковые карты";
    VirtualCards = "Virtual cards", "Виртуальные карты";
    Cards = "Cards", "Карты";
    Stock = "Unassigned cards in stock", "Свободных карт";
    HowMany = "How many", "Сколько";
    DeliveryAddress = "Delivery address", "Адрес доставки";
    Recipient = "Recipient", "Получатель";
    AmountOfEach = "Amount of each in roubles", "Сумма каждой в рублях";
    OrderCards = "Order", "Заказать";
    CancelOrder = "Cancel the order", "Отменить заказ";
    ConfirmReceipt = "Confirm the receipt", "Подтвердить получение";
    ShowCards = "Show cards and codes", "Показать карты и коды";
    ActivationCode = "Activation code", "Код активации";
    CodesAreAudited = "A code activates its card for anyone. The audit log records who has looked.", "Кодом карту может активировать кто угодно. Журнал записывает, кто смотрел.";
    // -- reports
    Reports = "Reports", "Отчёты";
    Month = "Month", "Месяц";
    Show = "Show", "Показать";
    StatementOfMonth = "Statement of the month", "Выписка за месяц";
    ReportOfMonth = "Report of each person", "Отчёт по сотрудникам";
    NothingMoved = "Nothing moved on any card.", "Движений по картам нет.";
    Number = "Number", "Количество";
    Opening = "Opening balance", "Начальный остаток";
    ClosingBalance = "Closing balance", "Конечный остаток";
    Given = "Given", "Зачислено";
    Spent = "Spent", "Потрачено";
    RefundedSum = "Refunded", "Возвраты покупок";
    ReturnedSum = "Taken back", "Возвращено компании";
    Corrections = "Corrections", "Корректировки";
    Late = "Late", "Прошлых месяцев";
    Payments = "Payments", "Покупок";
    Total = "Total", "Итого";
    Deposits = "deposits", "поступления";
    Holds = "held for requests", "удержано под заявки";
    Debits = "spent of what was held", "потрачено из удержанного";
    Releases = "released", "освобождено";
    Returns = "returned from cards", "возвращено с карт";
    PaidOut = "paid out", "выплачено компании";
    Spreadsheet = "Spreadsheet", "Таблица XLSX";
    ExcelCsv = "CSV for Excel", "CSV для Excel";
    PlainCsv = "CSV in kopecks, for programs", "CSV в копейках, для программ";
    For1C = "For 1C", "Для 1С";
    Camt = "ISO 20022 camt.053", "ISO 20022 camt.053, для банк-клиентов";
    MoreInFile = "The files have all rows.", "Все строки есть в файлах.";
    MonthIsClosed = "The month is closed.", "Месяц закрыт.";
    CloseMonth = "Close the month", "Закрыть месяц";
    CloseMonthSure = "I know that the month no longer changes; what comes later stands in the next one.", "Я понимаю, что месяц больше не изменится, а поздние операции попадут в следующий.";
    MonthClosed = "The month is closed now.", "Теперь месяц закрыт.";
    // -- integration
    Integration = "Integration", "Интеграция";
    RequestLog = "Request log", "Журнал запросов";
    Events = "Events", "События";
    Webhooks = "Webhooks", "Вебхуки";
    NoWebhooks = "No webhooks.", "Вебхуков нет.";
    AddWebhook = "Add a webhook", "Добавить вебхук";
    WebhookHint = "An address that begins with https.", "Адрес, который начинается с https.";
    WebhookSecret = "Secret of the webhook", "Секрет вебхука";
    KeepSecret = "It signs the events. No other page shows it.", "Им подписаны события. Больше он нигде не показывается.";
    Description = "Description", "Описание";
    Enabled = "Enabled", "Включён";
    Enable = "Enable", "Включить";
    Disable = "Disable", "Отключить";
    LastSuccess = "Last success", "Последний успех";
    LastFailure = "Last failure", "Последняя ошибка";
    Waiting = "Waiting", "Ожидают";
    SendPing = "Send a ping", "Послать проверку";
    NewSecret = "New secret", "Новый секрет";
    Delete = "Delete", "Удалить";
    EventId = "Identifier of the event", "Идентификатор события";
    DeliverAgain = "Deliver again", "Доставить ещё раз";
    Deliveries = "Deliveries", "Доставки";
    NoDeliveries = "No deliveries.", "Доставок нет.";
    LastAttempt = "Last attempt", "Последняя попытка";
    Attempts = "Attempts", "Попыток";
    Response = "Response", "Ответ";
    Credentials = "Scoped credentials", "Учётные данные программ";
    NoCredentials = "No scoped credentials.", "Учётных данных программ нет.";
    Scopes = "Scopes", "Права";
    Addresses = "Addresses", "Адреса";
    Revoked = "Revoked", "Отозваны";
    Operation = "Operation", "Операция";
    HttpStatus = "HTTP status", "Статус HTTP";
    RequestId = "Request id", "Номер запроса";
    Fields = "Faulty fields", "Ошибочные поля";
    Milliseconds = "Milliseconds", "Миллисекунды";
    NoRequests = "No requests.", "Запросов нет.";
    NoEvents = "No events.", "Событий нет.";
    Deleted = "Deleted.", "Удалено.";
    Queued = "On its way.", "Отправляется.";
    // -- users
    Users = "Users", "Пользователи";
    AddUser = "Add a user", "Добавить пользователя";
    Active = "active", "действует";
    Disabled = "disabled", "отключён";
    LastLogin = "Last login", "Последний вход";
    KeepPassword = "The first password of this user, shown once. It has to be replaced within seven days.", "Первый пароль этого пользователя, показан один раз. Его нужно сменить за семь дней.";
    NewFirstPassword = "New first password", "Новый первый пароль";
    ResetSecondFactor = "Reset the second factor", "Сбросить второй фактор";
    AuditLog = "Audit log", "Журнал действий";
    Who = "Who", "Кто";
    Subject = "About", "О чём";
    Unknown = "unknown", "неизвестно";
    // -- operators
    Partners = "Partners", "Партнёры";
    NoPartners = "No partners.", "Партнёров нет.";
    Suspended = "suspended", "приостановлен";
    Identifier = "Identifier", "Идентификатор";
    OpenSessions = "Open sessions of programs", "Открытых сеансов программ";
    OpenRequests = "Open requests", "Открытых заявок";
}

impl Text {
    /// The message for a word in the query of a page. Other words say nothing.
    pub(crate) fn of_done(word: &str) -> Option<Self> {
        Some(match word {
            "ended" => Self::SessionEnded,
            "expired" => Self::LoginExpired,
            "logged_out" => Self::LoggedOut,
            "password" => Self::PasswordChanged,
            "sessions" => Self::SessionsEnded,
            "saved" => Self::Saved,
            "erased" => Self::Erased,
            "frozen" => Self::CardFrozen,
            "closing" => Self::CardClosing,
            "linked" => Self::CardLinked,
            "submit" => Self::RunSubmitted,
            "approve" => Self::RunApproved,
            "refuse" => Self::RunRefused,
            "cancel" => Self::RunCancelled,
            "closed_month" => Self::MonthClosed,
            "deleted" => Self::Deleted,
            "queued" => Self::Queued,
            _ => return None,
        })
    }

    pub(crate) const fn of_role(role: Role) -> Self {
        match role {
            Role::Owner => Self::Owner,
            Role::Hr => Self::Hr,
            Role::Finance => Self::Finance,
            Role::Auditor => Self::Auditor,
            Role::Operator => Self::Operator,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_cyrillic(letter: char) -> bool {
        ('\u{400}'..='\u{4ff}').contains(&letter)
    }

    #[test]
    fn no_text_is_missing_in_either_language() {
        for text in Text::ALL {
            let [english, russian] = [Language::English, Language::Russian].map(|language| text.of(language));
            assert!(!english.is_empty() && !english.contains(is_cyrillic), "{text:?}");
            assert!(russian.contains(is_cyrillic), "{text:?}");
        }
    }
}
