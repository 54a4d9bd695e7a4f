//! The ledger.

use std::ops::Range;

use kopeck_domain::Kopecks;
use kopeck_domain::closing::Closings;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::{Account, Balances, Movement, MovementKind, Reference, TransferReference};
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::request::RequestReference;
use kopeck_domain::withdrawal::Withdrawals;
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{
    BalanceSheet, BookedMovement, KindTotal, LedgerRepository, MovementRepository, Rule, StoreError,
};
use time::OffsetDateTime;

use super::reconciliation::sum;
use super::{State, Unit, page_of};

#[derive(Clone)]
pub(super) struct AccountsRow {
    pub(super) partner: PartnerId,
    sheet: BalanceSheet,
}

#[derive(Clone)]
pub(super) struct MovementRow {
    pub(super) partner: PartnerId,
    /// Counts the partner's movements, from 1.
    pub(super) number: i64,
    pub(super) movement: Movement,
    at: OffsetDateTime,
    pub(super) after: Balances,
}

impl AccountsRow {
    /// The accounts of a new partner.
    pub(super) fn empty(partner: PartnerId, at: OffsetDateTime) -> Self {
        let sheet = BalanceSheet { balances: Balances::default(), updated_at: at, threshold: Kopecks::ZERO };
        Self { partner, sheet }
    }

    pub(super) fn held(&self) -> Kopecks {
        self.sheet.balances.held
    }
}

impl State {
    pub(super) fn movements_of(&self, partner: PartnerId) -> impl Iterator<Item = &MovementRow> {
        self.movements.iter().filter(move |row| row.partner == partner)
    }

    fn transferred(
        &self,
        partner: PartnerId,
        kind: MovementKind,
        reference: &TransferReference,
    ) -> Option<Kopecks> {
        let transfer = |row: &&MovementRow| {
            row.movement.kind() == kind && *row.movement.reference() == Reference::Transfer(reference.clone())
        };
        self.movements_of(partner).find(transfer).map(|row| row.movement.amount())
    }

    /// The constraints on a movement.
    fn check_movement(&self, partner: PartnerId, movement: &Movement) -> Result<(), StoreError> {
        let known = match movement.reference() {
            Reference::Transfer(reference) => {
                if self.transferred(partner, movement.kind(), reference).is_some() {
                    return Err(StoreError::Conflict(Rule::TransferReference));
                }
                true
            }
            Reference::Order(id) => {
                self.orders.iter().any(|row| row.partner == partner && row.order.id() == *id)
            }
            Reference::Replenishment(id) => self.batch::<TopUps>(partner, *id).is_some(),
            Reference::Closing(id) => self.batch::<Closings>(partner, *id).is_some(),
            Reference::Withdrawal(id) => self.batch::<Withdrawals>(partner, *id).is_some(),
        };
        if known { Ok(()) } else { Err(StoreError::Conflict(Rule::Reference)) }
    }
}

/// The constraints on balances.
fn check_balances(balances: Balances) -> Result<(), StoreError> {
    let sum = Kopecks::sum(Account::ALL.iter().map(|account| balances.on(*account)));
    let signs = !balances.deposited.is_positive()
        && [balances.available, balances.held, balances.spent].iter().all(|balance| !balance.is_negative());
    if sum == Ok(Kopecks::ZERO) && signs {
        Ok(())
    } else {
        Err(StoreError::Failed("balances that cannot be were to be stored".to_owned()))
    }
}

impl LedgerRepository for Unit {
    fn sheet(&mut self, partner: PartnerId) -> Result<Option<BalanceSheet>, StoreError> {
        Ok(self.state.accounts.iter().find(|row| row.partner == partner).map(|row| row.sheet))
    }

    fn book(
        &mut self,
        partner: PartnerId,
        movement: &Movement,
        after: Balances,
        at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let state = self.writing()?;
        state.known_partner(partner)?;
        state.check_movement(partner, movement)?;
        check_balances(after)?;
        let number = state.movements_of(partner).map(|row| row.number).max().unwrap_or(0) + 1;
        state.movements.push(MovementRow { partner, number, movement: movement.clone(), at, after });
        for row in state.accounts.iter_mut().filter(|row| row.partner == partner) {
            row.sheet = BalanceSheet { balances: after, updated_at: at, ..row.sheet };
        }
        Ok(())
    }

    fn set_threshold(&mut self, partner: PartnerId, threshold: Kopecks) -> Result<(), StoreError> {
        for row in self.writing()?.accounts.iter_mut().filter(|row| row.partner == partner) {
            row.sheet.threshold = threshold;
        }
        Ok(())
    }

    fn transferred(
        &mut self,
        partner: PartnerId,
        kind: MovementKind,
        reference: &TransferReference,
    ) -> Result<Option<Kopecks>, StoreError> {
        Ok(self.state.transferred(partner, kind, reference))
    }
}

impl State {
    /// What the partner calls the request of a movement.
    fn request_reference(&self, row: &MovementRow) -> Option<RequestReference> {
        match row.movement.reference() {
            Reference::Order(id) => {
                let order =
                    self.orders.iter().find(|order| order.partner == row.partner && order.order.id() == *id);
                order.and_then(|order| order.order.reference().cloned())
            }
            Reference::Replenishment(id) => {
                self.batch::<TopUps>(row.partner, *id).and_then(|row| row.batch.reference().cloned())
            }
            Reference::Closing(id) => {
                self.batch::<Closings>(row.partner, *id).and_then(|row| row.batch.reference().cloned())
            }
            Reference::Withdrawal(id) => {
                self.batch::<Withdrawals>(row.partner, *id).and_then(|row| row.batch.reference().cloned())
            }
            Reference::Transfer(_) => None,
        }
    }

    fn booked(&self, partner: PartnerId, numbers: Range<i64>) -> impl Iterator<Item = BookedMovement> {
        let rows = self.movements_of(partner).filter(move |row| numbers.contains(&row.number));
        rows.map(|row| BookedMovement {
            number: row.number,
            movement: row.movement.clone(),
            request_reference: self.request_reference(row),
            booked_at: row.at,
            available: row.after.available,
            held: row.after.held,
        })
    }
}

impl MovementRepository for Unit {
    fn last(&mut self, partner: PartnerId) -> Result<i64, StoreError> {
        Ok(self.state.movements_of(partner).map(|row| row.number).max().unwrap_or(0))
    }

    fn first_since(&mut self, partner: PartnerId, moment: OffsetDateTime) -> Result<Option<i64>, StoreError> {
        Ok(self.state.movements_of(partner).filter(|row| row.at >= moment).map(|row| row.number).min())
    }

    fn first_within(
        &mut self,
        partner: PartnerId,
        numbers: Range<i64>,
        moment: OffsetDateTime,
    ) -> Result<Option<i64>, StoreError> {
        let mut booked = self.state.booked(partner, numbers);
        Ok(booked.find(|one| one.booked_at >= moment).map(|one| one.number))
    }

    fn totals(&mut self, partner: PartnerId, numbers: Range<i64>) -> Result<Vec<KindTotal>, StoreError> {
        let mut totals = Vec::new();
        for kind in MovementKind::ALL {
            let of_kind =
                self.state.booked(partner, numbers.clone()).filter(|one| one.movement.kind() == *kind);
            let amounts: Vec<Kopecks> = of_kind.map(|one| one.movement.amount()).collect();
            if !amounts.is_empty() {
                let number = amounts.len() as u64;
                totals.push(KindTotal { kind: *kind, number, amount: sum(amounts)? });
            }
        }
        Ok(totals)
    }

    fn range(&mut self, partner: PartnerId, numbers: Range<i64>) -> Result<Vec<BookedMovement>, StoreError> {
        Ok(self.state.booked(partner, numbers).collect())
    }

    fn of_kind(
        &mut self,
        partner: PartnerId,
        kind: MovementKind,
        numbers: Range<i64>,
        page: Page,
    ) -> Result<Listed<BookedMovement>, StoreError> {
        let all = self.state.booked(partner, numbers);
        Ok(page_of(all.filter(|booked| booked.movement.kind() == kind).collect(), page))
    }
}
