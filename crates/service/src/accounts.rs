//! The daily refresh of cards from the bank: account balances, and whatever else the service has not learned of since.
//!
//! A card is due if its account was last refreshed on another day of the service's zone, however many days earlier: a
//! clock that jumps over a week causes one refresh, not seven. A later day means that the clock was set back since.
//! Each refresh is one unit of work, so that a process that ends half-way loses nothing.

use std::collections::HashMap;
use std::sync::Arc;

use kopeck_domain::calendar::CLOCK_SKEW;
use kopeck_domain::card::AccountBalance;
use kopeck_domain::ids::CardId;
use kopeck_port_bank::BankGateway;
use kopeck_port_store::{Access, AccountDue, Store, StoreError, UnitOfWork, transact};
use time::{Date, Duration};

use crate::cards::FetchError;
use crate::{Env, Progress, cards, transactions};

/// Cards per batch.
const BATCH: u32 = 100;

/// After this many cards in a row without a response the bank counts as unavailable, and the round ends.
const MOST_SILENCES: u32 = 5;

/// How long a card without a response is skipped, so that the cards behind it come next.
const PAUSE: Duration = Duration::seconds(5);

/// How long a card is skipped that the bank does not know.
const UNKNOWN_PAUSE: Duration = Duration::hours(1);

/// The most skipped cards. Beyond that the bank is unavailable, and all of them are tried again.
const MOST_LEFT_OUT: usize = 1_000;

/// The pause after a round without due cards. Hardly any become due within a day, since issued cards are fresh.
const QUIET: Duration = Duration::minutes(1);

/// Refreshes all partners' cards, one batch per round.
pub struct AccountRefresher {
    store: Arc<dyn Store>,
    bank: Arc<dyn BankGateway>,
    env: Arc<Env>,
    /// Skipped cards, and the end of their pause by the monotonic time.
    left_out: HashMap<CardId, Duration>,
    /// The day without due cards, and the end of the pause by the monotonic time.
    quiet: Option<(Date, Duration)>,
}

impl AccountRefresher {
    /// A refresher over these ports.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, bank: Arc<dyn BankGateway>, env: Arc<Env>) -> Self {
        Self { store, bank, env, left_out: HashMap::new(), quiet: None }
    }

    /// Refreshes a batch of due accounts from the bank and stores each. Checks `stopping` before each bank request.
    /// Blocks during bank requests.
    ///
    /// # Errors
    /// [`StoreError`]; accounts stored by then stay.
    pub fn run_once(&mut self, stopping: &dyn Fn() -> bool) -> Result<Progress, StoreError> {
        let (now, today) = (self.env.clock.steady(), self.env.today());
        if self.quiet.is_some_and(|(day, until)| day == today && now < until) {
            return Ok(Progress::Idle);
        }
        self.quiet = None;
        self.left_out.retain(|_, until| now < *until);
        let due = self.due(today)?;
        if due.is_empty() {
            // The pause of a skipped card may end earlier.
            let back = self.left_out.values().copied().chain([now + QUIET]).min();
            self.quiet = back.map(|until| (today, until));
            return Ok(Progress::Idle);
        }
        let mut silences = 0;
        for card in due {
            if stopping() || silences == MOST_SILENCES {
                return Ok(Progress::Idle);
            }
            silences = if self.refresh(card)? { 0 } else { silences + 1 };
        }
        Ok(Progress::More)
    }

    /// A batch of due cards, without the skipped ones.
    fn due(&self, today: Date) -> Result<Vec<AccountDue>, StoreError> {
        let midnight = self.env.settings.zone.start_of(today);
        // Another server's clock may already show the next day.
        let day = midnight..midnight + Duration::DAY + CLOCK_SKEW;
        // The skipped cards may be the longest due of all.
        let limit = BATCH.saturating_add(u32::try_from(self.left_out.len()).unwrap_or(u32::MAX));
        let due = move |unit: &mut dyn UnitOfWork| {
            // What the bank's feed did not tell is to be found out card by card.
            let forgotten_at = unit.bank_feed().state()?.forgotten_at;
            let start = forgotten_at.map_or(day.start, |at| at.clamp(day.start, day.end));
            unit.cards().accounts_due(start..day.end, limit)
        };
        let mut due = transact(&*self.store, Access::Read, due)?;
        due.retain(|card| !self.left_out.contains_key(&card.card));
        Ok(due)
    }

    /// Refreshes one account; returns whether the bank responded.
    fn refresh(&mut self, due: AccountDue) -> Result<bool, StoreError> {
        let AccountDue { partner, card, number } = due;
        let asked_at = self.env.now();
        let answer = match self.bank.card(number) {
            Ok(Some(answer)) => answer,
            Ok(None) => {
                log::error!(card:% = card; "the bank does not know a card that it issued");
                self.leave_out(card, UNKNOWN_PAUSE);
                // The bank is available and has no such card.
                return Ok(true);
            }
            Err(error) => {
                log::debug!(error:% = error; "an account was not refreshed: retrying later");
                self.leave_out(card, PAUSE);
                return Ok(false);
            }
        };
        let Some(copy) = transactions::stored(&*self.store, partner, card)? else { return Ok(true) };
        match transactions::fetch(&*self.store, &*self.bank, &self.env, partner, copy) {
            Ok(()) => {}
            Err(FetchError::Store(error)) => return Err(error),
            Err(FetchError::Bank(error)) => {
                log::debug!(error:% = error; "the transactions of a card were not refreshed: retrying later");
                self.leave_out(card, PAUSE);
                return Ok(false);
            }
        }
        let account = AccountBalance { value: answer.account, updated_at: self.env.now() };
        let (env, view) = (Arc::clone(&self.env), cards::view_of(&answer, asked_at));
        transact(&*self.store, Access::Write, move |unit| {
            cards::store_view(unit, &env, partner, card, &view, answer.valid_until)?;
            unit.cards().set_account(partner, card, &account)
        })?;
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
