//! Looks for what programmes have to do: one step of one partner in one unit of work, so that a crash loses or doubles nothing.
//! By the service's clock, as the runs that are due.
//!
//! A period gets its run in the unit of work that notes it as the programme's last, and a unique key of the run backs that
//! up. Where amounts depend on what cards hold, the bank is asked first, between two units of work; and about cards that could
//! not pay, so that no person goes without for an old copy. Which cards are left to ask about is kept in memory: it is found out
//! once a run, and again only after a restart.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use kopeck_domain::card::{BankView, Standing};
use kopeck_domain::event::EventData;
use kopeck_domain::ids::{CardId, PartnerId, ProgrammeId};
use kopeck_domain::programme::{
    DuePeriod, NOTICE, Notice, Programme, ProgrammeDue, ProgrammeStep, Terms, Workdays,
};
use kopeck_domain::run::Run;
use kopeck_port_bank::BankGateway;
use kopeck_port_store::{Access, Store, StoreError, UnitOfWork, transact};
use time::{Duration, OffsetDateTime};

use super::forecast::{ProgrammeForecast, forecast};
use super::look_at;
use super::making::{self, Beginning};
use super::payees::{self, Payee};
use crate::cards::{self, FetchError};
use crate::{Env, Progress, events};

/// Partners of a round.
const BATCH: u32 = 1_000;
/// Cards of a partner that the bank is asked about in a round; then others have their turn.
const ASKED_AT_ONCE: usize = 200;
/// Balances that the bank told longer ago are asked for again: it was away in between. Of many cards each may take its time.
const LONGEST_ASKING: Duration = Duration::HOUR;
const LONGEST_OF_EACH: Duration = Duration::milliseconds(200);
/// So long a partner's open run of a programme keeps its others waiting. Then they go on, without the cards that it has.
const MOST_WAITING: Duration = Duration::DAY;

/// Makes the runs of programmes when they are due, tries them again, and tells partners beforehand.
pub struct ProgrammeTimer {
    store: Arc<dyn Store>,
    bank: Arc<dyn BankGateway>,
    env: Arc<Env>,
    /// Partners for a run of which the bank is being asked.
    asking: HashMap<PartnerId, Asking>,
}

/// What the bank is being asked for a run.
struct Asking {
    /// Copies of balances from then on count.
    since: OffsetDateTime,
    /// When it counts no more.
    until: OffsetDateTime,
    /// Cards about which it has not been asked yet.
    left: Vec<CardId>,
    /// Cards whose copies stay older: the bank does not know them.
    unknown: HashSet<CardId>,
}

impl Asking {
    /// Begins now, with so many cards.
    fn of(cards: usize, now: OffsetDateTime) -> Self {
        let of_all = LONGEST_OF_EACH * i32::try_from(cards).unwrap_or(i32::MAX);
        let until = now + LONGEST_ASKING.max(of_all);
        Self { since: now, until, left: Vec::new(), unknown: HashSet::new() }
    }
}

/// How a step of a partner went.
enum Turn {
    /// There is nothing to do now.
    Idle,
    /// Something was done.
    Done,
    /// The bank is to be asked about these cards first.
    Ask(Vec<CardId>),
}

/// What gets a run.
enum Payment {
    Period(Box<Programme>, DuePeriod),
    Retry(Box<Run>),
}

impl Payment {
    fn terms(&self) -> Option<&Terms> {
        match self {
            Self::Period(programme, _) => Some(programme.terms()),
            Self::Retry(run) => run.programme().map(|origin| &origin.terms),
        }
    }

    /// Of those due at one moment the first programme goes first.
    fn order(&self) -> (Option<OffsetDateTime>, Option<ProgrammeId>) {
        match self {
            Self::Period(programme, due) => (Some(due.at), Some(programme.id())),
            Self::Retry(run) => {
                (run.programme().and_then(|origin| origin.retry_at), run.programme().map(|origin| origin.id))
            }
        }
    }
}

impl ProgrammeTimer {
    /// A timer over these ports.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, bank: Arc<dyn BankGateway>, env: Arc<Env>) -> Self {
        Self { store, bank, env, asking: HashMap::new() }
    }

    /// Takes a step for each partner that has something to do. Checks `stopping` between two. Blocks during bank requests.
    ///
    /// # Errors
    /// [`StoreError`]; what was done by then stays.
    pub fn run_once(&mut self, stopping: &dyn Fn() -> bool) -> Result<Progress, StoreError> {
        let now = self.env.now();
        let due = move |unit: &mut dyn UnitOfWork| unit.programmes().due(now, now - MOST_WAITING, BATCH);
        let (mut is_any, mut bank_responds) = (false, true);
        let due = transact(&*self.store, Access::Read, due)?;
        self.asking.retain(|partner, asking| due.contains(partner) && now < asking.until);
        for partner in due {
            if stopping() {
                break;
            }
            // While there are cards to ask about, they are not looked for again.
            if self.asking.get(&partner).is_none_or(|asking| asking.left.is_empty()) {
                match self.step(partner)? {
                    Turn::Idle => continue,
                    Turn::Done => {
                        self.asking.remove(&partner);
                        is_any = true;
                        continue;
                    }
                    Turn::Ask(cards) => {
                        let new = Asking::of(cards.len(), now);
                        self.asking.entry(partner).or_insert(new).left = cards;
                    }
                }
            }
            if bank_responds {
                bank_responds = self.ask(partner, stopping)?;
                is_any |= bank_responds;
            }
        }
        Ok(match (is_any, bank_responds) {
            (_, false) => Progress::BankUnavailable,
            (true, true) => Progress::More,
            (false, true) => Progress::Idle,
        })
    }

    fn step(&mut self, partner: PartnerId) -> Result<Turn, StoreError> {
        let env = Arc::clone(&self.env);
        let asking = self.asking.get(&partner);
        let asked = asking.map(|asking| (asking.since, asking.unknown.clone()));
        transact(&*self.store, Access::Write, move |unit| step(unit, &env, partner, asked.as_ref()))
    }

    /// Asks the bank about some of the cards that are left; whether it responds.
    fn ask(&mut self, partner: PartnerId, stopping: &dyn Fn() -> bool) -> Result<bool, StoreError> {
        let Some(asking) = self.asking.get_mut(&partner) else { return Ok(true) };
        for _ in 0..ASKED_AT_ONCE {
            let Some(card) = asking.left.last().copied() else { break };
            if stopping() {
                break;
            }
            let record = transact(&*self.store, Access::Read, move |unit| unit.cards().get(partner, card))?;
            let fetched =
                record.map(|record| cards::fetch(&*self.store, &*self.bank, &self.env, partner, record));
            match fetched.transpose() {
                Ok(Some(record)) if record.bank.seen_at < asking.since => {
                    asking.unknown.insert(card);
                }
                Ok(_) => {}
                Err(FetchError::Store(error)) => return Err(error),
                Err(FetchError::Bank(error)) => {
                    log::debug!(error:% = error; "a programme waits for the bank");
                    return Ok(false);
                }
            }
            asking.left.pop();
        }
        Ok(true)
    }
}

/// Does what is to be done for a partner, one run at most.
fn step(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    asked: Option<&(OffsetDateTime, HashSet<CardId>)>,
) -> Result<Turn, StoreError> {
    let (now, mut is_any) = (env.now(), false);
    let workdays = unit.programmes().workdays()?;
    let retries = unit.runs().retries(partner, now)?;
    let mut payments: Vec<Payment> = retries.into_iter().map(|run| Payment::Retry(Box::new(run))).collect();
    let mut looked = Looked { env, partner, workdays: &workdays, rows: None };
    for before in unit.programmes().due_of(partner, now)? {
        let (programme, due) = looked.at(unit, before.clone())?;
        let look = look_at(&programme, env, &workdays);
        if programme != before || due.is_none() {
            unit.programmes().update(partner, &programme, look)?;
            is_any = true;
        }
        payments.extend(due.map(|due| Payment::Period(Box::new(programme), due)));
    }
    let next = payments.into_iter().min_by_key(Payment::order);
    let is_open = unit.runs().is_programme_open(partner, now - MOST_WAITING)?;
    let Some(next) = next.filter(|_| !is_open) else {
        return Ok(if is_any { Turn::Done } else { Turn::Idle });
    };
    let mut payees = Vec::new();
    if let Some(terms) = next.terms() {
        payees = payees::find(unit, env, partner, terms)?;
        let stale = stale(&payees, terms, asked);
        if !stale.is_empty() {
            return Ok(Turn::Ask(stale));
        }
    }
    match next {
        Payment::Period(programme, due) => {
            let paid = making::make(unit, env, partner, *programme, due, Beginning::InTime(payees))?;
            unit.programmes().update(partner, &paid, look_at(&paid, env, &workdays))?;
        }
        Payment::Retry(run) => making::retry(unit, env, partner, *run, payees)?,
    }
    Ok(Turn::Done)
}

/// The cards about which the bank has not been asked for this run: all of them if their balances matter, else those that the
/// bank did not let pay when it was asked last.
fn stale(payees: &[Payee], terms: &Terms, asked: Option<&(OffsetDateTime, HashSet<CardId>)>) -> Vec<CardId> {
    let is_stale = |card: CardId, seen_at: OffsetDateTime| {
        asked.is_none_or(|(since, unknown)| seen_at < *since && !unknown.contains(&card))
    };
    let matters = |bank: &BankView| {
        terms.go_by_balances() || bank.standing == Standing::Blocked || bank.activated_at.is_none()
    };
    let views = payees.iter().map(|payee| &payee.found.view).filter(|view| matters(&view.bank));
    let cards = views.map(|view| (view.card.id(), view.bank.seen_at));
    cards.filter(|(card, at)| is_stale(*card, *at)).map(|(card, _)| card).collect()
}

/// Looks at the programmes of a partner.
struct Looked<'a> {
    env: &'a Env,
    partner: PartnerId,
    workdays: &'a Workdays,
    /// The forecast of the days for which partners are told, once it was needed.
    rows: Option<Vec<ProgrammeForecast>>,
}

impl Looked<'_> {
    /// Does what needs no turn: ends, missed periods, and notices. The period that is to be paid now, if there is one.
    fn at(
        &mut self,
        unit: &mut dyn UnitOfWork,
        mut programme: Programme,
    ) -> Result<(Programme, Option<DuePeriod>), StoreError> {
        let (env, zone, now) = (self.env, self.env.settings.zone, self.env.now());
        loop {
            programme = match programme.step(self.workdays, zone, now) {
                ProgrammeStep::Wait(_) => return Ok((programme, None)),
                ProgrammeStep::Pay(due) => return Ok((programme, Some(due))),
                ProgrammeStep::Expire => programme.expire(now),
                ProgrammeStep::End => programme.end(),
                ProgrammeStep::Miss(due) => {
                    making::make(unit, env, self.partner, programme, due, Beginning::TooLate)?
                }
                ProgrammeStep::Notice(due) => self.tell(unit, programme, due)?,
            };
        }
    }

    /// Tells the partner of a period: at first in any case, on the day itself if the balance is short.
    fn tell(
        &mut self,
        unit: &mut dyn UnitOfWork,
        programme: Programme,
        due: DuePeriod,
    ) -> Result<Programme, StoreError> {
        let (env, zone, now) = (self.env, self.env.settings.zone, self.env.now());
        let rows = match self.rows.take() {
            Some(rows) => rows,
            None => forecast(unit, env, self.partner, zone.day(now + NOTICE))?,
        };
        let own = |row: &&ProgrammeForecast| row.programme == programme.id() && row.row.period == due.period;
        let row = rows.iter().find(own).map(|row| &row.row);
        let is_first = programme.notice().is_none_or(|notice| notice.period != due.period);
        let is_of_the_day = zone.day(now) >= zone.day(due.at);
        let is_short = row.is_some_and(|row| row.short.is_positive());
        if let Some(row) = row.filter(|_| is_first || is_short) {
            let event = ProgrammeDue {
                programme: programme.id(),
                period: due.period,
                at: due.at,
                needed: row.needed,
                available: row.available,
                short: row.short,
            };
            events::append(unit, env, self.partner, [EventData::ProgrammeDue(event)])?;
        }
        self.rows = Some(rows);
        let told_short = !is_first && is_short;
        Ok(programme.told(Notice { period: due.period, is_of_the_day, told_short }))
    }
}

#[cfg(test)]
mod tests;
