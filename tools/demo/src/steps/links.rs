//! Cards and the employees they belong to.

use anyhow::{Context as _, ensure};
use kopeck_client::{CardStatus, Client, IssuedCard, Uuid};

use crate::pool;
use crate::progress::Progress;

/// Every card of the partner.
pub(crate) struct Wallet {
    pub(crate) linked: Vec<LinkedCard>,
    /// Cards for which there was no employee.
    pub(crate) free: Vec<IssuedCard>,
}

/// A card that an employee has.
pub(crate) struct LinkedCard {
    pub(crate) id: Uuid,
    pub(crate) issued: IssuedCard,
}

/// Gives each employee a main card, as far as the cards go.
pub(crate) async fn link(
    client: &Client,
    employees: &[Uuid],
    mut cards: Vec<IssuedCard>,
) -> anyhow::Result<Wallet> {
    let free = cards.split_off(employees.len().min(cards.len()));
    let progress = Progress::of("cards linked", cards.len());
    let linked = pool::each(employees.iter().zip(cards), &progress, async |(&employee, issued)| {
        let link = client.cards().link(employee, &issued.custom_id_card, &CardStatus::Main);
        let linked = link.await.with_context(|| format!("card {}", issued.custom_id_card))?;
        ensure!(linked.id_employee == employee, "card {} went to another employee", issued.custom_id_card);
        Ok(LinkedCard { id: linked.id_card, issued })
    })
    .await?;
    Ok(Wallet { linked, free })
}
