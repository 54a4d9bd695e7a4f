//! A night of faults: random instructions through a relay that cuts connections, then the books compared.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use kopeck_adapter_bank_http::BankProbe;
use kopeck_bank_protocol::{
    INSTRUCTIONS, InstructionDto, QUERY, QueryRequest, QueryResponse, SubmitRequest, SubmitResponse,
};
use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::transaction::{Transaction, TransactionType};
use kopeck_port_bank::{BankKey, Capability, Instruction, Submission, Verdict};
use serde::Serialize;

use crate::random::Random;
use crate::relay::Relay;
use crate::session::{Answer, Broken, Session, results, shown, verdict_of};
use crate::{CheckError, CheckSettings};

/// Cards that instructions name.
const CARDS: u32 = 4;
/// Threads that send.
const SENDERS: u32 = 4;
/// Between two tries of an instruction without a verdict.
const PAUSE: Duration = Duration::from_millis(50);
/// Keys of a query.
const KEYS: usize = 100;

/// How a storm blows.
#[derive(Debug, Clone, Copy)]
pub struct StormSettings {
    /// How long instructions are sent.
    pub duration: Duration,
    /// Chooses instructions and faults.
    pub seed: u64,
    /// The share of pieces of a connection that are cut, of a hundred.
    pub cuts: u32,
}

/// What a storm has left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StormReport {
    /// Plays it again.
    pub seed: u64,
    /// Instructions with a verdict.
    pub instructions: usize,
    /// Instructions that were carried out.
    pub done: usize,
    /// Times that an instruction was sent.
    pub sent: u64,
    /// Connections that were cut.
    pub cuts: u32,
    /// What does not agree; empty on a sound connector.
    pub discrepancies: Vec<String>,
    /// Cards that could be neither closed nor emptied afterwards.
    pub left: Vec<String>,
}

/// What an instruction does to its card, and its verdict.
struct Settled {
    submission: Submission,
    card: CardNumber,
    verdict: Verdict,
}

#[derive(Default)]
struct Tally {
    settled: Vec<Settled>,
    sent: u64,
    discrepancies: Vec<String>,
}

/// Sends instructions for the duration, then waits for every verdict and compares cards, transactions and queries.
///
/// # Errors
/// [`CheckError`] if the connector cannot be used at all.
pub fn storm(settings: &CheckSettings, storm: StormSettings) -> Result<StormReport, CheckError> {
    let mut session = Session::start(settings)?;
    let unusable = |Broken(why): Broken| CheckError::Unusable(why);
    let mut cards = Vec::new();
    for _ in 0..CARDS {
        cards.push(session.card_with(50_000).map_err(unusable)?);
    }
    let relay = Relay::start(settings.address.host_and_port())
        .map_err(|error| CheckError::Unusable(format!("the relay cannot be started: {error}")))?;
    relay.storm(storm.seed, storm.cuts);
    let withdraws = session.capabilities.has(Capability::Withdrawals);
    let tally = Mutex::new(Tally::default());
    let deadline =
        settings.clock.steady() + time::Duration::try_from(storm.duration).unwrap_or(time::Duration::MINUTE);
    std::thread::scope(|scope| -> Result<(), CheckError> {
        for number in 0..SENDERS {
            let probe = BankProbe::new(settings.address.clone().through(relay.address()))?;
            let random = Random::new(storm.seed ^ (u64::from(number + 1) << 32));
            let mut sender =
                Sender { settings, probe, random, cards: &cards, number, count: 0, withdraws, tally: &tally };
            scope.spawn(move || {
                while settings.clock.steady() < deadline {
                    sender.step();
                }
            });
        }
        Ok(())
    })?;
    let cuts = relay.cuts();
    let mut tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Err(Broken(why)) = compare(&mut session, &cards, &mut tally) {
        tally.discrepancies.push(why);
    }
    let done = tally.settled.iter().filter(|settled| settled.effect() != 0).count();
    Ok(StormReport {
        seed: storm.seed,
        instructions: tally.settled.len(),
        done,
        sent: tally.sent,
        cuts,
        discrepancies: tally.discrepancies,
        left: session.clean_up(),
    })
}

impl Settled {
    /// Kopecks that it has put on its card.
    fn effect(&self) -> i64 {
        match (&self.submission.instruction, self.verdict) {
            (Instruction::TopUp { amount, .. }, Verdict::Done) => amount.get(),
            (Instruction::Withdraw { .. }, Verdict::Returned(amount)) => -amount.get(),
            _ => 0,
        }
    }
}

/// Sends one instruction after the other, as a worker of Kopeck does.
struct Sender<'a> {
    settings: &'a CheckSettings,
    probe: BankProbe,
    random: Random,
    cards: &'a [CardNumber],
    number: u32,
    count: u32,
    withdraws: bool,
    tally: &'a Mutex<Tally>,
}

/// What is known of an instruction after a request.
enum Known {
    Verdict(Verdict),
    /// It had no effect so far as the bank says.
    NotSeen,
    /// It may have had its effect.
    Unknown,
}

impl Sender<'_> {
    fn step(&mut self) {
        let Some(card) = self.cards.get(self.random.below(CARDS) as usize).copied() else { return };
        let amount = Kopecks::new(i64::from(self.random.below(10) + 1) * 100);
        let instruction = if self.withdraws && self.random.percent(50) {
            Instruction::Withdraw { card, amount: Some(amount) }
        } else {
            Instruction::TopUp { card, amount }
        };
        self.count += 1;
        let key = BankKey::of("storm", self.settings.run, Some(self.number * 100_000_000 + self.count));
        let submission = Submission { key, instruction };
        let outcome = self.settle(&submission);
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        match outcome {
            Ok(verdict) => tally.settled.push(Settled { submission, card, verdict }),
            Err(why) => tally.discrepancies.push(format!("{}: {why}", submission.key.as_str())),
        }
    }

    /// Sends until there is a verdict: after a lost response it queries the key, and sends again only if it is not seen.
    fn settle(&mut self, submission: &Submission) -> Result<Verdict, String> {
        let patience = time::Duration::try_from(self.settings.patience).unwrap_or(time::Duration::MINUTE);
        let deadline = self.settings.clock.steady() + patience;
        let mut known = self.send(submission);
        loop {
            known = match known {
                Known::Verdict(Verdict::Pending) | Known::Unknown => self.query(&submission.key),
                Known::NotSeen => self.send(submission),
                Known::Verdict(verdict) => {
                    // Now and then a copy arrives after the verdict.
                    if self.random.percent(20)
                        && let Known::Verdict(again) = self.send(submission)
                        && again != verdict
                    {
                        let (first, again) = (shown(Answer::Verdict(verdict)), shown(Answer::Verdict(again)));
                        return Err(format!("the verdict was {first} and is {again}"));
                    }
                    return Ok(verdict);
                }
            };
            if self.settings.clock.steady() > deadline {
                return Err("no verdict within the patience".to_owned());
            }
            if !matches!(known, Known::Verdict(verdict) if verdict != Verdict::Pending) {
                std::thread::sleep(PAUSE);
            }
        }
    }

    fn send(&mut self, submission: &Submission) -> Known {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).sent += 1;
        let request = SubmitRequest { instructions: vec![InstructionDto::from(submission)] };
        let Ok(body) = serde_json::to_string(&request) else { return Known::Unknown };
        let Ok(response) = self.probe.post(INSTRUCTIONS, &body) else { return Known::Unknown };
        if response.status != 200 {
            return Known::Unknown;
        }
        let parsed: Option<SubmitResponse> = serde_json::from_slice(&response.body).ok();
        let answers = parsed.and_then(|parsed| results(std::slice::from_ref(submission), &parsed).ok());
        match answers.as_deref() {
            Some([Answer::Verdict(verdict)]) => Known::Verdict(*verdict),
            _ => Known::Unknown,
        }
    }

    fn query(&mut self, key: &BankKey) -> Known {
        let Ok(body) = serde_json::to_string(&QueryRequest { keys: vec![key.as_str().to_owned()] }) else {
            return Known::Unknown;
        };
        let Ok(response) = self.probe.post(QUERY, &body) else { return Known::Unknown };
        let parsed: Option<QueryResponse> =
            (response.status == 200).then(|| serde_json::from_slice(&response.body).ok()).flatten();
        match parsed.and_then(|parsed| parsed.results.first().map(|result| verdict_of(result.outcome))) {
            Some(Some(verdict)) => Known::Verdict(verdict),
            Some(None) => Known::NotSeen,
            None => Known::Unknown,
        }
    }
}

/// What a transaction has put on its card.
fn movement(made: &Transaction) -> i64 {
    match made.kind {
        TransactionType::Replenishment | TransactionType::Refund => made.amount.get(),
        // The protocol has no corrections: one does not agree with any verdict.
        TransactionType::Payment | TransactionType::Reversal | TransactionType::Correction => {
            -made.amount.get()
        }
    }
}

/// Compares balances, transactions and queries with the verdicts.
fn compare(session: &mut Session<'_>, cards: &[CardNumber], tally: &mut Tally) -> Result<(), Broken> {
    let mut expected: BTreeMap<CardNumber, (i64, Vec<i64>)> =
        cards.iter().map(|card| (*card, (50_000, vec![50_000]))).collect();
    for settled in &tally.settled {
        if let Some((balance, movements)) = expected.get_mut(&settled.card)
            && settled.effect() != 0
        {
            *balance += settled.effect();
            movements.push(settled.effect());
        }
    }
    for (card, (balance, mut movements)) in expected {
        let held = session.balance(card)?;
        if held != balance {
            tally.discrepancies.push(format!("card {card} holds {held} kopecks, the verdicts say {balance}"));
        }
        let mut listed = Vec::new();
        let mut after = 0;
        loop {
            let page = session.transactions(card, after, 1_000)?;
            let Some(last) = page.last() else { break };
            after = last.id;
            listed.extend(page.iter().map(movement));
        }
        movements.sort_unstable();
        listed.sort_unstable();
        if listed != movements {
            tally.discrepancies.push(format!(
                "card {card} has {} transactions, the verdicts say {}",
                listed.len(),
                movements.len()
            ));
        }
    }
    for settled in tally.settled.chunks(KEYS) {
        let keys: Vec<BankKey> = settled.iter().map(|settled| settled.submission.key.clone()).collect();
        let verdicts = session.query(&keys)?;
        for (settled, verdict) in settled.iter().zip(verdicts) {
            if verdict != Some(settled.verdict) {
                let key = settled.submission.key.as_str();
                let first = shown(Answer::Verdict(settled.verdict));
                let now =
                    verdict.map_or_else(|| "NOT_SEEN".to_owned(), |verdict| shown(Answer::Verdict(verdict)));
                tally.discrepancies.push(format!("{key}: the verdict was {first}, the query has {now}"));
            }
        }
    }
    Ok(())
}
