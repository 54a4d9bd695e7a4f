//! Sums over the whole books of a partner. Every figure is added up from the rows it is made of.

use std::collections::BTreeMap;
use std::ops::Range;

use kopeck_domain::Kopecks;
use kopeck_domain::card::CardStatus;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::ids::{CardId, EmployeeId, PartnerId};
use kopeck_domain::ledger::{Account, Balances, Reference};
use kopeck_domain::transaction::Transaction;
use kopeck_port_store::{OrderFacts, ReconciliationRepository, ReferenceSums, StoreError, Subject};
use time::OffsetDateTime;

use super::cards::cards_by_order;
use super::{State, Unit, amount};

impl State {
    /// Sum of the entries on `account` among those that `wanted` lets through.
    fn entries_on(
        &self,
        partner: PartnerId,
        account: Account,
        wanted: impl Fn(&Reference) -> bool,
    ) -> Result<Kopecks, StoreError> {
        let movements = self.movements_of(partner).filter(|row| wanted(row.movement.reference()));
        let entries = movements.flat_map(|row| row.movement.entries());
        sum(entries.filter(|entry| entry.account == account).map(|entry| entry.amount))
    }
}

pub(super) fn sum(amounts: impl IntoIterator<Item = Kopecks>) -> Result<Kopecks, StoreError> {
    Kopecks::sum(amounts).map_err(|overflow| StoreError::Corrupt(format!("entries.amount: {overflow}")))
}

impl ReconciliationRepository for Unit {
    fn entry_sums(&mut self, partner: PartnerId) -> Result<Balances, StoreError> {
        let on = |account| self.state.entries_on(partner, account, |_| true);
        Ok(Balances {
            deposited: on(Account::Deposited)?,
            available: on(Account::Available)?,
            held: on(Account::Held)?,
            spent: on(Account::Spent)?,
        })
    }

    fn unbalanced_movements(&mut self, partner: PartnerId) -> Result<Vec<i64>, StoreError> {
        let mut unbalanced = Vec::new();
        for row in self.state.movements_of(partner) {
            if sum(row.movement.entries().map(|entry| entry.amount))? != Kopecks::ZERO {
                unbalanced.push(row.number);
            }
        }
        Ok(unbalanced)
    }

    fn wrong_balances_after(&mut self, partner: PartnerId) -> Result<Vec<i64>, StoreError> {
        let (mut sums, mut wrong) = (Balances::default(), Vec::new());
        for row in self.state.movements_of(partner) {
            for entry in row.movement.entries() {
                match entry.account {
                    Account::Available => sums.available = sum([sums.available, entry.amount])?,
                    Account::Held => sums.held = sum([sums.held, entry.amount])?,
                    Account::Deposited | Account::Spent => {}
                }
            }
            if (row.after.available, row.after.held) != (sums.available, sums.held) {
                wrong.push(row.number);
            }
        }
        Ok(wrong)
    }

    fn reference_sums(&mut self, partner: PartnerId) -> Result<Vec<ReferenceSums>, StoreError> {
        let mut references: Vec<&Reference> = Vec::new();
        for row in self.state.movements_of(partner) {
            if !references.contains(&row.movement.reference()) {
                references.push(row.movement.reference());
            }
        }
        let mut sums = Vec::new();
        for reference in references {
            let on = |account| self.state.entries_on(partner, account, |other| other == reference);
            let (held, spent) = (on(Account::Held)?, on(Account::Spent)?);
            if (held, spent) != (Kopecks::ZERO, Kopecks::ZERO) {
                sums.push(ReferenceSums { reference: reference.clone(), held, spent });
            }
        }
        Ok(sums)
    }

    fn orders(&mut self, partner: PartnerId) -> Result<Vec<OrderFacts>, StoreError> {
        let cards = cards_by_order(&self.state, partner);
        let own = self.state.orders.iter().filter(|row| row.partner == partner).map(|row| &row.order);
        let facts = own.map(|order| OrderFacts {
            id: order.id(),
            state: order.state(),
            cost: order.cost(),
            cards: order.cards(),
            stored_cards: cards.get(&order.id()).copied().unwrap_or(0),
            has_job: self.state.has_work(partner, Subject::Order(order.id())),
        });
        Ok(facts.collect())
    }

    fn held_by_all(&mut self) -> Result<Kopecks, StoreError> {
        sum(self.state.accounts.iter().map(|row| row.held()))
    }

    fn employees_with_two_main_cards(&mut self, partner: PartnerId) -> Result<Vec<EmployeeId>, StoreError> {
        let mut main_cards: BTreeMap<EmployeeId, u32> = BTreeMap::new();
        let links = self.state.cards_of(partner).filter_map(|row| row.record.card.link());
        for link in links.filter(|link| link.status == CardStatus::Main) {
            *main_cards.entry(link.employee).or_default() += 1;
        }
        Ok(main_cards.into_iter().filter(|(_, cards)| *cards > 1).map(|(employee, _)| employee).collect())
    }

    fn cards(
        &mut self,
        after: Option<CardNumber>,
        limit: u32,
    ) -> Result<Vec<(CardNumber, PartnerId, CardId)>, StoreError> {
        let mut cards: Vec<_> = self
            .state
            .cards
            .iter()
            .map(|row| (row.record.card.number(), row.partner, row.record.card.id()))
            .filter(|(number, ..)| after.is_none_or(|after| *number > after))
            .collect();
        cards.sort_by_key(|(number, ..)| *number);
        cards.truncate(amount(limit));
        Ok(cards)
    }

    fn transactions(
        &mut self,
        partner: PartnerId,
        cards: &[CardId],
        period: &Range<OffsetDateTime>,
    ) -> Result<Vec<(CardId, Transaction)>, StoreError> {
        let of_card = |card: &CardId| {
            let card = *card;
            let within = self.state.transactions_of(partner, card);
            let within = within.filter(|one| period.contains(&one.executed_at)).cloned();
            within.map(move |one| (card, one)).collect::<Vec<_>>()
        };
        Ok(cards.iter().flat_map(of_card).collect())
    }

    fn transaction(
        &mut self,
        partner: PartnerId,
        card: CardId,
        id: i64,
    ) -> Result<Option<Transaction>, StoreError> {
        Ok(self.state.transactions_of(partner, card).find(|one| one.id == id).cloned())
    }
}
