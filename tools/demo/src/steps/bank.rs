//! Prepares the sandbox's bank for the top-ups: activates the cards, and blocks a few.

use anyhow::{Context as _, ensure};
use kopeck_client::Client;

use super::links::LinkedCard;
use super::top_ups::PlannedTopUp;
use crate::plan::{CardNow, Role, TOP_UPS};
use crate::pool;
use crate::progress::Progress;

/// Gets the cards ready for their roles, and decides how much to ask for each.
pub(crate) async fn prepare(client: &Client, linked: &[LinkedCard]) -> anyhow::Result<Vec<PlannedTopUp>> {
    ensure!(linked.len() >= TOP_UPS, "{TOP_UPS} cards are to be topped up, only {} are linked", linked.len());
    let progress = Progress::of("cards made ready", TOP_UPS);
    pool::each(linked.iter().take(TOP_UPS).enumerate(), &progress, async |(place, card)| {
        let role = Role::at(place);
        let now = ready(client, role, card)
            .await
            .with_context(|| format!("getting card {} ready", card.issued.custom_id_card))?;
        Ok(PlannedTopUp { card: card.id, amount: role.amount(place, now.remaining_top_up), now })
    })
    .await
}

async fn ready(client: &Client, role: Role, card: &LinkedCard) -> Result<CardNow, kopeck_client::Error> {
    let info = client.cards().info(card.id).await?;
    let activate = !info.activated && role != Role::NotActivated;
    if activate {
        client.sandbox().activate(card.id, card.issued.activation_code.as_ref()).await?;
    }
    let block = role == Role::Blocked;
    if block {
        client.sandbox().block(card.id).await?;
    }
    Ok(CardNow { blocked: block, activated: info.activated || activate, remaining_top_up: info.can_to_up })
}
