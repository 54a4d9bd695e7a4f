//! A bank that carries out everything at once and keeps no books: what a request takes is then the service's own time.

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};

use actix_web::web::{self, Data, Json, JsonConfig, Query};
use actix_web::{App, HttpResponse, HttpServer};
use anyhow::Context as _;
use kopeck_bank_protocol::{
    INSTRUCTIONS, ISSUED_CARDS, InstructionDto, InstructionResult, IssuedCardDto, IssuedCardsResponse,
    LineDto, QUERY, QueryOutcome, QueryRequest, QueryResponse, SubmitOutcome, SubmitRequest, SubmitResponse,
};
use kopeck_domain::Kopecks;
use kopeck_domain::card::CardType;
use kopeck_domain::card_number::CardNumber;
use kopeck_port_system::Clock as _;
use serde::Deserialize;
use time::Duration;
use tokio::signal::unix::{SignalKind, signal};

use crate::machine::MachineClock;

/// The most bytes of a request: a thousand instructions.
const LONGEST_BODY: usize = 4 * 1024 * 1024;
/// The number of the first card that is issued; ten digits.
const FIRST_NUMBER: u64 = 5_000_000_000;
/// Kopecks by which a card can be topped up.
const ROOM: i64 = 1_000_000;

/// Where to serve.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
}

/// What a bank without books has to know: which numbers an order got.
#[derive(Default)]
struct Bank {
    orders: Mutex<Orders>,
}

#[derive(Default)]
struct Orders {
    by_key: HashMap<String, Issued>,
    given: u64,
}

/// Cards of an order.
#[derive(Clone)]
struct Issued {
    first: u64,
    count: u64,
    kind: CardType,
    first_top_up: Option<Kopecks>,
}

/// Serves until it is stopped.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let listener = TcpListener::bind(args.listen)?;
    println!("the bank serves on http://{}", listener.local_addr()?);
    actix_web::rt::System::new().block_on(serve(listener))
}

async fn serve(listener: TcpListener) -> anyhow::Result<()> {
    let bank = Arc::new(Bank::default());
    let server = HttpServer::new(move || {
        App::new()
            .app_data(Data::from(Arc::clone(&bank)))
            .app_data(JsonConfig::default().limit(LONGEST_BODY))
            .route(INSTRUCTIONS, web::post().to(submit))
            .route(QUERY, web::post().to(query))
            .route(ISSUED_CARDS, web::get().to(issued_cards))
    })
    .workers(1)
    .disable_signals()
    .listen(listener)?
    .run();
    let handle = server.handle();
    let serving = actix_web::rt::spawn(server);
    signal(SignalKind::terminate())?.recv().await;
    handle.stop(true).await;
    serving.await.context("the bank panicked")??;
    Ok(())
}

async fn submit(bank: Data<Bank>, request: Json<SubmitRequest>) -> HttpResponse {
    let done = |instruction: &InstructionDto| {
        let (key, returned) = match instruction {
            InstructionDto::IssueCards { key, lines } => {
                bank.issue(key, lines);
                (key, None)
            }
            InstructionDto::TopUp { key, .. }
            | InstructionDto::SetLimit { key, .. }
            | InstructionDto::SetBlock { key, .. } => (key, None),
            // Without a ledger every card has just the requested amount.
            InstructionDto::CloseCard { key, .. } => (key, Some(Kopecks::ZERO)),
            InstructionDto::Withdraw { key, amount, .. } => (key, Some(amount.unwrap_or_default())),
        };
        InstructionResult { key: key.clone(), outcome: SubmitOutcome::Done { returned } }
    };
    HttpResponse::Ok().json(SubmitResponse { results: request.instructions.iter().map(done).collect() })
}

/// Nothing is lost here: the service asks for what it has not sent.
async fn query(request: Json<QueryRequest>) -> HttpResponse {
    let unseen = |key: &String| InstructionResult { key: key.clone(), outcome: QueryOutcome::NotSeen };
    HttpResponse::Ok().json(QueryResponse { results: request.keys.iter().map(unseen).collect() })
}

#[derive(Deserialize)]
struct Cards {
    order: String,
    skip: u64,
    limit: u64,
}

async fn issued_cards(bank: Data<Bank>, cards: Query<Cards>) -> HttpResponse {
    match bank.cards(&cards.order, cards.skip, cards.limit) {
        Ok(cards) => HttpResponse::Ok().json(IssuedCardsResponse { cards }),
        Err(error) => HttpResponse::InternalServerError().body(error.to_string()),
    }
}

impl Bank {
    /// Gives an order its numbers; all lines of the load are alike.
    fn issue(&self, key: &str, lines: &[LineDto]) {
        let Some(LineDto { kind, first_top_up, .. }) = lines.first() else { return };
        let count = lines.iter().map(|line| u64::from(line.count)).sum();
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let first = FIRST_NUMBER + orders.given;
        if orders.by_key.contains_key(key) {
            return;
        }
        orders.given += count;
        let issued = Issued { first, count, kind: *kind, first_top_up: *first_top_up };
        orders.by_key.insert(key.to_owned(), issued);
    }

    fn cards(&self, key: &str, skip: u64, limit: u64) -> anyhow::Result<Vec<IssuedCardDto>> {
        let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let issued = orders.by_key.get(key).cloned().context("there is no such order")?;
        drop(orders);
        let now = MachineClock.now();
        let valid_until = (now + Duration::days(1_000)).date();
        let card = |index: u64| {
            Ok(IssuedCardDto {
                number: CardNumber::parse(&(issued.first + index).to_string())?,
                kind: issued.kind,
                valid_until,
                activation_code: issued.first_top_up.map(|_| format!("{:06}", index % 1_000_000)),
                code_valid_until: issued.first_top_up.map(|_| valid_until),
                first_top_up: issued.first_top_up,
                remaining_top_up: Kopecks::new(ROOM),
                activated_at: None,
                issued_at: now,
            })
        };
        (skip..issued.count.min(skip + limit)).map(card).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(count: u32) -> LineDto {
        LineDto { kind: CardType::Mlz, count, first_top_up: Some(Kopecks::new(5_000)), delivery: None }
    }

    #[test]
    fn an_order_has_its_own_numbers_however_often_it_is_sent() {
        let bank = Bank::default();
        bank.issue("a", &[line(3), line(2)]);
        bank.issue("b", &[line(1)]);
        bank.issue("a", &[line(3), line(2)]);
        let numbers = |key: &str, skip, limit| -> Vec<String> {
            bank.cards(key, skip, limit).unwrap().iter().map(|card| card.number.to_string()).collect()
        };
        assert_eq!(numbers("a", 3, 10), ["5000000003", "5000000004"]);
        assert_eq!(numbers("b", 0, 10), ["5000000005"]);
        assert!(bank.cards("c", 0, 1).is_err());
    }
}
