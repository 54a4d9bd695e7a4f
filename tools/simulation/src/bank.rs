//! The bank: what it did is the truth that the service's books are held against.
//!
//! It carries each key out once, or, if it is an unsafe one, as often as it is sent. The way there is bad: a request
//! may never arrive, arrive much later, or have its effect and lose its response; and at times the bank is down.

mod feed;
mod gateway;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use kopeck_domain::Kopecks;
use kopeck_domain::card::{CardType, Standing};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::limit::Limit;
use kopeck_domain::transaction::TransactionType;
use kopeck_port_bank::{
    BankCard, BankKey, DeclineReason, FeedChange, Instruction, IssuedCard, OrderedCards, Submission, Verdict,
};
use kopeck_port_system::Clock;
use kopeck_port_system::fake::FakeClock;
use time::{Duration, OffsetDateTime};

use crate::store::lock;
use crate::trace::Trace;
use kopeck_test_support::Random;

/// How the bank and the way to it are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manners {
    /// Whether a key that is sent twice is done once.
    pub(crate) repeat_is_safe: bool,
    /// In so many of a thousand cases it refuses.
    pub(crate) declines: u32,
    /// In so many of a thousand cases a request to it goes wrong, one way or another.
    pub(crate) goes_wrong: u32,
}

/// An instruction that the bank looked at, and what came of it.
#[derive(Debug, Clone)]
pub(crate) struct Effect {
    pub(crate) key: BankKey,
    pub(crate) instruction: Instruction,
    pub(crate) verdict: Verdict,
}

impl Effect {
    /// Whether it was carried out.
    pub(crate) const fn is_done(&self) -> bool {
        match self.verdict {
            Verdict::Done | Verdict::Returned(_) => true,
            Verdict::Declined(_) | Verdict::Pending => false,
        }
    }
}

/// A card as the bank has it.
#[derive(Debug, Clone)]
pub(crate) struct CardAtBank {
    pub(crate) balance: Kopecks,
    pub(crate) limit: Limit,
    pub(crate) standing: Standing,
    pub(crate) blocked: bool,
    /// The latest change of the block.
    block_change: u32,
    activated_at: Option<OffsetDateTime>,
    valid_until: time::Date,
}

/// The bank.
pub(crate) struct Bank {
    manners: Manners,
    clock: Arc<FakeClock>,
    dice: Arc<Random>,
    trace: Arc<Trace>,
    state: Mutex<Ledger>,
}

#[derive(Default)]
struct Ledger {
    is_down: bool,
    /// Something may go wrong.
    is_ill: bool,
    /// What the bank has answered for ever, by key.
    verdicts: BTreeMap<BankKey, Verdict>,
    effects: Vec<Effect>,
    issued: BTreeMap<BankKey, Vec<IssuedCard>>,
    cards: BTreeMap<CardNumber, CardAtBank>,
    feed: feed::Feed,
    /// What was sent and has not arrived.
    on_the_way: Vec<Submission>,
}

/// By how much a card can be topped up.
const ROOM: Kopecks = Kopecks::new(100_000_000);
/// Far beyond the end of every run.
const VALID_FOR: Duration = Duration::days(1_000);

impl Bank {
    pub(crate) fn new(manners: Manners, clock: Arc<FakeClock>, dice: Arc<Random>, trace: Arc<Trace>) -> Self {
        Self { manners, clock, dice, trace, state: Mutex::default() }
    }

    /// Something happens at the bank: it goes down or comes back, a late instruction arrives, a card is blocked or
    /// opened, or pays; its feed shows what was late, or forgets.
    pub(crate) fn live(&self) {
        let mut state = lock(&self.state);
        match self.dice.below(12) {
            0 => {
                state.is_down = !state.is_down;
                self.trace.note("bank", || if state.is_down { "is down" } else { "is up" }.to_owned());
            }
            1 => {
                let standing = if self.dice.chance(300) { Standing::Blocked } else { Standing::Open };
                if let Some(number) = self.any_card(&state) {
                    self.set_standing(&mut state, number, standing);
                }
            }
            8 | 9 => {
                if let Some(number) = self.any_card(&state) {
                    self.pay(&mut state, number);
                }
            }
            7 => {
                if let Some(number) = self.any_card(&state) {
                    self.activate(&mut state, number);
                }
            }
            10 => state.feed.show_all(),
            11 if state.is_ill && self.dice.chance(100) => state.feed.forget(&self.dice),
            2 | 3 if state.is_down => state.is_down = false,
            _ if !state.on_the_way.is_empty() => {
                let at = self.dice.place(state.on_the_way.len());
                let late = state.on_the_way.swap_remove(at);
                self.trace.note("bank", || format!("{} arrives late", late.key.as_str()));
                self.carry_out(&mut state, &late);
            }
            _ => {}
        }
    }

    fn any_card(&self, state: &Ledger) -> Option<CardNumber> {
        let numbers: Vec<CardNumber> = state.cards.keys().copied().collect();
        self.dice.pick(&numbers).copied()
    }

    /// What may go wrong with an entry of the feed is decided by these.
    fn feed_dice(&self, state: &Ledger) -> Option<&Random> {
        state.is_ill.then_some(&*self.dice)
    }

    fn set_standing(&self, state: &mut Ledger, number: CardNumber, standing: Standing) {
        let dice = self.feed_dice(state);
        let change = if standing == Standing::Open { FeedChange::Unblocked } else { FeedChange::Blocked };
        if let Some(card) = state.cards.get_mut(&number)
            && card.standing != standing
            && card.standing != Standing::Closed
        {
            card.standing = standing;
            state.feed.tell(number, change, self.clock.now(), dice);
        }
    }

    /// A holder makes a card work, which the feed tells sooner or later.
    fn activate(&self, state: &mut Ledger, number: CardNumber) {
        let (dice, now) = (self.feed_dice(state), self.clock.now());
        if let Some(card) = state.cards.get_mut(&number).filter(|card| card.activated_at.is_none()) {
            card.activated_at = Some(now);
            state.feed.tell(number, FeedChange::Other, now, dice);
        }
    }

    /// A purchase, of which half the balance is left; of an empty card it is declined.
    fn pay(&self, state: &mut Ledger, number: CardNumber) {
        let (dice, now) = (self.feed_dice(state), self.clock.now());
        let Some(card) = state.cards.get_mut(&number) else { return };
        let amount = Kopecks::new(card.balance.get() / 2);
        if amount.is_positive() {
            card.balance = card.balance.minus(amount).unwrap_or(card.balance);
            state.feed.book(number, None, TransactionType::Payment, amount, now, dice);
        } else {
            state.feed.decline(number, Kopecks::new(1), now);
        }
    }

    /// From now on things go wrong.
    pub(crate) fn fall_ill(&self) {
        lock(&self.state).is_ill = true;
    }

    /// Ends all that is wrong with it; what was on the way arrives.
    pub(crate) fn heal(&self) {
        let mut state = lock(&self.state);
        (state.is_down, state.is_ill) = (false, false);
        for late in std::mem::take(&mut state.on_the_way) {
            self.carry_out(&mut state, &late);
        }
        state.feed.show_all();
        for number in state.cards.keys().copied().collect::<Vec<_>>() {
            self.set_standing(&mut state, number, Standing::Open);
        }
    }

    /// Whether anything ever arrived under this key.
    pub(crate) fn knows(&self, key: &BankKey) -> bool {
        lock(&self.state).verdicts.contains_key(key)
    }

    /// Everything that it looked at, in order.
    pub(crate) fn effects(&self) -> Vec<Effect> {
        lock(&self.state).effects.clone()
    }

    /// The ids of a card's transactions.
    pub(crate) fn transactions_of(&self, number: CardNumber) -> BTreeSet<i64> {
        lock(&self.state).feed.transactions(number).iter().map(|made| made.id).collect()
    }

    /// How many purchases of a card were declined; `None` if the feed has forgotten some.
    pub(crate) fn declines_of(&self, number: CardNumber) -> Option<usize> {
        let state = lock(&self.state);
        (!state.feed.has_forgotten()).then(|| state.feed.declines(number))
    }

    /// A card as it stands.
    pub(crate) fn card_at_bank(&self, number: CardNumber) -> Option<CardAtBank> {
        lock(&self.state).cards.get(&number).cloned()
    }

    /// Carries an instruction out, once a key if retries are safe.
    fn carry_out(&self, state: &mut Ledger, submission: &Submission) -> Verdict {
        let Submission { key, instruction } = submission;
        // Blocks are checked by the cards: one that is done twice does no harm.
        if matches!(instruction, Instruction::SetBlock { .. }) {
            self.book(state, key, instruction);
            return Verdict::Done;
        }
        if self.manners.repeat_is_safe
            && let Some(verdict) = state.verdicts.get(key)
        {
            return *verdict;
        }
        let verdict = self.decide(state, instruction);
        state.effects.push(Effect { key: key.clone(), instruction: instruction.clone(), verdict });
        state.verdicts.insert(key.clone(), verdict);
        match verdict {
            Verdict::Done => self.book(state, key, instruction),
            Verdict::Returned(amount) => self.take_back(state, submission, amount),
            Verdict::Declined(_) | Verdict::Pending => {}
        }
        self.trace.note("bank", || format!("{}: {verdict:?}", key.as_str()));
        verdict
    }

    fn decide(&self, state: &Ledger, instruction: &Instruction) -> Verdict {
        if self.dice.chance(self.manners.declines) {
            return Verdict::Declined(DeclineReason::Refused);
        }
        match instruction {
            Instruction::IssueCards(_) => Verdict::Done,
            Instruction::TopUp { card, .. } if state.cards.get(card).is_some_and(|card| card.blocked) => {
                Verdict::Declined(DeclineReason::BlockedByPartner)
            }
            Instruction::TopUp { card, .. } | Instruction::SetLimit { card, .. } => {
                match state.cards.get(card).map(|card| card.standing) {
                    Some(Standing::Open) => Verdict::Done,
                    Some(Standing::Blocked | Standing::Closed) | None => {
                        Verdict::Declined(DeclineReason::Blocked)
                    }
                }
            }
            Instruction::SetBlock { .. } => Verdict::Done,
            Instruction::CloseCard { card } => match state.cards.get(card) {
                Some(card) if card.standing != Standing::Closed => Verdict::Returned(card.balance),
                Some(_) => Verdict::Declined(DeclineReason::Closed),
                None => Verdict::Declined(DeclineReason::Refused),
            },
            Instruction::Withdraw { card, amount } => match state.cards.get(card) {
                Some(card) if card.standing == Standing::Closed => Verdict::Declined(DeclineReason::Closed),
                Some(card) => {
                    let amount = amount.unwrap_or(card.balance);
                    if amount.is_positive() && amount <= card.balance {
                        Verdict::Returned(amount)
                    } else {
                        Verdict::Declined(DeclineReason::NotEnoughOnCard)
                    }
                }
                None => Verdict::Declined(DeclineReason::Refused),
            },
        }
    }

    /// Takes `amount` from a card, and closes it if requested.
    fn take_back(&self, state: &mut Ledger, submission: &Submission, amount: Kopecks) {
        let Submission { key, instruction } = submission;
        let (Instruction::CloseCard { card: number } | Instruction::Withdraw { card: number, .. }) =
            instruction
        else {
            return;
        };
        let (dice, now) = (self.feed_dice(state), self.clock.now());
        let Some(card) = state.cards.get_mut(number) else { return };
        card.balance = card.balance.minus(amount).unwrap_or(card.balance);
        if amount.is_positive() {
            state.feed.book(*number, Some(key), TransactionType::Reversal, amount, now, dice);
        }
        if let Instruction::CloseCard { .. } = instruction {
            card.standing = Standing::Closed;
            state.feed.tell(*number, FeedChange::Other, now, self.feed_dice(state));
        }
    }

    fn book(&self, state: &mut Ledger, key: &BankKey, instruction: &Instruction) {
        match instruction {
            Instruction::IssueCards(lines) => {
                let cards: Vec<IssuedCard> = lines
                    .iter()
                    .flat_map(|line| (0..line.count).map(move |_| line))
                    .filter_map(|line| self.issue(state, key, line))
                    .collect();
                state.issued.entry(key.clone()).or_default().extend(cards);
            }
            Instruction::TopUp { card, amount } => {
                let dice = self.feed_dice(state);
                if let Some(topped_up) = state.cards.get_mut(card) {
                    topped_up.balance = topped_up.balance.plus(*amount).unwrap_or(topped_up.balance);
                    let kind = TransactionType::Replenishment;
                    state.feed.book(*card, Some(key), kind, *amount, self.clock.now(), dice);
                }
            }
            Instruction::SetLimit { card, limit } => {
                if let Some(card) = state.cards.get_mut(card) {
                    card.limit = limit.clone();
                }
            }
            Instruction::SetBlock { card, blocked, change } => {
                if let Some(card) = state.cards.get_mut(card)
                    && card.block_change < *change
                {
                    (card.blocked, card.block_change) = (*blocked, *change);
                }
            }
            // Their effect goes by the verdict.
            Instruction::CloseCard { .. } | Instruction::Withdraw { .. } => {}
        }
    }

    /// A new card, `None` if there are no numbers left.
    fn issue(&self, state: &mut Ledger, key: &BankKey, line: &OrderedCards) -> Option<IssuedCard> {
        let now = self.clock.now();
        let body = state.cards.len() as u64;
        let is_virtual = line.kind == CardType::Mlz;
        let number = if is_virtual {
            CardNumber::from_u64(1_000_000_000 + body)
        } else {
            CardNumber::ean13(460_000_000_000 + body)
        };
        let issued = IssuedCard {
            number: number.ok()?,
            kind: line.kind,
            valid_until: (now + VALID_FOR).date(),
            activation_code: is_virtual.then(|| format!("code-{body}")),
            code_valid_until: is_virtual.then(|| (now + VALID_FOR).date()),
            first_top_up: line.first_top_up,
            remaining_top_up: ROOM,
            activated_at: (!is_virtual || self.dice.chance(500)).then_some(now),
            issued_at: now,
        };
        let card = CardAtBank {
            balance: line.first_top_up.unwrap_or(Kopecks::ZERO),
            limit: Limit::Unlimited,
            standing: Standing::Open,
            blocked: false,
            block_change: 0,
            activated_at: issued.activated_at,
            valid_until: issued.valid_until,
        };
        state.cards.insert(issued.number, card);
        if let Some(amount) = line.first_top_up {
            let dice = self.feed_dice(state);
            let kind = TransactionType::Replenishment;
            state.feed.book(issued.number, Some(key), kind, amount, now, dice);
        }
        Some(issued)
    }
}

impl CardAtBank {
    fn shown(&self) -> BankCard {
        BankCard {
            balance: self.balance,
            remaining_top_up: ROOM,
            account: self.balance,
            activated_at: self.activated_at,
            standing: self.standing,
            valid_until: self.valid_until,
        }
    }
}
