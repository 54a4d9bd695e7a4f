//! Which column of a file is which, where its own names do not say it.

use kopeck_domain::column::Column;
use kopeck_tables::{Cell, Row, Table};

use crate::request::Pairs;
use crate::texts::{Language, Text};

/// What a column can be said to hold: its name in files, in both languages, and what it is called on the page.
pub(super) const CHOICES: [(Column, &str, &str, Text); 13] = [
    (Column::CustomId, "customId", "табельный номер", Text::PERSONNEL_NUMBER),
    (Column::CustomIdCard, "customIdCard", "номер карты", Text::CARD_NUMBER),
    (Column::IdEmployee, "idEmployee", "idEmployee", Text::PERSON_IDENTIFIER),
    (Column::IdCard, "idCard", "idCard", Text::CARD_IDENTIFIER),
    (Column::Roubles, "rubles", "сумма", Text::AMOUNT_IN_ROUBLES),
    (Column::Amount, "amount", "amount", Text::AMOUNT_IN_KOPECKS),
    (Column::Surname, "surname", "фамилия", Text::SURNAME),
    (Column::Name, "name", "имя", Text::GIVEN_NAME),
    (Column::Patronymic, "patronymic", "отчество", Text::PATRONYMIC),
    (Column::Phone, "phone", "телефон", Text::PHONE),
    (Column::Email, "email", "почта", Text::EMAIL),
    (Column::Status, "status", "статус", Text::STATUS),
    (Column::Category, "category", "категория", Text::CATEGORY),
];

/// The name of a column in files of a language; empty for one that is no choice.
pub(crate) fn column_name(column: Column, language: Language) -> &'static str {
    let choice = CHOICES.iter().find(|(own, ..)| *own == column);
    choice.map_or("", |(_, english, russian, _)| match language {
        Language::English => english,
        Language::Russian => russian,
    })
}

/// The name of the control of a column.
pub(super) fn control(place: usize) -> String {
    format!("column-{place}")
}

/// What the form says of each column: what it holds, or nothing that is used.
///
/// # Errors
/// If two columns are said to hold the same.
pub(super) fn chosen(form: &Pairs, columns: usize) -> Result<Vec<Option<Column>>, Text> {
    let word = |place| form.get(&control(place)).to_owned();
    let of_word = |word: &str| CHOICES.iter().find(|(_, own, ..)| *own == word).map(|(column, ..)| *column);
    let chosen: Vec<Option<Column>> = (0..columns).map(|place| of_word(&word(place))).collect();
    let is_twice = |(place, column): (usize, &Option<Column>)| {
        column.is_some() && chosen.iter().skip(place + 1).any(|other| other == column)
    };
    if chosen.iter().enumerate().any(is_twice) { Err(Text::COLUMN_TWICE) } else { Ok(chosen) }
}

/// What the names of the columns say by themselves.
pub(super) fn guessed(table: &Table) -> Vec<Option<Column>> {
    let known = |column: &Column| CHOICES.iter().any(|(own, ..)| own == column);
    table.names.iter().map(|name| Column::named(name).filter(known)).collect()
}

/// The word of a choice in the form.
pub(super) fn word(column: Option<Column>) -> &'static str {
    let choice = CHOICES.iter().find(|(own, ..)| Some(*own) == column);
    choice.map_or("", |(_, word, ..)| word)
}

/// The table with each column under the name of what it holds; the others keep names that mean nothing to the service. Without
/// names of its own, its first row is one of people.
pub(super) fn renamed(
    table: Table,
    columns: &[Option<Column>],
    has_names: bool,
    language: Language,
) -> Table {
    let Table { line, names, mut rows } = table;
    let renamed = names.iter().enumerate().map(|(place, own)| match columns.get(place).copied().flatten() {
        Some(column) => column_name(column, language).to_owned(),
        None if !has_names => format!("({})", place + 1),
        None if Column::named(own).is_some() => format!("({own})"),
        None => own.clone(),
    });
    let renamed = renamed.collect();
    if !has_names {
        let cells = names.into_iter().map(Cell::Text).collect();
        rows.insert(0, Row { line, cells, fault: None });
    }
    Table { line, names: renamed, rows }
}

#[cfg(test)]
mod tests {
    use kopeck_tables::{parse, parse_any, write};

    use super::*;

    #[test]
    fn every_choice_is_the_name_of_its_column() {
        for (column, english, russian, _) in CHOICES {
            assert_eq!((Column::named(english), Column::named(russian)), (Some(column), Some(column)));
            assert_eq!(word(Some(column)), english);
        }
        assert_eq!(word(None), "");
    }

    fn form(choices: &[&str]) -> Pairs {
        let text: Vec<String> =
            choices.iter().enumerate().map(|(place, word)| format!("{}={word}", control(place))).collect();
        Pairs::parse(text.join("&").as_bytes())
    }

    #[test]
    fn a_table_is_read_under_the_chosen_names() {
        let file = "Таб. №;amount;К выплате;Отдел\nT-1;ложь;1 500,50;A\n\nT-2;;20;B\n";
        let table = parse_any(file.as_bytes(), 10).unwrap();
        assert_eq!(guessed(&table), [None, Some(Column::Amount), None, None]);
        let columns = chosen(&form(&["customId", "", "rubles"]), 4).unwrap();
        assert_eq!(columns, [Some(Column::CustomId), None, Some(Column::Roubles), None]);
        for (language, names) in [
            (Language::English, ["customId", "(amount)", "rubles", "Отдел"]),
            (Language::Russian, ["табельный номер", "(amount)", "сумма", "Отдел"]),
        ] {
            let named = renamed(table.clone(), &columns, true, language);
            assert_eq!(named.names, names);
            assert_eq!(parse(&write(&named).unwrap(), 10).unwrap(), named, "lines and values stay");
        }
        let twice = chosen(&form(&["customId", "customId"]), 2);
        assert_eq!(twice, Err(Text::COLUMN_TWICE));
        assert_eq!(chosen(&form(&["nonsense"]), 2), Ok(vec![None, None]));
    }

    #[test]
    fn a_first_row_of_values_is_a_row() {
        let table = parse_any(b"T-1;5;x\nT-2;7;y\n", 10).unwrap();
        let columns = [Some(Column::CustomId), Some(Column::Amount), None];
        let named = renamed(table, &columns, false, Language::English);
        assert_eq!(named.names, ["customId", "amount", "(3)"]);
        let read = parse(&write(&named).unwrap(), 10).unwrap();
        let people: Vec<&str> = read.rows.iter().map(|row| row.cells[0].text()).collect();
        assert_eq!(people, ["T-1", "T-2"]);
    }
}
