//! Makes calls, tries them again under their key, and judges every response.

use std::sync::Arc;
use std::time::Duration;

use kopeck_client::{
    CardClosing, CardLimit, CardStatus, CardWithdrawal, ClosingReason, Error, ErrorCode, LimitPeriod, TopUp,
    Uuid,
};
use tokio::time::Instant;

use super::call::Change;
use super::partner::{Book, Partner};
use super::{reads, runs};
use crate::journal::Journal;
use kopeck_test_support::Random;

/// How often a request is tried in a row before it is left open until the faults are over.
const TRIES: usize = 5;
/// The most cards of a top-up.
const MOST_TOP_UPS: u64 = 200;
/// The most cards of a change of limits.
const MOST_LIMITS: u64 = 12;
/// The most cards of a withdrawal.
const MOST_WITHDRAWALS: u64 = 6;

/// The outcome of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AttemptOutcome {
    Answered,
    Refused,
    /// It may have had its effect, or may have it yet.
    Open,
}

/// Calls one thing after the other until the end.
pub(crate) async fn call_until(end: Instant, partner: Arc<Partner>, journal: Arc<Journal>, random: Random) {
    while Instant::now() < end {
        match random.below(100) {
            0..10 => repeat(&partner, &journal, &random).await,
            10..40 => reads::read(&partner, &journal, &random).await,
            _ => {
                let begun = {
                    let mut book = partner.book();
                    choose(&mut book, &random).map(|call| book.begin(call))
                };
                if let Some(place) = begun {
                    perform(&partner, &journal, place, &random).await;
                }
            }
        }
        tokio::time::sleep(Duration::from_millis(random.between(50, 250))).await;
    }
}

/// Repeats a request until it is answered, finally refused, or left open for later.
pub(crate) async fn perform(partner: &Partner, journal: &Journal, place: usize, random: &Random) -> bool {
    let first = usize::try_from(random.below(1_000)).unwrap_or(0);
    let mut uncertain = false;
    for number in first..first + TRIES {
        let retries = partner.client(number).is_some_and(|(_, retries)| retries);
        // A client that retries may have made an attempt with an unknown outcome before the refusal.
        uncertain |= retries;
        match attempt(partner, journal, place, number).await {
            AttemptOutcome::Answered => return true,
            AttemptOutcome::Refused => {
                if !uncertain {
                    partner.book().refused(place);
                }
                return false;
            }
            AttemptOutcome::Open => uncertain = true,
        }
        tokio::time::sleep(Duration::from_millis(random.between(100, 600))).await;
    }
    false
}

/// Once the faults are over: makes every request again that was left open, until each has its response.
pub(crate) async fn answer_all(partner: &Partner, journal: &Journal, deadline: Instant) {
    let open: Vec<usize> = {
        let book = partner.book();
        let made = book.made.iter().enumerate();
        made.filter(|(_, made)| made.answer.is_none() && !made.refused).map(|(place, _)| place).collect()
    };
    for (number, place) in open.into_iter().enumerate() {
        loop {
            match attempt(partner, journal, place, number).await {
                AttemptOutcome::Answered => break,
                AttemptOutcome::Refused => {
                    // No attempt is in flight any more.
                    partner.book().refused(place);
                    break;
                }
                AttemptOutcome::Open if Instant::now() > deadline => {
                    journal
                        .wrong(format!("{}: a call stayed without an answer after the faults", partner.name));
                    return;
                }
                AttemptOutcome::Open => tokio::time::sleep(Duration::from_millis(300)).await,
            }
        }
    }
}

/// Sends a request once, or a few times with a client that retries.
async fn attempt(partner: &Partner, journal: &Journal, place: usize, number: usize) -> AttemptOutcome {
    let made = partner.book().made.get(place).cloned();
    let (Some(made), Some((client, _))) = (made, partner.client(number)) else {
        return AttemptOutcome::Refused;
    };
    let start = Instant::now();
    let answer = made.call.make(client, made.key).await;
    let took = start.elapsed();
    let name = made.call.name();
    match answer {
        Ok(answer) => {
            let accepted = if made.call.request().is_some() { "202" } else { "200" };
            journal.call(name, accepted.to_owned(), took);
            if let Some(wrong) = partner.book().answered(place, answer) {
                journal.wrong(format!("{}: {wrong}", partner.name));
            }
            AttemptOutcome::Answered
        }
        Err(error) => {
            journal.call(name, reads::outcome(&error), took);
            reads::judge(journal, &format!("{}: {name}", partner.name), &error);
            if is_open(&error) {
                return AttemptOutcome::Open;
            }
            let conflict = error.status() == Some(409) && made.call.may_conflict();
            journal.must(conflict, || format!("{}: a {name} was refused: {error}", partner.name));
            AttemptOutcome::Refused
        }
    }
}

/// Whether a request that failed so may be made again.
pub(super) fn is_open(error: &Error) -> bool {
    error.is_transient()
        || error.code() == Some(&ErrorCode::RequestTimeout)
        // The token ended while a process stood still; the next request renews it.
        || error.status() == Some(401)
}

/// Makes a request again that was answered, under its key.
async fn repeat(partner: &Partner, journal: &Journal, random: &Random) {
    let place = {
        let book = partner.book();
        let place = usize::try_from(random.below(book.made.len() as u64)).unwrap_or(0);
        book.made.get(place).is_some_and(|made| made.answer.is_some()).then_some(place)
    };
    if let Some(place) = place {
        journal.repeated();
        perform(partner, journal, place, random).await;
    }
}

/// The next request, if the drawn one is possible yet.
fn choose(book: &mut Book, random: &Random) -> Option<Change> {
    if book.paydays.is_some() {
        return pay_with_a_card(book, random);
    }
    Some(match random.below(70) {
        0..8 => Change::AddEmployee { custom_id: format!("C-{}", book.made.len()) },
        8..13 => Change::OrderVirtual {
            count: small(random.between(1, 5)),
            amount: 5_000 + i64::from(small(random.below(5_000))),
        },
        13..17 => Change::OrderPlastic { count: small(random.between(1, 5)), declined: random.percent(10) },
        17..22 => Change::Link {
            employee: *random.pick(&book.employees)?,
            number: book.free.pop()?,
            status: CardStatus::Additional,
        },
        22..36 => Change::TopUp(top_ups(book, random)),
        36..42 => Change::Limit {
            cards: some_cards(book, random, MOST_LIMITS),
            limit: CardLimit::per(LimitPeriod::Day, 100 + i64::from(small(random.below(1_000)))),
        },
        42..45 => {
            let (id, request) = book.requests.iter().rev().find(|(_, request)| !request.state.is_final())?;
            Change::Cancel(request.kind, *id)
        }
        45..47 => book.done.pop()?,
        47..49 => Change::Deposit { amount: 1 + i64::from(small(random.below(1_000))) },
        49..51 => Change::Close(vec![CardClosing::new(book.to_close.pop()?, ClosingReason::Leaver)]),
        51..55 => Change::Withdraw(withdrawals(book, random)),
        55..59 => Change::Run {
            file: runs::file(&top_ups(book, random)),
            reference: format!("run {}", book.made.len()),
        },
        _ => return pay_with_a_card(book, random),
    })
}

/// A purchase. Whom programmes pay does nothing else: only programmes move money of its cards.
fn pay_with_a_card(book: &Book, random: &Random) -> Option<Change> {
    let amount = 1 + i64::from(small(random.below(200)));
    Some(Change::Purchase { card: random.pick(&book.cards)?.id, amount })
}

/// Up to 200 cards in a row. Amounts whose kopecks end in 13 are refused by the simulator, and there are some.
fn top_ups(book: &Book, random: &Random) -> Vec<TopUp> {
    // Most are small, or each would be in the way of the next.
    let most = if random.percent(10) { MOST_TOP_UPS } else { 12 };
    let cards = some_cards(book, random, most);
    cards.into_iter().map(|card| TopUp::new(card, 1 + i64::from(small(random.below(100))))).collect()
}

/// Few cards. Some have less than the amount, and some are emptied.
fn withdrawals(book: &Book, random: &Random) -> Vec<CardWithdrawal> {
    let withdrawal = |card| {
        if random.percent(10) {
            return CardWithdrawal::all(card);
        }
        CardWithdrawal::new(card, 1 + i64::from(small(random.below(200))))
    };
    some_cards(book, random, MOST_WITHDRAWALS).into_iter().map(withdrawal).collect()
}

fn some_cards(book: &Book, random: &Random, most: u64) -> Vec<Uuid> {
    let all = book.cards.len();
    let count = usize::try_from(random.between(1, most)).unwrap_or(1).min(all);
    let start = usize::try_from(random.below(all as u64)).unwrap_or(0);
    book.cards.iter().cycle().skip(start).take(count).map(|card| card.id).collect()
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
