//! How long one partner's single top-up takes, and until the bank has confirmed a block of its card, while another
//! partner has 100,000 cards in work; and how long a block of the latter's own card takes.
//!
//! Secrets come by the environment, never by the command line, which others can read:
//!
//! | variable | what it is |
//! |---|---|
//! | `KOPECK_BENCH_URL` | the service, such as `http://127.0.0.1:8080` |
//! | `KOPECK_BENCH_BUSY` | what `kopeck partner create --json` printed for the partner with much to do |
//! | `KOPECK_BENCH_QUIET` | the same for the partner with little to do |

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use comfy_table::{Table, presets};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use kopeck_client::{
    AvailableCard, BankStatus, CardLimit, CardStatus, CardType, Client, LimitPeriod, NewEmployee,
    PlasticItem, RequestState, TopUp, Uuid, VirtualItem, Wait,
};

use crate::partner;

/// Cards of the busy partner.
const CARDS: u32 = 100_000;
/// The most that a line of an order takes.
const CARDS_A_LINE: u32 = 5_000;
/// The most that a limit change takes.
const CARDS_A_CHANGE: usize = 10_000;
/// Cards that are topped up again and again, the most that a request takes.
const TOPPED_UP: u32 = 10_000;
/// How often each of them is topped up.
const ROUNDS: usize = 10;
/// Cards that are linked at a time.
const LINKS_AT_ONCE: usize = 8;
/// Top-ups and blocks without other load.
const ALONE: usize = 20;
/// The polling interval: the resolution of the measurement.
const POLL: Duration = Duration::from_millis(5);
/// Longer than anything here takes.
const AT_MOST: Duration = Duration::from_secs(600);

/// Measures, and prints a table.
#[tokio::main]
pub(crate) async fn run() -> anyhow::Result<()> {
    let (busy, quiet) = (partner::client("KOPECK_BENCH_BUSY")?, partner::client("KOPECK_BENCH_QUIET")?);
    let probe = Probe { own: (&busy, main_card(&busy).await?), other: (&quiet, main_card(&quiet).await?) };
    let mut alone = Times::default();
    for _ in 0..ALONE {
        alone.add(&probe).await?;
    }

    let line = || VirtualItem { number_cards: CARDS_A_LINE, type_card: CardType::Mlz, amount: 5_000 };
    let lines: Vec<_> = (0..CARDS / CARDS_A_LINE).map(|_| line()).collect();
    let order = busy.orders().virtual_cards(&lines).await?.order_id;
    let issuing = async { Ok(busy.orders().wait(order, wait(), |_| ()).await?) };
    let (state, while_ordering) = meanwhile(issuing, &probe).await?;
    expect(&state)?;

    let cards = unassigned_cards(&busy, &CardType::Mlz).await?;
    let ((), while_changing) = meanwhile(set_limits(&busy, &ids(&cards)), &probe).await?;

    // Virtual cards would have to be activated.
    order_plastic(&busy, TOPPED_UP).await?;
    let linked = unassigned_cards(&busy, &CardType::Kkl).await?;
    link(&busy, &linked).await?;
    let ((), while_topping_up) = meanwhile(top_up_all(&busy, &ids(&linked)), &probe).await?;

    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["a partner has in work", "measured", "times", "median ms", "p99 ms", "longest ms"]);
    for (what, times) in [
        ("nothing".to_owned(), alone),
        (format!("an order of {CARDS} cards"), while_ordering),
        (format!("limits of {} cards, {CARDS_A_CHANGE} a request", cards.len()), while_changing),
        (format!("{} top-ups, {} a request", linked.len() * ROUNDS, linked.len()), while_topping_up),
    ] {
        table.add_row(row(&what, "another one's top-up", times.top_ups));
        table.add_row(row("", "a block of another one's card", times.blocks));
        table.add_row(row("", "a block of its own card", times.own_blocks));
    }
    println!("{table}");
    Ok(())
}

fn wait() -> Wait {
    Wait::up_to(AT_MOST)
}

fn expect(state: &RequestState) -> anyhow::Result<()> {
    if *state == RequestState::Success { Ok(()) } else { bail!("a request ended in {state}") }
}

/// The partner's one card.
#[derive(Clone, Copy)]
struct Card {
    id: Uuid,
    employee: Uuid,
}

/// Whose times are measured: the partner with much to do, and the other one.
struct Probe<'a> {
    own: (&'a Client, Card),
    other: (&'a Client, Card),
}

#[derive(Default)]
struct Times {
    top_ups: Vec<Duration>,
    blocks: Vec<Duration>,
    own_blocks: Vec<Duration>,
}

impl Times {
    async fn add(&mut self, probe: &Probe<'_>) -> anyhow::Result<()> {
        let (client, card) = probe.other;
        self.top_ups.push(top_up(client, card.id).await?);
        self.blocks.push(block(client, card).await?);
        let (client, card) = probe.own;
        self.own_blocks.push(block(client, card).await?);
        Ok(())
    }
}

/// An employee's MAIN card.
async fn main_card(client: &Client) -> anyhow::Result<Card> {
    order_plastic(client, 1).await?;
    let card = unassigned_cards(client, &CardType::Kkl).await?.pop().context("the order brought no card")?;
    let employee = client.employees().add(&NewEmployee::new("bench")).await?.id_employee;
    client.cards().link(employee, &card.custom_id_card, &CardStatus::Main).await?;
    Ok(Card { id: card.id_card, employee })
}

pub(crate) async fn order_plastic(client: &Client, cards: u32) -> anyhow::Result<()> {
    let item = |number_cards| PlasticItem {
        number_cards,
        type_card: CardType::Kkl,
        delivery_address: "Nevsky 1".to_owned(),
        recipient: "Ivan Ivanov".to_owned(),
        phone: "9031234567".to_owned(),
    };
    let items: Vec<_> = (0..cards)
        .step_by(CARDS_A_LINE as usize)
        .map(|ordered| item(CARDS_A_LINE.min(cards - ordered)))
        .collect();
    let order = client.orders().plastic(&items).await?.order_id;
    expect(&client.orders().wait(order, wait(), |_| ()).await?)
}

pub(crate) async fn unassigned_cards(client: &Client, of: &CardType) -> anyhow::Result<Vec<AvailableCard>> {
    Ok(client.cards().all_available(Some(of)).collect().await?)
}

pub(crate) fn ids(cards: &[AvailableCard]) -> Vec<Uuid> {
    cards.iter().map(|card| card.id_card).collect()
}

/// How long one kopeck takes from the request to SUCCESS.
async fn top_up(client: &Client, card: Uuid) -> anyhow::Result<Duration> {
    let start = Instant::now();
    let request = client.replenishments().create(&[TopUp { id_card: card, amount_replenishment: 1 }]).await?;
    let mut poll = wait();
    (poll.min_interval, poll.max_interval) = (POLL, POLL);
    expect(&client.replenishments().wait(request.replenishment_id, poll, |_| ()).await?)?;
    Ok(start.elapsed())
}

/// How long it takes from the response to a block until the bank has confirmed it. Afterwards the card is as it was.
async fn block(client: &Client, card: Card) -> anyhow::Result<Duration> {
    client.cards().switch(card.employee, card.id, &CardStatus::TemporarilyBlocked).await?;
    let start = Instant::now();
    until(client, card, &BankStatus::Blocked).await?;
    let time = start.elapsed();
    client.cards().switch(card.employee, card.id, &CardStatus::Main).await?;
    until(client, card, &BankStatus::Open).await?;
    Ok(time)
}

async fn until(client: &Client, card: Card, status: &BankStatus) -> anyhow::Result<()> {
    let start = Instant::now();
    while client.cards().info(card.id).await?.bank_status != *status {
        anyhow::ensure!(start.elapsed() < AT_MOST, "the card does not get {status}");
        tokio::time::sleep(POLL).await;
    }
    Ok(())
}

/// Measures one time after the other until `work` ends.
async fn meanwhile<T>(
    work: impl Future<Output = anyhow::Result<T>>,
    probe: &Probe<'_>,
) -> anyhow::Result<(T, Times)> {
    let mut times = Times::default();
    let mut work = std::pin::pin!(work);
    loop {
        let done = {
            let mut one = std::pin::pin!(times.add(probe));
            tokio::select! {
                added = &mut one => {
                    added?;
                    continue;
                }
                done = &mut work => {
                    one.await?;
                    done?
                }
            }
        };
        return Ok((done, times));
    }
}

/// Each card as the main one of an employee of its own.
pub(crate) async fn link(client: &Client, cards: &[AvailableCard]) -> anyhow::Result<()> {
    let links = stream::iter(cards).map(async |card| -> anyhow::Result<()> {
        let employee = NewEmployee::new(&card.custom_id_card);
        let employee = client.employees().add(&employee).await?.id_employee;
        client.cards().link(employee, &card.custom_id_card, &CardStatus::Main).await?;
        Ok(())
    });
    links.buffer_unordered(LINKS_AT_ONCE).try_collect().await
}

/// One request after the other, since a card can be in one request only.
async fn top_up_all(client: &Client, cards: &[Uuid]) -> anyhow::Result<()> {
    let top_ups: Vec<TopUp> = cards.iter().map(|card| TopUp::new(*card, 1)).collect();
    for _ in 0..ROUNDS {
        let request = client.replenishments().create(&top_ups).await?;
        expect(&client.replenishments().wait(request.replenishment_id, wait(), |_| ()).await?)?;
    }
    Ok(())
}

/// All of them at once, and until all are through.
async fn set_limits(client: &Client, cards: &[Uuid]) -> anyhow::Result<()> {
    let limit = CardLimit::per(LimitPeriod::Day, 100_000);
    let mut requests = Vec::new();
    for chunk in cards.chunks(CARDS_A_CHANGE) {
        requests.push(client.limits().set(chunk, &limit).await?.set_limits_cards_id);
    }
    for request in requests {
        expect(&client.limits().wait(request, wait(), |_| ()).await?)?;
    }
    Ok(())
}

fn row(beside: &str, what: &str, mut times: Vec<Duration>) -> [String; 6] {
    times.sort_unstable();
    let at = |part: usize| {
        let index = (times.len() * part / 100).min(times.len().saturating_sub(1));
        times.get(index).map_or_else(String::new, |time| format!("{:.0}", time.as_secs_f64() * 1_000.0))
    };
    [beside.to_owned(), what.to_owned(), times.len().to_string(), at(50), at(99), at(100)]
}
