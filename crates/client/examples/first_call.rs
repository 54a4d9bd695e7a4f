//! Adds an employee, and says what is left to spend.
//!
//! ```sh
//! cargo run -p kopeck-client --example first_call -- T-0001
//! ```

mod support;

use std::error::Error;

use kopeck_client::NewEmployee;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let custom_id = std::env::args().nth(1).ok_or("name the customId of a new employee")?;
    let client = support::client()?;
    let anna = NewEmployee {
        surname: Some("Petrova".to_owned()),
        phone: Some("9031234567".to_owned()),
        ..NewEmployee::new(custom_id.as_str())
    };
    let employee = client.employees().add(&anna).await?;
    let available = client.balance().await?.available;
    println!("{} is added, {available} kopecks are left to spend", employee.custom_id);
    Ok(())
}
