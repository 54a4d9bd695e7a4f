//! Calls that change nothing, and what every failed request has to obey.

use kopeck_client::{
    Client, EmployeeFilter, Error, Paging, PaymentQuestion, RequestFilter, TransactionFilter,
};
use tokio::time::Instant;

use super::partner::Partner;
use super::report::sum_of_report;
use crate::journal::Journal;
use kopeck_test_support::Random;

/// Reads something.
pub(crate) async fn read(partner: &Partner, journal: &Journal, random: &Random) {
    let number = usize::try_from(random.below(1_000)).unwrap_or(0);
    let Some((client, _)) = partner.client(number) else { return };
    let start = Instant::now();
    let (name, read) = something(partner, client, random).await;
    let took = start.elapsed();
    match read {
        Ok(wrong) => {
            journal.call(name, "200".to_owned(), took);
            if let Some(wrong) = wrong {
                journal.wrong(format!("{}: {name}: {wrong}", partner.name));
            }
        }
        Err(error) => {
            journal.call(name, outcome(&error), took);
            judge(journal, &format!("{}: {name}", partner.name), &error);
            let passes = error.is_transient() || matches!(error.status(), Some(401 | 408));
            journal.must(passes, || format!("{}: {name} was refused: {error}", partner.name));
        }
    }
}

/// One of the reads; returns what is wrong with what came.
async fn something(
    partner: &Partner,
    client: &Client,
    random: &Random,
) -> (&'static str, Result<Option<String>, Error>) {
    let card = random.pick(&partner.book().cards).copied();
    let Some(card) = card else { return ("balance", balance(client).await) };
    let closed = partner.book().closed_month();
    match random.below(8) {
        0 => ("balance", balance(client).await),
        1 => {
            let read = client.cards().balance(card.id).await;
            ("card balance", read.map(|read| (read.id_card != card.id).then(|| "another card".to_owned())))
        }
        2 => (
            "card",
            client.cards().info(card.id).await.map(|read| {
                let right =
                    read.id_card == card.id && read.custom_card_id.to_string() == card.number.to_string();
                (!right).then(|| "another card".to_owned())
            }),
        ),
        3 => {
            let filter = TransactionFilter::default();
            let read = client.cards().transactions(card.id, &filter, Paging::default()).await;
            ("card transactions", read.map(|_| None))
        }
        4 => ("can pay", client.cards().can_pay(card.id, &PaymentQuestion::new(100)).await.map(|_| None)),
        5 => (
            "list orders",
            client.orders().list(&RequestFilter::default(), Paging::default()).await.map(|_| None),
        ),
        6 => match closed {
            Some((month, sha256)) => {
                let read = sum_of_report(client, &month).await;
                ("closed month", read.map(|read| (read != sha256).then(|| format!("{read}, not {sha256}"))))
            }
            None => ("balance", balance(client).await),
        },
        _ => {
            let read = client.employees().list(&EmployeeFilter::default(), Paging::default()).await;
            ("list employees", read.map(|_| None))
        }
    }
}

/// The balance, which has to add up at any time.
async fn balance(client: &Client) -> Result<Option<String>, Error> {
    let read = client.balance().await?;
    let right = read.hold >= 0 && read.available >= 0 && read.available == read.balance - read.hold;
    Ok((!right).then(|| format!("{read:?}")))
}

/// The name of a failed attempt in tables.
pub(crate) fn outcome(error: &Error) -> String {
    match error {
        Error::Transport { sent: false, .. } => "not reached".to_owned(),
        Error::Transport { .. } => "cut off".to_owned(),
        Error::Timeout => "timeout".to_owned(),
        other => match (other.status(), other.code()) {
            (Some(status), Some(code)) => format!("{status} {code}"),
            (Some(status), None) => status.to_string(),
            (None, _) => "unreadable".to_owned(),
        },
    }
}

/// The only permitted failure of the service is 503 with the time to wait.
pub(crate) fn judge(journal: &Journal, what: &str, error: &Error) {
    match error {
        Error::Api { status: 503, retry_after, .. } => {
            journal.must(retry_after.is_some(), || format!("{what}: 503 without Retry-After"));
        }
        Error::Api { status: 500.., .. } | Error::Sealing(_) | Error::Decode(_) | Error::Config(_) => {
            journal.wrong(format!("{what}: {error}: {error:?}"));
        }
        _ => {}
    }
}
