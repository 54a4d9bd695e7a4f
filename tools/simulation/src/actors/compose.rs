//! What a partner asks for next, of what makes some sense as things stand.

use std::sync::Arc;

use kopeck_domain::Kopecks;
use kopeck_domain::card::{CardStatus, CardType};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::closing::{ClosingReason, Closings};
use kopeck_domain::ids::{
    CardId, ClosingId, EmployeeId, LimitChangeId, OrderId, PartnerId, ProgrammeId, ReplenishmentId,
    WithdrawalId,
};
use kopeck_domain::ledger::{MovementKind, Reference, TransferReference};
use kopeck_domain::limit::{Limit, Period};
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::order::{LineDetails, OrderKind, OrderLine};
use kopeck_domain::person::{CustomId, DeliveryAddress, Phone, Recipient};
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::request::RequestReference;
use kopeck_domain::run::row::{Cell, CellValue};
use kopeck_domain::run::{Run, RunKind};
use kopeck_domain::withdrawal::Withdrawals;
use kopeck_port_store::page::Page;
use kopeck_port_store::{BookedMovement, EmployeeFilter, RequestFilter, RunFilter, StoreError, UnitOfWork};
use kopeck_service::closings::CardClosing;
use kopeck_service::replenishments::TopUp;
use kopeck_service::runs::{InputRow, RunInput};
use kopeck_service::withdrawals::CardWithdrawal;
use kopeck_service::{Env, card_batches, cards, employees, orders};

use super::calls::Command;
use super::terms;
use crate::world::World;

/// What the partner has.
#[derive(Default)]
struct Holdings {
    deposits: Vec<TransferReference>,
    employees: Vec<EmployeeId>,
    free: Vec<(CardId, CardNumber)>,
    linked: Vec<(EmployeeId, CardId, CardStatus)>,
    /// Cards that are ordered and not there yet.
    awaited: usize,
    orders: Vec<OrderId>,
    top_ups: Vec<ReplenishmentId>,
    limit_changes: Vec<LimitChangeId>,
    closings: Vec<ClosingId>,
    withdrawals: Vec<WithdrawalId>,
    runs: Vec<Run>,
    programmes: Vec<ProgrammeId>,
}

#[derive(Clone, Copy)]
enum Wish {
    Deposit,
    PayOut,
    ReverseDeposit,
    Hire,
    Virtual,
    Plastic,
    Link,
    Switch,
    Unlink,
    Erase,
    TopUp,
    SetLimits,
    Close,
    Withdraw,
    CancelOrder,
    CancelTopUp,
    CancelLimits,
    CancelClosing,
    CancelWithdrawal,
    Confirm,
    DraftRun,
    SubmitRun,
    CancelRun,
    MakeProgramme,
    ChangeProgramme,
    PauseProgramme,
    ResumeProgramme,
    DeleteProgramme,
}

const WISHES: [(u32, Wish); 28] = [
    (10, Wish::Deposit),
    (3, Wish::PayOut),
    (2, Wish::ReverseDeposit),
    (3, Wish::Hire),
    (10, Wish::Virtual),
    (4, Wish::Plastic),
    (14, Wish::Link),
    (4, Wish::Switch),
    (2, Wish::Unlink),
    (1, Wish::Erase),
    (22, Wish::TopUp),
    (8, Wish::SetLimits),
    (6, Wish::Close),
    (8, Wish::Withdraw),
    (4, Wish::CancelOrder),
    (4, Wish::CancelTopUp),
    (6, Wish::CancelLimits),
    (16, Wish::CancelClosing),
    (8, Wish::CancelWithdrawal),
    (3, Wish::Confirm),
    (8, Wish::DraftRun),
    (16, Wish::SubmitRun),
    (3, Wish::CancelRun),
    (7, Wish::MakeProgramme),
    (2, Wish::ChangeProgramme),
    (1, Wish::PauseProgramme),
    (2, Wish::ResumeProgramme),
    (1, Wish::DeleteProgramme),
];

/// So many wishes are tried until one can be had.
const TRIES: u32 = 5;

/// What a partner begins with: money, staff, and an order of cards.
pub(super) fn beginning(world: &World) -> Vec<Command> {
    let wishes = [Wish::Hire, Wish::Hire, Wish::Hire, Wish::Hire, Wish::Virtual];
    let deposits = (0..3).map(|_| Wish::Deposit);
    deposits.chain(wishes).filter_map(|wish| command(world, &Holdings::default(), wish)).collect()
}

/// A MAIN card for every employee, while there are unassigned ones.
pub(super) fn equipment(world: &World, partner: PartnerId) -> Result<Vec<Command>, StoreError> {
    let has = held_by(world, partner)?;
    let link = |(employee, (_, number)): (EmployeeId, (CardId, CardNumber))| Command::Link {
        employee,
        number,
        status: CardStatus::Main,
    };
    Ok(has.employees.into_iter().zip(has.free).map(link).collect())
}

/// The next command; `None` if what is wished for needs something that is not there.
pub(super) fn next(world: &World, partner: PartnerId) -> Result<Option<Command>, StoreError> {
    let has = held_by(world, partner)?;
    let mut wished = (0..TRIES).filter_map(|_| world.dice.weighted(&WISHES));
    Ok(wished.find_map(|wish| command(world, &has, wish)))
}

/// A run for some of its people.
pub(super) fn draft(world: &World, partner: PartnerId) -> Result<Option<Command>, StoreError> {
    let has = held_by(world, partner)?;
    Ok(draft_run(world, &has))
}

/// The newest run, as it was shown.
pub(super) fn submission(world: &World, partner: PartnerId) -> Result<Option<Command>, StoreError> {
    let has = held_by(world, partner)?;
    Ok(has.runs.first().map(submit))
}

fn submit(run: &Run) -> Command {
    Command::SubmitRun { run: run.id(), digest: run.digest() }
}

fn held_by(world: &World, partner: PartnerId) -> Result<Holdings, StoreError> {
    let env = Arc::clone(&world.env);
    world.look(move |unit| holdings(unit, &env, partner))
}

fn holdings(unit: &mut dyn UnitOfWork, env: &Env, partner: PartnerId) -> Result<Holdings, StoreError> {
    let Ok(page) = Page::new(1, Page::MAX_SIZE) else {
        return Err(StoreError::Failed("the first page is no page".to_owned()));
    };
    let staff = employees::list(unit, partner, &EmployeeFilter::default(), page)?.items;
    let employees: Vec<EmployeeId> = staff.into_iter().map(|employee| employee.id()).collect();
    let mut linked = Vec::new();
    for employee in &employees {
        let cards = unit.cards().of_employee(partner, *employee)?;
        linked.extend(cards.into_iter().map(|(card, status)| (*employee, card, status)));
    }
    let placed = orders::list(unit, partner, &RequestFilter::default(), page)?.items;
    let free = cards::available(unit, env, partner, None, page)?.items;
    let all = 1..unit.movements().last(partner)?.saturating_add(1);
    let deposits = unit.movements().of_kind(partner, MovementKind::Deposit, all, page)?.items;
    let reference = |deposit: BookedMovement| match deposit.movement.reference() {
        Reference::Transfer(reference) => Some(reference.clone()),
        _ => None,
    };
    Ok(Holdings {
        deposits: deposits.into_iter().filter_map(reference).collect(),
        employees,
        free: free.into_iter().map(|card| (card.id(), card.number())).collect(),
        linked,
        awaited: placed
            .iter()
            .filter(|order| order.state().is_open())
            .map(|order| order.cards() as usize)
            .sum(),
        orders: ids(placed, |order| order.id()),
        top_ups: ids(
            card_batches::list::<TopUps>(unit, partner, &RequestFilter::default(), page)?.items,
            |request| request.id(),
        ),
        limit_changes: ids(
            card_batches::list::<LimitChanges>(unit, partner, &RequestFilter::default(), page)?.items,
            |request| request.id(),
        ),
        closings: ids(
            card_batches::list::<Closings>(unit, partner, &RequestFilter::default(), page)?.items,
            |request| request.id(),
        ),
        withdrawals: ids(
            card_batches::list::<Withdrawals>(unit, partner, &RequestFilter::default(), page)?.items,
            |request| request.id(),
        ),
        runs: unit.runs().list(partner, &RunFilter::default(), page)?.items,
        programmes: ids(unit.programmes().list(partner, page)?.items, |programme| programme.id()),
    })
}

fn ids<R, I>(requests: Vec<R>, id: impl Fn(&R) -> I) -> Vec<I> {
    requests.iter().map(id).collect()
}

fn command(world: &World, has: &Holdings, wish: Wish) -> Option<Command> {
    let dice = &world.dice;
    Some(match wish {
        Wish::Deposit => Command::Deposit {
            reference: TransferReference::parse(&format!("R-{}", world.mark())).ok()?,
            amount: Kopecks::new(dice.between(1, 60) * 1_000),
        },
        Wish::PayOut => Command::PayOut {
            reference: TransferReference::parse(&format!("R-{}", world.mark())).ok()?,
            amount: Kopecks::new(dice.between(1, 20) * 1_000),
        },
        Wish::ReverseDeposit => Command::ReverseDeposit(dice.pick(&has.deposits)?.clone()),
        Wish::Hire => Command::Hire { custom_id: CustomId::parse(&format!("E-{}", world.mark())).ok()? },
        Wish::Virtual | Wish::Plastic if has.free.len() + has.awaited >= ENOUGH => return None,
        Wish::Virtual => virtual_order(world),
        Wish::Plastic => plastic_order(world)?,
        Wish::Link => Command::Link {
            employee: *dice.pick(&has.employees)?,
            number: dice.pick(&has.free)?.1,
            status: if dice.chance(800) { CardStatus::Main } else { *dice.pick(CardStatus::ALL)? },
        },
        Wish::Switch => {
            let (employee, card, _) = *dice.pick(&has.linked)?;
            Command::Switch { employee, card, status: *dice.pick(CardStatus::ALL)? }
        }
        Wish::Unlink => {
            let (employee, card, _) = *dice.pick(&has.linked)?;
            Command::Unlink { employee, card }
        }
        Wish::Erase => Command::Erase(*dice.pick(&has.employees)?),
        Wish::TopUp => top_up(world, has)?,
        Wish::SetLimits => set_limits(world, has)?,
        Wish::Close => close(world, has)?,
        Wish::Withdraw => withdraw(world, has)?,
        Wish::CancelOrder => Command::CancelOrder(*recent(world, &has.orders)?),
        Wish::CancelTopUp => Command::CancelTopUp(*recent(world, &has.top_ups)?),
        Wish::CancelLimits => Command::CancelLimits(*recent(world, &has.limit_changes)?),
        Wish::CancelClosing => Command::CancelClosing(*recent(world, &has.closings)?),
        Wish::CancelWithdrawal => Command::CancelWithdrawal(*recent(world, &has.withdrawals)?),
        Wish::Confirm => Command::Confirm(*dice.pick(&has.orders)?),
        Wish::DraftRun => draft_run(world, has)?,
        // Sometimes one that was submitted already, or cancelled.
        Wish::SubmitRun => submit(recent(world, &has.runs)?),
        Wish::CancelRun => Command::CancelRun(recent(world, &has.runs)?.id()),
        Wish::MakeProgramme if has.programmes.len() >= MOST_PROGRAMMES => return None,
        Wish::MakeProgramme => Command::MakeProgramme(terms::any(world, &has.employees)?),
        Wish::ChangeProgramme => Command::ChangeProgramme {
            programme: *dice.pick(&has.programmes)?,
            terms: terms::any(world, &has.employees)?,
        },
        Wish::PauseProgramme => Command::PauseProgramme(*dice.pick(&has.programmes)?),
        Wish::ResumeProgramme => Command::ResumeProgramme(*dice.pick(&has.programmes)?),
        Wish::DeleteProgramme => Command::DeleteProgramme(*dice.pick(&has.programmes)?),
    })
}

/// Mostly the newest, which comes first and is open yet; else any.
fn recent<'a, T>(world: &World, requests: &'a [T]) -> Option<&'a T> {
    if world.dice.chance(600) { requests.first() } else { world.dice.pick(requests) }
}

/// A partner with so many unassigned or ordered cards orders no more.
const ENOUGH: usize = 6;
/// One with so many programmes makes no more.
const MOST_PROGRAMMES: usize = 3;

/// Three to five virtual cards; what each costs is the mark.
fn virtual_order(world: &World) -> Command {
    let amount = Kopecks::new(5_000 + world.mark());
    let count = u32::try_from(world.dice.between(3, 5)).unwrap_or(1);
    let line = OrderLine { card_type: CardType::Mlz, count, details: LineDetails::Virtual { amount } };
    Command::Order { kind: OrderKind::Virtual, lines: vec![line] }
}

/// A few plastic cards; where they go is the mark.
fn plastic_order(world: &World) -> Option<Command> {
    let details = LineDetails::Plastic {
        address: DeliveryAddress::parse(&format!("{} Main Street", world.mark())).ok()?,
        recipient: Recipient::parse("Ivan Ivanov").ok()?,
        phone: Phone::parse("9031234567").ok()?,
    };
    let count = u32::try_from(world.dice.between(1, 3)).unwrap_or(1);
    let line = OrderLine { card_type: CardType::Mp4, count, details };
    Some(Command::Order { kind: OrderKind::Plastic, lines: vec![line] })
}

/// Some MAIN cards, and now and then one that is none; what each gets is the mark, beside whole thousands.
fn top_up(world: &World, has: &Holdings) -> Option<Command> {
    let wanted = |status| status == CardStatus::Main || world.dice.chance(20);
    let mut top_ups = Vec::new();
    for (employee, card, status) in has.linked.iter().filter(|(_, _, status)| wanted(*status)) {
        if world.dice.chance(600) {
            let amount = Kopecks::new(world.dice.between(1, 8) * 1_000 + world.mark());
            let by_person = *status == CardStatus::Main && world.dice.chance(200);
            let card = if by_person { CardRef::Employee(*employee) } else { CardRef::Id(*card) };
            top_ups.push(TopUp { card, amount });
        }
    }
    (!top_ups.is_empty()).then_some(Command::TopUp(top_ups))
}

/// Money for some people, by their identifier or by that of a card, which may be none that can have it; or money back from
/// them. Now and then under the reference of a run that there is already.
fn draft_run(world: &World, has: &Holdings) -> Option<Command> {
    let dice = &world.dice;
    let (kind, mark) = (if dice.chance(700) { RunKind::TopUp } else { RunKind::Withdraw }, world.mark());
    let text = |name: &str, text: String| Cell { name: name.to_owned(), value: CellValue::Text(text) };
    let mut rows = Vec::new();
    for (line, (employee, card, _)) in (1..).zip(&has.linked) {
        if !dice.chance(600) {
            continue;
        }
        let person = if dice.chance(500) {
            text("idEmployee", employee.to_string())
        } else {
            text("idCard", card.to_string())
        };
        let mut cells = vec![person];
        if kind == RunKind::TopUp || dice.chance(600) {
            cells.push(text("amount", (dice.between(1, 8) * 1_000 + mark).to_string()));
        }
        rows.push(InputRow { line, cells, limit: None, fault: None });
    }
    let known = dice.pick(&has.runs).and_then(|run| run.reference().cloned());
    let reference = known.filter(|_| dice.chance(100));
    let reference = reference.or_else(|| RequestReference::parse(&format!("run {mark}")).ok());
    let input = RunInput { kind, reference, at: None, creates_categories: false, rows };
    (!input.rows.is_empty()).then_some(Command::DraftRun(input))
}

/// Some cards, linked or free: so many of a thousand.
fn some_cards(world: &World, has: &Holdings, of_thousand: u32) -> Vec<CardId> {
    let linked = has.linked.iter().map(|(_, card, _)| *card);
    let all = linked.chain(has.free.iter().map(|(card, _)| *card));
    all.filter(|_| world.dice.chance(of_thousand)).collect()
}

/// One card or two, in half of the cases lost or stolen ones alone. The key distinguishes what the bank did.
fn close(world: &World, has: &Holdings) -> Option<Command> {
    let is_urgent = world.dice.chance(500);
    let reason = |world: &World| {
        let urgent = [ClosingReason::Lost, ClosingReason::Stolen];
        let reasons = if is_urgent { &urgent[..] } else { ClosingReason::ALL };
        world.dice.pick(reasons).copied()
    };
    let cards = some_cards(world, has, 250).into_iter().take(2);
    let cards = cards.filter_map(|card| Some(CardClosing { card: card.into(), reason: reason(world)? }));
    let cards: Vec<CardClosing> = cards.collect();
    (!cards.is_empty()).then_some(Command::Close(cards))
}

/// Some cards: a part of their money, which may be more than they have, or all of it. The key distinguishes what the
/// bank did.
fn withdraw(world: &World, has: &Holdings) -> Option<Command> {
    let amount = || world.dice.chance(600).then(|| Kopecks::new(world.dice.between(1, 6) * 1_000));
    let cards = some_cards(world, has, 350).into_iter();
    let cards: Vec<CardWithdrawal> =
        cards.map(|card| CardWithdrawal { card: card.into(), amount: amount() }).collect();
    (!cards.is_empty()).then_some(Command::Withdraw(cards))
}

/// Some cards, linked or free; the amount of the limit is the mark.
fn set_limits(world: &World, has: &Holdings) -> Option<Command> {
    let cards: Vec<CardRef> = some_cards(world, has, 400).into_iter().map(CardRef::Id).collect();
    let limit = Limit::per(Period::Day, Kopecks::new(1_000 + world.mark())).build().ok()?;
    (!cards.is_empty()).then_some(Command::SetLimits { cards, limit })
}
