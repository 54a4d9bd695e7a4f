//! Adds an employee, and says what is left to spend.
//!
//! ```sh
//! cargo run -p kopeck-client --example first_call
//! ```

mod support;

use std::error::Error;

use kopeck_client::NewEmployee;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = support::client()?;
    let anna = NewEmployee {
        surname: Some("Petrova".to_owned()),
        phone: Some("9031234567".to_owned()),
        ..NewEmployee::new("T-0001")
    };
    let employee = client.employees().add(&anna).await?;
    println!("{} has {} kopecks", employee.id_employee, client.balance().await?.available);
    Ok(())
}
