//! Orders a virtual card with 500.00 on it, waits for it, and links it to an employee.
//!
//! ```sh
//! cargo run -p kopeck-client --example order_card -- 01980000-0000-7000-0000-00000000000a
//! ```

mod support;

use std::error::Error;
use std::time::Duration;

use kopeck_client::{CardStatus, RequestState, Uuid, VirtualItem, Wait};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let employee: Uuid = std::env::args().nth(1).ok_or("name an employee by idEmployee")?.parse()?;
    let client = support::client()?;
    let order = client.orders().virtual_cards(&[VirtualItem::new(1, 50_000)]).await?.order_id;
    let wait = Wait::up_to(Duration::from_secs(120));
    match client.orders().wait(order, wait, |state| println!("{order}: {state}")).await? {
        RequestState::Success => {}
        state => return Err(format!("the order ended as {state}").into()),
    }
    for issued in client.orders().result(order).await?.data {
        let card = client.cards().link(employee, &issued.custom_id_card, &CardStatus::Main).await?;
        println!("{} is the employee's card; the code to activate it is in the order's result", card.id_card);
    }
    client.orders().confirm(order).await?;
    Ok(())
}
