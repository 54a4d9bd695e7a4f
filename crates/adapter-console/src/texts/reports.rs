//! Texts of reports and statements.

use super::{Text, texts};

texts! {
    REPORTS = "Reports", "Отчёты";
    MONTH = "Month", "Месяц";
    SHOW = "Show", "Показать";
    STATEMENT_OF_MONTH = "Statement of the month", "Выписка за месяц";
    REPORT_OF_MONTH = "Report of each person", "Отчёт по сотрудникам";
    NOTHING_MOVED = "Nothing moved on any card.", "Движений по картам нет.";
    NUMBER = "Number", "Количество";
    OPENING = "Opening balance", "Начальный остаток";
    CLOSING_BALANCE = "Closing balance", "Конечный остаток";
    GIVEN = "Given", "Зачислено";
    SPENT = "Spent", "Потрачено";
    REFUNDED_SUM = "Refunded", "Возвраты покупок";
    RETURNED_SUM = "Taken back", "Возвращено компании";
    CORRECTIONS = "Corrections", "Корректировки";
    LATE = "Late", "Прошлых месяцев";
    FROM_THE_BEGINNING = "From the beginning", "С начала";
    UNASSIGNED_CARDS = "Cards that no person has had", "Карты, которых ни у кого не было";
    PAYMENTS = "Payments", "Покупок";
    TOTAL = "Total", "Итого";
    DEPOSITS = "deposits", "поступления";
    HOLDS = "held for requests", "удержано под заявки";
    DEBITS = "spent of what was held", "потрачено из удержанного";
    RELEASES = "released", "освобождено";
    RETURNS = "returned from cards", "возвращено с карт";
    PAID_OUT = "paid out", "выплачено компании";
    SPREADSHEET = "Spreadsheet", "Таблица XLSX";
    EXCEL_CSV = "CSV for Excel", "CSV для Excel";
    PLAIN_CSV = "CSV in kopecks, for programs", "CSV в копейках, для программ";
    FOR1_C = "For 1C", "Для 1С";
    CAMT = "ISO 20022 camt.053", "ISO 20022 camt.053, для банк-клиентов";
    MORE_IN_FILE = "The files have all rows.", "Все строки есть в файлах.";
    MONTH_IS_CLOSED = "The month is closed.", "Месяц закрыт.";
    CLOSE_MONTH = "Close the month", "Закрыть месяц";
    CLOSE_MONTH_SURE = "I know that the month no longer changes; what comes later stands in the next one.", "Я понимаю, что месяц больше не изменится, а поздние операции попадут в следующий.";
    MONTH_CLOSED = "The month is closed now.", "Теперь месяц закрыт.";
}
