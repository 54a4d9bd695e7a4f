//! What the columns of a table of changes hold, and their names in English and in Russian.

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Column {
    /// The partner's own identifier of an employee.
    CustomId,
    /// The service's identifier of an employee.
    IdEmployee,
    /// The service's identifier of a card.
    IdCard,
    /// The bank's number of a card.
    CustomIdCard,
    /// Kopecks.
    Amount,
    /// Roubles, with kopecks behind a point or comma.
    Roubles,
    /// The product of an order.
    TypeCard,
    /// How many cards are ordered.
    NumberCards,
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
    /// Status of an employee.
    Status,
    /// Name of a category.
    Category,
    /// The service's identifier of a category.
    IdCategory,
}

/// The names of columns, in lower case.
pub const COLUMN_NAMES: &[(&str, Column)] = &[
    ("customid", Column::CustomId),
    ("табельный номер", Column::CustomId),
    ("idemployee", Column::IdEmployee),
    ("idcard", Column::IdCard),
    ("customidcard", Column::CustomIdCard),
    ("номер карты", Column::CustomIdCard),
    ("amount", Column::Amount),
    ("rubles", Column::Roubles),
    ("сумма", Column::Roubles),
    ("typecard", Column::TypeCard),
    ("тип карты", Column::TypeCard),
    ("numbercards", Column::NumberCards),
    ("количество карт", Column::NumberCards),
    ("surname", Column::Surname),
    ("фамилия", Column::Surname),
    ("name", Column::Name),
    ("имя", Column::Name),
    ("patronymic", Column::Patronymic),
    ("отчество", Column::Patronymic),
    ("phone", Column::Phone),
    ("телефон", Column::Phone),
    ("email", Column::Email),
    ("почта", Column::Email),
    ("status", Column::Status),
    ("статус", Column::Status),
    ("category", Column::Category),
    ("категория", Column::Category),
    ("idcategory", Column::IdCategory),
];

impl Column {
    /// The column with this name; letter case and the number of blanks do not matter.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut folded = String::with_capacity(name.len());
        for word in name.split_whitespace() {
            if !folded.is_empty() {
                folded.push(' ');
            }
            folded.push_str(&word.to_lowercase());
        }
        COLUMN_NAMES.iter().find(|(known, _)| *known == folded).map(|(_, column)| *column)
    }

    /// Whether it names a person or a card.
    #[must_use]
    pub const fn is_person(self) -> bool {
        matches!(self, Self::CustomId | Self::IdEmployee | Self::IdCard | Self::CustomIdCard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_that_of_its_column_alone() {
        for (name, column) in COLUMN_NAMES {
            assert_eq!(Column::named(name), Some(*column), "{name}");
            assert_eq!(Column::named(&name.to_uppercase()), Some(*column), "{name}");
        }
    }

    #[test]
    fn letter_case_and_blanks_do_not_matter() {
        for (name, column) in [
            ("CUSTOMID", Some(Column::CustomId)),
            (" Табельный\u{a0} НОМЕР ", Some(Column::CustomId)),
            ("Сумма", Some(Column::Roubles)),
            ("Rubles", Some(Column::Roubles)),
            ("custom id", None),
            ("", None),
        ] {
            assert_eq!(Column::named(name), column, "{name:?}");
        }
    }
}
