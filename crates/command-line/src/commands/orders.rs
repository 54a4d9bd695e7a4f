//! `kopeck call orders …`.

use std::fmt;
use std::str::FromStr;

use clap::{Args, Subcommand};
use kopeck_client::{CardType, Client, PlasticItem, Uuid, VirtualItem};

use crate::context::IdempotencyArgs;
use crate::examples;
use crate::failure::{Failure, field_of_item};
use crate::money;
use crate::names;
use crate::output::Output;
use crate::pages::PageArgs;
use crate::requests::{ReferenceArgs, RequestFilterArgs, RequestKind, WaitArgs, changed};
use crate::table::{self, Column, number, text};

/// What can be done with orders.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum OrdersCommand {
    /// Order plastic cards.
    #[command(after_help = examples::ORDERS_PLASTIC)]
    Plastic(PlasticArgs),
    /// Order virtual cards. Their first top-ups are taken from the partner's balance.
    #[command(after_help = examples::ORDERS_VIRTUAL)]
    Virtual {
        /// How many cards, and what each holds from the start: `20x500.00`.
        #[arg(required = true, value_name = "COUNTxAMOUNT")]
        items: Vec<Quantity<Amount>>,
        #[command(flatten)]
        reference: ReferenceArgs,
        #[command(flatten)]
        wait: WaitArgs,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// Show the state of an order.
    Status {
        /// The order.
        #[arg(value_parser = names::uuid)]
        order_id: Uuid,
        #[command(flatten)]
        wait: WaitArgs,
    },
    /// Show the cards that an order brought.
    Result {
        /// The order.
        #[arg(value_parser = names::uuid)]
        order_id: Uuid,
        /// Show the codes that activate virtual cards, too. They are as good as the cards.
        #[arg(long)]
        codes: bool,
    },
    /// Confirm the receipt of an order.
    Confirm {
        /// The order.
        #[arg(value_parser = names::uuid)]
        order_id: Uuid,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// Cancel an order that is still NEW.
    Cancel {
        /// The order.
        #[arg(value_parser = names::uuid)]
        order_id: Uuid,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// List orders, the newest first.
    List {
        #[command(flatten)]
        filter: RequestFilterArgs,
        #[command(flatten)]
        page: PageArgs,
    },
}

/// Plastic cards, and where they go.
#[derive(Debug, Clone, Args)]
pub(crate) struct PlasticArgs {
    /// How many cards, and of which type: `100xMP4`.
    #[arg(required = true, value_name = "COUNTxTYPE")]
    items: Vec<Quantity<Plastic>>,
    /// Where to send them.
    #[arg(long)]
    address: String,
    /// Full name of the recipient.
    #[arg(long)]
    recipient: String,
    /// The recipient's phone: ten digits, without country code.
    #[arg(long)]
    phone: String,
    #[command(flatten)]
    reference: ReferenceArgs,
    #[command(flatten)]
    wait: WaitArgs,
    #[command(flatten)]
    repeat: IdempotencyArgs,
}

/// So many of something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quantity<T> {
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

impl<T: FromStr<Err = String>> FromStr for Quantity<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (count, of) = text.split_once(['x', 'X']).ok_or("must be a number, an x and what each is")?;
        let count = count.parse().map_err(|_| format!("{count:?} is no number of cards"))?;
        Ok(Self { count, of: of.parse()? })
    }
}

impl<T: fmt::Display> fmt::Display for Quantity<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.count, self.of)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&money::shown(self.0))
    }
}

impl fmt::Display for Plastic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

const COLUMNS: [Column; 7] = [
    text("orderId", "/orderId"),
    text("status", "/status"),
    text("kind", "/kind"),
    number("cards", "/numberCards"),
    table::money("amount", "/amount"),
    text("created", "/createdAt"),
    text("reference", "/reference"),
];

pub(super) async fn run(client: &Client, command: OrdersCommand) -> Result<Output, Failure> {
    let orders = client.orders();
    match command {
        OrdersCommand::Plastic(args) => {
            let items: Vec<PlasticItem> = args.items.iter().map(|item| args.item(item)).collect();
            let created = args.repeat.send(args.reference.name(orders.plastic(&items))).await;
            let created = created.map_err(|failure| failure.naming(|field| args.argument(field)))?;
            RequestKind::Order.accepted(client, created.order_id, args.wait).await
        }
        OrdersCommand::Virtual { items, reference, wait, repeat } => {
            let wanted: Vec<VirtualItem> = items
                .iter()
                .map(|Quantity { count, of: Amount(each) }| VirtualItem::new(*count, *each))
                .collect();
            let argument = |field: &str| items.get(field_of_item(field)?.0).map(ToString::to_string);
            let created = repeat.send(reference.name(orders.virtual_cards(&wanted))).await;
            let created = created.map_err(|failure| failure.naming(argument))?;
            RequestKind::Order.accepted(client, created.order_id, wait).await
        }
        OrdersCommand::Status { order_id, wait } => RequestKind::Order.status(client, order_id, wait).await,
        OrdersCommand::Result { order_id, codes } => RequestKind::Order.result(client, order_id, codes).await,
        OrdersCommand::Confirm { order_id, repeat } => {
            Ok(changed(repeat.send(orders.confirm(order_id)).await?))
        }
        OrdersCommand::Cancel { order_id, repeat } => {
            Ok(changed(repeat.send(orders.cancel(order_id)).await?))
        }
        OrdersCommand::List { filter, page } => page.answer(&COLUMNS, orders.all(&filter.into())).await,
    }
}

impl PlasticArgs {
    /// The argument that a field came from.
    fn argument(&self, field: &str) -> Option<String> {
        let (place, name) = field_of_item(field)?;
        match name {
            "deliveryAddress" => Some("--address".to_owned()),
            "recipient" | "phone" => Some(format!("--{name}")),
            _ => self.items.get(place).map(ToString::to_string),
        }
    }

    fn item(&self, Quantity { count, of: Plastic(card_type) }: &Quantity<Plastic>) -> PlasticItem {
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
        assert_eq!("20x500.00".parse(), Ok(Quantity { count: 20, of: Amount(50_000) }));
        assert_eq!("3xmp4".parse(), Ok(Quantity { count: 3, of: Plastic(CardType::Mp4) }));
        assert_eq!(Quantity { count: 2, of: Amount(1_000) }.to_string(), "2x10.00");
        for bad in ["20", "x500.00", "20x500", "-1x500.00", "20*500.00"] {
            assert!(bad.parse::<Quantity<Amount>>().is_err(), "{bad}");
        }
    }
}
