//! Names of employees, categories and cards, and their identifiers.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use kopeck_client::{CardFilter, CardRef, CategoryWithCount, Client, EmployeeFilter, Error, Paging, Uuid};
use unicode_normalization::UnicodeNormalization as _;

use crate::failure::Failure;
use crate::pages::LARGEST_PAGE;

/// The most requests in flight.
pub(crate) const AT_ONCE: usize = 8;

/// An employee, by `idEmployee` or by the partner's own `customId`. What looks like a uuid is an `idEmployee`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EmployeeName {
    Id(Uuid),
    CustomId(String),
}

/// A category, by `idCategory` or by its name, letter case aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CategoryName {
    Id(Uuid),
    Name(String),
}

/// A card, by `idCard` or by `customIdCard`, its number on the bank's side.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum CardName {
    Id(Uuid),
    Number(String),
}

/// Reads an identifier of the service.
pub(crate) fn uuid(text: &str) -> Result<Uuid, String> {
    Uuid::try_parse(text).map_err(|_| "must be a uuid".to_owned())
}

impl FromStr for EmployeeName {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Uuid::try_parse(text).map_or_else(|_| Self::CustomId(text.to_owned()), Self::Id))
    }
}

impl FromStr for CategoryName {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::read(text))
    }
}

impl FromStr for CardName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(id) = Uuid::try_parse(text) {
            return Ok(Self::Id(id));
        }
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        if digits && matches!(text.len(), 10 | 13) {
            return Ok(Self::Number(text.to_owned()));
        }
        Err("must be an idCard (a uuid) or a customIdCard (10 or 13 digits)".to_owned())
    }
}

impl fmt::Display for CardName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Number(number) => f.write_str(number),
        }
    }
}

impl EmployeeName {
    pub(crate) async fn resolve(&self, client: &Client) -> Result<Uuid, Failure> {
        let custom_id = match self {
            Self::Id(id) => return Ok(*id),
            Self::CustomId(custom_id) => custom_id,
        };
        let filter = EmployeeFilter { custom_id: Some(custom_id.clone()), ..EmployeeFilter::default() };
        let page = client.employees().list(&filter, Paging::default()).await?;
        let found = page.data.first().map(|employee| employee.id_employee);
        found.ok_or_else(|| {
            Failure::not_found(format!("there is no employee with the customId {custom_id:?}"))
        })
    }
}

impl CategoryName {
    /// A uuid is an `idCategory`.
    pub(crate) fn read(text: &str) -> Self {
        Uuid::try_parse(text).map_or_else(|_| Self::Name(text.trim().to_owned()), Self::Id)
    }

    pub(crate) async fn resolve(&self, client: &Client) -> Result<Uuid, Failure> {
        let name = match self {
            Self::Id(id) => return Ok(*id),
            Self::Name(name) => name,
        };
        let found = Categories::read(client).await?.find(self);
        found.ok_or_else(|| Failure::not_found(format!("there is no category {name:?}")))
    }
}

/// All categories of the partner, to find some by name.
#[derive(Debug, Default)]
pub(crate) struct Categories {
    by_name: HashMap<String, Uuid>,
    /// By what the name looks like: a name pasted from a web page may have no-break spaces.
    by_look: HashMap<String, Uuid>,
}

impl Categories {
    pub(crate) async fn read(client: &Client) -> Result<Self, Error> {
        let all = client.categories().all().per_page(LARGEST_PAGE).collect().await?;
        let mut categories = Self::default();
        for CategoryWithCount { name_category, id_category, .. } in all {
            categories.add(&name_category, id_category);
        }
        Ok(categories)
    }

    /// The identifier, if there is such a category.
    pub(crate) fn find(&self, name: &CategoryName) -> Option<Uuid> {
        match name {
            CategoryName::Id(id) => self.by_name.values().find(|known| *known == id).copied(),
            CategoryName::Name(name) => {
                self.by_name.get(&folded(name)).or_else(|| self.by_look.get(&look(name))).copied()
            }
        }
    }

    pub(crate) fn add(&mut self, name: &str, id: Uuid) {
        self.by_name.insert(folded(name), id);
        self.by_look.entry(look(name)).or_insert(id);
    }
}

/// The look of a name: names of one look are the same to a person, but not to the service.
pub(crate) fn look(name: &str) -> String {
    folded(&plain_blanks(name))
}

/// The name with plain spaces in place of no-break ones and others that look the same.
pub(crate) fn plain_blanks(name: &str) -> String {
    name.trim().chars().map(|c| if c.is_whitespace() && !c.is_control() { ' ' } else { c }).collect()
}

/// The name as the service compares it: names that differ in letter case only are the same name.
fn folded(name: &str) -> String {
    name.nfc().collect::<String>().trim().to_lowercase().nfc().collect()
}

/// The identifier of a card: one request for a number, none for an identifier.
pub(crate) async fn card(client: &Client, name: &CardName) -> Result<Uuid, Failure> {
    let number = match name {
        CardName::Id(id) => return Ok(*id),
        CardName::Number(number) => number,
    };
    let filter = CardFilter { custom_id_card: Some(number.clone()), ..CardFilter::default() };
    let page = client.cards().list(&filter, Paging::default()).await?;
    // A service that does not know the filter lists all cards.
    let found = page.data.iter().find(|card| card.custom_card_id.to_string() == *number);
    let none = || Failure::not_found(format!("no card of yours has the number {number}"));
    found.map(|card| card.id_card).ok_or_else(none)
}

/// As a request for many cards names it.
impl From<CardName> for CardRef {
    fn from(name: CardName) -> Self {
        match name {
            CardName::Id(id) => Self::Id(id),
            CardName::Number(number) => Self::Number(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_an_identifier() {
        let id = "0f8fad5b-d9cb-469f-a165-70867728950e";
        assert!(matches!(id.parse(), Ok(EmployeeName::Id(_))));
        assert_eq!("T-1".parse(), Ok(EmployeeName::CustomId("T-1".to_owned())));
        assert_eq!(" Склад ".parse(), Ok(CategoryName::Name("Склад".to_owned())));
        assert!(matches!(id.parse(), Ok(CardName::Id(_))));
        assert_eq!("0234567890".parse(), Ok(CardName::Number("0234567890".to_owned())));
        assert_eq!((uuid("nope"), uuid(id).is_ok()), (Err("must be a uuid".to_owned()), true));
        for bad in ["", "123", "12345678901", "123456789x"] {
            assert!(bad.parse::<CardName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_category_is_found_whatever_its_letter_case() {
        let mut categories = Categories::default();
        categories.add("Склад", Uuid::from_u128(1));
        assert_eq!(categories.find(&CategoryName::Name("СКЛАД".to_owned())), Some(Uuid::from_u128(1)));
        assert_eq!(folded("И\u{306}од"), folded("ЙОД"), "typed with a combining breve");
        assert_eq!(categories.find(&CategoryName::Id(Uuid::from_u128(1))), Some(Uuid::from_u128(1)));
        assert_eq!(categories.find(&CategoryName::Id(Uuid::from_u128(2))), None);
    }

    #[test]
    fn a_category_is_found_by_its_look_unless_another_has_that_very_name() {
        let named = |name: &str| CategoryName::Name(name.to_owned());
        let mut categories = Categories::default();
        categories.add("Отдел\u{a0}кадров", Uuid::from_u128(1));
        assert_eq!(categories.find(&named("отдел кадров")), Some(Uuid::from_u128(1)));
        categories.add("Отдел кадров", Uuid::from_u128(2));
        assert_eq!(categories.find(&named("ОТДЕЛ кадров")), Some(Uuid::from_u128(2)));
        assert_eq!(categories.find(&named("отдел\u{a0}кадров")), Some(Uuid::from_u128(1)));
        assert_eq!(categories.find(&named("отдел\u{202f}кадров")), Some(Uuid::from_u128(1)));
    }
}
