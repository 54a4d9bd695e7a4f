//! Plans an import: compares each row with the service.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use kopeck_client::{Employee, EmployeeStatus, EmployeeUpdate, NewEmployee, Patch, Uuid};

use super::CategoryIds;
use super::rules;
use crate::csv_file::{CsvFile, CsvRow, RowFault};
use crate::names::{CategoryName, look};

/// The reason why a row with an unknown category is faulty.
pub(super) const NO_CATEGORY: &str = "there is no such category";

/// The changes of an import.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) changes: Vec<Change>,
    pub(super) unchanged: usize,
    pub(super) faults: Vec<RowFault>,
}

/// The change of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) row: CsvRow,
    pub(super) custom_id: String,
    pub(super) action: Action,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    Add(Box<NewEmployee>),
    Update { id: Uuid, update: Box<EmployeeUpdate>, fields: Vec<&'static str> },
}

/// Compares the rows of a file with `staff`. What is good is the service's to say, unless `by_rules` asks for the rules
/// that it is known to have.
pub(super) fn make(file: &CsvFile, staff: &[Employee], named: &CategoryIds, by_rules: bool) -> Plan {
    let staff: HashMap<&str, &Employee> = staff.iter().map(|each| (each.custom_id.as_str(), each)).collect();
    let mut lines: HashMap<&str, usize> = HashMap::new();
    let mut plan = Plan { faults: file.faults.clone(), ..Plan::default() };
    for row in &file.rows {
        let custom_id = row.get("customId").unwrap_or_default();
        let repeated = match lines.entry(custom_id) {
            Entry::Occupied(first) => Some(format!("stands in line {} already", first.get())),
            Entry::Vacant(place) => {
                place.insert(row.line);
                None
            }
        };
        let wanted = match repeated {
            _ if custom_id.is_empty() => Err(vec![row.fault("", "customId", "must not be empty")]),
            Some(reason) => Err(vec![row.fault(custom_id, "customId", reason)]),
            None => WantedEmployee::new(file, row, custom_id, named, by_rules),
        };
        match wanted.map(|wanted| wanted.action(staff.get(custom_id).copied())) {
            Ok(Some(action)) => {
                plan.changes.push(Change { row: row.clone(), custom_id: custom_id.to_owned(), action });
            }
            Ok(None) => plan.unchanged += 1,
            Err(faults) => plan.faults.extend(faults),
        }
    }
    plan
}

/// The category of a row. One that a dry run would create has no identifier yet, so any stands for it.
fn category(
    row: &CsvRow,
    custom_id: &str,
    named: &CategoryIds,
    dry_run: bool,
) -> Result<Option<Uuid>, RowFault> {
    let Some(text) = row.get("category") else { return Ok(None) };
    if let Some(id) = named.known.find(&CategoryName::read(text)) {
        return Ok(Some(id));
    }
    if dry_run && named.will_be(text) {
        return Ok(Some(Uuid::nil()));
    }
    let reason = named.refused.get(&look(text)).map_or(NO_CATEGORY, String::as_str);
    Err(row.fault(custom_id, "category", reason))
}

/// The employee in a row.
struct WantedEmployee<'a> {
    file: &'a CsvFile,
    row: &'a CsvRow,
    custom_id: &'a str,
    category: Option<Uuid>,
}

impl<'a> WantedEmployee<'a> {
    fn new(
        file: &'a CsvFile,
        row: &'a CsvRow,
        custom_id: &'a str,
        named: &CategoryIds,
        by_rules: bool,
    ) -> Result<Self, Vec<RowFault>> {
        let mut faults = if by_rules { rules::check(row, custom_id) } else { Vec::new() };
        match category(row, custom_id, named, by_rules) {
            Ok(category) if faults.is_empty() => Ok(Self { file, row, custom_id, category }),
            category => {
                faults.extend(category.err());
                Err(faults)
            }
        }
    }

    /// The required action, if any.
    fn action(&self, employee: Option<&Employee>) -> Option<Action> {
        let Some(employee) = employee else { return Some(Action::Add(Box::new(self.new_employee()))) };
        let (update, fields) = self.update(employee);
        let id = employee.id_employee;
        (!fields.is_empty()).then(|| Action::Update { id, update: Box::new(update), fields })
    }

    fn text(&self, column: &str) -> Option<String> {
        self.row.get(column).map(str::to_owned)
    }

    fn new_employee(&self) -> NewEmployee {
        NewEmployee {
            custom_id: self.custom_id.to_owned(),
            surname: self.text("surname"),
            name: self.text("name"),
            patronymic: self.text("patronymic"),
            phone: self.text("phone"),
            email: self.text("email"),
            id_category: self.category,
            status: self.row.get("status").map(EmployeeStatus::from),
        }
    }

    /// The update of an employee, and its columns.
    fn update(&self, employee: &Employee) -> (EmployeeUpdate, Vec<&'static str>) {
        let mut fields = Vec::new();
        let phone = employee.phone.as_deref().map(str::to_owned);
        let update = EmployeeUpdate {
            custom_id: None,
            surname: self.patch("surname", &employee.surname, self.text("surname"), &mut fields),
            name: self.patch("name", &employee.name, self.text("name"), &mut fields),
            patronymic: self.patch("patronymic", &employee.patronymic, self.text("patronymic"), &mut fields),
            phone: self.patch("phone", &phone, self.text("phone"), &mut fields),
            email: self.patch("email", &employee.email, self.text("email"), &mut fields),
            id_category: self.patch("category", &employee.id_category, self.category, &mut fields),
            // A status cannot be emptied.
            status: self
                .row
                .get("status")
                .map(EmployeeStatus::from)
                .filter(|status| *status != employee.status),
        };
        if update.status.is_some() {
            fields.push("status");
        }
        (update, fields)
    }

    /// The update of a field: a missing column keeps it, an empty cell clears it.
    fn patch<T: PartialEq>(
        &self,
        column: &'static str,
        is: &Option<T>,
        wanted: Option<T>,
        fields: &mut Vec<&'static str>,
    ) -> Patch<T> {
        if !self.file.has(column) || *is == wanted {
            return Patch::Keep;
        }
        fields.push(column);
        wanted.map_or(Patch::Clear, Patch::Set)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kopeck_client::Date;
    use serde_json::json;

    use super::*;
    use crate::names::Categories;

    fn named() -> CategoryIds {
        let mut known = Categories::default();
        known.add("Склад", Uuid::from_u128(7));
        let refused = BTreeMap::from([("кадры".to_owned(), "is too long".to_owned())]);
        CategoryIds { known, created: vec!["Гараж".to_owned()], refused }
    }

    fn employee() -> Employee {
        serde_json::from_value(json!({
            "idEmployee": Uuid::from_u128(1), "customId": "T-1", "surname": "Попов", "phone": 31_234_567,
            "idCategory": Uuid::from_u128(7), "status": "WORK", "createdAt": "02.03.2026",
            "statusUpdatedAt": "02.03.2026",
        }))
        .unwrap()
    }

    fn plan(text: &str, dry_run: bool) -> Plan {
        let file = CsvFile::parse(text, &super::super::COLUMNS).unwrap();
        make(&file, &[employee()], &named(), dry_run)
    }

    fn only_update(text: &str) -> (EmployeeUpdate, Vec<&'static str>) {
        let changes = plan(text, false).changes;
        let [Change { action: Action::Update { update, fields, .. }, .. }] = changes.as_slice() else {
            panic!("{changes:?}")
        };
        ((**update).clone(), fields.clone())
    }

    #[test]
    fn equal_employees_are_left_alone() {
        let same = plan("customId,surname,phone,category,status\nT-1,Попов,0031234567,склад,WORK\n", false);
        assert_eq!((same.unchanged, same.changes.len(), same.faults.len()), (1, 0, 0));
        assert_eq!(plan("customId,status\nT-1,\n", false).unchanged, 1, "a status cannot be emptied");
        assert_eq!(employee().created_at, Date::from_calendar_date(2026, time::Month::March, 2).unwrap());
    }

    #[test]
    fn an_empty_cell_empties_and_a_missing_column_says_nothing() {
        let (update, fields) = only_update("customId;surname;phone;status\nT-1;Ёжиков;;VACATION\n");
        assert_eq!(fields, ["surname", "phone", "status"]);
        let expected = EmployeeUpdate {
            surname: Patch::Set("Ёжиков".to_owned()),
            phone: Patch::Clear,
            status: Some(EmployeeStatus::Vacation),
            ..EmployeeUpdate::default()
        };
        assert_eq!(update, expected);
    }

    #[test]
    fn a_missing_employee_is_added_with_the_known_fields() {
        let plan = plan("customId,surname,category\nT-2,,Склад\n", false);
        let [Change { action: Action::Add(new), .. }] = plan.changes.as_slice() else { panic!("{plan:?}") };
        let expected = NewEmployee { id_category: Some(Uuid::from_u128(7)), ..NewEmployee::new("T-2") };
        assert_eq!(**new, expected);
    }

    #[test]
    fn faulty_rows_are_reported_and_the_others_go_on() {
        let text = "customId,category\n,\nT-2,Нет\nT-3,\nT-3,\nT-4,Кадры\nT-5,Гараж\n,Склад\n";
        let told = |dry_run| plan(text, dry_run).faults.iter().map(ToString::to_string).collect::<Vec<_>>();
        let both = [
            "line 3, category: there is no such category",
            "line 5, customId: stands in line 4 already",
            "line 6, category: is too long",
        ];
        assert_eq!(told(true), [&both[..], &["line 8, customId: must not be empty"]].concat());
        let gone = ["line 7, category: there is no such category", "line 8, customId: must not be empty"];
        assert_eq!(told(false), [&both[..], &gone].concat());
    }

    #[test]
    fn only_a_dry_run_goes_by_the_rules_known_here() {
        let text = "customId,phone,email,surname\nT 2,12,x,П3\n";
        assert_eq!(plan(text, true).faults.len(), 4);
        assert_eq!((plan(text, false).faults.len(), plan(text, false).changes.len()), (0, 1));
    }
}
