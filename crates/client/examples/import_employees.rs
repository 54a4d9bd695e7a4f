//! Adds the employees of a CSV file whose `customId` is new, and lists the faulty rows. A second run changes nothing.
//!
//! ```sh
//! cargo run -p kopeck-client --example import_employees -- docs/examples/employees.csv
//! ```

mod support;

use std::collections::{HashMap, HashSet};
use std::error::Error as StdError;
use std::process::ExitCode;

use kopeck_client::{Client, EmployeeFilter, Error, NewEmployee, Uuid};
use unicode_normalization::UnicodeNormalization as _;

type Row = HashMap<String, String>;

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn StdError>> {
    let path = std::env::args().nth(1).ok_or("name a CSV file")?;
    let faults = import(&support::client()?, csv::Reader::from_path(path)?).await?;
    faults.iter().for_each(|fault| eprintln!("{fault}"));
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Imports the rows and returns what is wrong with some. One faulty row stops nothing else.
pub(crate) async fn import(
    client: &Client,
    file: csv::Reader<impl std::io::Read>,
) -> Result<Vec<String>, Box<dyn StdError>> {
    let present = custom_ids(client).await?;
    let mut categories = categories(client).await?;
    let (mut lines, mut faults) = (HashMap::new(), Vec::new());
    for (row, line) in file.into_deserialize().zip(2..) {
        let row: Row = row?;
        let custom_id = composed(row.get("customId").map_or("", String::as_str));
        let earlier = *lines.entry(custom_id.clone()).or_insert(line);
        if earlier != line {
            faults.push(format!("line {line}: customId: stands in line {earlier} already"));
            continue;
        }
        if present.contains(&custom_id) {
            continue;
        }
        match add(client, &mut categories, &row, &custom_id).await {
            Ok(id) => println!("{custom_id}: {id}"),
            Err(Error::Invalid { faults: found, .. }) => {
                faults.extend(found.iter().map(|fault| format!("line {line}: {fault}")));
            }
            // Such as a category that another program has created meanwhile.
            Err(Error::Api { status: 409, message, .. }) => faults.push(format!("line {line}: {message}")),
            Err(other) => return Err(other.into()),
        }
    }
    Ok(faults)
}

async fn add(
    client: &Client,
    categories: &mut HashMap<String, Uuid>,
    row: &Row,
    custom_id: &str,
) -> Result<Uuid, Error> {
    let field = |name: &str| row.get(name).filter(|text| !text.is_empty()).cloned();
    let id_category = match field("category") {
        Some(name) => Some(category(client, categories, &name).await?),
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
        ..NewEmployee::new(custom_id)
    };
    Ok(client.employees().add(&employee).await?.id_employee)
}

async fn custom_ids(client: &Client) -> Result<HashSet<String>, Error> {
    let everyone = client.employees().all(&EmployeeFilter::default()).collect().await?;
    Ok(everyone.into_iter().map(|employee| employee.custom_id).collect())
}

async fn categories(client: &Client) -> Result<HashMap<String, Uuid>, Error> {
    let all = client.categories().all().collect().await?;
    Ok(all.into_iter().map(|one| (folded(&one.name_category), one.id_category)).collect())
}

/// The category of this name, created if it is missing.
async fn category(client: &Client, known: &mut HashMap<String, Uuid>, name: &str) -> Result<Uuid, Error> {
    if let Some(id) = known.get(&folded(name)) {
        return Ok(*id);
    }
    let id = client.categories().create(name).await?.id_category;
    known.insert(folded(name), id);
    Ok(id)
}

/// A text as the service stores and compares it: `й` is one character, however it was typed.
fn composed(text: &str) -> String {
    text.nfc().collect()
}

/// The name of a category as the service compares it: without letter case and the blanks around it.
fn folded(name: &str) -> String {
    composed(&composed(name.trim()).to_lowercase())
}
