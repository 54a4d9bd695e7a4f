//! Categories and employees.

use std::collections::{BTreeSet, HashMap};

use anyhow::Context as _;
use kopeck_client::{Client, Error, FieldFault, Uuid};

use crate::pool;
use crate::progress::Progress;
use crate::staff_file::StaffRow;

/// The employees that the service took, and the rows that it did not.
pub(crate) struct Staff {
    pub(crate) categories: usize,
    pub(crate) employees: Vec<Uuid>,
    pub(crate) faulty: Vec<FaultyRow>,
}

/// A row that the service did not take.
pub(crate) struct FaultyRow {
    pub(crate) line: usize,
    pub(crate) custom_id: String,
    /// Everything that is wrong with it.
    pub(crate) faults: Vec<FieldFault>,
}

/// Creates the categories that the rows name, then the employees.
pub(crate) async fn hire(client: &Client, rows: &[StaffRow]) -> anyhow::Result<Staff> {
    let categories = categories(client, rows).await?;
    let progress = Progress::of("employees", rows.len());
    // Of two rows with one customId the first wins: the second is sent after its response, if there are as many rows
    // between the two as there are calls at once.
    let answers = pool::each(rows, &progress, async |row| {
        let id_category = row.cells.category.as_deref().and_then(|name| categories.get(name).copied());
        match client.employees().add(&row.cells.employee(id_category)).await {
            Ok(employee) => Ok(Ok(employee.id_employee)),
            Err(Error::Invalid { faults, .. }) => {
                Ok(Err(FaultyRow { line: row.line, custom_id: row.cells.custom_id.clone(), faults }))
            }
            Err(other) => Err(other).with_context(|| format!("the employee on line {}", row.line)),
        }
    })
    .await?;
    let mut staff = Staff { categories: categories.len(), employees: Vec::new(), faulty: Vec::new() };
    for answer in answers {
        match answer {
            Ok(employee) => staff.employees.push(employee),
            Err(faulty) => staff.faulty.push(faulty),
        }
    }
    Ok(staff)
}

async fn categories<'a>(client: &Client, rows: &'a [StaffRow]) -> anyhow::Result<HashMap<&'a str, Uuid>> {
    let names: BTreeSet<&str> = rows.iter().filter_map(|row| row.cells.category.as_deref()).collect();
    let progress = Progress::of("categories", names.len());
    let made = pool::each(names, &progress, async |name| {
        let category = client.categories().create(name).await.with_context(|| format!("category {name}"))?;
        Ok((name, category.id_category))
    })
    .await?;
    Ok(made.into_iter().collect())
}
