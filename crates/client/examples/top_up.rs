//! Tops up a card by 100.00, once, however often it is run this month: the key of the request is kept outside of the
//! program. Shows what to do about each kind of error.
//!
//! ```sh
//! cargo run -p kopeck-client --example top_up -- 01980000-0000-7000-0000-000000000010 payroll-2026-02
//! ```

mod support;

use std::error::Error as StdError;
use std::time::Duration;

use kopeck_client::{Error, IdempotencyKey, RetryPolicy, TopUp, Uuid, Wait};

#[tokio::main]
async fn main() -> Result<(), Box<dyn StdError>> {
    let mut arguments = std::env::args().skip(1);
    let card: Uuid = arguments.next().ok_or("name a card by idCard")?.parse()?;
    let key = IdempotencyKey::parse(arguments.next().ok_or("name the key of the call")?)?;
    let client = support::client()?;
    let top_ups = client.replenishments();

    // The client retries. Repeat a request that it gives up on later, under the same key.
    println!("at most {} retries", RetryPolicy::default().max_retries);
    let created = match top_ups.create(&[TopUp::new(card, 10_000)]).idempotency_key(key).await {
        Ok(created) => created,
        Err(Error::Cards { faults, .. }) => {
            faults.iter().for_each(|fault| eprintln!("not topped up: {fault}"));
            return Err("correct the list of cards, and take another key".into());
        }
        Err(Error::Invalid { faults, .. }) => {
            faults.iter().for_each(|fault| eprintln!("faulty: {fault}"));
            return Err("correct the values, and take another key".into());
        }
        Err(error) if error.is_transient() => {
            return Err(format!("run this again later, with the same key: {error}").into());
        }
        Err(error) => return Err(format!("{error}, request {:?}", error.request_id()).into()),
    };

    let id = created.replenishment_id;
    top_ups.wait(id, Wait::up_to(Duration::from_secs(120)), |state| println!("{id}: {state}")).await?;
    for result in top_ups.result(id).await? {
        match result.error_replenishment {
            None => println!("{}: {} kopecks", result.id_card, result.amount_replenishment),
            Some(reason) => eprintln!("{}: {reason}", result.id_card),
        }
    }
    Ok(())
}
