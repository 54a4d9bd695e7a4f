//! Invariants once the faults are over and every request has ended.

mod bank;
mod deliveries;
mod events;
mod lists;
mod logs;
mod money;
mod paydays;
mod reports;

use std::sync::Arc;

use anyhow::Context as _;
use kopeck_client::{RequestState, Uuid};

use crate::fleet::Fleet;
use crate::journal::Journal;
use crate::load::{Change, Partner, RequestKind, status};

/// An accepted request and what became of it.
pub(crate) struct EndedRequest {
    pub(crate) id: Uuid,
    pub(crate) kind: RequestKind,
    pub(crate) call: Change,
    pub(crate) state: RequestState,
    /// Whether it was done, for each card in the order of the request; for an order, for the order as a whole.
    pub(crate) done: Vec<bool>,
    /// The amounts returned from each card of a closing or a withdrawal; empty for others.
    pub(crate) returned: Vec<i64>,
    /// The cards that an order brought, with what each holds from the start.
    pub(crate) issued: Vec<(String, i64)>,
}

/// A partner after the run.
pub(crate) struct Account<'a> {
    pub(crate) partner: &'a Partner,
    pub(crate) requests: Vec<EndedRequest>,
}

/// Checks everything, and notes what is wrong.
pub(crate) async fn check(fleet: &Fleet, partners: &[Arc<Partner>], journal: &Journal) -> anyhow::Result<()> {
    let mut accounts = Vec::new();
    for partner in partners {
        let account = Account { partner, requests: ended(partner, journal).await? };
        lists::check(&account, journal).await?;
        money::check(&account, journal).await?;
        accounts.push(account);
    }
    bank::check(&fleet.installation, &accounts, journal)?;
    events::check(fleet, &accounts, journal).await?;
    for account in &accounts {
        reports::check(account, journal).await?;
        paydays::check(fleet, account, journal).await?;
    }
    deliveries::check(fleet, &accounts, journal).await?;
    if let Some(breaches) = fleet.installation.check().await? {
        journal.wrong(format!("kopeck check: {breaches}"));
    }
    logs::check(fleet, journal)
}

/// Asks for the end of every request once more.
async fn ended(partner: &Partner, journal: &Journal) -> anyhow::Result<Vec<EndedRequest>> {
    let requests = partner.book().requests.clone();
    let (client, _) = partner.client(0).context("no client")?;
    let mut ended = Vec::new();
    for (id, mut request) in requests {
        let (kind, name) = (request.kind, &partner.name);
        let state = match status(client, id, kind).await {
            Ok(status) => status.state,
            Err(error) => {
                journal.wrong(format!("{name}: {kind:?} {id} was accepted, and is lost: {error}"));
                continue;
            }
        };
        if let Some(wrong) = request.see(state.clone(), tokio::time::Instant::now()) {
            journal.wrong(format!("{name}: {kind:?} {id}: {wrong}"));
        }
        // Orders that were confirmed have moved since they were watched.
        partner.book().requests.insert(id, request.clone());
        journal.must(state.is_final(), || format!("{name}: {kind:?} {id} has not ended: {state}"));
        let call = request.call;
        let (done, returned, issued) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = EndedRequest { id, kind, call, state, done, returned, issued };
        end.read_result(client).await.with_context(|| format!("the result of {kind:?} {id}"))?;
        end.check_result(name, journal);
        ended.push(end);
    }
    Ok(ended)
}

impl EndedRequest {
    /// Whether all of it, or some of it, was done.
    fn succeeded(&self) -> bool {
        use RequestState as S;
        matches!(self.state, S::Success | S::PartSuccess | S::Confirmed)
    }

    /// The amount returned from each card, by its identifier.
    fn returns(&self) -> Vec<(Uuid, i64)> {
        let cards: Vec<Uuid> = match &self.call {
            Change::Close(cards) => cards.iter().filter_map(|card| card.card.id()).collect(),
            Change::Withdraw(cards) => cards.iter().filter_map(|card| card.card.id()).collect(),
            _ => Vec::new(),
        };
        cards.into_iter().zip(self.returned.iter().copied()).collect()
    }

    /// How many instructions the bank got, or would have got.
    fn parts(&self) -> usize {
        match &self.call {
            Change::TopUp(cards) => cards.len(),
            Change::Limit { cards, .. } => cards.len(),
            Change::Close(cards) => cards.len(),
            Change::Withdraw(cards) => cards.len(),
            _ => 1,
        }
    }

    async fn read_result(&mut self, client: &kopeck_client::Client) -> Result<(), kopeck_client::Error> {
        self.done = match self.kind {
            _ if self.state == RequestState::Rejected || !self.state.is_final() => vec![false; self.parts()],
            RequestKind::TopUp => {
                let result = client.replenishments().result(self.id).await?;
                result.iter().map(|card| card.result_replenishment).collect()
            }
            RequestKind::Limit => {
                let result = client.limits().result(self.id).await?;
                result.iter().map(|card| card.result_limit).collect()
            }
            RequestKind::Closing => {
                let result = client.closings().result(self.id).await?;
                self.returned = result.iter().map(|card| card.amount_returned).collect();
                result.iter().map(|card| card.result_closing).collect()
            }
            RequestKind::Withdrawal => {
                let result = client.withdrawals().result(self.id).await?;
                self.returned = result.iter().map(|card| card.amount_withdrawn).collect();
                result.iter().map(|card| card.result_withdrawal).collect()
            }
            RequestKind::Order => {
                if self.succeeded() {
                    let cards = client.orders().result(self.id).await?.data;
                    let issued = cards.into_iter();
                    self.issued =
                        issued.map(|card| (card.custom_id_card, card.amount.unwrap_or(0))).collect();
                }
                vec![self.succeeded()]
            }
        };
        Ok(())
    }

    /// State and result say the same.
    fn check_result(&self, name: &str, journal: &Journal) {
        let done = self.done.iter().filter(|done| **done).count();
        let fits = match self.state {
            RequestState::Success | RequestState::Confirmed => done == self.parts(),
            RequestState::PartSuccess => done > 0 && done < self.parts(),
            _ => done == 0,
        };
        let (kind, id, state, parts) = (self.kind, self.id, &self.state, self.parts());
        let whole = self.done.len() == parts;
        journal
            .must(fits && whole, || format!("{name}: {kind:?} {id} is {state}, {done} of {parts} are done"));
        let ordered = match &self.call {
            Change::OrderVirtual { count, .. } | Change::OrderPlastic { count, .. } if self.succeeded() => {
                *count
            }
            _ => 0,
        };
        let issued = self.issued.len();
        journal.must(issued == ordered as usize, || {
            format!("{name}: order {id} brought {issued} cards of {ordered}")
        });
    }
}
