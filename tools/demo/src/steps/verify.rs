//! The records of the service at the end of the day.

use std::collections::HashMap;

use anyhow::{Context as _, ensure};
use kopeck_client::{AvailableCard, Balance, Client, EmployeeFilter, PageMeta, Paging, RequestFilter, Uuid};

use super::links::Wallet;
use super::top_ups::{CardTopUp, TopUps};
use crate::books::CardMoney;
use crate::pool;
use crate::progress::Progress;

/// The records of the service.
pub(crate) struct ServiceFigures {
    pub(crate) balance: Balance,
    pub(crate) employees: usize,
    pub(crate) orders: usize,
    pub(crate) top_up_requests: usize,
    pub(crate) linked: Vec<CardMoney>,
    pub(crate) free: Vec<CardMoney>,
}

/// Reads the partner's balance, the balance of every card, and how long the lists are.
pub(crate) async fn look(
    client: &Client,
    wallet: &Wallet,
    top_ups: &TopUps,
) -> anyhow::Result<ServiceFigures> {
    let topped_up: HashMap<Uuid, i64> =
        top_ups.cards.iter().map(|card| (card.card, CardTopUp::topped_up(card))).collect();
    let money_of_linked = wallet.linked.iter().map(|card| {
        let first_top_up = card.issued.amount.unwrap_or(0);
        (card.id, first_top_up, topped_up.get(&card.id).copied().unwrap_or(0))
    });
    let available = unassigned_cards(client).await?;
    ensure!(
        available.len() == wallet.free.len(),
        "{} cards were not linked, the service lists {} as free",
        wallet.free.len(),
        available.len()
    );
    let money_of_free = wallet.free.iter().map(|card| {
        let listed = available.iter().find(|listed| listed.custom_id_card == card.custom_id_card);
        let listed = listed.with_context(|| format!("card {} is not listed as free", card.custom_id_card))?;
        Ok((listed.id_card, card.amount.unwrap_or(0), 0))
    });
    let money_of_free = money_of_free.collect::<anyhow::Result<Vec<_>>>()?;

    let one = Paging::default().per_page(1);
    Ok(ServiceFigures {
        linked: read(client, "balances of linked cards", money_of_linked).await?,
        free: read(client, "balances of unassigned cards", money_of_free.into_iter()).await?,
        employees: total(&client.employees().list(&EmployeeFilter::default(), one).await?.meta)?,
        orders: total(&client.orders().list(&RequestFilter::default(), one).await?.meta)?,
        top_up_requests: total(&client.replenishments().list(&RequestFilter::default(), one).await?.meta)?,
        balance: client.balance().await?,
    })
}

/// Reads the balance of each of `cards`: their ids, what they held from the start, by how much they were topped up.
async fn read(
    client: &Client,
    label: &'static str,
    cards: impl ExactSizeIterator<Item = (Uuid, i64, i64)>,
) -> anyhow::Result<Vec<CardMoney>> {
    let progress = Progress::of(label, cards.len());
    pool::each(cards, &progress, async |(card, first_top_up, topped_up)| {
        let balance = client.cards().balance(card).await.with_context(|| format!("the balance of {card}"))?;
        Ok(CardMoney { card, first_top_up, topped_up, balance: balance.balance })
    })
    .await
}

async fn unassigned_cards(client: &Client) -> anyhow::Result<Vec<AvailableCard>> {
    client.cards().all_available(None).collect().await.context("the unassigned cards")
}

fn total(meta: &PageMeta) -> anyhow::Result<usize> {
    let total = meta.total.with_context(|| format!("{} says no total", meta.path))?;
    Ok(usize::try_from(total)?)
}
