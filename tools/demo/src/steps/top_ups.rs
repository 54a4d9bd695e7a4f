//! The top-up request.

use std::collections::HashMap;

use anyhow::{Context as _, ensure};
use kopeck_client::{Client, IdempotencyKey, RequestState, TopUp, Uuid};

use super::patience;
use crate::outcome::CardOutcome;
use crate::plan::{CardNow, forecast};
use crate::progress::Progress;

/// A card, and by how much it is to be topped up.
pub(crate) struct PlannedTopUp {
    pub(crate) card: Uuid,
    pub(crate) amount: i64,
    pub(crate) now: CardNow,
}

/// The outcome of the request.
pub(crate) struct TopUps {
    pub(crate) state: RequestState,
    pub(crate) cards: Vec<CardTopUp>,
    /// Whether the request, repeated under its key, was answered as the first time.
    pub(crate) repeat_is_the_same: bool,
}

/// The outcome of one card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CardTopUp {
    pub(crate) card: Uuid,
    pub(crate) asked: i64,
    pub(crate) expected: CardOutcome,
    pub(crate) outcome: CardOutcome,
    /// The amount that the service answered with.
    pub(crate) answered: i64,
}

impl CardTopUp {
    /// The amount topped up.
    pub(crate) const fn topped_up(&self) -> i64 {
        if matches!(self.outcome, CardOutcome::ToppedUp) { self.answered } else { 0 }
    }
}

/// Tops the cards up in one request, sent twice under one key, where the partner has `available` kopecks.
pub(crate) async fn run(
    client: &Client,
    planned: Vec<PlannedTopUp>,
    available: i64,
) -> anyhow::Result<TopUps> {
    let amounts: Vec<_> = planned.iter().map(|card| (card.amount, card.now)).collect();
    let expected = forecast(available, &amounts);

    let cards: Vec<_> = planned.iter().map(|card| TopUp::new(card.card, card.amount)).collect();
    let requests = client.replenishments();
    let call = requests.create(&cards).idempotency_key(IdempotencyKey::fresh());
    let first = call.clone().await.context("the top-up request")?;
    let again = call.await.context("the top-up request, repeated under its key")?;

    let id = first.replenishment_id;
    let progress = Progress::request("top-ups");
    let wait = requests.wait(id, patience(), |state| progress.state(state));
    let state = wait.await.context("waiting for the top-ups")?;
    let results = requests.result(id).await.context("the result of the top-ups")?;
    ensure!(
        results.len() == planned.len(),
        "{} cards were to be topped up, the result has {}",
        planned.len(),
        results.len()
    );
    let results: HashMap<Uuid, _> = results.into_iter().map(|result| (result.id_card, result)).collect();
    let cards = planned.into_iter().zip(expected).map(|(planned, expected)| {
        let result =
            results.get(&planned.card).with_context(|| format!("no result for card {}", planned.card))?;
        Ok(CardTopUp {
            card: planned.card,
            asked: planned.amount,
            expected,
            outcome: CardOutcome::of(result),
            answered: result.amount_replenishment,
        })
    });
    Ok(TopUps { state, cards: cards.collect::<anyhow::Result<_>>()?, repeat_is_the_same: first == again })
}
