//! The preview of a run: what each item leads to, what is wrong with it, and what all of them come to.

use std::collections::{HashMap, HashSet};

use kopeck_domain::Kopecks;
use kopeck_domain::card::{CardStatus, Standing};
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::employee::Change;
use kopeck_domain::ids::{CardId, CategoryId, PartnerId};
use kopeck_domain::money::AmountOverflow;
use kopeck_domain::order::{LineDetails, MAX_CARDS, MAX_ITEMS as MAX_LINES, OrderLine};
use kopeck_domain::person::CustomId;
use kopeck_domain::run::row::{CategoryRef, Cells, Column, Meaning};
use kopeck_domain::run::{Fault, FaultCode, MAX_LIMITS, RunItem, RunKind, RunTotals};
use kopeck_port_store::{BatchTarget, CardClaims, CardHolder, Lane, StoreError, UnitOfWork};
use time::Date;

use super::create::{InputRow, RunInput};
use crate::card_refs::{self, CardRefError, FoundCard};
use crate::{Env, money};

const DUPLICATE: &str = "stands in an earlier item";

/// The items of a new run, and what they come to.
pub(super) fn items(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    input: &RunInput,
) -> Result<(Vec<RunItem>, RunTotals), StoreError> {
    let mut drafts: Vec<Draft> = input.rows.iter().map(|row| Draft::read(input.kind, row)).collect();
    match input.kind {
        RunKind::TopUp | RunKind::Withdraw | RunKind::Limit => {
            find_cards(unit, env, partner, input.kind, &mut drafts)?;
        }
        RunKind::VirtualOrder => check_lines(&mut drafts),
        RunKind::Employees => find_employees(unit, partner, input, &mut drafts)?,
    }
    let available = unit.ledger().sheet(partner)?.ok_or_else(money::no_accounts)?.balances.available;
    let totals = total(input.kind, available, &mut drafts).map_err(overflow)?;
    let items = (0..).zip(drafts).zip(&input.rows).map(|((ordinal, draft), row)| draft.item(ordinal, row));
    Ok((items.collect(), totals))
}

/// What is known of an item so far.
#[derive(Default)]
struct Draft {
    meaning: Option<Meaning>,
    limit: Option<kopeck_domain::limit::Limit>,
    field: String,
    holder: Option<CardHolder>,
    custom_id: Option<CustomId>,
    card: Option<CardId>,
    is_main: bool,
    /// The kopecks that it moves, and what the item shows.
    moves: Kopecks,
    amount: Option<Kopecks>,
    fault: Option<Fault>,
}

impl Draft {
    fn read(kind: RunKind, row: &InputRow) -> Self {
        let cells = Cells::new(&row.cells);
        let mut draft = Self {
            field: cells.person_field().to_owned(),
            custom_id: if kind == RunKind::VirtualOrder { None } else { cells.custom_id() },
            ..Self::default()
        };
        match row.fault.clone().map_or_else(|| cells.meaning(kind), Err) {
            Ok(meaning) => {
                (draft.moves, draft.amount) = match &meaning {
                    Meaning::TopUp(_, amount) | Meaning::Withdraw(_, Some(amount)) => {
                        (*amount, Some(*amount))
                    }
                    Meaning::Order(line) => (line_cost(line), first_top_up(line)),
                    Meaning::Withdraw(_, None) | Meaning::Limit(_) | Meaning::Employee(..) => {
                        (Kopecks::ZERO, None)
                    }
                };
                draft.meaning = Some(meaning);
            }
            Err(fault) => draft.fault = Some(fault),
        }
        if kind == RunKind::Limit && draft.fault.is_none() {
            match &row.limit {
                Some(Ok(limit)) => draft.limit = Some(limit.clone()),
                Some(Err(fault)) => draft.fault = Some(fault.clone()),
                None => draft.fault = Some(Fault::new("limit", FaultCode::Missing, "must be given")),
            }
        }
        draft
    }

    /// The card or person that a sound item names.
    fn card_ref(&self) -> Option<&CardRef> {
        match (&self.meaning, &self.fault) {
            (Some(Meaning::TopUp(card, _) | Meaning::Withdraw(card, _) | Meaning::Limit(card)), None) => {
                Some(card)
            }
            _ => None,
        }
    }

    fn fail(&mut self, code: FaultCode, detail: &str) {
        self.fault = Some(Fault::new(self.field.clone(), code, detail));
    }

    fn fail_amount(&mut self, code: FaultCode, detail: impl Into<String>) {
        self.fault = Some(Fault::new("amount", code, detail));
    }

    fn item(self, ordinal: u32, row: &InputRow) -> RunItem {
        RunItem {
            ordinal,
            line: row.line,
            cells: row.cells.clone(),
            limit: self.limit,
            employee: self.holder.as_ref().map(|holder| holder.id),
            custom_id: self.holder.map(|holder| holder.custom_id).or(self.custom_id),
            card: self.card,
            is_main: self.is_main,
            amount: self.amount,
            balance_seen: None,
            fault: self.fault,
            outcome: None,
            reason: None,
        }
    }
}

/// Why a card cannot have what an item of this kind is about. It stands here once for the preview and the execution.
pub(crate) fn obstacle(
    kind: RunKind,
    found: &FoundCard,
    claims: CardClaims,
    today: Date,
) -> Option<(FaultCode, &'static str)> {
    let (card, bank) = (&found.view.card, &found.view.bank);
    let lane = if kind == RunKind::Limit { Lane::Limits } else { Lane::Money };
    let is_main = card.link().is_some_and(|link| link.status == CardStatus::Main);
    if bank.standing == Standing::Closed {
        return Some((FaultCode::CardClosed, "the card is closed"));
    }
    if kind == RunKind::TopUp && !is_main {
        return Some((FaultCode::CardNotMain, "the card is no MAIN card"));
    }
    if kind != RunKind::Withdraw && today > card.valid_until() {
        return Some((FaultCode::CardExpired, "the card has expired"));
    }
    if kind == RunKind::TopUp && bank.standing == Standing::Blocked {
        return Some((FaultCode::CardBlocked, "the card is blocked by the bank"));
    }
    if kind == RunKind::TopUp && bank.activated_at.is_none() {
        return Some((FaultCode::Invalid, "the card is not activated"));
    }
    claims.exclude(lane).then_some((FaultCode::CardInRequest, "another request has the card"))
}

/// These cards as a new request finds them.
pub(crate) fn targets(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    cards: &[CardId],
) -> Result<Targets, StoreError> {
    let targets = unit.replenishments().targets(partner, cards)?;
    Ok(targets.into_iter().map(|target| (target.card, target)).collect())
}

/// Cards as a new request finds them.
pub(crate) type Targets = HashMap<CardId, BatchTarget>;

/// What open requests do with a card.
pub(crate) fn claims(targets: &Targets, card: CardId) -> CardClaims {
    targets.get(&card).map(|target| target.claims).unwrap_or_default()
}

/// What a name leads nowhere for.
pub(super) fn no_card(error: &CardRefError) -> (FaultCode, &'static str) {
    match error {
        CardRefError::UnknownEmployee => (FaultCode::EmployeeNotFound, "there is no such employee"),
        CardRefError::UnknownCard => (FaultCode::CardNotFound, "there is no such card"),
        CardRefError::NoMainCard(_) => (FaultCode::NoMainCard, "the employee has no main card"),
    }
}

/// Finds the cards that the items name, and what keeps each from being changed.
fn find_cards(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    kind: RunKind,
    drafts: &mut [Draft],
) -> Result<(), StoreError> {
    let references: Vec<CardRef> = drafts.iter().filter_map(Draft::card_ref).cloned().collect();
    let found = card_refs::find(unit, partner, &references)?;
    let cards: Vec<CardId> = found.iter().flatten().map(|found| found.view.card.id()).collect();
    let targets = targets(unit, partner, &cards)?;
    let (mut seen, mut limits, today) = (HashSet::new(), HashSet::new(), env.today());
    let named = drafts.iter_mut().filter(|draft| draft.card_ref().is_some());
    for ((draft, reference), found) in named.zip(references).zip(found) {
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                let (code, detail) = no_card(&error);
                if let CardRefError::NoMainCard(holder) = error {
                    draft.holder = Some(holder);
                }
                if seen.insert(SeenCard::Named(reference)) {
                    draft.fail(code, detail);
                } else {
                    draft.fail(FaultCode::Duplicate, DUPLICATE);
                }
                continue;
            }
        };
        let card = found.view.card.id();
        draft.card = Some(card);
        draft.is_main = found.view.card.link().is_some_and(|link| link.status == CardStatus::Main);
        draft.holder.clone_from(&found.holder);
        if !seen.insert(SeenCard::Card(card)) {
            draft.fail(FaultCode::Duplicate, DUPLICATE);
        } else if kind == RunKind::TopUp && found.holder_has_left() {
            draft.fail(FaultCode::EmployeeLeft, "the employee has left");
        } else if let Some((code, detail)) = obstacle(kind, &found, claims(&targets, card), today) {
            draft.fail(code, detail);
        } else {
            check_amount(draft, &found);
            check_limit(draft, &mut limits);
        }
    }
    Ok(())
}

/// What an earlier item has led to.
#[derive(PartialEq, Eq, Hash)]
enum SeenCard {
    Card(CardId),
    Named(CardRef),
}

fn check_amount(draft: &mut Draft, found: &FoundCard) {
    let bank = &found.view.bank;
    match draft.meaning {
        Some(Meaning::TopUp(_, amount)) if amount > bank.remaining_top_up => {
            let most = bank.remaining_top_up.get();
            draft.fail_amount(
                FaultCode::OverCardLimit,
                format!("the card can be topped up by {most} kopecks"),
            );
        }
        Some(Meaning::Withdraw(_, amount)) => {
            let amount = amount.unwrap_or(bank.balance);
            (draft.moves, draft.amount) = (amount, Some(amount));
            if amount > bank.balance || !amount.is_positive() {
                let holds = format!("the card holds {} kopecks", bank.balance.get());
                draft.fail_amount(FaultCode::InsufficientBalance, holds);
            }
        }
        _ => {}
    }
}

fn check_limit(draft: &mut Draft, limits: &mut HashSet<String>) {
    let Some(limit) = &draft.limit else { return };
    let text = limit.to_string();
    if limits.len() >= MAX_LIMITS && !limits.contains(&text) {
        let detail = format!("a run has {MAX_LIMITS} different limits at most");
        draft.fault = Some(Fault::new("limit", FaultCode::Invalid, detail));
        return;
    }
    limits.insert(text);
}

/// An order has so many lines and cards at most.
fn check_lines(drafts: &mut [Draft]) {
    let (mut lines, mut cards) = (0, 0_u32);
    for draft in drafts {
        let (Some(Meaning::Order(line)), None) = (&draft.meaning, &draft.fault) else { continue };
        let with_it = cards.saturating_add(line.count);
        if lines == MAX_LINES {
            let detail = format!("an order has {MAX_LINES} items at most");
            draft.fault = Some(Fault::new("typeCard", FaultCode::Invalid, detail));
        } else if with_it > MAX_CARDS {
            let detail = format!("an order has {MAX_CARDS} cards at most");
            draft.fault = Some(Fault::new("numberCards", FaultCode::Invalid, detail));
        } else {
            (lines, cards) = (lines + 1, with_it);
        }
    }
}

/// Finds who is there already, and the categories that the items name.
fn find_employees(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    input: &RunInput,
    drafts: &mut [Draft],
) -> Result<(), StoreError> {
    let (references, places): (Vec<CardRef>, Vec<usize>) = drafts
        .iter()
        .enumerate()
        .filter_map(|(place, draft)| Some((CardRef::CustomId(draft.custom_id.clone()?), place)))
        .unzip();
    let found = unit.cards().by_references(partner, &references)?;
    let RunInput { rows, creates_categories, .. } = input;
    let (mut seen, mut categories) = (HashSet::new(), HashMap::new());
    for ((place, reference), found) in places.into_iter().zip(references).zip(found) {
        let Some(draft) = drafts.get_mut(place) else { continue };
        draft.holder = found.and_then(|found| found.holder);
        let is_first = seen.insert(reference);
        let (Some(Meaning::Employee(_, row)), None) = (&draft.meaning, &draft.fault) else { continue };
        if !is_first {
            draft.fail(FaultCode::Duplicate, DUPLICATE);
        } else if let Change::Set(category) = &row.category
            && category_id(unit, partner, category, &mut categories)?.is_none()
            && !(*creates_categories && matches!(category, CategoryRef::Name(_)))
        {
            let column = match category {
                CategoryRef::Name(_) => Column::Category,
                CategoryRef::Id(_) => Column::IdCategory,
            };
            let cells = rows.get(place).map_or(&[][..], |row| &row.cells);
            let field = Cells::new(cells).name_of(column).unwrap_or_default();
            draft.fault = Some(Fault::new(field, FaultCode::CategoryNotFound, "there is no such category"));
        }
    }
    Ok(())
}

/// The category that an item names; each is looked for once.
pub(super) fn category_id(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    category: &CategoryRef,
    known: &mut HashMap<String, Option<CategoryId>>,
) -> Result<Option<CategoryId>, StoreError> {
    let key = match category {
        CategoryRef::Name(name) => format!("name {}", name.as_str()),
        CategoryRef::Id(id) => format!("id {id}"),
    };
    if let Some(found) = known.get(&key) {
        return Ok(*found);
    }
    let found = match category {
        CategoryRef::Name(name) => unit.categories().id_by_name(partner, name)?,
        CategoryRef::Id(id) => unit.categories().get(partner, *id)?.map(|category| category.id),
    };
    known.insert(key, found);
    Ok(found)
}

/// What the items come to. What the balance does not cover is a fault: taken item by item in their order, so that one that
/// is not covered does not stand in the way of a smaller one behind it.
fn total(kind: RunKind, available: Kopecks, drafts: &mut [Draft]) -> Result<RunTotals, AmountOverflow> {
    let spends = matches!(kind, RunKind::TopUp | RunKind::VirtualOrder);
    let (mut amount, mut faulty) = (Kopecks::ZERO, 0);
    for draft in drafts.iter_mut() {
        if draft.fault.is_none() {
            let with_it = amount.plus(draft.moves)?;
            if spends && with_it > available {
                let detail = "the partner's balance does not cover it";
                draft.fail_amount(FaultCode::InsufficientBalance, detail);
            } else {
                amount = with_it;
            }
        }
        faulty += u32::from(draft.fault.is_some());
    }
    let available_after = match kind {
        RunKind::TopUp | RunKind::VirtualOrder => available.minus(amount)?,
        RunKind::Withdraw => available.plus(amount)?,
        RunKind::Limit | RunKind::Employees => available,
    };
    let number = u32::try_from(drafts.len()).unwrap_or(u32::MAX);
    Ok(RunTotals { number, faulty, amount, available, available_after })
}

pub(super) fn line_cost(line: &OrderLine) -> Kopecks {
    // Both are bounded by the rules of an order.
    let each = first_top_up(line).unwrap_or(Kopecks::ZERO);
    Kopecks::new(each.get().saturating_mul(i64::from(line.count)))
}

fn first_top_up(line: &OrderLine) -> Option<Kopecks> {
    match line.details {
        LineDetails::Virtual { amount } => Some(amount),
        LineDetails::Plastic { .. } => None,
    }
}

pub(super) fn overflow(error: AmountOverflow) -> StoreError {
    StoreError::Corrupt(format!("run_items.amount: {error}"))
}
