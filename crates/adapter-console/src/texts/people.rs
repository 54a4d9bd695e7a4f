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
    SAVED = "Saved.", "Сохранено.";
    ERASED = "The person's data is erased.", "Данные сотрудника стёрты.";
}
