//! Between the domain's values and columns. A stored value that the domain does not allow is
//! [`StoreError::Corrupt`], naming the column and never the value.

use std::str::FromStr;

use kopeck_domain::card_number::CardNumber;
use kopeck_port_store::StoreError;
use uuid::Uuid;

use crate::sql_types::Id;

/// Identifiers of the domain.
pub(crate) trait AsKey: Copy + Into<Uuid> {
    fn key(&self) -> Id {
        Id((*self).into())
    }
}

impl<T: Copy + Into<Uuid>> AsKey for T {}

pub(crate) fn corrupt(column: &'static str) -> StoreError {
    StoreError::Corrupt(column.to_owned())
}

/// A digest or a key's name, which have a fixed length.
pub(crate) fn fixed<const N: usize>(bytes: Vec<u8>, column: &'static str) -> Result<[u8; N], StoreError> {
    bytes.try_into().map_err(|_| corrupt(column))
}

/// A number that is never negative: a count, a place in a list, its length.
pub(crate) fn natural<T: TryFrom<i64>>(value: i64, column: &'static str) -> Result<T, StoreError> {
    value.try_into().map_err(|_| corrupt(column))
}

/// A text that the domain parses, such as an enum value.
pub(crate) fn word<T: FromStr>(text: &str, column: &'static str) -> Result<T, StoreError> {
    text.parse().map_err(|_| corrupt(column))
}

pub(crate) fn card_number(value: i64, column: &'static str) -> Result<CardNumber, StoreError> {
    CardNumber::from_u64(natural(value, column)?).map_err(|_| corrupt(column))
}

/// The number's column; thirteen digits always fit.
pub(crate) fn number(number: CardNumber) -> i64 {
    number.get().cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kopeck_domain::card::Standing;

    #[test]
    fn values_outside_of_the_domain_are_corrupt() {
        let refused = StoreError::Corrupt("t.c".to_owned());
        assert_eq!(fixed::<8>(vec![0; 9], "t.c"), Err(refused.clone()));
        assert_eq!(natural::<u32>(-1, "t.c"), Err(refused.clone()));
        assert_eq!(natural::<u32>(1 << 32, "t.c"), Err(refused.clone()));
        assert_eq!(natural::<u64>(-1, "t.c"), Err(refused.clone()));
        assert_eq!(word::<Standing>("open", "t.c"), Err(refused.clone()));
        assert_eq!(card_number(-1, "t.c"), Err(refused.clone()));
        assert_eq!(card_number(4_006_381_333_932, "t.c"), Err(refused));
    }
}
