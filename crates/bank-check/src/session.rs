//! A run against one connector: what is sent, what came back, and which cards it has.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use kopeck_adapter_bank_http::{BankProbe, ProbeResponse};
use kopeck_bank_protocol::{
    CAPABILITIES, CARDS, CapabilitiesResponse, CardResponse, INSTRUCTIONS, ISSUED_CARDS, InstructionDto,
    IssuedCardsResponse, QUERY, QueryOutcome, QueryRequest, QueryResponse, SubmitOutcome, SubmitRequest,
    SubmitResponse, TransactionsResponse,
};
use kopeck_domain::Kopecks;
use kopeck_domain::card::CardType;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::transaction::Transaction;
use kopeck_port_bank::{
    BankCard, BankKey, Capabilities, DeclineReason, Delivery, Instruction, IssuedCard, OrderedCards,
    Submission, Verdict,
};
use kopeck_port_system::Clock;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::display::{masked, shortened};
use crate::relay::{Fault, Relay};
use crate::report::{Exchange, Outcome, RuleReport};
use crate::rules::Rule;
use crate::{CheckError, CheckSettings};

/// Cards that a run issues at most.
pub(crate) const MOST_CARDS: usize = 120;
/// Where plastic cards go.
pub(crate) const ADDRESS: &str = "kopeck bank-check: a test, do not deliver";
/// The exchanges that a broken rule shows.
const SHOWN: usize = 4;
/// Between two queries of a pending instruction.
const POLL: std::time::Duration = std::time::Duration::from_millis(200);

/// A rule does not hold: what was seen, and what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken(pub(crate) String);

pub(crate) type Checked<T = ()> = Result<T, Broken>;

/// Fails the rule with a text unless the condition holds.
macro_rules! hold {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err($crate::session::Broken(format!($($text)+)));
        }
    };
}
pub(crate) use hold;

/// The result of a submitted instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Its verdict; [`Verdict::Pending`] only from [`Session::send`].
    Verdict(Verdict),
    /// No effect, and it may be sent again.
    NotAccepted,
}

pub(crate) const DONE: Answer = Answer::Verdict(Verdict::Done);

/// The result of a refusal.
pub(crate) const fn declined(reason: DeclineReason) -> Answer {
    Answer::Verdict(Verdict::Declined(reason))
}

/// The result of money that came back.
pub(crate) const fn returned(kopecks: i64) -> Answer {
    Answer::Verdict(Verdict::Returned(Kopecks::new(kopecks)))
}

/// A response as it came.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: String,
}

pub(crate) struct Session<'a> {
    pub(crate) settings: &'a CheckSettings,
    pub(crate) capabilities: Capabilities,
    probe: BankProbe,
    relay: Relay,
    exchanges: VecDeque<Exchange>,
    keys: u32,
    cards: Vec<CardNumber>,
}

impl<'a> Session<'a> {
    /// Connects, and reads what the bank can do.
    pub(crate) fn start(settings: &'a CheckSettings) -> Result<Self, CheckError> {
        let unusable = |why: String| CheckError::Unusable(why);
        let relay = Relay::start(settings.address.host_and_port());
        let relay = relay.map_err(|error| unusable(format!("the relay cannot be started: {error}")))?;
        let probe = BankProbe::new(settings.address.clone().through(relay.address()))?;
        // Directly, so that the reason of a failure is the bank's and not the relay's.
        let response = BankProbe::new(settings.address.clone())?.get(CAPABILITIES, &[]);
        let response =
            response.map_err(|error| unusable(format!("the connector does not respond: {error}")))?;
        let capabilities = match response.status {
            401 | 403 => return Err(unusable("the connector refuses the secret".to_owned())),
            200 => match serde_json::from_slice::<CapabilitiesResponse>(&response.body) {
                Ok(said) => said.into(),
                // Rule 6 says what is wrong with it.
                Err(_) => Capabilities::EVERYTHING,
            },
            _ => Capabilities::EVERYTHING,
        };
        Ok(Self {
            settings,
            capabilities,
            probe,
            relay,
            exchanges: VecDeque::new(),
            keys: 0,
            cards: Vec::new(),
        })
    }

    /// Checks one rule.
    pub(crate) fn run(&mut self, rule: &Rule) -> RuleReport {
        self.exchanges.clear();
        let lacks = rule.needs.iter().find_map(|needed| self.capabilities.require(*needed).err());
        let outcome = match lacks {
            Some(lacks) => Outcome::Skipped { why: lacks.to_string() },
            None => match (rule.check)(self) {
                Ok(()) => Outcome::Holds,
                Err(Broken(why)) => Outcome::Broken { why, exchanges: self.exchanges.drain(..).collect() },
            },
        };
        self.relay.disarm();
        RuleReport { number: rule.number, name: rule.name, title: rule.title, outcome }
    }

    pub(crate) fn cards(&self) -> &[CardNumber] {
        &self.cards
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.settings.clock
    }

    /// Closes all cards, or takes the money from them; returns those where neither was possible.
    pub(crate) fn clean_up(&mut self) -> Vec<String> {
        let mut left = Vec::new();
        for card in self.cards.clone() {
            let instructions =
                [Instruction::CloseCard { card }, Instruction::Withdraw { card, amount: None }];
            let is_clean = instructions.into_iter().any(|instruction| {
                let submission = self.submission(instruction);
                matches!(
                    self.one(&submission),
                    Ok(Answer::Verdict(
                        Verdict::Returned(_)
                            | Verdict::Declined(DeclineReason::Closed | DeclineReason::NotEnoughOnCard)
                    ))
                )
            });
            if !is_clean && self.card(card).ok().flatten().is_none_or(|card| card.balance.is_positive()) {
                left.push(card.to_string());
            }
        }
        left
    }

    /// A key that was never used.
    pub(crate) fn key(&mut self) -> BankKey {
        self.keys += 1;
        BankKey::of("check", self.settings.run, Some(self.keys))
    }

    pub(crate) fn submission(&mut self, instruction: Instruction) -> Submission {
        Submission { key: self.key(), instruction }
    }

    pub(crate) fn top_up(&mut self, card: CardNumber, amount: i64) -> Submission {
        self.submission(Instruction::TopUp { card, amount: Kopecks::new(amount) })
    }

    pub(crate) fn withdraw(&mut self, card: CardNumber, amount: Option<i64>) -> Submission {
        self.submission(Instruction::Withdraw { card, amount: amount.map(Kopecks::new) })
    }

    /// Sends a request and records the exchange.
    pub(crate) fn request(
        &mut self,
        path: &str,
        query: &[(&'static str, String)],
        body: Option<&str>,
    ) -> Result<Reply, String> {
        let response = match body {
            Some(body) => self.probe.post(path, body),
            None => self.probe.get(path, query),
        };
        let response = response.map_err(|error| error.to_string());
        self.record(path, query, body, &response)
    }

    /// Records an exchange.
    pub(crate) fn record(
        &mut self,
        path: &str,
        query: &[(&'static str, String)],
        body: Option<&str>,
        response: &Result<ProbeResponse, String>,
    ) -> Result<Reply, String> {
        let query: Vec<String> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = match (body, query.is_empty()) {
            (Some(body), _) => format!("POST {path} {}", shortened(body)),
            (None, true) => format!("GET {path}"),
            (None, false) => format!("GET {path}?{}", query.join("&")),
        };
        let reply = response.as_ref().map_err(Clone::clone).map(|ProbeResponse { status, body }| Reply {
            status: *status,
            body: String::from_utf8_lossy(body).into_owned(),
        });
        let response = match &reply {
            Ok(Reply { status, body }) => format!("{status} {}", shortened(&masked(body))),
            Err(error) => format!("none: {error}"),
        };
        if self.exchanges.len() == SHOWN {
            self.exchanges.pop_front();
        }
        self.exchanges.push_back(Exchange { request, response });
        reply
    }

    /// Reads a body of the protocol.
    pub(crate) fn read<T: DeserializeOwned>(
        &mut self,
        path: &str,
        query: &[(&'static str, String)],
    ) -> Checked<T> {
        let reply = self.request(path, query, None).map_err(Broken)?;
        parsed(&reply)
    }

    fn post<T: DeserializeOwned>(&mut self, path: &str, body: &impl Serialize) -> Checked<T> {
        let body = json(body)?;
        let reply = self.request(path, &[], Some(&body)).map_err(Broken)?;
        parsed(&reply)
    }

    /// Sends instructions in one request; some may be pending.
    pub(crate) fn send(&mut self, submissions: &[Submission]) -> Checked<Vec<Answer>> {
        let request = SubmitRequest { instructions: submissions.iter().map(InstructionDto::from).collect() };
        let response: SubmitResponse = self.post(INSTRUCTIONS, &request)?;
        results(submissions, &response)
    }

    /// Sends instructions in one request, and waits for their verdicts.
    pub(crate) fn submit(&mut self, submissions: &[Submission]) -> Checked<Vec<Answer>> {
        let mut results = self.send(submissions)?;
        for (submission, result) in submissions.iter().zip(&mut results) {
            if *result == Answer::Verdict(Verdict::Pending) {
                *result = Answer::Verdict(self.wait(&submission.key)?);
            }
        }
        Ok(results)
    }

    /// Waits for the verdict of a pending instruction.
    pub(crate) fn wait(&mut self, key: &BankKey) -> Checked<Verdict> {
        let deadline = self.clock().steady() + self.patience();
        loop {
            match self.query(std::slice::from_ref(key))?.first() {
                Some(Some(Verdict::Pending)) if self.clock().steady() < deadline => std::thread::sleep(POLL),
                Some(Some(Verdict::Pending)) => {
                    return Err(Broken(format!("{} is pending for longer than the patience", key.as_str())));
                }
                Some(Some(verdict)) => return Ok(*verdict),
                _ => return Err(Broken(format!("{} was accepted, and is NOT_SEEN now", key.as_str()))),
            }
        }
    }

    fn patience(&self) -> time::Duration {
        self.settings.patience.try_into().unwrap_or(time::Duration::MINUTE)
    }

    /// The verdicts of keys, in their order.
    pub(crate) fn query(&mut self, keys: &[BankKey]) -> Checked<Vec<Option<Verdict>>> {
        let request = QueryRequest { keys: keys.iter().map(|key| key.as_str().to_owned()).collect() };
        let response: QueryResponse = self.post(QUERY, &request)?;
        let mut said: HashMap<&str, QueryOutcome> = HashMap::new();
        for result in &response.results {
            if said.insert(&result.key, result.outcome).is_some_and(|before| before != result.outcome) {
                return Err(Broken(format!("the query has two outcomes of {}", result.key)));
            }
        }
        let verdict = |key: &BankKey| match said.get(key.as_str()) {
            Some(outcome) => Ok(verdict_of(*outcome)),
            None => Err(Broken(format!("the query has no result for {}", key.as_str()))),
        };
        keys.iter().map(verdict).collect()
    }

    /// The result of one instruction.
    pub(crate) fn one(&mut self, submission: &Submission) -> Checked<Answer> {
        let mut results = self.submit(std::slice::from_ref(submission))?;
        results.pop().ok_or_else(|| Broken("there is no result".to_owned()))
    }

    /// Sends one instruction, and expects this result.
    pub(crate) fn expect(&mut self, submission: &Submission, expected: Answer, what: &str) -> Checked {
        let result = self.one(submission)?;
        hold!(result == expected, "{what}: {}, expected {}", shown(result), shown(expected));
        Ok(())
    }

    /// Issues cards, and reads them.
    pub(crate) fn issue(&mut self, lines: Vec<OrderedCards>) -> Checked<(BankKey, Vec<IssuedCard>)> {
        let submission = self.submission(Instruction::IssueCards(lines));
        self.expect(&submission, DONE, "an order")?;
        let cards = self.issued(&submission.key, 0, 1_000)?;
        self.cards.extend(cards.iter().map(|card| card.number));
        Ok((submission.key, cards))
    }

    /// Remembers cards of an order, to close them at the end.
    pub(crate) fn adopt(&mut self, cards: &[IssuedCard]) {
        self.cards.extend(cards.iter().map(|card| card.number));
    }

    pub(crate) fn issued(&mut self, key: &BankKey, skip: u32, limit: u32) -> Checked<Vec<IssuedCard>> {
        let query =
            [("order", key.as_str().to_owned()), ("skip", skip.to_string()), ("limit", limit.to_string())];
        let response: IssuedCardsResponse = self.read(ISSUED_CARDS, &query)?;
        Ok(response.cards.into_iter().map(IssuedCard::from).collect())
    }

    /// A new plastic card: empty and active.
    pub(crate) fn new_card(&mut self) -> Checked<CardNumber> {
        let (_, cards) = self.issue(vec![plastic(1)])?;
        cards
            .first()
            .map(|card| card.number)
            .ok_or_else(|| Broken("an order of one card has none".to_owned()))
    }

    /// A new plastic card with so many kopecks on it.
    pub(crate) fn card_with(&mut self, amount: i64) -> Checked<CardNumber> {
        let card = self.new_card()?;
        let top_up = self.top_up(card, amount);
        self.expect(&top_up, DONE, "a top-up")?;
        Ok(card)
    }

    /// The state of a card; `None` if the bank has no such card.
    pub(crate) fn card(&mut self, number: CardNumber) -> Checked<Option<BankCard>> {
        let reply = self.request(&format!("{CARDS}/{number}"), &[], None).map_err(Broken)?;
        if reply.status == 404 && error_code(&reply) == "unknown_card" {
            return Ok(None);
        }
        let response: CardResponse = parsed(&reply)?;
        hold!(response.card.number == number, "the response is about card {}", response.card.number);
        Ok(Some(response.card.into()))
    }

    pub(crate) fn known_card(&mut self, number: CardNumber) -> Checked<BankCard> {
        self.card(number)?
            .ok_or_else(|| Broken(format!("the bank has issued card {number} and does not know it")))
    }

    pub(crate) fn balance(&mut self, number: CardNumber) -> Checked<i64> {
        Ok(self.known_card(number)?.balance.get())
    }

    /// Expects so many kopecks on a card.
    pub(crate) fn expect_balance(&mut self, number: CardNumber, expected: i64, what: &str) -> Checked {
        let balance = self.balance(number)?;
        hold!(balance == expected, "{what}: the card holds {balance} kopecks, expected {expected}");
        Ok(())
    }

    pub(crate) fn transactions(
        &mut self,
        number: CardNumber,
        after: i64,
        limit: u32,
    ) -> Checked<Vec<Transaction>> {
        let query = [("after", after.to_string()), ("limit", limit.to_string())];
        let response: TransactionsResponse = self.read(&format!("{CARDS}/{number}/transactions"), &query)?;
        Ok(response.transactions.into_iter().map(Transaction::from).collect())
    }

    /// Sends instructions with this fault in their way; whether the response was lost, as it should be.
    pub(crate) fn send_through(&mut self, fault: Fault, submissions: &[Submission]) -> Checked {
        // An idle connection, so that the fault does not hit its beginning.
        self.request(CAPABILITIES, &[], None).map_err(Broken)?;
        self.relay.arm(fault);
        let request = SubmitRequest { instructions: submissions.iter().map(InstructionDto::from).collect() };
        let body = json(&request)?;
        let reply = self.request(INSTRUCTIONS, &[], Some(&body));
        hold!(
            !self.relay.disarm() && reply.is_err(),
            "the connector closes its connections after each response"
        );
        Ok(())
    }
}

/// An order of plastic cards.
pub(crate) fn plastic(count: u32) -> OrderedCards {
    let delivery = Delivery {
        address: ADDRESS.to_owned(),
        recipient: "Kopeck Check".to_owned(),
        phone: "9000000000".to_owned(),
    };
    OrderedCards { kind: CardType::Mp4, count, first_top_up: None, delivery: Some(delivery) }
}

/// An order of virtual cards with so many kopecks.
pub(crate) fn virtual_cards(count: u32, amount: i64) -> OrderedCards {
    OrderedCards { kind: CardType::Mlz, count, first_top_up: Some(Kopecks::new(amount)), delivery: None }
}

/// The result for each submission, in their order. The results of a key that was sent several times count in their order.
pub(crate) fn results(submissions: &[Submission], response: &SubmitResponse) -> Checked<Vec<Answer>> {
    let mut said: HashMap<&str, VecDeque<SubmitOutcome>> = HashMap::new();
    for result in &response.results {
        said.entry(&result.key).or_default().push_back(result.outcome);
    }
    let mut results = Vec::with_capacity(submissions.len());
    for submission in submissions {
        let key = submission.key.as_str();
        let outcome = said.get_mut(key).and_then(VecDeque::pop_front);
        let outcome = outcome.ok_or_else(|| Broken(format!("there is no result for {key}")))?;
        results.push(match outcome {
            SubmitOutcome::Done { returned } => {
                Answer::Verdict(returned.map_or(Verdict::Done, Verdict::Returned))
            }
            SubmitOutcome::Declined { reason } => Answer::Verdict(Verdict::Declined(reason.into())),
            SubmitOutcome::NotAccepted => Answer::NotAccepted,
            SubmitOutcome::Pending => Answer::Verdict(Verdict::Pending),
        });
    }
    Ok(results)
}

pub(crate) fn verdict_of(outcome: QueryOutcome) -> Option<Verdict> {
    match outcome {
        QueryOutcome::Done { returned } => Some(returned.map_or(Verdict::Done, Verdict::Returned)),
        QueryOutcome::Declined { reason } => Some(Verdict::Declined(reason.into())),
        QueryOutcome::Pending => Some(Verdict::Pending),
        QueryOutcome::NotSeen => None,
    }
}

/// A result in words of the protocol.
pub(crate) fn shown(result: Answer) -> String {
    match result {
        Answer::Verdict(Verdict::Done) => "DONE".to_owned(),
        Answer::Verdict(Verdict::Returned(amount)) => format!("DONE with returned {}", amount.get()),
        Answer::Verdict(Verdict::Declined(reason)) => format!("DECLINED ({reason:?})"),
        Answer::Verdict(Verdict::Pending) => "PENDING".to_owned(),
        Answer::NotAccepted => "NOT_ACCEPTED".to_owned(),
    }
}

pub(crate) fn json(value: &impl Serialize) -> Checked<String> {
    serde_json::to_string(value).map_err(|error| Broken(format!("the request has no JSON: {error}")))
}

fn parsed<T: DeserializeOwned>(reply: &Reply) -> Checked<T> {
    hold!(reply.status == 200, "status code {}, expected 200", reply.status);
    serde_json::from_str(&reply.body)
        .map_err(|error| Broken(format!("the response is not of the protocol: {error}")))
}

/// The `code` of an error response; empty without one.
pub(crate) fn error_code(reply: &Reply) -> String {
    let body: Value = serde_json::from_str(&reply.body).unwrap_or_default();
    body.get("code").and_then(Value::as_str).unwrap_or_default().to_owned()
}
