//! Whom a programme pays, with their MAIN cards: the same for forecasts, approvals and runs.

use kopeck_domain::card_ref::CardRef;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::money::AmountOverflow;
use kopeck_domain::programme::{ForecastCard, Grant, Terms};
use kopeck_domain::run::RunKind;
use kopeck_port_store::{StoreError, UnitOfWork};

use crate::Env;
use crate::card_refs::{self, FoundCard};

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
    let references: Vec<CardRef> = members.iter().map(|member| CardRef::Employee(member.employee)).collect();
    let found = card_refs::find(unit, partner, &references)?;
    let payee = |(member, found): (_, Result<FoundCard, _>)| {
        let member: kopeck_port_store::Member = member;
        let (found, added_on) = (found.ok()?, env.settings.zone.day(member.created_at));
        let card = ForecastCard { balance: found.view.bank.balance, added_on };
        Some(Payee { found, card })
    };
    Ok(members.into_iter().zip(found).filter_map(payee).collect())
}

pub(super) fn overflow(error: AmountOverflow) -> StoreError {
    StoreError::Corrupt(format!("programmes.terms: {error}"))
}
