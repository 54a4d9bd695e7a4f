//! Top-ups from a file, by card or by employee. It is money, so all rows have to be good.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use kopeck_client::{BankStatus, CardFilter, CardStatus, Client, EmployeeFilter, TopUp, Uuid};

use super::ForCard;
use super::top_ups::named;
use crate::csv_file::{CsvFile, CsvRow, RowFault};
use crate::failure::Failure;
use crate::money::{self, Amount};
use crate::names::CardName;
use crate::pages::LARGEST_PAGE;
use crate::progress::Progress;

/// The columns that name who gets the money; a file has one of them.
const BY_CARD: &str = "card";
const BY_EMPLOYEE: &str = "customId";
const AMOUNT: &str = "amount";

/// The top-ups of a file, and how the file names each.
pub(super) async fn read(client: &Client, path: &Path) -> Result<(Vec<String>, Vec<TopUp>), Failure> {
    let file = CsvFile::read(path, &[BY_CARD, BY_EMPLOYEE, AMOUNT])?;
    let fault = |why: &str| Failure::usage(format!("{}: {why}", path.display()));
    if !file.has(AMOUNT) {
        return Err(fault("there is no column amount"));
    }
    match (file.has(BY_CARD), file.has(BY_EMPLOYEE)) {
        (true, false) => {
            let (cards, faults) = cards(file);
            check(path, cards.is_empty(), &faults)?;
            Ok(named(&cards))
        }
        (false, true) => {
            let (people, faults) = people(file);
            // First, so that the staff is not read in vain.
            check(path, people.is_empty(), &faults)?;
            let main_cards = main_cards(client).await?;
            let found = people.iter().map(|person| Ok(TopUp::new(person.card(&main_cards)?, person.amount)));
            let (top_ups, faults): (Vec<_>, Vec<_>) = found.partition(Result::is_ok);
            let faults: Vec<RowFault> = faults.into_iter().filter_map(Result::err).collect();
            check(path, false, &faults)?;
            let named =
                people.iter().map(|person| format!("{}={}", person.custom_id, money::shown(person.amount)));
            Ok((named.collect(), top_ups.into_iter().filter_map(Result::ok).collect()))
        }
        (true, true) => {
            Err(fault("there are the columns card and customId; one of them says who gets the money"))
        }
        (false, false) => Err(fault("there is no column card or customId")),
    }
}

fn check(path: &Path, is_empty: bool, faults: &[RowFault]) -> Result<(), Failure> {
    if !faults.is_empty() {
        let message = format!("{}: nothing was sent, because of faulty rows:", path.display());
        return Err(Failure::rows(message, faults));
    }
    if is_empty {
        return Err(Failure::usage(format!("{}: there are no rows", path.display())));
    }
    Ok(())
}

/// An employee who gets money on the main card.
struct PersonAmount {
    row: CsvRow,
    custom_id: String,
    amount: i64,
}

impl PersonAmount {
    fn card(&self, main_cards: &HashMap<String, Option<Uuid>>) -> Result<Uuid, RowFault> {
        let reason = match main_cards.get(&self.custom_id) {
            Some(Some(card)) => return Ok(*card),
            Some(None) => "has no main card",
            None => "there is no such employee",
        };
        Err(self.row.fault(&self.custom_id, BY_EMPLOYEE, reason))
    }
}

/// Each employee's main card, by `customId`.
async fn main_cards(client: &Client) -> Result<HashMap<String, Option<Uuid>>, Failure> {
    let _progress = Progress::unknown("looking for main cards");
    let filter =
        CardFilter { linked: Some(true), status_card: Some(CardStatus::Main), ..CardFilter::default() };
    let cards = client.cards().all(&filter).per_page(LARGEST_PAGE).collect().await?;
    // A closed card stays linked beside its successor.
    let open = cards.into_iter().filter(|card| card.bank_status != BankStatus::Closed);
    let by_owner: HashMap<Uuid, Uuid> =
        open.filter_map(|card| Some((card.id_employee?, card.id_card))).collect();
    let everyone = EmployeeFilter::default();
    let staff = client.employees().all(&everyone).per_page(LARGEST_PAGE).collect().await?;
    let card_of = |id| by_owner.get(&id).copied();
    Ok(staff.into_iter().map(|each| (each.custom_id, card_of(each.id_employee))).collect())
}

fn people(file: CsvFile) -> (Vec<PersonAmount>, Vec<RowFault>) {
    let parse =
        |text: &str| if text.is_empty() { Err("must not be empty".to_owned()) } else { Ok(text.to_owned()) };
    let (rows, faults) = rows(file, BY_EMPLOYEE, parse);
    (
        rows.into_iter().map(|(row, custom_id, amount)| PersonAmount { row, custom_id, amount }).collect(),
        faults,
    )
}

fn cards(file: CsvFile) -> (Vec<ForCard<Amount>>, Vec<RowFault>) {
    let (rows, faults) = rows(file, BY_CARD, |text| text.parse::<CardName>());
    let cards = rows.into_iter().map(|(_, card, amount)| ForCard { card, value: Amount(amount) });
    (cards.collect(), faults)
}

/// The rows of a file by a column that names who gets the money, which has to be another in each row.
fn rows<T: Clone + Eq + std::hash::Hash>(
    file: CsvFile,
    column: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> (Vec<(CsvRow, T, i64)>, Vec<RowFault>) {
    let (mut rows, mut seen, mut faults) = (Vec::new(), HashSet::new(), file.faults);
    for row in file.rows {
        let text = row.get(column).unwrap_or_default().to_owned();
        let name = parse(&text).map_err(|why| row.fault(&text, column, why));
        let amount = money::parse(row.get(AMOUNT).unwrap_or_default());
        let amount = amount.map_err(|why| row.fault(&text, AMOUNT, why));
        match (name, amount) {
            (Ok(name), Ok(_)) if !seen.insert(name.clone()) => {
                faults.push(row.fault(&text, column, "stands in the file twice"));
            }
            (Ok(name), Ok(amount)) => rows.push((row, name, amount)),
            (name, amount) => faults.extend(name.err().into_iter().chain(amount.err())),
        }
    }
    faults.sort_by_key(|fault| fault.line);
    (rows, faults)
}
