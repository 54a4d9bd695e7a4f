//! The worker's part of an order: submit it as a whole, then fetch its cards chunk by chunk.

use kopeck_domain::Kopecks;
use kopeck_domain::card::{AccountBalance, BankView, Standing};
use kopeck_domain::event::{CardIssued, EventData};
use kopeck_domain::ids::{CardId, OrderId};
use kopeck_domain::ledger::{MovementKind, Reference};
use kopeck_domain::limit::Limit;
use kopeck_domain::order::{CardMismatch, CardSpec, LineDetails, Order, OrderLine, OrderState, card_specs};
use kopeck_domain::request::TransitionError;
use kopeck_port_bank::{
    BankError, BankGateway, BankKey, Delivery, Instruction, IssuedCard, OrderedCards, Submission, Verdict,
};
use kopeck_port_store::{Activation, CardRecord, Claim, NewCard, StoreError, Subject, UnitOfWork};
use time::OffsetDateTime;

use super::next::Next;
use crate::money::{self, MoveError};
use crate::{Env, events, orders};

/// What the bank has to know of an order.
#[derive(Debug, Clone)]
pub(super) struct OrderTask {
    order: OrderId,
    lines: Vec<OrderLine>,
    /// Cards stored so far; above zero only if the bank accepted the order.
    stored: u32,
}

/// What the bank answered to an order.
#[derive(Debug, Clone)]
pub(super) enum OrderFindings {
    /// The next of its cards.
    Cards(Vec<IssuedCard>),
    /// The order is refused.
    Declined,
    /// No verdict. Whether something may have been sent to the bank, now or before.
    Later { may_have_sent: bool },
    /// It was sent before, must not be sent again, and the bank does not know it.
    NotKnown,
}

/// Starts the order if it is new, and gathers what the bank has to know.
pub(super) fn prepare(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    id: OrderId,
) -> Result<Option<OrderTask>, StoreError> {
    let order = load(unit, claim, id)?;
    if !order.state().is_open() {
        unit.jobs().complete(claim)?;
        return Ok(None);
    }
    if order.state() == OrderState::New {
        advance(unit, env, claim, order, Order::start)?;
    }
    let stored = unit.orders().stored_cards(claim.partner, id)?;
    let lines = if stored == 0 { unit.orders().lines(claim.partner, id)? } else { Vec::new() };
    Ok(Some(OrderTask { order: id, lines, stored }))
}

impl OrderTask {
    /// Submits the order unless it was accepted before, then fetches its next `chunk` cards.
    pub(super) fn call(self, bank: &dyn BankGateway, claim: &Claim, chunk: u32) -> OrderFindings {
        let key = order_key(self.order);
        let stored = self.stored;
        if stored == 0 {
            match self.verdict(bank, claim, &key) {
                // No money comes back from an order.
                Ok(Some(Verdict::Done | Verdict::Returned(_))) => {}
                Ok(Some(Verdict::Declined(_))) => return OrderFindings::Declined,
                Ok(Some(Verdict::Pending)) => {
                    log::warn!("an order has no verdict of the bank yet");
                    return OrderFindings::Later { may_have_sent: true };
                }
                Ok(None) => return OrderFindings::NotKnown,
                // What did not reach the bank leaves things as the claim found them.
                Err(error @ BankError::Unavailable(_)) => return later(&error, claim.may_have_sent),
                Err(error @ BankError::Unknown(_)) => return later(&error, true),
            }
        }
        match bank.issued_cards(&key, stored, chunk) {
            Ok(cards) => OrderFindings::Cards(cards),
            Err(error) => later(&error, true),
        }
    }

    /// The bank's verdict; `None` if it does not know an order that must not be sent again.
    fn verdict(
        self,
        bank: &dyn BankGateway,
        claim: &Claim,
        key: &BankKey,
    ) -> Result<Option<Verdict>, BankError> {
        if claim.may_have_sent {
            let known = bank.query(std::slice::from_ref(key))?.into_iter().next().flatten();
            if known.is_some() || !bank.repeat_is_safe() {
                return Ok(known);
            }
        }
        let lines = self.lines.into_iter().map(ordered).collect();
        let submission = Submission { key: key.clone(), instruction: Instruction::IssueCards(lines) };
        bank.submit(&[submission])
            .into_iter()
            .next()
            .unwrap_or_else(|| Err(BankError::Unknown("the bank gave no answer".to_owned())))
            .map(Some)
    }
}

/// Books what the bank said.
pub(super) fn settle(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    findings: &OrderFindings,
) -> Result<Next, StoreError> {
    let Subject::Order(id) = claim.subject else {
        return Err(StoreError::Corrupt("jobs: findings on an order for another subject".to_owned()));
    };
    match findings {
        OrderFindings::Later { may_have_sent } => Ok(Next::Later { may_have_sent: *may_have_sent }),
        OrderFindings::NotKnown => Ok(Next::LeaveToPerson),
        OrderFindings::Declined => {
            let order = load(unit, claim, id)?;
            finish(unit, env, claim, order, Order::decline, MovementKind::Release)
        }
        OrderFindings::Cards(cards) => {
            let order = load(unit, claim, id)?;
            store_cards(unit, env, claim, order, cards)
        }
    }
}

/// Stores the next cards of the order if they are what was ordered. If one is not, none of them is stored, and a person
/// has to find out at the bank.
fn store_cards(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    order: Order,
    cards: &[IssuedCard],
) -> Result<Next, StoreError> {
    let stored = unit.orders().stored_cards(claim.partner, order.id())?;
    if cards.is_empty() {
        if stored > 0 {
            log::error!(order:% = order.id(); "the bank issued fewer cards than were ordered");
            return Ok(Next::LeaveToPerson);
        }
        // The bank accepted the order but has no card to show for it yet.
        return Ok(Next::Later { may_have_sent: true });
    }
    let lines = unit.orders().lines(claim.partner, order.id())?;
    let specs = card_specs(&lines).skip(usize::try_from(stored).unwrap_or(usize::MAX));
    let mut new = Vec::with_capacity(cards.len());
    // A bank that did the order twice has more cards for it than were ordered.
    for ((ordinal, spec), issued) in (stored..).zip(specs).zip(cards) {
        match new_card(env, order.id(), spec, ordinal, issued) {
            Ok(card) => new.push(card),
            Err(mismatch) => {
                log::error!(order:% = order.id(), ordinal, reason:% = mismatch; "the bank issued a card that was not ordered");
                return Ok(Next::LeaveToPerson);
            }
        }
    }
    unit.cards().insert_issued(claim.partner, &new)?;
    let stored = stored.saturating_add(u32::try_from(new.len()).unwrap_or(u32::MAX));
    let next = if stored >= order.cards() {
        finish(unit, env, claim, order, Order::succeed, MovementKind::Capture)?
    } else {
        Next::GoOn
    };
    // Behind the event of the order.
    events::append(unit, env, claim.partner, new.iter().map(issued_event))?;
    Ok(next)
}

fn load(unit: &mut dyn UnitOfWork, claim: &Claim, id: OrderId) -> Result<Order, StoreError> {
    let order = unit.orders().get(claim.partner, id)?;
    order.ok_or_else(|| StoreError::Corrupt("jobs: there is no such order".to_owned()))
}

type Transition = fn(Order, OffsetDateTime) -> Result<Order, TransitionError<OrderState>>;

fn finish(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    order: Order,
    step: Transition,
    money: MovementKind,
) -> Result<Next, StoreError> {
    money::book(unit, env, claim.partner, money, Reference::Order(order.id()), order.cost())
        .map_err(MoveError::unexpected)?;
    advance(unit, env, claim, order, step)?;
    Ok(Next::Finished)
}

fn advance(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    order: Order,
    step: Transition,
) -> Result<(), StoreError> {
    let order =
        step(order, env.now()).map_err(|error| StoreError::Corrupt(format!("orders.state: {error}")))?;
    orders::set_state(unit, env, claim.partner, &order)
}

fn later(error: &BankError, may_have_sent: bool) -> OrderFindings {
    log::debug!(reason:% = error; "an order has no response from the bank yet");
    OrderFindings::Later { may_have_sent }
}

/// What the bank's keys of orders begin with.
pub(crate) const ORDER_KEY: &str = "order";

/// The key under which the bank issues the cards of an order once. It never changes.
pub(crate) fn order_key(order: OrderId) -> BankKey {
    BankKey::of(ORDER_KEY, order.uuid(), None)
}

fn ordered(line: OrderLine) -> OrderedCards {
    let (first_top_up, delivery) = match line.details {
        LineDetails::Virtual { amount } => (Some(amount), None),
        LineDetails::Plastic { address, recipient, phone } => (
            None,
            Some(Delivery {
                address: address.as_str().to_owned(),
                recipient: recipient.as_str().to_owned(),
                phone: phone.as_str().to_owned(),
            }),
        ),
    };
    OrderedCards { kind: line.card_type, count: line.count, first_top_up, delivery }
}

fn issued_event(new: &NewCard) -> EventData {
    let card = &new.record.card;
    EventData::CardIssued(CardIssued {
        card: card.id(),
        number: card.number(),
        kind: card.kind(),
        order: card.order(),
        valid_until: card.valid_until(),
        bank_status: card.bank_status(new.record.bank.standing),
    })
}

fn new_card(
    env: &Env,
    order: OrderId,
    spec: CardSpec,
    ordinal: u32,
    issued: &IssuedCard,
) -> Result<NewCard, CardMismatch> {
    let IssuedCard { number, kind, valid_until, first_top_up, .. } = issued;
    let id = CardId::new(env.ids.next_id());
    let card = spec.issue(order, id, *kind, *number, *valid_until, *first_top_up)?;
    let balance = issued.first_top_up.unwrap_or(Kopecks::ZERO);
    let now = env.now();
    let activation = match (&issued.activation_code, issued.code_valid_until, issued.first_top_up) {
        (Some(code), Some(valid_until), Some(first_top_up)) => {
            Some(Activation { code: Some(code.clone()), valid_until, first_top_up })
        }
        (None, _, _) | (_, None, _) | (_, _, None) => None,
    };
    Ok(NewCard {
        record: CardRecord {
            card,
            bank: BankView {
                balance,
                remaining_top_up: issued.remaining_top_up,
                activated_at: issued.activated_at,
                standing: Standing::Open,
                seen_at: now,
            },
            account: AccountBalance { value: balance, updated_at: now },
            transactions_seen_at: None,
            limit: Limit::Unlimited,
        },
        ordinal,
        activation,
    })
}

#[cfg(test)]
mod tests;
