//! The partner's balance.

use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{BalanceSheet, StoreError, UnitOfWork};

/// The partner's present balances.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn get(unit: &mut dyn UnitOfWork, partner: PartnerId) -> Result<BalanceSheet, StoreError> {
    unit.ledger().sheet(partner)?.ok_or_else(crate::money::no_accounts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use kopeck_port_store::mock::MockUnit;

    #[test]
    fn a_partner_has_its_own_accounts_from_the_beginning() {
        let mut unit = MockUnit::default();
        unit.ledger.expect_sheet().withf(|id| *id == PARTNER).times(1).returning(|_| Ok(Some(sheet(3, 4))));
        assert_eq!(get(&mut unit, PARTNER), Ok(sheet(3, 4)));
        let mut unit = MockUnit::default();
        unit.ledger.expect_sheet().returning(|_| Ok(None));
        assert!(matches!(get(&mut unit, PARTNER), Err(StoreError::Corrupt(_))));
    }
}
