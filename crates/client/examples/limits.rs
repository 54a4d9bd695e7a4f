//! Gives a card 500.00 a day for lunch on working days in restaurants, and asks whether it would pay 300.00 in one now.
//!
//! ```sh
//! cargo run -p kopeck-client --example limits -- 01980000-0000-7000-0000-000000000010
//! ```

mod support;

use std::error::Error;
use std::time::Duration;

use kopeck_client::{CardLimit, LimitPeriod, PaymentQuestion, TimeWindow, Uuid, Wait, Weekday};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let card: Uuid = std::env::args().nth(1).ok_or("name a card by idCard")?.parse()?;
    let client = support::client()?;
    let lunch = CardLimit::per(LimitPeriod::Day, 50_000)
        .on_days([Weekday::Monday, Weekday::Tuesday, Weekday::Wednesday, Weekday::Thursday, Weekday::Friday])
        .within([TimeWindow::new("11:00", "16:00")])
        .only_at(["5811-5814"]);
    let change = client.limits().set(&[card], &lunch).await?.set_limits_cards_id;
    client.limits().wait(change, Wait::up_to(Duration::from_secs(120)), |_| {}).await?;
    for result in client.limits().result(change).await? {
        println!("{}: {}", result.id_card, result.error_limit.unwrap_or_else(|| "limited".to_owned()));
    }

    let restaurant = PaymentQuestion { mcc: Some("5812".to_owned()), ..PaymentQuestion::new(30_000) };
    let answer = client.cards().can_pay(card, &restaurant).await?;
    match answer.reason {
        None => println!("it would pay; {:?} kopecks are left in this period", answer.remaining),
        Some(reason) => println!("it would not pay: {reason}; the next period begins {:?}", answer.resets_at),
    }
    Ok(())
}
