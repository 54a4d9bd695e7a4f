//! Texts of files that people upload.

use super::{Text, texts};

texts! {
    FILE = "File", "Файл";
    FILE_HINT = "CSV or XLSX, 2 MB at most. If its first row has names that the service does not know, the next page asks what the columns are.", "CSV или XLSX, не больше 2 МБ. Если названия в первой строке неизвестны сервису, следующая страница спросит, что в столбцах.";
    FROM_A_FILE = "From a file", "Из файла";
    TYPED_ROWS = "Rows typed or pasted", "Введённые или вставленные строки";
    CREATE_CATEGORIES = "People: create the categories that do not exist.", "Сотрудники: создать категории, которых нет.";
    NO_FILE = "Choose a file.", "Выберите файл.";
    FILE_TOO_LARGE = "The file is too large. Nothing was changed; choose one of 2 MB at most.", "Файл слишком большой. Ничего не изменено, выберите файл не больше 2 МБ.";
    FILE_IS_EMPTY = "The file is empty.", "Файл пуст.";
    FILE_IS_NO_TABLE = "The file is no table: neither CSV, in UTF-8, UTF-16 or Windows-1251, nor an XLSX workbook.", "Файл не таблица: ни CSV (UTF-8, UTF-16 или Windows-1251), ни книга XLSX.";
    FILE_IS_OLD = "The file is a workbook of an older format or has a password. Save it as XLSX without one.", "Файл сохранён в старом формате или с паролем. Сохраните его как XLSX без пароля.";
    FILE_IS_BROKEN = "The file looks like an XLSX workbook and cannot be read. Save it again.", "Файл похож на книгу XLSX, но не читается. Сохраните его ещё раз.";
    FILE_HOLDS_TOO_MUCH = "The file holds too much. Leave out columns and sheets that are not needed.", "В файле слишком много данных. Уберите лишние столбцы и листы.";
    FILE_HAS_TOO_MANY_ROWS = "The file has too many rows. The most are", "В файле слишком много строк. Можно не больше";
    FILE_HAS_TOO_MANY_COLUMNS = "The file has too many columns. The most are", "В файле слишком много столбцов. Можно не больше";
    COLUMN_HAS_A_LONG_NAME = "The first row has a name of more than 100 characters. It should name the columns.", "В первой строке есть название длиннее 100 знаков. В ней должны быть названия столбцов.";
    NO_PERSON_COLUMN = "Say in which column the people stand: by personnel number, card number or identifier.", "Укажите, в каком столбце сотрудники: табельный номер, номер карты или идентификатор.";
    COLUMN_TWICE = "Two columns are said to hold the same. Leave one unused.", "Два столбца указаны одинаково. Оставьте один неиспользуемым.";
    FILE_IS_GONE = "The file is not kept any more: it is for an hour, and the last five of yours. Begin again with New run.", "Файл уже не хранится: он хранится час, и только пять последних. Начните заново с «Новой ведомости».";
    WHICH_COLUMN = "What are the columns?", "Что в столбцах?";
    WHICH_COLUMN_HINT = "The file is kept for an hour. Say what its columns hold; the next page shows totals and refusals, and nothing happens before you submit there.", "Файл хранится час. Укажите, что в столбцах; на следующей странице будут итоги и отказы, до отправки ничего не произойдёт.";
    COLUMN = "Column", "Столбец";
    COLUMNS = "Columns of the file", "Столбцы файла";
    FIRST_VALUES = "First values", "Первые значения";
    COLUMN_HOLDS = "Holds", "Содержит";
    NOT_USED = "not used", "не используется";
    A_FORMULA = "(formula)", "(формула)";
    FIRST_ROW_IS_A_PERSON = "The first row is a person already: the columns have no names.", "Первая строка уже сотрудник: у столбцов нет названий.";
    OTHER_FILE = "Choose another file", "Выбрать другой файл";
    AMOUNT_IN_ROUBLES = "Amount in roubles", "Сумма в рублях";
    AMOUNT_IN_KOPECKS = "Amount in kopecks", "Сумма в копейках";
    PERSON_IDENTIFIER = "Identifier of the person", "Идентификатор сотрудника";
    CARD_IDENTIFIER = "Identifier of the card", "Идентификатор карты";
}
