//! The past of the demo partner: three months of a programme, played before the service begins.
//!
//! All of it is made by the use cases that requests, workers and timers call, on a [`HistoryClock`] over the same database and
//! the same simulator. The first months of two cards lie three years back, so that they expire soon.

use std::sync::Arc;

use anyhow::{Context as _, ensure};
use kopeck_adapter_bank_simulator::Simulator;
use kopeck_adapter_security::KeyRing;
use kopeck_adapter_system::DataFolder;
use kopeck_domain::Kopecks;
use kopeck_domain::access::Authority;
use kopeck_domain::card::{CardStatus, CardType};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::category::CategoryName;
use kopeck_domain::employee::{EmployeeStatus, EmployeeUpdate};
use kopeck_domain::ids::{CategoryId, EmployeeId, PartnerId};
use kopeck_domain::ledger::TransferReference;
use kopeck_domain::limit::{Limit, Period, TimeOfDay};
use kopeck_domain::order::{LineDetails, OrderKind, OrderLine};
use kopeck_domain::person::{DeliveryAddress, Phone, Recipient};
use kopeck_domain::programme::{
    Audience, Every, Grant, OnShortage, ProgrammeName, ReferenceTemplate, Shift, Terms, TermsFields,
};
use kopeck_domain::request::RequestReference;
use kopeck_domain::run::RunKind;
use kopeck_domain::run::row::{Cell, CellValue};
use kopeck_port_bank::sandbox::{Purchase, PurchaseOutcome, SandboxControl as _};
use kopeck_port_store::page::Page;
use kopeck_port_store::{Access, UnitOfWork, transact};
use kopeck_service::bank_feed::BankFeedFollower;
use kopeck_service::partners::DepositOrigin;
use kopeck_service::programmes::{self, ProgrammeTimer};
use kopeck_service::runs::{self, InputRow, RunInput, RunTimer};
use kopeck_service::worker::Worker;
use kopeck_service::{
    Env, Progress, Settings, balance, cards, categories, employees, limits, orders, partners,
};
use time::{Date, Duration, OffsetDateTime, Time};

use super::OPENING_BALANCE;
use super::company::{self, LEAVER, LONG_THERE, ON_VACATION, PEOPLE};
use super::history_clock::HistoryClock;
use crate::compose::{Application, SystemAdapters, simulator};

/// Paydays that lie behind.
const PAYDAYS: usize = 3;
/// What a card is filled up to on a payday.
const ALLOWANCE: Kopecks = Kopecks::new(600_000);
/// What shops get for fares from the next month on.
const FARES: Kopecks = Kopecks::new(200_000);
/// The bonus of everybody.
const BONUS: Kopecks = Kopecks::new(300_000);
/// What needs an approval.
const APPROVAL_ABOVE: Kopecks = Kopecks::new(10_000_000);
/// Purchases of a person between two paydays.
const PURCHASES: usize = 4;
/// How often work is looked for before it has to be done.
const ROUNDS: usize = 30;
/// How long cards are valid.
const CARD_YEARS: i32 = 3;

/// What the past is made with.
pub(in crate::commands) struct Past<'a> {
    pub(in crate::commands) adapters: &'a SystemAdapters,
    pub(in crate::commands) keys: &'a Arc<KeyRing>,
    pub(in crate::commands) folder: &'a DataFolder,
    pub(in crate::commands) database_url: &'a str,
    pub(in crate::commands) settings: Settings,
}

/// Days that the past goes by.
#[derive(Debug, PartialEq, Eq)]
struct Days {
    today: Date,
    /// The next payday, at least two days ahead.
    next: Date,
    /// Its day of a month, or -1 for the last.
    day: i64,
    /// When the first cards were issued that expire soon.
    first_cards: Date,
}

impl Days {
    fn of(today: Date) -> anyhow::Result<Self> {
        let ahead = today + Duration::days(2);
        let (next, day) = match ahead.day() {
            day @ 1..=28 => (ahead, i64::from(day)),
            _ => (last_of(ahead)?, -1),
        };
        // A card is valid to the end of the month of its issue, three years on.
        let expires =
            if last_of(today)? == today { today.next_day().context("the last day")? } else { today };
        let first = Date::from_calendar_date(expires.year() - CARD_YEARS, expires.month(), 1)?;
        Ok(Self { today, next, day, first_cards: first })
    }

    /// The payday so many months before the next one.
    fn payday(&self, months_ago: usize) -> anyhow::Result<Date> {
        let first = (0..months_ago).try_fold(self.next.replace_day(1)?, |first, _| {
            let before = first.previous_day().context("the first day")?;
            before.replace_day(1).map_err(anyhow::Error::from)
        })?;
        if self.day < 0 { last_of(first) } else { Ok(first.replace_day(self.next.day())?) }
    }
}

fn last_of(day: Date) -> anyhow::Result<Date> {
    Ok(day.replace_day(day.month().length(day.year()))?)
}

/// A person with the main card.
struct Holder {
    employee: EmployeeId,
    number: CardNumber,
}

/// The stage on which the past is played.
struct Stage {
    clock: Arc<HistoryClock>,
    application: Application,
    bank: Arc<Simulator>,
    partner: PartnerId,
    worker: Worker,
    programmes: ProgrammeTimer,
    runs: RunTimer,
    follower: BankFeedFollower,
    days: Days,
    categories: Vec<CategoryId>,
    holders: Vec<Holder>,
}

/// Plays the past of the partner, which has nothing yet.
pub(super) fn play(past: &Past<'_>, partner: PartnerId) -> anyhow::Result<()> {
    let mut stage = Stage::set(past, partner)?;
    stage.begin()?;
    for months_ago in (1..=PAYDAYS).rev() {
        stage.month(months_ago)?;
    }
    stage.end()
}

impl Stage {
    fn set(past: &Past<'_>, partner: PartnerId) -> anyhow::Result<Self> {
        let Past { adapters, keys, folder, database_url, settings } = past;
        let zone = settings.zone;
        let days = Days::of(zone.day(adapters.clock.now()))?;
        let start = zone.start_of(days.first_cards) + Duration::hours(12);
        let clock = Arc::new(HistoryClock::new(Arc::clone(&adapters.clock), start));
        let adapters = SystemAdapters { clock: Arc::clone(&clock) as _, ..(*adapters).clone() };
        let application = Application::open(database_url, keys, &adapters, *settings)?;
        let bank = simulator(folder, &adapters, *settings, true)?;
        let gateway = || Arc::clone(&bank) as _;
        Ok(Self {
            worker: application.worker(gateway()),
            programmes: application.programme_timer(gateway()),
            runs: application.run_timer(),
            follower: application.bank_feed_follower(gateway(), adapters.ids.next_id()),
            clock,
            application,
            bank,
            partner,
            days,
            categories: Vec::new(),
            holders: Vec::new(),
        })
    }

    /// Runs a use case in a unit of work.
    fn change<T: Send + 'static>(
        &self,
        mut body: impl FnMut(&mut dyn UnitOfWork, &Env, PartnerId) -> anyhow::Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let (env, partner) = (Arc::clone(&self.application.env), self.partner);
        transact(&*self.application.store, Access::Write, move |unit| body(unit, &env, partner))
    }

    fn at(&self, day: Date, hour: u8, minute: u8) -> anyhow::Result<OffsetDateTime> {
        let start = self.application.env.settings.zone.start_of(day);
        Ok(start + (Time::from_hms(hour, minute, 0)? - Time::MIDNIGHT))
    }

    /// Does all that is due, and what follows from it.
    fn work(&mut self) -> anyhow::Result<()> {
        for _ in 0..ROUNDS {
            self.clock.advance(self.application.env.settings.processing_delay);
            while self.programmes.run_once(&|| false)? == Progress::More {}
            let started = self.runs.run_once()?;
            let mut done = 0;
            while let found @ 1.. = self.worker.run_once(&|| false)? {
                done += found;
            }
            let left = self.change(|unit, _, _| Ok(unit.jobs().count()?))?;
            if done == 0 && left == 0 && started == Progress::Idle {
                return Ok(());
            }
        }
        anyhow::bail!("work is left over")
    }

    fn follow(&mut self) -> anyhow::Result<()> {
        while self.follower.run_once(&|| false)? == Progress::More {}
        Ok(())
    }

    /// The categories, all people with cards, a limit, and the programme.
    fn begin(&mut self) -> anyhow::Result<()> {
        self.categories = self.change(|unit, env, partner| {
            let create = |&text: &&str| -> anyhow::Result<CategoryId> {
                Ok(categories::create(unit, env, partner, CategoryName::parse(text)?)?.id)
            };
            company::CATEGORIES.iter().map(create).collect()
        })?;
        self.hire(0..LONG_THERE)?;
        self.clock.advance_to(self.at(self.days.payday(PAYDAYS)? - Duration::days(9), 10, 0)?);
        self.change(|unit, env, partner| {
            Ok(partners::deposit(unit, env, partner, OPENING_BALANCE, &DepositOrigin::Opening)?)
        })?;
        self.hire(LONG_THERE..PEOPLE)?;
        let numbers: Vec<CardRef> =
            self.holders.iter().map(|holder| CardRef::Number(holder.number)).collect();
        let limit = Limit::per(Period::Day, Kopecks::new(200_000)).only_at(company::MERCHANTS).build()?;
        self.change(move |unit, env, partner| Ok(limits::set(unit, env, partner, &numbers, &limit, None)?))?;
        self.work()?;
        self.add_programme("Питание", Audience::All, Grant::UpTo(ALLOWANCE), None)
    }

    fn add_programme(
        &self,
        name: &str,
        audience: Audience,
        grant: Grant,
        from: Option<Date>,
    ) -> anyhow::Result<()> {
        let fields = TermsFields {
            name: ProgrammeName::parse(name)?,
            audience,
            statuses: vec![EmployeeStatus::Work, EmployeeStatus::Vacation, EmployeeStatus::Medical],
            grant,
            every: Every::Month,
            day: self.days.day,
            month: None,
            time: TimeOfDay::parse("09:00")?,
            shift: Shift::None,
            pro_rata: false,
            on_shortage: OnShortage::Nothing,
            from,
            until: None,
            reference: Some(ReferenceTemplate::parse(&format!("{name} {{period}}"))?),
        };
        let terms = Terms::new(fields).map_err(|faults| anyhow::anyhow!("terms of {name}: {faults:?}"))?;
        self.change(move |unit, env, partner| {
            programmes::create(unit, env, partner, &Authority::LOGIN, &terms)?;
            Ok(())
        })
    }

    /// Orders cards for these people, adds the people, and links and activates the cards.
    fn hire(&mut self, numbers: std::ops::Range<usize>) -> anyhow::Result<()> {
        let count = u32::try_from(numbers.len())?;
        let line = OrderLine {
            card_type: CardType::Mp4,
            count,
            details: LineDetails::Plastic {
                address: DeliveryAddress::parse("Москва, Лесная ул., 7")?,
                recipient: Recipient::parse("Ильина Ирина")?,
                phone: Phone::parse("9000000100")?,
            },
        };
        let order = self.change(move |unit, env, partner| {
            Ok(orders::place(unit, env, partner, OrderKind::Plastic, std::slice::from_ref(&line), None)?)
        })?;
        self.work()?;
        self.change(move |unit, env, partner| Ok(orders::confirm(unit, env, partner, order.id())?))?;
        let categories = self.categories.clone();
        let hired = self.change(move |unit, env, partner| {
            let free = cards::available(unit, env, partner, None, Page::new(1, count)?)?.items;
            let mut hired = Vec::new();
            for (number, card) in numbers.clone().zip(free) {
                let (custom_id, fields) = company::person(number, &categories)?;
                let employee = employees::add(unit, env, partner, &custom_id, &fields)?.id();
                cards::link(unit, env, partner, employee, card.number(), CardStatus::Main)?;
                hired.push(Holder { employee, number: card.number() });
            }
            Ok(hired)
        })?;
        ensure!(hired.len() == usize::try_from(count)?, "the bank issued {} of {count} cards", hired.len());
        for holder in &hired {
            self.bank.activate(holder.number, None)?;
        }
        self.holders.extend(hired);
        self.follow()
    }

    /// A payday, the company's payment for it, and what people buy until the next one.
    fn month(&mut self, months_ago: usize) -> anyhow::Result<()> {
        let payday = self.days.payday(months_ago)?;
        self.clock.advance_to(self.at(payday, 9, 0)?);
        self.work()?;
        self.clock.advance_to(self.at(payday, 15, 0)?);
        let reference = TransferReference::parse(&format!("INVOICE-{}", PAYDAYS + 1 - months_ago))?;
        self.change(move |unit, env, partner| {
            let left = balance::get(unit, partner)?.balances.available;
            let origin = DepositOrigin::Operator(reference.clone());
            Ok(partners::deposit(unit, env, partner, OPENING_BALANCE.minus(left)?, &origin)?)
        })?;
        // Before the next payday, and before today.
        let days = if months_ago == 1 { 22 } else { 26 };
        let mut purchases: Vec<(usize, usize, usize)> = (0..PEOPLE * PURCHASES)
            .map(|each| (each % PEOPLE, each / PEOPLE))
            .map(|(person, number)| (1 + (person * 5 + number * 7) % days, person, number))
            .collect();
        purchases.sort_unstable();
        for (offset, person, number) in purchases {
            let day = payday + Duration::days(i64::try_from(offset)?);
            let minute = u8::try_from((person * 11 + number) % 60)?;
            self.clock.advance_to(self.at(day, 12, minute)?);
            self.buy(person, &company::bought(person, number))?;
        }
        self.follow()
    }

    fn buy(&self, person: usize, bought: &company::Bought) -> anyhow::Result<PurchaseOutcome> {
        let holder = self.holders.get(person).context("no such holder")?;
        let purchase = Purchase {
            place: Some(bought.place.to_owned()),
            mcc: Some(bought.mcc.to_owned()),
            merchant_id: Some(bought.merchant.to_owned()),
            ..Purchase::new(bought.amount)
        };
        Ok(self.bank.purchase(holder.number, &purchase)?)
    }

    /// What an HR person finds today: declines, a leaver, a programme that begins, and a run that waits for an approval.
    fn end(&mut self) -> anyhow::Result<()> {
        let today = self.days.today;
        self.clock.advance_to(self.at(today - Duration::days(3), 16, 0)?);
        for (person, status) in [(LEAVER, EmployeeStatus::DontWork), (ON_VACATION, EmployeeStatus::Vacation)]
        {
            let employee = self.holders.get(person).context("no such holder")?.employee;
            let update = EmployeeUpdate { status: Some(status), ..EmployeeUpdate::default() };
            self.change(move |unit, env, partner| {
                Ok(employees::update(unit, env, partner, employee, &update, |_| true)?)
            })?;
        }
        for (days_ago, hour, person, bought) in company::DECLINED {
            self.clock.advance_to(self.at(today - Duration::days(days_ago), hour, 20)?);
            let outcome = self.buy(person, &bought)?;
            ensure!(matches!(outcome, PurchaseOutcome::Declined(_)), "a payment was to be declined");
        }
        self.follow()?;
        self.clock.advance_to_present();
        self.work()?;
        let first = last_of(today)?.next_day().context("the last day")?;
        let shops = self.categories.get(1).copied().context("no shops")?;
        let grant = Grant::Fixed { amount: FARES, cap: None };
        self.add_programme("Проезд", Audience::Categories(vec![shops]), grant, Some(first))?;
        self.wait_for_approval()
    }

    /// A bonus for everybody, as a program sends it.
    fn wait_for_approval(&self) -> anyhow::Result<()> {
        let cell = |name: &str, value| Cell { name: name.to_owned(), value };
        let rows = (0..PEOPLE).filter(|person| *person != LEAVER).zip(1..).map(|(person, line)| {
            let (custom_id, _) = company::person(person, &[])?;
            let person = cell("customId", CellValue::Text(custom_id.as_str().to_owned()));
            let cells = vec![person, cell("amount", CellValue::Text(BONUS.get().to_string()))];
            Ok(InputRow { line, cells, limit: None, fault: None })
        });
        let input = RunInput {
            kind: RunKind::TopUp,
            reference: Some(RequestReference::parse("Премия")?),
            at: None,
            creates_categories: false,
            rows: rows.collect::<anyhow::Result<_>>()?,
        };
        self.change(move |unit, env, partner| {
            partners::set_approval(unit, partner, APPROVAL_ABOVE)?;
            let run = runs::create(unit, env, partner, &Authority::LOGIN.actor, &input)?;
            runs::submit(unit, env, partner, &Authority::LOGIN, run.id(), run.digest(), false)?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use time::macros::date;

    use super::*;

    #[test]
    fn the_next_payday_is_two_to_four_days_ahead_on_every_day_of_years() {
        let mut today = date!(2026 - 11 - 27);
        for _ in 0..1_500 {
            let days = Days::of(today).unwrap();
            assert!((2..=4).contains(&(days.next - today).whole_days()), "{days:?}");
            let before = days.payday(1).unwrap();
            assert!((28..=31).contains(&(days.next - before).whole_days()), "{days:?}, {before}");
            assert!(before + Duration::days(22) <= today - Duration::days(3), "{days:?}");
            assert!(days.payday(PAYDAYS).unwrap() < days.payday(2).unwrap());
            let expires =
                last_of(days.first_cards.replace_year(days.first_cards.year() + CARD_YEARS).unwrap());
            assert!((1..=31).contains(&(expires.unwrap() - today).whole_days()), "{days:?}");
            today = today.next_day().unwrap();
        }
    }
}
