//! Checks a staff file before it is imported: every faulty value by its line, and identifiers that stand there twice.
//!
//! ```text
//! cargo run -p kopeck-domain --example staff_file -- docs/examples/employees.csv
//! ```

use std::collections::HashMap;
use std::error::Error;
use std::process::ExitCode;

use kopeck_domain::Invalid;
use kopeck_domain::employee::EmployeeStatus;
use kopeck_domain::person::{CustomId, Email, PersonName, Phone};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("staff_file FILE")?;
    let faults = check(&std::fs::read_to_string(file)?)?;
    faults.iter().for_each(|fault| println!("{fault}"));
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The faults, in the order of the lines. They never quote a value, which is personal data.
pub(crate) fn check(csv: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let mut faults = Vec::new();
    let mut seen: HashMap<String, u64> = HashMap::new();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let columns = reader.headers()?.clone();
    for record in reader.records() {
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        for (column, value) in columns.iter().zip(&record) {
            if let Some(Err(invalid)) = checked(column, value) {
                faults.push(format!("line {line}, {column}: {invalid}"));
            }
            if column == "customId"
                && let Some(first) = seen.insert(value.to_owned(), line)
            {
                faults.push(format!("line {line}, {column}: stands on line {first} already"));
            }
        }
    }
    Ok(faults)
}

/// `None` for a column without a rule, and for an optional value that is missing.
fn checked(column: &str, value: &str) -> Option<Result<(), Invalid>> {
    if value.is_empty() && column != "customId" {
        return None;
    }
    match column {
        "customId" => Some(value.parse::<CustomId>().map(drop)),
        "surname" | "name" | "patronymic" => Some(value.parse::<PersonName>().map(drop)),
        "phone" => Some(value.parse::<Phone>().map(drop)),
        "email" => Some(value.parse::<Email>().map(drop)),
        "status" => Some(value.parse::<EmployeeStatus>().map(drop)),
        _ => None,
    }
}
