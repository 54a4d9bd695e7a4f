//! What is read of a ledger, before it is checked.

use serde::Deserialize;

use super::{Balances, LedgerError, Movement, MovementKind, Reference};
use crate::Kopecks;
use crate::invalid::Invalid;

#[derive(Deserialize)]
pub(super) struct MovementForm {
    kind: MovementKind,
    reference: Reference,
    amount: Kopecks,
}

impl TryFrom<MovementForm> for Movement {
    type Error = LedgerError;

    fn try_from(MovementForm { kind, reference, amount }: MovementForm) -> Result<Self, LedgerError> {
        Self::new(kind, reference, amount)
    }
}

#[derive(Deserialize)]
pub(super) struct BalancesForm {
    deposited: Kopecks,
    available: Kopecks,
    held: Kopecks,
    spent: Kopecks,
}

impl TryFrom<BalancesForm> for Balances {
    type Error = Invalid;

    fn try_from(form: BalancesForm) -> Result<Self, Invalid> {
        let BalancesForm { deposited, available, held, spent } = form;
        if [available, held, spent].into_iter().any(Kopecks::is_negative) {
            return Err(Invalid::new("only DEPOSITED can be below zero"));
        }
        if Kopecks::sum([deposited, available, held, spent]) != Ok(Kopecks::ZERO) {
            return Err(Invalid::new("the accounts must add up to zero"));
        }
        Ok(Self { deposited, available, held, spent })
    }
}
