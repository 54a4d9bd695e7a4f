//! `kopeck call employees …`.

use clap::{Args, Subcommand, ValueEnum};
use kopeck_client::{Client, EmployeeFilter, EmployeeStatus, EmployeeUpdate, NewEmployee, Patch};
use serde_json::Value;

use super::shown;
use crate::context::IdempotencyArgs;
use crate::examples;
use crate::failure::Failure;
use crate::import::{self, ImportArgs};
use crate::names::{CategoryName, EmployeeName};
use crate::output::{Output, json_of};
use crate::pages::PageArgs;
use crate::table::{self, Column, text};

/// Commands for employees.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum EmployeesCommand {
    /// List employees, the first added first.
    List(ListArgs),
    /// Show an employee with their cards.
    Get {
        /// The employee.
        employee: EmployeeName,
    },
    /// Add an employee.
    #[command(after_help = examples::EMPLOYEES_ADD)]
    Add {
        /// Your own identifier: up to 64 letters, digits, `-` and `_`.
        custom_id: String,
        #[command(flatten)]
        person: PersonArgs,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// Change an employee. What is not named stays as it is.
    Update(UpdateArgs),
    /// Permanently erase an employee's personal data. They must have no card that is neither closed nor expired.
    Erase {
        /// The employee.
        employee: EmployeeName,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// Bring the employees of a file into the service: those that it lacks are added, those that differ are changed. A
    /// second run of the same file changes nothing.
    #[command(after_help = examples::EMPLOYEES_IMPORT)]
    Import(ImportArgs),
}

/// Which employees.
#[derive(Debug, Clone, Args)]
pub(crate) struct ListArgs {
    /// Only those with this status, such as `WORK`.
    #[arg(long)]
    status: Option<EmployeeStatus>,
    /// Only those in this category.
    #[arg(long)]
    category: Option<CategoryName>,
    /// Only the one with this customId.
    #[arg(long)]
    custom_id: Option<String>,
    /// Only those with this text in surname, name or customId.
    #[arg(long, short)]
    query: Option<String>,
    #[command(flatten)]
    page: PageArgs,
}

/// The fields of an employee.
#[derive(Debug, Clone, Args)]
pub(crate) struct PersonArgs {
    /// The surname.
    #[arg(long)]
    surname: Option<String>,
    /// The name.
    #[arg(long)]
    name: Option<String>,
    /// The patronymic.
    #[arg(long)]
    patronymic: Option<String>,
    /// Ten digits, without country code.
    #[arg(long)]
    phone: Option<String>,
    /// The e-mail address.
    #[arg(long)]
    email: Option<String>,
    /// The category.
    #[arg(long)]
    category: Option<CategoryName>,
    /// The status: `WORK`, `VACATION`, `MEDICAL`, `DONT_WORK`.
    #[arg(long)]
    status: Option<EmployeeStatus>,
}

/// The changes of an employee.
#[derive(Debug, Clone, Args)]
pub(crate) struct UpdateArgs {
    /// The employee.
    employee: EmployeeName,
    /// A new customId.
    #[arg(long)]
    custom_id: Option<String>,
    #[command(flatten)]
    person: PersonArgs,
    /// Empty these.
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    clear: Vec<Clearable>,
    #[command(flatten)]
    repeat: IdempotencyArgs,
}

/// A field that can be empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Clearable {
    Surname,
    Name,
    Patronymic,
    Phone,
    Email,
    Category,
}

const COLUMNS: [Column; 8] = [
    text("idEmployee", "/idEmployee"),
    text("customId", "/customId"),
    text("surname", "/surname"),
    text("name", "/name"),
    text("patronymic", "/patronymic"),
    text("phone", "/phone"),
    text("email", "/email"),
    text("status", "/status"),
];
const EMPLOYEE: [Column; 11] = [
    text("idEmployee", "/idEmployee"),
    text("customId", "/customId"),
    text("surname", "/surname"),
    text("name", "/name"),
    text("patronymic", "/patronymic"),
    text("phone", "/phone"),
    text("email", "/email"),
    text("idCategory", "/idCategory"),
    text("status", "/status"),
    text("status since", "/statusUpdatedAt"),
    text("added", "/createdAt"),
];
const CARDS: [Column; 2] = [text("idCard", "/idCard"), text("status", "/statusCard")];

pub(super) async fn run(client: &Client, command: EmployeesCommand) -> Result<Output, Failure> {
    match command {
        EmployeesCommand::List(args) => list(client, args).await,
        EmployeesCommand::Get { employee } => get(client, &employee).await,
        EmployeesCommand::Add { custom_id, person, repeat } => {
            let employee = person.new_employee(client, custom_id).await?;
            shown(&repeat.send(client.employees().add(&employee)).await?, &EMPLOYEE)
        }
        EmployeesCommand::Update(args) => {
            let update = args.update(client).await?;
            let id = args.employee.resolve(client).await?;
            shown(&args.repeat.send(client.employees().update(id, &update)).await?, &EMPLOYEE)
        }
        EmployeesCommand::Erase { employee, repeat } => {
            let id = employee.resolve(client).await?;
            shown(&repeat.send(client.employees().erase(id)).await?, &EMPLOYEE[..1])
        }
        EmployeesCommand::Import(args) => import::run(client, &args).await,
    }
}

async fn list(client: &Client, args: ListArgs) -> Result<Output, Failure> {
    let ListArgs { status, category, custom_id, query: q, page } = args;
    let id_category = match category {
        Some(category) => Some(category.resolve(client).await?),
        None => None,
    };
    let filter = EmployeeFilter { status, id_category, custom_id, q };
    page.answer(&COLUMNS, client.employees().all(&filter)).await
}

async fn get(client: &Client, employee: &EmployeeName) -> Result<Output, Failure> {
    let employee = client.employees().get(employee.resolve(client).await?).await?;
    let json = json_of(&employee)?;
    let mut text = table::record(&json, &EMPLOYEE);
    match json.pointer("/cards").and_then(Value::as_array) {
        Some(cards) if !cards.is_empty() => text.push_str(&table::list(cards, &CARDS)),
        _ => text.push_str("no cards\n"),
    }
    Ok(Output::new(json, text))
}

impl PersonArgs {
    async fn new_employee(self, client: &Client, custom_id: String) -> Result<NewEmployee, Failure> {
        let id_category = match &self.category {
            Some(category) => Some(category.resolve(client).await?),
            None => None,
        };
        let Self { surname, name, patronymic, phone, email, status, .. } = self;
        Ok(NewEmployee { custom_id, surname, name, patronymic, phone, email, id_category, status })
    }
}

impl UpdateArgs {
    async fn update(&self, client: &Client) -> Result<EmployeeUpdate, Failure> {
        let person = &self.person;
        let id_category = match &person.category {
            Some(category) => Some(category.resolve(client).await?),
            None => None,
        };
        let update = EmployeeUpdate {
            custom_id: self.custom_id.clone(),
            surname: self.patch(Clearable::Surname, person.surname.clone())?,
            name: self.patch(Clearable::Name, person.name.clone())?,
            patronymic: self.patch(Clearable::Patronymic, person.patronymic.clone())?,
            phone: self.patch(Clearable::Phone, person.phone.clone())?,
            email: self.patch(Clearable::Email, person.email.clone())?,
            id_category: self.patch(Clearable::Category, id_category)?,
            status: person.status.clone(),
        };
        if update == EmployeeUpdate::default() {
            return Err(Failure::usage("there is nothing to change"));
        }
        Ok(update)
    }

    fn patch<T>(&self, field: Clearable, value: Option<T>) -> Result<Patch<T>, Failure> {
        match (value, self.clear.contains(&field)) {
            (Some(_), true) => {
                Err(Failure::usage(format!("{field:?} cannot be both emptied and set").to_lowercase()))
            }
            (Some(value), false) => Ok(Patch::Set(value)),
            (None, true) => Ok(Patch::Clear),
            (None, false) => Ok(Patch::Keep),
        }
    }
}
