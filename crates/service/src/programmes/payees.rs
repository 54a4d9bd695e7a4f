//! Whom a programme pays, with their MAIN cards: the same for forecasts, approvals and runs.

use kopeck_domain::ids::PartnerId;
use kopeck_domain::money::AmountOverflow;
use kopeck_domain::programme::{ForecastCard, Grant, Terms};
use kopeck_domain::run::RunKind;
use kopeck_port_store::{Member, StoreError, UnitOfWork};

use crate::Env;
use crate::card_refs::FoundCard;

/// Somebody with a MAIN card.
pub(super) struct Payee {
    /// The card, and who has it.
    pub(super) found: FoundCard,
    /// The same, as far as amounts depend on it.
    pub(super) card: ForecastCard,
}

/// The kind of a programme's runs.
pub(super) const fn kind(terms: &Terms) -> RunKind {
    match terms.fields().grant {
        Grant::Fixed { .. } | Grant::UpTo(_) => RunKind::TopUp,
        Grant::DownTo(_) => RunKind::Withdraw,
    }
}

/// Those whom the terms name now and who have a MAIN card, in the order of their custom identifiers.
pub(super) fn find(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    terms: &Terms,
) -> Result<Vec<Payee>, StoreError> {
    let fields = terms.fields();
    let members = unit.programmes().members(partner, &fields.audience, &fields.statuses)?;
    let payee = |Member { holder, created_at, card }| {
        let (balance, added_on) = (card.bank.balance, env.settings.zone.day(created_at));
        let found = FoundCard { view: card, holder: Some(holder) };
        Payee { found, card: ForecastCard { balance, added_on } }
    };
    Ok(members.into_iter().map(payee).collect())
}

pub(super) fn overflow(error: AmountOverflow) -> StoreError {
    StoreError::Corrupt(format!("programmes.terms: {error}"))
}
