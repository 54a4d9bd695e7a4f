//! `kopeck employee …`.

use std::sync::Arc;

use anyhow::Context as _;
use kopeck_domain::ids::EmployeeId;
use kopeck_service::employees;

use super::audited::change;
use super::existing_application;
use crate::cli::{EmployeeCommand, EmployeeEraseArgs};
use crate::command_output::say;
use crate::compose::Storage;

/// Runs an `employee` command.
pub(super) fn run(command: EmployeeCommand) -> anyhow::Result<()> {
    match command {
        EmployeeCommand::Erase(args) => erase(&args),
    }
}

fn erase(args: &EmployeeEraseArgs) -> anyhow::Result<()> {
    let url = args.partner.store.database_url();
    let application = existing_application(&args.partner.store)?;
    if args.rewrite {
        kopeck_adapter_store_diesel::check_may_rewrite(url)?;
    }
    let (env, partner, employee) =
        (Arc::clone(&application.env), args.partner.id, EmployeeId::new(args.employee));
    change(&application, "employee.erase", Some(partner), move |unit, entry| {
        entry.subject = format!("employee:{employee}");
        employees::erase(unit, &env, partner, employee)
    })?;
    drop(application);
    // A running server does it when it stops.
    if let Ok(Some(_lock)) = Storage::open_existing(&args.partner.store)?.folder.lock() {
        kopeck_adapter_store_diesel::scrub(url)?;
    }
    if args.rewrite {
        kopeck_adapter_store_diesel::rewrite(url).with_context(|| {
            format!(
                "{employee} is erased, but not from free space of the files: run VACUUM (FULL) for the tables"
            )
        })?;
    }
    say!("erased {employee}")?;
    Ok(())
}
