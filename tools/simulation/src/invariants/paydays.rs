//! What a look of the programmes' timer may do, and what it has to: held against an oracle of periods and amounts.

pub(super) mod oracle;

use std::collections::{BTreeMap, BTreeSet};

use kopeck_domain::card::{CardStatus, Standing};
use kopeck_domain::ids::{CardId, PartnerId, ProgrammeId, RunId};
use kopeck_domain::programme::{Audience, Grant, Programme, ProgrammeState, TermsFields};
use kopeck_domain::run::{Run, RunItem, RunProgramme, RunState};
use kopeck_port_store::page::Page;
use kopeck_port_store::{EmployeeFilter, RunFilter, RunRequest, StoreError, UnitOfWork};
use kopeck_service::employees;
use time::{Date, Duration, OffsetDateTime};

use crate::violation::Violation;
use crate::world::World;
use oracle::OwnPeriod;

const RULE: &str = "a period of a programme gets its run once, when it is due, by its rule";

/// The cards of open requests.
const CLAIMED: &str = "SELECT lower(hex(i.card_id)) AS answer FROM card_batch_items i
    JOIN card_batches b ON b.partner_id = i.partner_id AND b.id = i.batch_id
    WHERE b.state IN ('NEW', 'IN_PROCESS')";

/// What is known of the runs of programmes.
pub(crate) struct Paydays {
    partners: Vec<PartnerId>,
    /// The requests of tries before the last one of each run.
    pub(crate) of_earlier_tries: BTreeSet<String>,
}

/// The programmes and their runs at a moment.
pub(crate) struct Before {
    programmes: BTreeMap<ProgrammeId, Programme>,
    runs: BTreeMap<RunId, OwnRun>,
}

#[derive(Clone)]
struct OwnRun {
    partner: PartnerId,
    run: Run,
    origin: RunProgramme,
    items: Vec<RunItem>,
    requests: Vec<RunRequest>,
}

/// Whom a programme has to look at.
struct Payee {
    custom_id: String,
    card: CardId,
    balance: i64,
    seen_at: OffsetDateTime,
    added: Date,
    is_open_at_bank: bool,
    /// Nothing stands in the way of money for the card.
    is_fit: bool,
}

/// The identifier of a request.
pub(super) fn id_of(request: RunRequest) -> String {
    match request {
        RunRequest::Order(id) => id.to_string(),
        RunRequest::Replenishment(id) => id.to_string(),
        RunRequest::LimitChange(id) => id.to_string(),
        RunRequest::Withdrawal(id) => id.to_string(),
    }
}

fn wrong(what: String) -> Violation {
    Violation { rule: RULE, what }
}

fn page() -> Result<Page, StoreError> {
    Page::new(1, Page::MAX_SIZE).map_err(|invalid| StoreError::Failed(invalid.detail().to_owned()))
}

impl Paydays {
    pub(crate) fn of(partners: Vec<PartnerId>) -> Self {
        Self { partners, of_earlier_tries: BTreeSet::new() }
    }

    /// What there is before the timer looks.
    pub(crate) fn look(&self, world: &World) -> Result<Before, Violation> {
        let partners = self.partners.clone();
        let found = world.look(move |unit| {
            let mut before = Before { programmes: BTreeMap::new(), runs: BTreeMap::new() };
            for partner in &partners {
                let programmes = unit.programmes().list(*partner, page()?)?.items;
                before.programmes.extend(programmes.into_iter().map(|programme| (programme.id(), programme)));
                for run in unit.runs().list(*partner, &RunFilter::default(), page()?)?.items {
                    let Some(origin) = run.programme().cloned() else { continue };
                    let items = unit.runs().items(*partner, run.id(), 0, u32::MAX)?;
                    let requests = unit.runs().requests(*partner, run.id())?;
                    let own = OwnRun { partner: *partner, run, origin, items, requests };
                    before.runs.insert(own.run.id(), own);
                }
            }
            Ok(before)
        });
        found.map_err(|error| Violation::unreadable(&error))
    }

    /// Checks what the timer made of it.
    pub(crate) fn check(&mut self, world: &World, before: &Before) -> Result<(), Violation> {
        let after = self.look(world)?;
        let now = world.env.now();
        let mut made: BTreeMap<ProgrammeId, Vec<&OwnRun>> = BTreeMap::new();
        for (id, own) in &after.runs {
            let what = |what: &str| wrong(format!("run {id} of {}: {what}", own.origin.period));
            match before.runs.get(id) {
                None => made.entry(own.origin.id).or_default().push(own),
                Some(old) if old.run.state() == own.run.state() => {}
                Some(old) => {
                    let is_again = old.run.state() == RunState::Decline
                        && own.run.state() == RunState::InProcess
                        && oracle::has_try(own.run.created_at(), old.run.state_since(), now);
                    let programme = before.programmes.get(&own.origin.id);
                    if !is_again
                        || programme.is_none_or(|programme| programme.state() != ProgrammeState::Active)
                    {
                        return Err(what("it was not to be tried again"));
                    }
                    self.of_earlier_tries.extend(old.requests.iter().map(|request| id_of(*request)));
                    let periods = all_due(own, now);
                    let period = periods.iter().find(|period| period.name == own.origin.period.to_string());
                    pays_by_its_rule(world, own, period.ok_or_else(|| what("it is of no period"))?)?;
                }
            }
        }
        made.iter().try_for_each(|(id, runs)| were_due(world, before, *id, runs))
    }
}

/// The periods of a run's terms that are due by `now`, however long ago.
fn all_due(own: &OwnRun, now: OffsetDateTime) -> Vec<OwnPeriod> {
    oracle::due(own.origin.terms.fields(), own.run.created_at() - Duration::days(100), now)
}

/// The new runs of a programme are those of its first periods that are due and have none.
fn were_due(world: &World, before: &Before, id: ProgrammeId, made: &[&OwnRun]) -> Result<(), Violation> {
    let now = world.env.now();
    let programme = before.programmes.get(&id).filter(|one| one.state() == ProgrammeState::Active);
    let programme = programme.ok_or_else(|| wrong(format!("programme {id} was not in force")))?;
    let terms = programme.terms().fields();
    let paid: Vec<&RunProgramme> =
        before.runs.values().map(|own| &own.origin).filter(|origin| origin.id == id).collect();
    let is_paid = |period: &OwnPeriod| paid.iter().any(|origin| origin.period.to_string() == period.name);
    let mut due = oracle::due(terms, programme.since(), now);
    due.retain(|period| !is_paid(period));
    // Where it was by other periods once, those of the days that they had need none.
    let is_mixed = paid.iter().any(|origin| origin.period.every() != terms.every);
    for (place, own) in made.iter().enumerate() {
        let name = own.origin.period.to_string();
        let found = due.iter().position(|period| period.name == name);
        let found = found.filter(|found| is_mixed || *found == place).and_then(|found| due.get(found));
        let expected: Vec<&str> = due.iter().map(|period| period.name.as_str()).collect();
        let period = found.ok_or_else(|| wrong(format!("{id} got a run of {name}, due are {expected:?}")))?;
        let state = if period.at + Duration::days(7) < now { RunState::Expired } else { RunState::InProcess };
        if own.run.state() != state
            || own.run.at() != Some(period.at)
            || own.origin.terms != *programme.terms()
        {
            return Err(wrong(format!("{id}: run of {name} is {:?}, due was {period:?}", own.run)));
        }
        if state == RunState::InProcess {
            pays_by_its_rule(world, own, period)?;
        }
    }
    Ok(())
}

/// The items of a run that has just been made are what the rule gives to each card now.
fn pays_by_its_rule(world: &World, own: &OwnRun, period: &OwnPeriod) -> Result<(), Violation> {
    let terms = own.origin.terms.fields();
    let claimed = world.stored.answers(CLAIMED).map_err(|error| Violation::unreadable(&error))?;
    let (partner, whom, today) = (own.partner, terms.clone(), world.env.today());
    let found = world.look(move |unit| {
        let sheet = unit.ledger().sheet(partner)?;
        Ok((payees(unit, partner, &whom, &claimed, today)?, sheet.map(|sheet| sheet.balances.available)))
    });
    let (payees, available) = found.map_err(|error| Violation::unreadable(&error))?;
    let available = available.map_or(0, |available| available.get());
    let item_of = |payee: &Payee| own.items.iter().find(|item| item.card == Some(payee.card));
    let (mut expected, mut sound) = (Vec::new(), Vec::new());
    for payee in &payees {
        let change = oracle::change(terms, period, payee.balance, payee.added);
        if change == 0 {
            continue;
        }
        let is_hindered = item_of(payee).is_some_and(|item| {
            let is_short = item.reason.as_deref().is_some_and(|reason| reason.contains("balance"));
            item.outcome.is_some() && !is_short
        });
        if is_hindered && payee.is_fit {
            let what = format!("run {}: nothing stands in the way of {:?}", own.run.id(), item_of(payee));
            return Err(wrong(what));
        }
        if !is_hindered {
            sound.push(change);
        }
        expected.push((payee, change, is_hindered));
    }
    let mut covered = oracle::covered(terms, &sound, available).into_iter();
    let expected: Vec<(CardId, i64, bool)> = expected
        .into_iter()
        .map(|(payee, change, is_hindered)| {
            (payee.card, change.abs(), !is_hindered && covered.next().unwrap_or(false))
        })
        .collect();
    let shown: Vec<(CardId, i64, bool)> = own
        .items
        .iter()
        .filter_map(|item| Some((item.card?, item.amount?.get(), item.outcome.is_none())))
        .collect();
    if shown != expected {
        let what = format!("run {} of {period:?}: {shown:?}, expected {expected:?}", own.run.id());
        return Err(wrong(format!("{what}, available {available}, {terms:?}")));
    }
    world.trace.note("payday", || {
        let reasons: BTreeSet<&str> = own.items.iter().filter_map(|item| item.reason.as_deref()).collect();
        format!("{} pays {}: {shown:?} of {available}, {reasons:?}", own.origin.id, period.name)
    });
    let goes_by_balances = !matches!(terms.grant, Grant::Fixed { cap: None, .. });
    let oldest = world.env.now() - Duration::HOUR;
    let matters = |payee: &&Payee| goes_by_balances || !payee.is_open_at_bank;
    match payees.iter().filter(matters).find(|payee| payee.seen_at < oldest) {
        Some(payee) => {
            Err(wrong(format!("run {}: the bank was not asked about {}", own.run.id(), payee.card)))
        }
        None => Ok(()),
    }
}

/// Those with a MAIN card whom the terms name, in the order of their custom identifiers.
fn payees(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    terms: &TermsFields,
    claimed: &[String],
    today: Date,
) -> Result<Vec<Payee>, StoreError> {
    let mut payees = Vec::new();
    for employee in employees::list(unit, partner, &EmployeeFilter::default(), page()?)?.items {
        let is_named = match &terms.audience {
            Audience::All => true,
            Audience::Categories(ids) => employee.category().is_some_and(|id| ids.contains(&id)),
            Audience::Employees(ids) => ids.contains(&employee.id()),
        };
        if !is_named || !terms.statuses.contains(&employee.status()) {
            continue;
        }
        let cards = unit.cards().of_employee(partner, employee.id())?;
        let main = cards.into_iter().find(|(_, status)| *status == CardStatus::Main);
        let Some((card, _)) = main else { continue };
        let Some(record) = unit.cards().get(partner, card)? else { continue };
        let is_open_at_bank = record.bank.standing == Standing::Open && record.bank.activated_at.is_some();
        payees.push(Payee {
            is_open_at_bank,
            custom_id: employee.custom_id().as_str().to_owned(),
            card,
            balance: record.bank.balance.get(),
            seen_at: record.bank.seen_at,
            added: employee.created_at().date(),
            is_fit: is_open_at_bank
                && today <= record.card.valid_until()
                && !claimed.contains(&card.uuid().simple().to_string()),
        });
    }
    payees.sort_by(|one, other| one.custom_id.as_bytes().cmp(other.custom_id.as_bytes()));
    Ok(payees)
}
