//! `kopeck call orders …`.

use std::str::FromStr;

use clap::{Args, Subcommand};
use kopeck_client::{CardType, Client, PlasticItem, RequestState, Uuid, VirtualItem};

use crate::answer::Answer;
use crate::context::Repeat;
use crate::failure::Failure;
use crate::money;
use crate::pages::PageArgs;
use crate::requests::{Kind, WaitArgs, changed};
use crate::table::{self, Column, number, text};

/// What can be done with orders.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum OrdersCommand {
    /// Order plastic cards.
    Plastic(PlasticArgs),
    /// Order virtual cards. What they hold is taken from the partner's balance.
    Virtual {
        /// How many cards, and what each holds from the start: `20x500.00`.
        #[arg(required = true, value_name = "COUNTxAMOUNT")]
        items: Vec<Several<Amount>>,
        #[command(flatten)]
        wait: WaitArgs,
        #[command(flatten)]
        repeat: Repeat,
    },
    /// Show the state of an order.
    Status {
        /// The order.
        order_id: Uuid,
        #[command(flatten)]
        wait: WaitArgs,
    },
    /// Show the cards that an order brought.
    Result {
        /// The order.
        order_id: Uuid,
        /// Show the codes that activate virtual cards, too. They are as good as the cards.
        #[arg(long)]
        codes: bool,
    },
    /// Confirm the receipt of an order.
    Confirm {
        /// The order.
        order_id: Uuid,
        #[command(flatten)]
        repeat: Repeat,
    },
    /// Cancel an order that is still NEW.
    Cancel {
        /// The order.
        order_id: Uuid,
        #[command(flatten)]
        repeat: Repeat,
    },
    /// List orders, the newest first.
    List {
        /// Only those in this state, such as `IN_PROCESS`.
        #[arg(long)]
        status: Option<RequestState>,
        #[command(flatten)]
        page: PageArgs,
    },
}

/// Plastic cards, and where they go.
#[derive(Debug, Clone, Args)]
pub(crate) struct PlasticArgs {
    /// How many cards, and of which type: `100xMP4`.
    #[arg(required = true, value_name = "COUNTxTYPE")]
    items: Vec<Several<Plastic>>,
    /// Where to send them.
    #[arg(long)]
    address: String,
    /// Full name of whoever receives them.
    #[arg(long)]
    recipient: String,
    /// The recipient's phone: ten digits, without country code.
    #[arg(long)]
    phone: String,
    #[command(flatten)]
    wait: WaitArgs,
    #[command(flatten)]
    repeat: Repeat,
}

/// So many of something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Several<T> {
    count: u32,
    of: T,
}

/// Kopecks, typed as roubles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Amount(i64);

/// A type of card, in capitals or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plastic(CardType);

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        money::parse(text).map(Self)
    }
}

impl FromStr for Plastic {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Self(CardType::from(text.to_uppercase())))
    }
}

impl<T: FromStr<Err = String>> FromStr for Several<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (count, of) = text.split_once(['x', 'X']).ok_or("must be a number, an x and what each is")?;
        let count = count.parse().map_err(|_| format!("{count:?} is no number of cards"))?;
        Ok(Self { count, of: of.parse()? })
    }
}

const COLUMNS: [Column; 6] = [
    text("orderId", "/orderId"),
    text("status", "/status"),
    text("kind", "/kind"),
    number("cards", "/numberCards"),
    table::money("amount", "/amount"),
    text("created", "/createdAt"),
];

/// Does what is asked with orders.
pub(super) async fn run(client: &Client, command: OrdersCommand) -> Result<Answer, Failure> {
    let orders = client.orders();
    match command {
        OrdersCommand::Plastic(args) => {
            let items: Vec<PlasticItem> = args.items.iter().map(|item| args.item(item)).collect();
            let created = args.repeat.send(orders.plastic(&items)).await?;
            Kind::Order.accepted(client, created.order_id, args.wait).await
        }
        OrdersCommand::Virtual { items, wait, repeat } => {
            let items: Vec<VirtualItem> = items
                .iter()
                .map(|Several { count, of: Amount(each) }| VirtualItem::new(*count, *each))
                .collect();
            let created = repeat.send(orders.virtual_cards(&items)).await?;
            Kind::Order.accepted(client, created.order_id, wait).await
        }
        OrdersCommand::Status { order_id, wait } => Kind::Order.status(client, order_id, wait).await,
        OrdersCommand::Result { order_id, codes } => Kind::Order.result(client, order_id, codes).await,
        OrdersCommand::Confirm { order_id, repeat } => {
            Ok(changed(repeat.send(orders.confirm(order_id)).await?))
        }
        OrdersCommand::Cancel { order_id, repeat } => {
            Ok(changed(repeat.send(orders.cancel(order_id)).await?))
        }
        OrdersCommand::List { status, page } => {
            page.answer(&COLUMNS, async |paging| orders.list(status.as_ref(), paging).await).await
        }
    }
}

impl PlasticArgs {
    fn item(&self, Several { count, of: Plastic(card_type) }: &Several<Plastic>) -> PlasticItem {
        PlasticItem {
            number_cards: *count,
            type_card: card_type.clone(),
            delivery_address: self.address.clone(),
            recipient: self.recipient.clone(),
            phone: self.phone.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_typed_in_one_word() {
        assert_eq!("20x500.00".parse(), Ok(Several { count: 20, of: Amount(50_000) }));
        assert_eq!("3xmp4".parse(), Ok(Several { count: 3, of: Plastic(CardType::Mp4) }));
        for bad in ["20", "x500.00", "20x500", "-1x500.00", "20*500.00"] {
            assert!(bad.parse::<Several<Amount>>().is_err(), "{bad}");
        }
    }
}
