//! Adds the employees of a CSV file whose `customId` is new, and lists the faulty rows. A second run changes nothing.
//!
//! ```sh
//! cargo run -p kopeck-client --example import_employees -- docs/examples/employees.csv
//! ```

mod support;

use std::collections::{HashMap, HashSet};
use std::error::Error as StdError;

use kopeck_client::{Client, EmployeeFilter, Error, NewEmployee, Uuid};

#[tokio::main]
async fn main() -> Result<(), Box<dyn StdError>> {
    let path = std::env::args().nth(1).ok_or("name a CSV file")?;
    let client = support::client()?;
    let present = custom_ids(&client).await?;
    let mut categories = categories(&client).await?;
    for row in csv::Reader::from_path(path)?.into_deserialize() {
        let row: HashMap<String, String> = row?;
        let field = |name: &str| row.get(name).filter(|text| !text.is_empty()).cloned();
        let custom_id = field("customId").unwrap_or_default();
        if present.contains(&custom_id) {
            continue;
        }
        let id_category = match field("category") {
            Some(name) => Some(category(&client, &mut categories, name).await?),
            None => None,
        };
        let employee = NewEmployee {
            surname: field("surname"),
            name: field("name"),
            patronymic: field("patronymic"),
            phone: field("phone"),
            email: field("email"),
            id_category,
            status: field("status").map(Into::into),
            ..NewEmployee::new(custom_id.as_str())
        };
        match client.employees().add(&employee).await {
            Ok(added) => println!("{custom_id}: {}", added.id_employee),
            // One faulty row stops nothing else.
            Err(Error::Invalid { faults, .. }) => {
                faults.iter().for_each(|fault| eprintln!("{custom_id}: {fault}"));
            }
            Err(other) => return Err(other.into()),
        }
    }
    Ok(())
}

async fn custom_ids(client: &Client) -> Result<HashSet<String>, Error> {
    let everyone = client.employees().all(&EmployeeFilter::default()).collect().await?;
    Ok(everyone.into_iter().map(|employee| employee.custom_id).collect())
}

async fn categories(client: &Client) -> Result<HashMap<String, Uuid>, Error> {
    let all = client.categories().all().collect().await?;
    Ok(all.into_iter().map(|one| (one.name_category, one.id_category)).collect())
}

/// The category of this name, made if there is none.
async fn category(client: &Client, known: &mut HashMap<String, Uuid>, name: String) -> Result<Uuid, Error> {
    if let Some(id) = known.get(&name) {
        return Ok(*id);
    }
    let id = client.categories().create(&name).await?.id_category;
    known.insert(name, id);
    Ok(id)
}
