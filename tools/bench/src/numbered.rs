//! Identifiers of what is seeded: sixteen decimal digits, taken as the sixteen bytes of a uuid.
//!
//! So a number names a row everywhere: for the service as a uuid, and for pgbench, which has no other variables than
//! numbers, as a text that PostgreSQL reads as these very bytes. Identifiers are unique within a partner only, as the
//! primary keys have it: each partner's first employee has the same one.

use uuid::Uuid;

/// Partner number `n` has the identifier `PARTNERS + n`, and so have its session and its token pair.
pub(crate) const PARTNERS: u64 = 1_000_000_000_000_000;
/// Employees of a partner, from number 1.
pub(crate) const EMPLOYEES: u64 = 1_000_000_000_000_000;
/// Their MAIN cards.
pub(crate) const MAIN_CARDS: u64 = 2_000_000_000_000_000;
/// Their ADDITIONAL cards.
pub(crate) const ADDITIONAL_CARDS: u64 = 3_000_000_000_000_000;
/// The one order that all cards of a partner came by, and its one limit change.
pub(crate) const REQUEST: u64 = 1_000_000_000_000_000;

/// The identifier that `number` stands for; of sixteen digits.
pub(crate) fn id(number: u64) -> Uuid {
    let mut bytes = [b'0'; 16];
    let mut rest = number;
    for byte in bytes.iter_mut().rev() {
        // A digit fits.
        *byte += u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
    }
    Uuid::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_its_digits() {
        assert_eq!(id(PARTNERS + 7).as_bytes(), b"1000000000000007");
        assert_eq!(id(9_876_543_210_123_456).as_bytes(), b"9876543210123456");
    }
}
