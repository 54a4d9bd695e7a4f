//! The names of columns, in English and in Russian.

/// What a column says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Column {
    /// The partner's own identifier of an employee.
    CustomId,
    /// The service's identifier of an employee.
    IdEmployee,
    /// The identifier of a card.
    IdCard,
    /// The number of a card.
    CustomIdCard,
    /// An amount in kopecks.
    Amount,
    /// An amount in roubles.
    Roubles,
    /// Family name.
    Surname,
    /// Given name.
    Name,
    /// Patronymic.
    Patronymic,
    /// Phone.
    Phone,
    /// E-mail.
    Email,
    /// The status of an employee.
    Status,
    /// The name of a category.
    Category,
    /// The identifier of a category.
    IdCategory,
    /// The type of cards to order.
    TypeCard,
    /// How many cards to order.
    NumberCards,
}

/// Each column with the field that it fills, and its other names, in small letters.
const NAMES: [(Column, &str, &[&str]); 16] = [
    (Column::CustomId, "customId", &["табельный номер"]),
    (Column::IdEmployee, "idEmployee", &[]),
    (Column::IdCard, "idCard", &[]),
    (Column::CustomIdCard, "customIdCard", &["номер карты"]),
    (Column::Amount, "amount", &[]),
    // An amount is one field, whatever its unit.
    (Column::Roubles, "amount", &["сумма", "rubles"]),
    (Column::Surname, "surname", &["фамилия"]),
    (Column::Name, "name", &["имя"]),
    (Column::Patronymic, "patronymic", &["отчество"]),
    (Column::Phone, "phone", &["телефон"]),
    (Column::Email, "email", &["почта"]),
    (Column::Status, "status", &["статус"]),
    (Column::Category, "category", &["категория"]),
    (Column::IdCategory, "idCategory", &[]),
    (Column::TypeCard, "typeCard", &["тип карты"]),
    (Column::NumberCards, "numberCards", &["количество карт"]),
];

impl Column {
    /// The name of the field that it fills.
    #[must_use]
    pub fn field(self) -> &'static str {
        NAMES.iter().find(|(column, ..)| *column == self).map_or("", |(_, field, _)| field)
    }

    /// The names that the column can have in a file; letter case and the number of blanks do not matter.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let known = NAMES.iter().filter(move |(column, ..)| *column == self);
        known.flat_map(|(column, field, others)| {
            // A column of that name is in kopecks.
            let own = (*column != Self::Roubles).then_some(*field);
            own.into_iter().chain(others.iter().copied())
        })
    }

    /// The column with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let name = folded(name);
        let columns = NAMES.iter().map(|(column, ..)| *column);
        columns.into_iter().find(|column| column.names().any(|known| folded(known) == name))
    }
}

/// A name in small letters, with single blanks.
fn folded(name: &str) -> String {
    name.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_that_of_its_column_alone() {
        for (column, field, _) in NAMES {
            assert_eq!(column.field(), field);
            assert!(column.names().next().is_some());
            for name in column.names() {
                assert_eq!(Column::named(name), Some(column), "{name}");
            }
        }
    }

    #[test]
    fn letter_case_and_blanks_do_not_matter() {
        for (name, column) in [
            ("CUSTOMID", Some(Column::CustomId)),
            (" Табельный\u{a0} НОМЕР ", Some(Column::CustomId)),
            ("Сумма", Some(Column::Roubles)),
            ("Rubles", Some(Column::Roubles)),
            ("amount", Some(Column::Amount)),
            ("custom id", None),
            ("", None),
        ] {
            assert_eq!(Column::named(name), column, "{name:?}");
        }
    }
}
