//! The people of a search as a file for spreadsheet programs, which an import takes back.

use kopeck_api::operations::EMPLOYEE_LIST;
use kopeck_api::{CategoryWithCount, Employee};
use kopeck_domain::column::Column;
use kopeck_tables::no_formula;

use super::{categories, filter};
use crate::host::ApiResponse;
use crate::pages::runs::column_name;
use crate::texts::Language;
use crate::visit::{Outcome, Reply, Visit};

/// The columns, under the names that an import knows.
const COLUMNS: [Column; 8] = [
    Column::CustomId,
    Column::Surname,
    Column::Name,
    Column::Patronymic,
    Column::Phone,
    Column::Email,
    Column::Status,
    Column::Category,
];

/// The file.
pub(super) async fn file(visit: &Visit<'_>) -> Outcome {
    let known = categories(visit).await?;
    let mut rows = vec![COLUMNS.map(|column| column_name(column, visit.language).to_owned())];
    let people: Vec<Employee> = visit.all(&EMPLOYEE_LIST, &filter(visit)).await?;
    rows.extend(people.iter().map(|person| row(person, &known)));
    let body = written(visit.language, &rows).map_err(|error| visit.failed(&error))?;
    let file = Some(("text/csv; charset=utf-8", "people.csv".to_owned()));
    Ok(Reply::File(ApiResponse { status: 200, body, chunks: None, file }))
}

fn row(person: &Employee, categories: &[CategoryWithCount]) -> [String; 8] {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let category = categories.iter().find(|each| Some(each.id_category) == person.id_category);
    [
        person.custom_id.clone(),
        text(&person.surname),
        text(&person.name),
        text(&person.patronymic),
        person.phone.as_deref().unwrap_or_default().to_owned(),
        text(&person.email),
        person.status.to_string(),
        category.map(|each| each.name_category.clone()).unwrap_or_default(),
    ]
}

/// As a spreadsheet program of the language takes it apart by itself. No cell begins a formula.
fn written(language: Language, rows: &[[String; 8]]) -> Result<Vec<u8>, csv::Error> {
    let (mark, separator) = match language {
        Language::English => ("", b','),
        Language::Russian => ("\u{feff}", b';'),
    };
    let terminator = csv::Terminator::CRLF;
    let mut writer = csv::WriterBuilder::new()
        .delimiter(separator)
        .terminator(terminator)
        .from_writer(mark.as_bytes().to_vec());
    for row in rows {
        writer.write_record(row.iter().map(|cell| no_formula(cell).into_owned()))?;
    }
    writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_form_of_its_language_and_no_formula() {
        let row = ["T-1", "=1+1", "Анна; \"Аня\"", "", "", "", "WORK", ""].map(str::to_owned);
        let file =
            |language| String::from_utf8(written(language, std::slice::from_ref(&row)).unwrap()).unwrap();
        assert_eq!(file(Language::English), "T-1,'=1+1,\"Анна; \"\"Аня\"\"\",,,,WORK,\r\n");
        assert_eq!(file(Language::Russian), "\u{feff}T-1;'=1+1;\"Анна; \"\"Аня\"\"\";;;;WORK;\r\n");
    }
}
