//! Texts of people.

use super::{Text, texts};

texts! {
    PEOPLE = "People", "Сотрудники";
    SEARCH = "Search", "Найти";
    SEARCH_PEOPLE = "Name, personnel number, card number or identifier", "Имя, табельный номер, номер карты или идентификатор";
    SEARCH_HINT = "Part of a name is enough.", "Достаточно части имени.";
    STATUS = "Status", "Статус";
    CATEGORY = "Category", "Категория";
    NO_CATEGORY = "none", "нет";
    FOUND = "Found", "Найдено";
    NOBODY_FOUND = "Nobody found.", "Никто не найден.";
    NEW_PERSON = "New person", "Новый сотрудник";
    NAME = "Name", "Имя";
    PERSONNEL_NUMBER = "Personnel number", "Табельный номер";
    PERSONNEL_NUMBER_RULE = "Latin or Cyrillic letters, digits and hyphens.", "Латинские или русские буквы, цифры и дефис.";
    SURNAME = "Surname", "Фамилия";
    GIVEN_NAME = "Given name", "Имя";
    PATRONYMIC = "Patronymic", "Отчество";
    PHONE = "Phone", "Телефон";
    PHONE_RULE = "Ten digits without +7.", "Десять цифр без +7.";
    ADDED = "Added", "Добавлен";
    SINCE = "since", "с";
    WORKS = "works", "работает";
    ON_VACATION = "on vacation", "в отпуске";
    ON_SICK_LEAVE = "on sick leave", "на больничном";
    LEFT = "left", "не работает";
    CHANGE_STATUS = "Change the status", "Изменить статус";
    LEFT_HINT = "Somebody who has left gets no more top-ups.", "Тот, кто не работает, больше не получает пополнений.";
    ERASE_PERSON = "Erase this person", "Стереть данные сотрудника";
    ERASE = "Erase", "Стереть";
    ERASE_SURE = "I know that names, phone, e-mail and personnel number cannot be restored.", "Я понимаю, что имя, телефон, почту и табельный номер нельзя восстановить.";
    SINCE_WHEN = "Since", "С какого дня";
    WHO_LEAVES = "Cards of people who leave", "Карты тех, кто уходит";
    FREEZE_AT_ONCE = "Freeze their cards at once", "Сразу заморозить карты";
    TAKE_BACK_AFTER = "Take back what is left after so many days", "Вернуть остаток через столько дней";
    TAKE_BACK_AFTER_HINT = "Empty: never.", "Пусто: никогда.";
    CLOSE_THEN = "Close the cards then", "Потом закрыть карты";
    LEAVERS_ARE_FROZEN = "The cards of somebody who leaves are frozen at once.", "Карты того, кто ушёл, сразу замораживаются.";
    LEAVERS_KEEP_CARDS = "The cards of somebody who leaves go on paying.", "Карты того, кто ушёл, продолжают платить.";
    TAKEN_BACK_THEN = "What is left on them is taken back by itself; days after the change of the status:", "Остаток вернётся компании сам; дней после смены статуса:";
    TAKEN_BACK_AND_CLOSED = "What is left on them is taken back and they are closed by themselves; days after the change of the status:", "Остаток вернётся компании, и карты закроются сами; дней после смены статуса:";
    NEVER_TAKEN_BACK = "Their money stays on them until you take it back.", "Деньги остаются на них, пока вы их не вернёте.";
    EXPORT_PEOPLE = "These people as a spreadsheet (CSV)", "Эти сотрудники таблицей (CSV)";
    TOO_MANY_PEOPLE = "This goes for 10,000 people and cards at most.", "Это возможно не больше чем для 10 000 сотрудников и карт.";
    SAVED = "Saved.", "Сохранено.";
    ERASED = "The person's data is erased.", "Данные сотрудника стёрты.";
}
