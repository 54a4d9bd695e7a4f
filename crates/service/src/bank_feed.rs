//! Follows the bank's feed, and tells partners of it: transactions, declined purchases, changes of cards, and their expiry.
//!
//! An entry is a hint, not the truth: it may come twice, late, or never. What counts is what the books make of it.
//!
//! - A transaction is stored once, by its id. One whose predecessor is not the last that is stored makes the follower read the
//!   card's list.
//! - For any other change the follower reads the card; an event is the difference between two views.
//! - A declined purchase leaves no trace but its event, so the number of its entry is stored with it, as long as the entry can be
//!   read again. Who still has a page that others have passed long ago records none of it.
//!
//! Each of these is decided in the transaction of the event, so that it does not matter who else learns the same. One process
//! follows at a time, to spare the bank.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kopeck_domain::calendar::CLOCK_SKEW;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::event::{CardDeclined, DeclinedPurchase, EventData};
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::transaction::Transaction;
use kopeck_port_bank::{BankGateway, FeedChange, FeedEntry, FeedError, LATE_ENTRIES};
use kopeck_port_store::{Access, CardRecord, Store, StoreError, UnitOfWork, transact};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::cards::FetchError;
use crate::{Env, Progress, cards, events, transactions};

/// Entries of a request; more than are read again.
const PAGE: u32 = 1_000;
const _: () = assert!(PAGE as i64 > LATE_ENTRIES);

/// Entries of a unit of work: few, so that the partner's own requests come in between.
const ENTRIES_OF_A_UNIT: usize = 50;

/// Expiries of a round.
const EXPIRIES: u32 = 100;

/// How long a process is alone with the feed after its last word.
const LEASE: Duration = Duration::seconds(15);

/// How long the bank is left alone after a failure.
const AFTER_FAILURE: Duration = Duration::seconds(5);

/// How long a bank without a feed is not asked for one.
const WITHOUT_FEED: Duration = Duration::minutes(10);

/// How long an entry waits for its card, which an order is about to bring.
const LONGEST_WAIT: Duration = Duration::minutes(10);

/// Follows the feed, a page at a time.
pub struct BankFeedFollower {
    store: Arc<dyn Store>,
    bank: Arc<dyn BankGateway>,
    env: Arc<Env>,
    /// Names this process in the lease.
    process: Uuid,
    place: Option<Place>,
    /// Until when the bank is left alone, by the monotonic time.
    resting: Option<Duration>,
}

/// The place of a process that holds the lease.
struct Place {
    cursor: i64,
    /// The end of the lease.
    until: OffsetDateTime,
    /// Numbers that were read, as far as they are read again.
    read: BTreeSet<i64>,
    /// The least number that the bank has, as far as is known.
    oldest: i64,
}

/// An entry of a card of the service.
type OwnEntry = (CardId, FeedEntry);

/// Entries by partner, and the number of the first entry whose card may still come with an order.
type Sorted = (BTreeMap<PartnerId, Vec<OwnEntry>>, Option<i64>);

/// Cards to query at the bank.
#[derive(Default)]
struct ToFetch {
    views: BTreeSet<CardId>,
    transactions: BTreeSet<CardId>,
}

impl BankFeedFollower {
    /// A follower over these ports.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, bank: Arc<dyn BankGateway>, env: Arc<Env>, process: Uuid) -> Self {
        Self { store, bank, env, process, place: None, resting: None }
    }

    /// Appends the events of expiries that are due, and follows the feed by a page. Blocks during bank requests; checks `stopping`
    /// before each.
    ///
    /// # Errors
    /// [`StoreError`]; what was stored by then stays, and the page is read again.
    pub fn run_once(&mut self, stopping: &dyn Fn() -> bool) -> Result<Progress, StoreError> {
        if !self.hold()? {
            return Ok(Progress::Idle);
        }
        if self.append_expiry_events()? == Progress::More {
            return Ok(Progress::More);
        }
        if self.resting.is_some_and(|until| self.env.clock.steady() < until) {
            return Ok(Progress::Idle);
        }
        let Some(place) = &self.place else { return Ok(Progress::Idle) };
        let after = (place.cursor - LATE_ENTRIES).max(place.oldest - 1).max(0);
        match self.bank.feed(after, PAGE) {
            Ok(entries) => self.follow(entries, stopping),
            Err(FeedError::Forgotten { oldest }) => self.skip_to(oldest),
            Err(FeedError::NotSupported) => {
                log::info!("the bank has no feed: its news come with the daily refresh");
                Ok(self.rest(WITHOUT_FEED))
            }
            Err(FeedError::Bank(error)) => {
                log::debug!(error:% = error; "the bank's feed was not read");
                Ok(self.rest(AFTER_FAILURE))
            }
        }
    }

    /// Lets another process follow.
    ///
    /// # Errors
    /// [`StoreError`]; then the lease expires.
    pub fn release(&mut self) -> Result<(), StoreError> {
        if self.place.take().is_none() {
            return Ok(());
        }
        let process = self.process;
        transact(&*self.store, Access::Write, move |unit| {
            let mut state = unit.bank_feed().state()?;
            state.lease = state.lease.filter(|(owner, _)| *owner != process);
            unit.bank_feed().set_state(&state)
        })
    }

    fn rest(&mut self, pause: Duration) -> Progress {
        self.resting = Some(self.env.clock.steady() + pause);
        Progress::Idle
    }

    /// Takes or renews the lease; returns whether this process has it.
    fn hold(&mut self) -> Result<bool, StoreError> {
        let (now, process) = (self.env.now(), self.process);
        let is_fresh = |place: &Place| (LEASE / 2..=LEASE).contains(&(place.until - now));
        if self.place.as_ref().is_some_and(is_fresh) {
            return Ok(true);
        }
        let is_free = move |lease: Option<(Uuid, OffsetDateTime)>| {
            lease.is_none_or(|(owner, until)| {
                owner == process || until <= now || until > now + LEASE + CLOCK_SKEW
            })
        };
        let held = move |unit: &mut dyn UnitOfWork| -> Result<_, StoreError> {
            Ok(is_free(unit.bank_feed().state()?.lease))
        };
        let until = now + LEASE;
        let take = move |unit: &mut dyn UnitOfWork| -> Result<_, StoreError> {
            let mut state = unit.bank_feed().state()?;
            if !is_free(state.lease) {
                return Ok(None);
            }
            state.lease = Some((process, until));
            unit.bank_feed().set_state(&state)?;
            Ok(Some(state.cursor))
        };
        // A look first, so that the others do not write.
        let cursor = if transact(&*self.store, Access::Read, held)? {
            transact(&*self.store, Access::Write, take)?
        } else {
            None
        };
        self.place = match (cursor, self.place.take()) {
            (Some(cursor), Some(place)) if place.cursor == cursor => Some(Place { until, ..place }),
            (Some(cursor), _) => Some(Place { cursor, until, read: BTreeSet::new(), oldest: 0 }),
            (None, _) => None,
        };
        Ok(self.place.is_some())
    }

    /// Appends the events of expiries that are due by now.
    fn append_expiry_events(&self) -> Result<Progress, StoreError> {
        let today = self.env.today();
        let due =
            transact(&*self.store, Access::Read, move |unit| unit.cards().expiries_due(today, EXPIRIES))?;
        let is_full = due.len() >= EXPIRIES as usize;
        let mut by_partner: BTreeMap<PartnerId, Vec<CardId>> = BTreeMap::new();
        for (partner, card) in due {
            by_partner.entry(partner).or_default().push(card);
        }
        for (partner, cards) in by_partner {
            let env = Arc::clone(&self.env);
            transact(&*self.store, Access::Write, move |unit| -> Result<(), StoreError> {
                for card in &cards {
                    append_expiry_event(unit, &env, partner, *card)?;
                }
                Ok(())
            })?;
        }
        Ok(if is_full { Progress::More } else { Progress::Idle })
    }

    /// Records what a page tells.
    fn follow(
        &mut self,
        entries: Vec<FeedEntry>,
        stopping: &dyn Fn() -> bool,
    ) -> Result<Progress, StoreError> {
        let Some(place) = &self.place else { return Ok(Progress::Idle) };
        let is_full = entries.len() >= PAGE as usize;
        let news: Vec<FeedEntry> =
            entries.into_iter().filter(|entry| !place.read.contains(&entry.seq)).collect();
        let Some(last) = news.last().map(|entry| entry.seq) else { return Ok(Progress::Idle) };
        let numbers: Vec<i64> = news.iter().map(|entry| entry.seq).collect();
        let (by_partner, waiting) = self.sort(news)?;
        for (partner, entries) in by_partner {
            for entries in entries.chunks(ENTRIES_OF_A_UNIT) {
                if stopping() {
                    return Ok(Progress::Idle);
                }
                let to_fetch = self.record(partner, entries.to_vec())?;
                match self.fetch(partner, to_fetch, stopping) {
                    Ok(true) => {}
                    Ok(false) => return Ok(Progress::Idle),
                    Err(FetchError::Store(error)) => return Err(error),
                    Err(FetchError::Bank(error)) => {
                        log::warn!(error:% = error; "the bank's feed is read again");
                        return Ok(self.rest(AFTER_FAILURE));
                    }
                }
            }
        }
        let known = waiting.map_or(last, |seq| seq - 1);
        self.advance(known, numbers.into_iter().filter(|seq| waiting.is_none_or(|first| *seq < first)))?;
        Ok(if is_full && waiting.is_none() { Progress::More } else { Progress::Idle })
    }

    /// Finds out whose cards the entries are of.
    fn sort(&self, news: Vec<FeedEntry>) -> Result<Sorted, StoreError> {
        let numbers: BTreeSet<CardNumber> = news.iter().map(|entry| entry.card).collect();
        let numbers: Vec<CardNumber> = numbers.into_iter().collect();
        let (owners, has_jobs) =
            transact(&*self.store, Access::Read, move |unit| -> Result<_, StoreError> {
                // First: an order whose job is gone has brought its cards.
                let has_jobs = unit.jobs().count()? > 0;
                Ok((unit.cards().owners(&numbers)?, has_jobs))
            })?;
        let owners: HashMap<CardNumber, (PartnerId, CardId)> =
            owners.into_iter().map(|(number, partner, card)| (number, (partner, card))).collect();
        let now = self.env.now();
        // An entry of the future would wait for as long as it takes to come.
        let may_come = |entry: &FeedEntry| (-CLOCK_SKEW..LONGEST_WAIT).contains(&(now - entry.at));
        let mut waiting = None;
        let mut by_partner: BTreeMap<PartnerId, Vec<OwnEntry>> = BTreeMap::new();
        for entry in news {
            match owners.get(&entry.card) {
                Some((partner, card)) => by_partner.entry(*partner).or_default().push((*card, entry)),
                None if has_jobs && may_come(&entry) => waiting = waiting.or(Some(entry.seq)),
                None => log::debug!(seq = entry.seq; "the bank's feed has a card that is not known"),
            }
        }
        Ok((by_partner, waiting))
    }

    /// Records entries of one partner's cards.
    fn record(&self, partner: PartnerId, entries: Vec<OwnEntry>) -> Result<ToFetch, StoreError> {
        let env = Arc::clone(&self.env);
        transact(&*self.store, Access::Write, move |unit| {
            let mut recorder =
                Recorder { env: &env, partner, passed: None, cards: HashMap::new(), events: Vec::new() };
            let mut to_fetch = ToFetch::default();
            for (card, entry) in &entries {
                recorder.record(unit, *card, entry, &mut to_fetch)?;
            }
            recorder.end(unit)?;
            Ok(to_fetch)
        })
    }

    /// Asks the bank for what entries did not say; returns whether that is all known, or `stopping` came before.
    fn fetch(
        &self,
        partner: PartnerId,
        to_fetch: ToFetch,
        stopping: &dyn Fn() -> bool,
    ) -> Result<bool, FetchError> {
        let (store, bank, env) = (&*self.store, &*self.bank, &*self.env);
        for id in to_fetch.transactions {
            if stopping() {
                return Ok(false);
            }
            if let Some(copy) = transactions::stored(store, partner, id)? {
                transactions::fetch(store, bank, env, partner, copy)?;
            }
        }
        for id in to_fetch.views {
            if stopping() {
                return Ok(false);
            }
            let record = transact(store, Access::Read, move |unit| unit.cards().get(partner, id))?;
            if let Some(record) = record {
                cards::fetch(store, bank, env, partner, record)?;
            }
        }
        Ok(true)
    }

    /// Stores that the feed was read up to `cursor`.
    fn advance(&mut self, cursor: i64, read: impl Iterator<Item = i64>) -> Result<(), StoreError> {
        let Some(place) = &mut self.place else { return Ok(()) };
        place.read.extend(read);
        if cursor > place.cursor { self.move_to(cursor, None) } else { Ok(()) }
    }

    /// Stores another cursor, unless another process has the lease by now. `forgotten_at`: now, if entries before it are lost.
    fn move_to(&mut self, cursor: i64, forgotten_at: Option<OffsetDateTime>) -> Result<(), StoreError> {
        let process = self.process;
        let is_own = transact(&*self.store, Access::Write, move |unit| -> Result<_, StoreError> {
            let mut state = unit.bank_feed().state()?;
            if state.lease.is_none_or(|(owner, _)| owner != process) {
                return Ok(false);
            }
            (state.cursor, state.forgotten_at) = (cursor, forgotten_at.or(state.forgotten_at));
            unit.bank_feed().set_state(&state)?;
            unit.bank_feed().forget_declines(cursor - LATE_ENTRIES)?;
            Ok(true)
        })?;
        self.place = self.place.take().filter(|_| is_own).map(|mut place| Place {
            cursor,
            read: place.read.split_off(&(cursor - LATE_ENTRIES + 1)),
            ..place
        });
        Ok(())
    }

    /// Goes on at number `oldest`, before which the bank has forgotten everything.
    fn skip_to(&mut self, oldest: i64) -> Result<Progress, StoreError> {
        let Some(place) = &mut self.place else { return Ok(Progress::Idle) };
        place.oldest = oldest;
        if oldest <= place.cursor + 1 {
            // What it has forgotten was read.
            return Ok(Progress::More);
        }
        log::warn!(oldest = oldest, cursor = place.cursor; "the bank has forgotten a part of its feed: every card is read once");
        self.move_to(oldest - 1, Some(self.env.now()))?;
        Ok(Progress::More)
    }
}

fn append_expiry_event(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: CardId,
) -> Result<(), StoreError> {
    let today = env.today();
    let Some(record) = unit.cards().get(partner, id)? else { return Ok(()) };
    let (event, next) = record.card.expiry_event(record.bank.standing, today);
    if unit.cards().take_expiry(partner, id, today, next)? {
        events::append(unit, env, partner, event)?;
    }
    Ok(())
}

/// Records entries within a unit of work.
struct Recorder<'a> {
    env: &'a Env,
    partner: PartnerId,
    /// The number up to which declines are forgotten, once it was needed.
    passed: Option<i64>,
    cards: HashMap<CardId, CardTail>,
    /// What happened, in its order.
    events: Vec<EventData>,
}

/// A card, and the end of its transactions.
struct CardTail {
    record: CardRecord,
    latest: i64,
    new: Vec<Transaction>,
}

impl Recorder<'_> {
    fn record(
        &mut self,
        unit: &mut dyn UnitOfWork,
        id: CardId,
        entry: &FeedEntry,
        to_fetch: &mut ToFetch,
    ) -> Result<(), StoreError> {
        match &entry.change {
            FeedChange::Transaction { transaction, previous } => {
                let tail = self.tail(unit, id)?;
                if transaction.id <= tail.latest {
                    return Ok(());
                }
                if *previous != tail.latest {
                    to_fetch.transactions.insert(id);
                    return Ok(());
                }
                tail.latest = transaction.id;
                tail.new.push(transaction.clone());
                let event = transactions::event(&tail.record.card, transaction);
                self.events.push(event);
            }
            FeedChange::Declined(purchase) => {
                if entry.seq > self.passed(unit)?
                    && unit.bank_feed().record_decline(self.partner, entry.seq)?
                {
                    let event = declined(&self.tail(unit, id)?.record, purchase);
                    self.events.push(event);
                }
            }
            FeedChange::Activated
            | FeedChange::Blocked
            | FeedChange::Unblocked
            | FeedChange::Expired
            | FeedChange::Other => drop(to_fetch.views.insert(id)),
        }
        Ok(())
    }

    /// Read within the unit of work: its lock keeps others from moving the cursor until this one has recorded what it has.
    fn passed(&mut self, unit: &mut dyn UnitOfWork) -> Result<i64, StoreError> {
        if let Some(passed) = self.passed {
            return Ok(passed);
        }
        let passed = unit.bank_feed().state()?.cursor - LATE_ENTRIES;
        self.passed = Some(passed);
        Ok(passed)
    }

    fn tail(&mut self, unit: &mut dyn UnitOfWork, id: CardId) -> Result<&mut CardTail, StoreError> {
        use std::collections::hash_map::Entry;
        match self.cards.entry(id) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(unknown) => {
                let record = unit.cards().get(self.partner, id)?;
                // Cards are never deleted, and this one was just found.
                let record = record.ok_or_else(|| StoreError::Failed("a card is gone".to_owned()))?;
                let latest = unit.transactions().latest_id(self.partner, id)?;
                Ok(unknown.insert(CardTail { record, latest, new: Vec::new() }))
            }
        }
    }

    /// Stores transactions and events. The copies of those cards are too old now.
    fn end(self, unit: &mut dyn UnitOfWork) -> Result<(), StoreError> {
        let moved: Vec<(CardId, CardTail)> =
            self.cards.into_iter().filter(|(_, tail)| !tail.new.is_empty()).collect();
        for (id, tail) in &moved {
            unit.transactions().append(self.partner, *id, &tail.new, transactions::NOT_YET_WHOLE)?;
        }
        let ids: Vec<CardId> = moved.iter().map(|(id, _)| *id).collect();
        if !ids.is_empty() {
            unit.cards().outdate_bank_view(self.partner, &ids, self.env.too_old_at())?;
        }
        events::append(unit, self.env, self.partner, self.events)
    }
}

fn declined(record: &CardRecord, purchase: &DeclinedPurchase) -> EventData {
    EventData::CardDeclined(CardDeclined {
        card: record.card.id(),
        employee: record.card.link().map(|link| link.employee),
        purchase: purchase.clone(),
    })
}

#[cfg(test)]
mod tests;
