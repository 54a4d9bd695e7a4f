//! What a partner's requests say that the bank did, held against what it did. Requests are distinguished by their
//! marks, and what brings money back by its key.

use std::collections::BTreeMap;
use std::fmt::Display;

use kopeck_domain::Kopecks;
use kopeck_domain::card_batch::{BatchItem, BatchKind, CardBatch, ItemState};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::order::{LineDetails, OrderLine, OrderState};
use kopeck_port_bank::{Instruction, OrderedCards, Verdict};

use super::holdings::Holdings;
use crate::bank::Effect;
use crate::violation::Violation;

/// The invariant that the bank and the requests agree.
pub(super) const RULE: &str = "the bank did what the requests say, and nothing else";

/// What the requests of a partner come to.
#[derive(Default)]
pub(super) struct Story {
    /// Kopecks for what was done, less what came back.
    pub(super) spent: i64,
    /// Kopecks that came back.
    pub(super) returned: i64,
    /// Things that the bank did.
    pub(super) effects: usize,
}

/// The bank's side of it.
struct BankSide<'a>(&'a [Effect]);

impl Story {
    /// Reads the story, and checks it against the bank's `effects`.
    pub(super) fn of(has: &Holdings, effects: &[Effect]) -> Result<Self, Violation> {
        let bank = BankSide(effects);
        let mut story = Self::default();
        story.read_orders(has, &bank)?;
        story.read_top_ups(has, &bank)?;
        story.read_limit_changes(has, &bank)?;
        story.read_returns("closing", &has.closings, &bank)?;
        story.read_returns("withdrawal", &has.withdrawals, &bank)?;
        Ok(story)
    }

    fn read_orders(&mut self, has: &Holdings, bank: &BankSide<'_>) -> Result<(), Violation> {
        for (order, lines) in &has.orders {
            decided(&order.id(), order.state(), order.state().is_open())?;
            let is_done = matches!(order.state(), OrderState::Success | OrderState::Confirmed);
            let is_it = |instruction: &Instruction| match instruction {
                Instruction::IssueCards(ordered) => ordered.iter().map(mark).eq(lines.iter().map(own_mark)),
                _ => false,
            };
            bank.agrees(&order.id(), usize::from(is_done), is_it)?;
            self.count(is_done, order.cost().get());
        }
        Ok(())
    }

    fn read_top_ups(&mut self, has: &Holdings, bank: &BankSide<'_>) -> Result<(), Violation> {
        // Programmes give the same card the same amount in each period.
        let mut done: BTreeMap<(CardNumber, Kopecks), usize> = BTreeMap::new();
        for item in has.top_ups.iter().flat_map(|(_, items)| items) {
            let is_done = item.state == ItemState::Done;
            *done.entry((item.number, item.amount())).or_default() += usize::from(is_done);
        }
        for (request, items) in &has.top_ups {
            decided(&request.id(), request.state(), request.state().is_open())?;
            for item in items {
                let is_it = |instruction: &Instruction| match instruction {
                    Instruction::TopUp { card, amount } => *card == item.number && *amount == item.amount(),
                    _ => false,
                };
                // The cards of a cancelled request stay open.
                let expected = done.get(&(item.number, item.amount())).copied().unwrap_or_default();
                bank.agrees(&request.id(), expected, is_it)?;
                self.count(item.state == ItemState::Done, item.amount().get());
            }
        }
        Ok(())
    }

    fn read_limit_changes(&mut self, has: &Holdings, bank: &BankSide<'_>) -> Result<(), Violation> {
        for (request, items) in &has.limit_changes {
            decided(&request.id(), request.state(), request.state().is_open())?;
            for item in items {
                let is_it = |instruction: &Instruction| match instruction {
                    Instruction::SetLimit { card, limit } => *card == item.number && limit == request.limit(),
                    _ => false,
                };
                let is_done = item.state == ItemState::Done;
                bank.agrees(&request.id(), usize::from(is_done), is_it)?;
                self.count(is_done, 0);
            }
        }
        Ok(())
    }

    /// What came back from each card is what the bank took from it under the key of the card, and the batch has the sum.
    fn read_returns<K: BatchKind>(
        &mut self,
        kind: &str,
        batches: &[(CardBatch<K>, Vec<BatchItem<K>>)],
        bank: &BankSide<'_>,
    ) -> Result<(), Violation> {
        for (request, items) in batches {
            decided(&request.id(), request.state(), request.state().is_open())?;
            let mut sum = 0;
            for item in items {
                let returned = item.state.returned();
                let key = format!("{kind}/{}/{}", request.id(), item.ordinal);
                bank.returned(&key, returned)?;
                self.count(returned.is_some(), -returned.map_or(0, Kopecks::get));
                sum += returned.map_or(0, Kopecks::get);
            }
            if request.returned().get() != sum {
                let what =
                    format!("{kind} {}: {} came back, {sum} by its cards", request.id(), request.returned());
                return Err(Violation { rule: RULE, what });
            }
            self.returned += sum;
        }
        Ok(())
    }

    fn count(&mut self, is_done: bool, amount: i64) {
        if is_done {
            self.spent += amount;
            self.effects += 1;
        }
    }
}

impl BankSide<'_> {
    /// What a request says is done was done as often as expected, and what it says is not was not.
    fn agrees(
        &self,
        request: &dyn Display,
        expected: usize,
        is_it: impl Fn(&Instruction) -> bool,
    ) -> Result<(), Violation> {
        let of_it = self.0.iter().filter(|effect| is_it(&effect.instruction));
        let done = of_it.filter(|effect| effect.is_done()).count();
        if done == expected {
            return Ok(());
        }
        let what = format!("request {request}: done {done} times at the bank, {expected} expected");
        Err(Violation { rule: RULE, what })
    }
}

impl BankSide<'_> {
    /// Under a key the bank took exactly this from a card, once; or nothing.
    fn returned(&self, key: &str, expected: Option<Kopecks>) -> Result<(), Violation> {
        let done = self.0.iter().filter(|effect| effect.key.as_str() == key && effect.is_done());
        let taken: Vec<Verdict> = done.map(|effect| effect.verdict).collect();
        let wanted: Vec<Verdict> = expected.into_iter().map(Verdict::Returned).collect();
        if taken == wanted {
            return Ok(());
        }
        let what = format!("{key}: {taken:?} at the bank, {wanted:?} expected");
        Err(Violation { rule: RULE, what })
    }
}

fn decided(request: &dyn Display, state: impl Display, is_open: bool) -> Result<(), Violation> {
    if !is_open {
        return Ok(());
    }
    Err(Violation {
        rule: "every accepted request is decided",
        what: format!("request {request} is {state}"),
    })
}

fn mark(cards: &OrderedCards) -> (Option<i64>, Option<&str>) {
    let address = cards.delivery.as_ref().map(|delivery| delivery.address.as_str());
    (cards.first_top_up.map(Kopecks::get), address)
}

fn own_mark(line: &OrderLine) -> (Option<i64>, Option<&str>) {
    match &line.details {
        LineDetails::Virtual { amount } => (Some(amount.get()), None),
        LineDetails::Plastic { address, .. } => (None, Some(address.as_str())),
    }
}
