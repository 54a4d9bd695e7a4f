//! `kopeck call employees import`: adds and updates employees from a file.
//!
//! The command first reads the employees of the service and compares them row by row. So a second run of the same file
//! changes nothing, and an aborted run can be repeated.

mod apply;
mod plan;
mod report;
mod rules;

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use kopeck_client::{Client, EmployeeFilter, Error, ErrorCode, NewEmployee};

use crate::context;
use crate::csv_file::CsvFile;
use crate::failure::Failure;
use crate::names::{Categories, CategoryName, look, plain_blanks};
use crate::output::Output;
use crate::pages::LARGEST_PAGE;
use crate::progress::Progress;

/// The columns that a file may have; `customId` it must have.
const COLUMNS: [&str; 8] =
    ["customId", "surname", "name", "patronymic", "phone", "email", "category", "status"];

/// The file and options of an import.
#[derive(Debug, Clone, Args)]
pub(crate) struct ImportArgs {
    /// CSV in UTF-8, commas or semicolons between the values. The first line names the columns: customId, surname, name,
    /// patronymic, phone, email, category (name or idCategory), status. Columns that are not there are left as they are.
    file: PathBuf,
    /// Say what would happen, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Create the categories that the service does not have, instead of finding their rows faulty.
    #[arg(long)]
    create_categories: bool,
}

/// The categories in a file.
struct CategoryIds {
    known: Categories,
    /// Categories that were created, or would be.
    created: Vec<String>,
    /// Why the service does not take the others, by what their names look like.
    refused: BTreeMap<String, String>,
}

/// Imports the employees of a file.
pub(crate) async fn run(client: &Client, args: &ImportArgs) -> Result<Output, Failure> {
    let file = CsvFile::read(&args.file, &COLUMNS)?;
    if !file.has("customId") {
        return Err(Failure::usage(format!("{}: there is no column customId", args.file.display())));
    }
    let named = categories(client, args, &file).await?;
    let staff = {
        let _progress = Progress::unknown("reading employees");
        let everyone = EmployeeFilter::default();
        client.employees().all(&everyone).per_page(LARGEST_PAGE).collect().await?
    };
    let plan = plan::make(&file, &staff, &named, args.dry_run);
    let done = if args.dry_run { plan } else { apply::apply(client, plan, &staff).await? };
    Ok(report::answer(done, &named.created, args.dry_run))
}

/// Looks up the categories of the file, and creates the missing ones with `--create-categories`.
async fn categories(client: &Client, args: &ImportArgs, file: &CsvFile) -> Result<CategoryIds, Failure> {
    let known = Categories::read(client).await?;
    let mut named = CategoryIds { known, created: Vec::new(), refused: BTreeMap::new() };
    if !args.create_categories {
        return Ok(named);
    }
    for name in file.rows.iter().filter_map(|row| row.get("category")) {
        if named.is_settled(name) {
            continue;
        }
        if args.dry_run {
            named.created.push(plain_blanks(name));
        } else {
            named.create(client, name).await?;
        }
    }
    Ok(named)
}

impl CategoryIds {
    /// Whether nothing is left to do about a category.
    fn is_settled(&self, name: &str) -> bool {
        let CategoryName::Name(_) = CategoryName::read(name) else { return true };
        self.known.find(&CategoryName::read(name)).is_some()
            || self.refused.contains_key(&look(name))
            || self.will_be(name)
    }

    /// Whether the category would be created.
    fn will_be(&self, name: &str) -> bool {
        self.created.iter().any(|created| look(created) == look(name))
    }

    async fn create(&mut self, client: &Client, name: &str) -> Result<(), Failure> {
        match client.categories().create(&plain_blanks(name)).await {
            Ok(category) => {
                self.known.add(name, category.id_category);
                self.created.push(category.name_category);
            }
            // Another program has created it meanwhile.
            Err(error @ Error::Api { .. }) if error.code() == Some(&ErrorCode::CategoryExists) => {
                self.known = Categories::read(client).await?;
                if self.known.find(&CategoryName::read(name)).is_none() {
                    self.refused.insert(look(name), error.to_string());
                }
            }
            Err(Error::Invalid { faults, .. }) => {
                let reasons: Vec<String> =
                    faults.into_iter().map(|fault| fault.detail.unwrap_or(fault.message)).collect();
                self.refused.insert(look(name), reasons.join("; "));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

/// The idempotency key of an added employee: the same content has the same key, so a repeated run adds no employee
/// twice while a request of the aborted run is in flight.
fn key_of(employee: &NewEmployee) -> Result<kopeck_client::IdempotencyKey, Failure> {
    context::key_of_content("import", employee)
}
