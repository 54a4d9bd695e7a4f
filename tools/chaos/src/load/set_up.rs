//! Gives a partner its employees and their main cards, before the faults.

use std::time::Duration;

use anyhow::{Context as _, bail};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use kopeck_client::{CardStatus, IssuedCard, RequestState, Wait};
use kopeck_domain::card_number::CardNumber;
use tokio::time::Instant;

use super::call::{Answer, Change};
use super::caller::perform;
use super::partner::{MainCard, Partner};
use crate::journal::Journal;
use kopeck_test_support::Random;

/// Calls at once.
const AT_ONCE: usize = 6;
/// How long the first orders may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// The first top-up of each virtual card, in kopecks.
const FIRST_TOP_UP: i64 = 5_000;

/// Orders `cards` cards, half of them virtual, and links each to a new employee.
pub(crate) async fn set_up(
    partner: &Partner,
    journal: &Journal,
    cards: u32,
    random: Random,
) -> anyhow::Result<()> {
    let halves = [
        Change::OrderVirtual { count: cards / 2, amount: FIRST_TOP_UP },
        Change::OrderPlastic { count: cards - cards / 2, declined: false },
    ];
    let mut issued = Vec::new();
    for call in halves {
        issued.extend(order(partner, journal, call, &random).await?);
    }
    let linked = issued.into_iter().enumerate().map(|(number, card)| {
        let random = random.part(1_000 + number as u64);
        async move { link(partner, journal, number, card, random).await }
    });
    let linked: Vec<MainCard> = stream::iter(linked).buffered(AT_ONCE).try_collect().await?;
    partner.book().cards = linked;
    Ok(())
}

async fn order(
    partner: &Partner,
    journal: &Journal,
    call: Change,
    random: &Random,
) -> anyhow::Result<Vec<IssuedCard>> {
    let answer = done(partner, journal, call, random).await?;
    let Answer::Accepted(id) = answer else { bail!("an order was answered with {answer:?}") };
    let (client, _) = partner.client(0).context("no client")?;
    let state = client.orders().wait(id, Wait::up_to(PATIENCE), |_| {}).await?;
    anyhow::ensure!(state == RequestState::Success, "a first order ended as {state}");
    if let Some(request) = partner.book().requests.get_mut(&id) {
        request.see(state, Instant::now());
    }
    Ok(client.orders().result(id).await?.data)
}

async fn link(
    partner: &Partner,
    journal: &Journal,
    number: usize,
    card: IssuedCard,
    random: Random,
) -> anyhow::Result<MainCard> {
    let add = Change::AddEmployee { custom_id: format!("E-{number}") };
    let answer = done(partner, journal, add, &random).await?;
    let Answer::Employee(employee) = answer else { bail!("an employee was answered with {answer:?}") };
    let parsed = CardNumber::parse(&card.custom_id_card)
        .map_err(|_| anyhow::anyhow!("the service told of a card without a number"))?;
    let link = Change::Link { employee, number: card.custom_id_card, status: CardStatus::Main };
    let answer = done(partner, journal, link, &random).await?;
    let Answer::Linked(id) = answer else { bail!("a link was answered with {answer:?}") };
    if card.activation_code.is_some() {
        done(partner, journal, Change::Activate { card: id, code: card.activation_code }, &random).await?;
    }
    Ok(MainCard { id, number: parsed })
}

/// Makes a request that has to be answered.
async fn done(partner: &Partner, journal: &Journal, call: Change, random: &Random) -> anyhow::Result<Answer> {
    let name = call.name();
    let place = partner.book().begin(call);
    perform(partner, journal, place, random).await;
    let answer = partner.book().made.get(place).and_then(|made| made.answer.clone());
    answer.with_context(|| format!("{}: a {name} was not answered before the faults", partner.name))
}
