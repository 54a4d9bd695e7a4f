//! People of a programme by their personnel numbers.

use kopeck_api::operations::{EMPLOYEE_GET, EMPLOYEE_LIST};
use kopeck_api::{Data, Employee, EmployeeWithCards, Page as ListPage};
use serde_json::{Value, json};

use crate::call::Problem;
use crate::texts::Text;
use crate::visit::Visit;

/// The most people whom a form names; more are named by programs, or by a category.
const MOST: usize = 300;

/// The identifiers of the people with these numbers, which blanks or commas separate.
pub(super) async fn identifiers(visit: &Visit<'_>, numbers: &str) -> Result<Vec<Value>, Problem> {
    let separators = |letter: char| letter.is_whitespace() || [',', ';'].contains(&letter);
    let numbers: Vec<&str> = numbers.split(separators).filter(|number| !number.is_empty()).collect();
    if numbers.len() > MOST {
        return Err(Problem::new(422, visit.language, Text::TOO_MANY_NAMED));
    }
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    for number in numbers {
        let query = [("customId", number), ("per_page", "1")];
        let people: Result<ListPage<Employee>, Problem> = visit.get(&EMPLOYEE_LIST, &[], &query).await;
        match people {
            Ok(people) => match people.data.first() {
                Some(person) => found.push(json!(person.id_employee)),
                None => unknown.push(number),
            },
            Err(problem) if problem.status == 422 => unknown.push(number),
            Err(problem) => return Err(problem),
        }
    }
    if unknown.is_empty() {
        return Ok(found);
    }
    let line = format!("{} {}", visit.t(Text::NO_SUCH_NUMBERS), unknown.join(", "));
    Err(Problem { status: 422, lines: vec![line] })
}

/// The personnel numbers of these people, a line each.
pub(super) async fn numbers<T: ToString + Sync>(visit: &Visit<'_>, people: &[T]) -> Result<String, Problem> {
    if people.len() > MOST {
        return Err(Problem::new(422, visit.language, Text::TOO_MANY_NAMED));
    }
    let mut numbers = Vec::new();
    for person in people {
        let found: Data<EmployeeWithCards> = visit.get(&EMPLOYEE_GET, &[&person.to_string()], &[]).await?;
        numbers.push(found.data.employee.custom_id);
    }
    Ok(numbers.join("\n"))
}
