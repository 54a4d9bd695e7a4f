//! `kopeck call orders …`.

use std::fmt;
use std::str::FromStr;

use clap::{Args, Subcommand};
use kopeck_client::{CardType, Client, Order, Orders, PlasticItem, Uuid, VirtualItem};
use serde_json::Value;

use crate::context::IdempotencyArgs;
use crate::examples;
use crate::failure::{Failure, field_of_item};
use crate::money::Amount;
use crate::names;
use crate::output::Output;
use crate::pages::PageArgs;
use crate::requests::{self, NewRequestArgs, RequestCommand, RequestFilterArgs, WaitArgs, changed, listed};
use crate::table::{Column, money, number, text};

/// Commands for orders.
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
        request: NewRequestArgs,
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
    /// The address of the delivery.
    #[arg(long)]
    address: String,
    /// Full name of the recipient.
    #[arg(long)]
    recipient: String,
    /// The recipient's phone: ten digits, without country code.
    #[arg(long)]
    phone: String,
    #[command(flatten)]
    request: NewRequestArgs,
}

/// So many of something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quantity<T> {
    count: u32,
    of: T,
}

/// A type of card, in capitals or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plastic(CardType);

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

impl fmt::Display for Plastic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

/// The cards that an order brought.
const RESULT: [Column; 4] = [
    text("customIdCard", "/customIdCard"),
    text("type", "/typeCard"),
    money("amount", "/amount"),
    text("activate until", "/validityPeriod"),
];
const CODE: Column = text("activation code", "/activationCode");

const COLUMNS: [Column; 7] = [
    text("orderId", "/orderId"),
    text("status", "/status"),
    text("kind", "/kind"),
    number("cards", "/numberCards"),
    money("amount", "/amount"),
    text("created", "/createdAt"),
    text("reference", "/reference"),
];

impl RequestCommand for OrdersCommand {
    type Record = Order;

    const DECLINED_HAS_RESULT: bool = false;

    fn of(client: &Client) -> Orders<'_> {
        client.orders()
    }

    async fn outcome(client: &Client, id: Uuid, codes: bool) -> Result<(Value, String), Failure> {
        let mut result = client.orders().result(id).await?;
        let mut columns = RESULT.to_vec();
        if codes {
            columns.push(CODE);
        } else {
            result.data.iter_mut().for_each(|card| card.activation_code = None);
        }
        listed(&result.data, &columns)
    }
}

pub(super) async fn run(client: &Client, command: OrdersCommand) -> Result<Output, Failure> {
    let orders = client.orders();
    match command {
        OrdersCommand::Plastic(args) => {
            let items: Vec<PlasticItem> = args.items.iter().map(|item| args.item(item)).collect();
            let created = orders.plastic(&items);
            let argument = |field: &str| args.argument(field);
            args.request.send::<OrdersCommand, _>(client, created, |created| created.order_id, argument).await
        }
        OrdersCommand::Virtual { items, request } => {
            let wanted: Vec<VirtualItem> = items
                .iter()
                .map(|Quantity { count, of: Amount(each) }| VirtualItem::new(*count, *each))
                .collect();
            let argument = |field: &str| items.get(field_of_item(field)?.0).map(ToString::to_string);
            let created = orders.virtual_cards(&wanted);
            request.send::<OrdersCommand, _>(client, created, |created| created.order_id, argument).await
        }
        OrdersCommand::Status { order_id, wait } => {
            requests::status::<OrdersCommand>(client, order_id, wait).await
        }
        OrdersCommand::Result { order_id, codes } => {
            requests::result::<OrdersCommand>(client, order_id, codes).await
        }
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
