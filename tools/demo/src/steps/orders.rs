//! Orders of cards: two that are fulfilled and one that costs more than there is.

use anyhow::{Context as _, bail, ensure};
use kopeck_client::{
    CardType, Client, Error, ErrorCode, IssuedCard, OrderCreated, PlasticItem, RequestState, VirtualItem,
    Write,
};

use super::patience;
use crate::progress::Progress;

/// The number of accepted orders.
pub(crate) const ACCEPTED: usize = 2;

/// The cards that came, the plastic ones first.
pub(crate) struct Issued {
    pub(crate) cards: Vec<IssuedCard>,
    /// The cost of the orders, as requested.
    pub(crate) cost: i64,
}

/// An order that the service refused.
pub(crate) struct RefusedOrder {
    pub(crate) cost: i64,
    pub(crate) error: Error,
}

/// Orders plastic and virtual cards, waits for them and confirms their receipt.
pub(crate) async fn order(client: &Client) -> anyhow::Result<Issued> {
    let (plastic, of_virtual) = (plastic_items(), virtual_items());
    let plastic_order = accepted(client.orders().plastic(&plastic), "plastic cards").await?;
    let virtual_order = accepted(client.orders().virtual_cards(&of_virtual), "virtual cards").await?;

    let plastic_number = plastic.iter().map(|item| item.number_cards).sum();
    let mut cards = receive(client, plastic_order, "plastic cards", plastic_number).await?;
    let virtual_number = of_virtual.iter().map(|item| item.number_cards).sum();
    cards.extend(receive(client, virtual_order, "virtual cards", virtual_number).await?);
    Ok(Issued { cards, cost: cost(&of_virtual) })
}

/// Orders virtual cards for more than `available`, which the service has to refuse.
pub(crate) async fn too_dear(client: &Client, available: i64) -> anyhow::Result<RefusedOrder> {
    const AMOUNT: i64 = 1_500_000;
    let number = u32::try_from(available / AMOUNT + 1).context("the balance is too large for the demo")?;
    let items = [VirtualItem::new(number, AMOUNT)];
    match client.orders().virtual_cards(&items).await {
        Ok(_) => bail!("an order for more than the balance was accepted"),
        Err(error @ Error::Api { status: 402, code: Some(ErrorCode::InsufficientBalance), .. }) => {
            Ok(RefusedOrder { cost: cost(&items), error })
        }
        Err(other) => Err(other).context("an order for more than the balance"),
    }
}

/// Sends the order twice under its key; it has to be one order.
async fn accepted(order: Write<OrderCreated>, what: &str) -> anyhow::Result<OrderCreated> {
    let context = || format!("the order of {what}");
    let first = order.clone().await.with_context(context)?;
    let again = order.await.with_context(context)?;
    ensure!(first == again, "the order of {what}, repeated under its key, became another order");
    Ok(first)
}

async fn receive(
    client: &Client,
    OrderCreated { order_id }: OrderCreated,
    what: &'static str,
    number: u32,
) -> anyhow::Result<Vec<IssuedCard>> {
    let progress = Progress::request(what);
    let state =
        client.orders().wait(order_id, patience(), |state| progress.state(state)).await.context(what)?;
    ensure!(state == RequestState::Success, "the order of {what} ended as {state}");
    let cards = client.orders().result(order_id).await.context(what)?.data;
    ensure!(cards.len() == usize::try_from(number)?, "{number} {what} were ordered, {} came", cards.len());
    client.orders().confirm(order_id).await.with_context(|| format!("the receipt of {what}"))?;
    Ok(cards)
}

fn cost(items: &[VirtualItem]) -> i64 {
    items.iter().map(|item| i64::from(item.number_cards) * item.amount).sum()
}

fn virtual_items() -> [VirtualItem; 4] {
    [(60, 50_000), (60, 100_000), (40, 150_000), (20, 500_000)]
        .map(|(number, amount)| VirtualItem::new(number, amount))
}

fn plastic_items() -> [PlasticItem; 2] {
    let item = |number_cards, type_card, delivery_address: &str, recipient: &str, phone: &str| PlasticItem {
        number_cards,
        type_card,
        delivery_address: delivery_address.to_owned(),
        recipient: recipient.to_owned(),
        phone: phone.to_owned(),
    };
    [
        item(12, CardType::Mp4, "Москва, ул. Примерная, д. 1", "Орлова Мария Ивановна", "9000000901"),
        item(8, CardType::Kkl, "Казань, пр. Образцовый, д. 2", "Smith Oliver", "9000000902"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_plastic_and_a_hundred_and_eighty_virtual_cards_are_ordered() {
        assert_eq!(plastic_items().iter().map(|item| item.number_cards).sum::<u32>(), 20);
        assert_eq!(virtual_items().iter().map(|item| item.number_cards).sum::<u32>(), 180);
    }
}
