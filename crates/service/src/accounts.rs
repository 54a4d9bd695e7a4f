//! The daily refresh of what lies on the cards' accounts at the bank.
//!
//! A card is due when its account was last refreshed on another day of the service's zone, however many days earlier: a
//! clock that jumps over a week makes one refresh, not seven. If it was a later day, the clock was set back since. What was refreshed is stored card by card, so
//! that a process that ends in the middle has lost nothing.

use std::collections::HashMap;
use std::sync::Arc;

use kopeck_domain::calendar::CLOCK_SKEW;
use kopeck_domain::card::AccountBalance;
use kopeck_domain::ids::CardId;
use kopeck_port_bank::BankGateway;
use kopeck_port_store::{Access, AccountDue, Store, StoreError, UnitOfWork, transact};
use time::{Date, Duration};

use crate::Env;

/// How many cards are looked up at a time.
const BATCH: u32 = 100;

/// After so many cards in a row without an answer the bank counts as away, and the round ends.
const MOST_SILENCES: u32 = 5;

/// How long a card that the bank did not answer for is left out, so that those behind it have their turn.
const PAUSE: Duration = Duration::seconds(5);

/// How long a card that the bank does not know is left out.
const UNKNOWN_PAUSE: Duration = Duration::hours(1);

/// More cards than this are not remembered as left out: the bank is away then, and all of them are asked for again.
const MOST_LEFT_OUT: usize = 1_000;

/// How long nothing is looked for after nothing was due. Cards that are issued are refreshed with that, so that
/// hardly any become due within a day.
const QUIET: Duration = Duration::minutes(1);

/// What a round came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshProgress {
    /// There may be more to do at once.
    More,
    /// Nothing is due, or nothing can be done at this moment.
    Idle,
}

/// Refreshes the accounts of all partners' cards, a batch a round.
pub struct AccountRefresher {
    store: Arc<dyn Store>,
    bank: Arc<dyn BankGateway>,
    env: Arc<Env>,
    /// Cards that the bank did not answer for, and when they are asked for again, by the steady time.
    left_out: HashMap<CardId, Duration>,
    /// The day on which nothing was due, and until when that is believed, by the steady time.
    quiet: Option<(Date, Duration)>,
}

impl AccountRefresher {
    /// A refresher over these ports.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, bank: Arc<dyn BankGateway>, env: Arc<Env>) -> Self {
        Self { store, bank, env, left_out: HashMap::new(), quiet: None }
    }

    /// One round: asks the bank for a batch of accounts that are due and stores each. Asks `stopping` before each
    /// call to the bank. Blocks while the bank thinks.
    ///
    /// # Errors
    /// [`StoreError`]; what was stored by then stays.
    pub fn run_once(&mut self, stopping: &dyn Fn() -> bool) -> Result<RefreshProgress, StoreError> {
        let (now, today) = (self.env.clock.steady(), self.env.today());
        if self.quiet.is_some_and(|(day, until)| day == today && now < until) {
            return Ok(RefreshProgress::Idle);
        }
        self.quiet = None;
        self.left_out.retain(|_, until| now < *until);
        let due = self.due(today)?;
        if due.is_empty() {
            // What is left out may come back earlier.
            let back = self.left_out.values().copied().chain([now + QUIET]).min();
            self.quiet = back.map(|until| (today, until));
            return Ok(RefreshProgress::Idle);
        }
        let mut silences = 0;
        for card in due {
            if stopping() || silences == MOST_SILENCES {
                return Ok(RefreshProgress::Idle);
            }
            silences = if self.refresh(card)? { 0 } else { silences + 1 };
        }
        Ok(RefreshProgress::More)
    }

    /// A batch of cards that are due and not left out.
    fn due(&self, today: Date) -> Result<Vec<AccountDue>, StoreError> {
        let midnight = self.env.settings.zone.start_of(today);
        // Another server's clock may show the next day already.
        let day = midnight..midnight + Duration::DAY + CLOCK_SKEW;
        // Those left out may be the longest due of all.
        let limit = BATCH.saturating_add(u32::try_from(self.left_out.len()).unwrap_or(u32::MAX));
        let due = move |unit: &mut dyn UnitOfWork| unit.cards().accounts_due(day.clone(), limit);
        let mut due = transact(&*self.store, Access::Read, due)?;
        due.retain(|card| !self.left_out.contains_key(&card.card));
        Ok(due)
    }

    /// Refreshes one account; answers whether the bank had a word for it.
    fn refresh(&mut self, due: AccountDue) -> Result<bool, StoreError> {
        let AccountDue { partner, card, number } = due;
        let value = match self.bank.card(number) {
            Ok(Some(answer)) => answer.account,
            Ok(None) => {
                log::error!(card:% = card; "the bank does not know a card that it issued");
                self.leave_out(card, UNKNOWN_PAUSE);
                // The bank is there, it only has no such card.
                return Ok(true);
            }
            Err(error) => {
                log::warn!(error:% = error; "an account was not refreshed and is tried again");
                self.leave_out(card, PAUSE);
                return Ok(false);
            }
        };
        let account = AccountBalance { value, updated_at: self.env.now() };
        transact(&*self.store, Access::Write, move |unit| unit.cards().set_account(partner, card, &account))?;
        Ok(true)
    }

    fn leave_out(&mut self, card: CardId, pause: Duration) {
        if self.left_out.len() >= MOST_LEFT_OUT {
            self.left_out.clear();
        }
        self.left_out.insert(card, self.env.clock.steady() + pause);
    }
}

#[cfg(test)]
mod tests;
