//! A partner: its clients, and what it knows of all that it asked for.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kopeck_client::{CardStatus, Client, Error, Event, IdempotencyKey, RetryPolicy, Uuid};
use kopeck_domain::card_number::CardNumber;

use super::call::{Answer, Change};
use super::endpoints::Endpoint;
use super::programmes::Paydays;
use super::tracked::TrackedRequest;
use crate::fleet::Fleet;
use crate::installation::PartnerSecrets;

/// How long one try of a request may take.
const PATIENCE: Duration = Duration::from_secs(8);
/// How long connecting may take.
const CONNECTING: Duration = Duration::from_secs(2);

/// A partner.
pub(crate) struct Partner {
    pub(crate) name: String,
    pub(crate) login: String,
    /// Kopecks that it started with.
    pub(crate) opening: i64,
    /// For each API process a client that retries, then for each one that does not.
    pub(crate) clients: Vec<Client>,
    /// Its webhooks.
    pub(crate) endpoints: Vec<Endpoint>,
    book: Mutex<Book>,
}

/// The state that a partner tracks.
#[derive(Default)]
pub(crate) struct Book {
    /// Every request that changes something, in the order in which they were begun.
    pub(crate) made: Vec<SentCall>,
    /// Every accepted request.
    pub(crate) requests: BTreeMap<Uuid, TrackedRequest>,
    pub(crate) employees: Vec<Uuid>,
    /// Cards that are topped up, paid with and limited; they do not change once they are there.
    pub(crate) cards: Vec<MainCard>,
    /// Other cards that were linked.
    pub(crate) spare: Vec<MainCard>,
    /// Cards without a closing yet.
    pub(crate) to_close: Vec<Uuid>,
    /// Numbers of unassigned cards.
    pub(crate) free: Vec<String>,
    /// Confirmations of orders that are done.
    pub(crate) done: Vec<Change>,
    /// Its feed of events, as far as it was read.
    pub(crate) feed: Vec<Event>,
    /// The `after` of the next request for events.
    pub(crate) cursor: i64,
    /// The programmes of a partner whom they pay.
    pub(crate) paydays: Option<Paydays>,
}

/// A linked card.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MainCard {
    pub(crate) id: Uuid,
    pub(crate) number: CardNumber,
}

/// A request that was begun, and its response once there is one.
#[derive(Debug, Clone)]
pub(crate) struct SentCall {
    pub(crate) key: IdempotencyKey,
    pub(crate) call: Change,
    pub(crate) answer: Option<Answer>,
    /// It was refused, and nothing can be on its way any more.
    pub(crate) refused: bool,
}

impl Partner {
    /// A partner that calls the API processes of `fleet`.
    pub(crate) fn new(
        name: String,
        opening: i64,
        secrets: &PartnerSecrets,
        fleet: &Fleet,
    ) -> Result<Self, Error> {
        let patient =
            RetryPolicy::default().max_retries(2).delays(Duration::from_millis(200), Duration::from_secs(1));
        let mut clients = Vec::new();
        for retry in [patient, RetryPolicy::none()] {
            for way in &fleet.to_apis {
                let client = Client::builder(format!("http://{}", way.address()))
                    .api_key(secrets.api_key.as_str())
                    .login(&secrets.login)
                    .password(secrets.password.as_str())
                    .sealing_key(secrets.sealing_key.clone())
                    .seal_parameters(true)
                    .timeout(PATIENCE)
                    .connect_timeout(CONNECTING)
                    .retry(retry.clone())
                    .build()?;
                clients.push(client);
            }
        }
        let login = secrets.login.clone();
        Ok(Self { name, login, opening, clients, endpoints: Vec::new(), book: Mutex::default() })
    }

    /// A client, chosen by any number, and whether it retries.
    pub(crate) fn client(&self, number: usize) -> Option<(&Client, bool)> {
        let place = number.checked_rem(self.clients.len())?;
        Some((self.clients.get(place)?, place < self.clients.len() / 2))
    }

    /// The tracked state.
    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    /// Takes note of a request that is about to be made; returns its place.
    pub(crate) fn begin(&mut self, call: Change) -> usize {
        self.made.push(SentCall { key: IdempotencyKey::fresh(), call, answer: None, refused: false });
        self.made.len() - 1
    }

    /// Takes note of a response; returns what is wrong with it, if the request had another one before.
    pub(crate) fn answered(&mut self, place: usize, answer: Answer) -> Option<String> {
        let made = self.made.get_mut(place)?;
        if let Some(first) = &made.answer {
            let differs = *first != answer;
            return differs
                .then(|| format!("a {} was answered {first:?}, then {answer:?}", made.call.name()));
        }
        match (&answer, made.call.request()) {
            (Answer::Accepted(id), Some(kind)) => {
                self.requests.insert(*id, TrackedRequest::new(kind, made.call.clone()));
            }
            (Answer::Employee(id), _) => self.employees.push(*id),
            (Answer::Linked(id), _) => {
                if let Change::Link { number, status: CardStatus::Additional, .. } = &made.call
                    && let Ok(number) = CardNumber::parse(number)
                {
                    self.spare.push(MainCard { id: *id, number });
                    self.to_close.push(*id);
                }
            }
            _ => {}
        }
        made.answer = Some(answer);
        None
    }

    /// The month that was closed, and the SHA-256 of its report.
    pub(crate) fn closed_month(&self) -> Option<(String, String)> {
        self.made.iter().find_map(|made| match (&made.call, &made.answer) {
            (Change::CloseMonth { month }, Some(Answer::Closed(sha256))) => {
                Some((month.clone(), sha256.clone()))
            }
            _ => None,
        })
    }

    /// Takes note of a refusal that is the last word.
    pub(crate) fn refused(&mut self, place: usize) {
        if let Some(made) = self.made.get_mut(place) {
            made.refused = true;
        }
    }
}
