//! `kopeck call cards …`.

use clap::{Args, Subcommand};
use kopeck_client::{
    BankStatus, Card, CardFilter, CardLimit, CardStatus, CardType, Client, Date, LimitPeriod,
    PaymentQuestion, PrimitiveDateTime, TransactionFilter, TransactionType, Uuid,
};
use serde_json::Value;

use super::shown;
use crate::context::IdempotencyArgs;
use crate::examples;
use crate::exit::Exit;
use crate::export::{ExportArgs, RowWriter};
use crate::failure::Failure;
use crate::money;
use crate::names::{self, CardName, EmployeeName};
use crate::output::{Output, json_of};
use crate::pages::PageArgs;
use crate::table::{self, Column, flag, number, text};
use crate::times;

/// Commands for cards.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum CardsCommand {
    /// Show a card.
    Info {
        /// The card.
        card: CardName,
    },
    /// Show the balance of a card.
    Balance {
        /// The card.
        card: CardName,
    },
    /// List the transactions of a card, the newest first.
    Transactions {
        /// The card.
        card: CardName,
        /// Only records of this day and later, `DD.MM.YYYY`.
        #[arg(long, value_parser = times::date)]
        from: Option<Date>,
        /// Only records of this day and earlier, `DD.MM.YYYY`.
        #[arg(long, value_parser = times::date)]
        to: Option<Date>,
        /// Only those of this kind, such as `PAYMENT`.
        #[arg(long = "type")]
        transaction_type: Option<TransactionType>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Link an unassigned card to an employee.
    #[command(after_help = examples::CARDS_LINK)]
    Link {
        /// The employee.
        employee: EmployeeName,
        /// The card's number on the bank's side: customIdCard.
        number: String,
        /// The status: `MAIN`, `ADDITIONAL`, `TEMPORARILY_BLOCKED`.
        #[arg(long, default_value = "MAIN")]
        status: CardStatus,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// Change the status of a card.
    Switch {
        /// The employee.
        employee: EmployeeName,
        /// The card.
        card: CardName,
        /// `MAIN`, `ADDITIONAL`, `TEMPORARILY_BLOCKED`.
        status: CardStatus,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// Unlink a card from an employee: one that is closed or has expired, or that was never activated and holds no money.
    Unlink {
        /// The employee.
        employee: EmployeeName,
        /// The card.
        card: CardName,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// List cards, the first issued first.
    List {
        #[command(flatten)]
        which: CardArgs,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Write cards as a file, the first issued first. Amounts are in kopecks.
    Export {
        #[command(flatten)]
        which: CardArgs,
        #[command(flatten)]
        file: ExportArgs,
    },
    /// List the cards that are not linked yet.
    Available {
        /// Only those of this type, such as `MLZ`.
        #[arg(long = "type")]
        type_card: Option<CardType>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Check whether a card would pay an amount. Nothing is paid. Exit code 9 if it would not.
    CanPay {
        /// The card.
        card: CardName,
        /// How much, such as `120.00`.
        #[arg(value_parser = money::parse)]
        amount: i64,
        /// When, `DD.MM.YYYY HH:MM` in the service's zone; now if absent.
        #[arg(long, value_parser = times::moment)]
        at: Option<PrimitiveDateTime>,
        /// The merchant's category code, such as `5812`.
        #[arg(long)]
        mcc: Option<String>,
    },
}

/// Which cards.
#[derive(Debug, Clone, Args)]
pub(crate) struct CardArgs {
    /// Only those that are linked to an employee, or with `false` those of none.
    #[arg(long, num_args = 0..=1, default_missing_value = "true")]
    linked: Option<bool>,
    /// Only those with this status, such as `MAIN`.
    #[arg(long)]
    status: Option<CardStatus>,
    /// Only those with this status at the bank, such as `CLOSED`.
    #[arg(long)]
    bank_status: Option<BankStatus>,
    /// Only those of this type, such as `MLZ`.
    #[arg(long = "type")]
    type_card: Option<CardType>,
    /// Only those of this order.
    #[arg(long, value_parser = names::uuid)]
    order: Option<Uuid>,
    /// Only those of this employee.
    #[arg(long)]
    employee: Option<EmployeeName>,
    /// Only those whose last day is before this one, `DD.MM.YYYY`.
    #[arg(long, value_parser = times::date)]
    expires_before: Option<Date>,
    /// Only the one with this number.
    #[arg(long, value_name = "CUSTOM_ID_CARD")]
    number: Option<String>,
}

const CARD: [Column; 10] = [
    text("idCard", "/idCard"),
    text("customIdCard", "/customCardId"),
    text("type", "/type"),
    text("idEmployee", "/idEmployee"),
    text("status", "/statusCard"),
    text("valid until", "/dateUntil"),
    flag("activated", "/activated"),
    table::money("balance", "/balance"),
    table::money("can be topped up by", "/canToUp"),
    text("limit", "/shownLimit"),
];
const BALANCE: [Column; 5] = [
    text("idCard", "/idCard"),
    table::money("balance", "/balance"),
    table::money("can be topped up by", "/canToUp"),
    table::money("account", "/balanceAccount/value"),
    text("account refreshed", "/balanceAccount/updateAt"),
];
const TRANSACTION: [Column; 8] = [
    number("id", "/id"),
    text("date", "/dateExecutionAt"),
    text("time", "/timeExecutionAt"),
    text("type", "/type"),
    table::money("amount", "/amount"),
    text("place", "/place"),
    text("mcc", "/mcc"),
    text("merchant", "/merchantId"),
];
const FREE: [Column; 4] = [
    text("idCard", "/idCard"),
    text("customIdCard", "/customIdCard"),
    text("type", "/typeCard"),
    text("valid until", "/dateUntil"),
];
const LISTED: [Column; 8] = [
    text("idCard", "/idCard"),
    text("customIdCard", "/customCardId"),
    text("type", "/type"),
    text("idEmployee", "/idEmployee"),
    text("status", "/statusCard"),
    text("at the bank", "/bankStatus"),
    text("valid until", "/dateUntil"),
    table::money("balance", "/balance"),
];
const EXPORTED: [Column; 13] = [
    text("idCard", "/idCard"),
    text("customIdCard", "/customCardId"),
    text("type", "/type"),
    text("idEmployee", "/idEmployee"),
    text("statusCard", "/statusCard"),
    text("bankStatus", "/bankStatus"),
    text("dateUntil", "/dateUntil"),
    text("activated", "/activated"),
    text("activatedAt", "/activatedAt"),
    table::money("balance", "/balance"),
    table::money("canToUp", "/canToUp"),
    text("updatedAt", "/balanceAccount/updateAt"),
    text("limit", "/shownLimit"),
];
const UNLINKED: [Column; 2] = [text("idEmployee", "/idEmployee"), text("idCard", "/idCard")];
const LINKED: [Column; 3] =
    [text("idEmployee", "/idEmployee"), text("idCard", "/idCard"), text("status", "/statusCard")];
const PAYMENT: [Column; 4] = [
    flag("would pay", "/allowed"),
    text("reason", "/reason"),
    table::money("the limit leaves", "/remaining"),
    text("next period", "/resetsAt"),
];

pub(super) async fn run(client: &Client, command: CardsCommand) -> Result<Output, Failure> {
    let cards = client.cards();
    match command {
        CardsCommand::Info { card } => info(client, &card).await,
        CardsCommand::Balance { card } => {
            shown(&cards.balance(names::card(client, &card).await?).await?, &BALANCE)
        }
        CardsCommand::Transactions { card, from, to, transaction_type, page } => {
            let card = names::card(client, &card).await?;
            let filter = TransactionFilter { from, to, transaction_type };
            page.answer(&TRANSACTION, cards.all_transactions(card, &filter)).await
        }
        CardsCommand::Link { employee, number, status, repeat } => {
            let employee = employee.resolve(client).await?;
            shown(&repeat.send(cards.link(employee, &number, &status)).await?, &LINKED)
        }
        CardsCommand::Switch { employee, card, status, repeat } => {
            let (employee, card) = (employee.resolve(client).await?, names::card(client, &card).await?);
            shown(&repeat.send(cards.switch(employee, card, &status)).await?, &LINKED)
        }
        CardsCommand::Unlink { employee, card, repeat } => {
            let (employee, card) = (employee.resolve(client).await?, names::card(client, &card).await?);
            shown(&repeat.send(cards.unlink(employee, card)).await?, &UNLINKED)
        }
        CardsCommand::List { which, page } => {
            page.answer(&LISTED, cards.all(&which.filter(client).await?)).await
        }
        CardsCommand::Export { which, file } => export(client, &which.filter(client).await?, file).await,
        CardsCommand::Available { type_card, page } => {
            page.answer(&FREE, cards.all_available(type_card.as_ref())).await
        }
        CardsCommand::CanPay { card, amount, at, mcc } => {
            let question = PaymentQuestion { amount, at, mcc };
            let payment = cards.can_pay(names::card(client, &card).await?, &question).await?;
            let exit = if payment.allowed { Exit::Done } else { Exit::OtherwiseThanAsked };
            Ok(shown(&payment, &PAYMENT)?.ending(exit))
        }
    }
}

impl CardArgs {
    /// The filter, with the identifier of the employee.
    async fn filter(self, client: &Client) -> Result<CardFilter, Failure> {
        let id_employee = match &self.employee {
            Some(employee) => Some(employee.resolve(client).await?),
            None => None,
        };
        Ok(CardFilter {
            linked: self.linked,
            status_card: self.status,
            bank_status: self.bank_status,
            type_card: self.type_card,
            order_id: self.order,
            id_employee,
            expires_before: self.expires_before,
            custom_id_card: self.number,
        })
    }
}

/// Writes cards as they come.
async fn export(client: &Client, filter: &CardFilter, file: ExportArgs) -> Result<Output, Failure> {
    let mut rows = RowWriter::open(file, &EXPORTED)?;
    let (mut cards, mut count) = (client.cards().all(filter), 0_u64);
    while let Some(card) = cards.next().await? {
        rows.write(&with_limit(&card)?)?;
        count += 1;
    }
    rows.close(&format!("cards: {count}"))
}

async fn info(client: &Client, card: &CardName) -> Result<Output, Failure> {
    let card = client.cards().info(names::card(client, card).await?).await?;
    Ok(Output::new(json_of(&card)?, table::record(&with_limit(&card)?, &CARD)))
}

/// A card with its limit in words.
fn with_limit(card: &Card) -> Result<Value, Failure> {
    let mut json = json_of(card)?;
    if let Some(fields) = json.as_object_mut() {
        fields.insert("shownLimit".to_owned(), limit(&card.limit).into());
    }
    Ok(json)
}

/// A period as people say it.
fn period_word(period: &LimitPeriod) -> String {
    match period {
        LimitPeriod::Day => "day",
        LimitPeriod::Week => "week",
        LimitPeriod::Month => "month",
        LimitPeriod::Quarter => "quarter",
        other => return other.to_string(),
    }
    .to_owned()
}

/// A limit in words.
fn limit(limit: &CardLimit) -> String {
    if limit.unlimited {
        return "none".to_owned();
    }
    let mut words = Vec::new();
    if let (Some(amount), Some(period)) = (limit.amount, &limit.period) {
        words.push(format!("{} per {}", money::shown(amount), period_word(period)));
    }
    if !limit.days.is_empty() {
        let days: Vec<String> = limit.days.iter().map(ToString::to_string).collect();
        words.push(format!("on {}", days.join(", ")));
    }
    if !limit.times.is_empty() {
        let times: Vec<String> =
            limit.times.iter().map(|window| format!("{}-{}", window.from, window.to)).collect();
        words.push(format!("at {}", times.join(", ")));
    }
    if let Some(merchants) = &limit.merchant_categories {
        let lists = [("only merchants", &merchants.only), ("all merchants but", &merchants.except)];
        let lists = lists.into_iter().filter_map(|(words, list)| Some((words, list.as_ref()?)));
        words.extend(lists.map(|(words, list)| format!("{words} {}", list.join(", "))));
    }
    words.join("; ")
}

#[cfg(test)]
mod tests {
    use kopeck_client::{TimeWindow, Weekday};

    use super::*;

    #[test]
    fn limits_are_put_in_words() {
        assert_eq!(limit(&CardLimit::unlimited()), "none");
        let all = CardLimit::per(LimitPeriod::Day, 50_000)
            .on_days([Weekday::Monday, Weekday::Friday])
            .within([TimeWindow::new("08:00", "20:00")]);
        assert_eq!(limit(&all), "500.00 per day; on Monday, Friday; at 08:00-20:00");
        assert!(
            limit(&all.clone().only_at(["5812", "5411-5499"])).ends_with("; only merchants 5812, 5411-5499")
        );
        assert!(limit(&all.except_at(["5812"])).ends_with("; all merchants but 5812"));
    }
}
