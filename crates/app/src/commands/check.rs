//! `kopeck check`.

use std::process::ExitCode;

use kopeck_port_store::{Access, transact};
use kopeck_service::partners::{self, PartnerError};
use kopeck_service::reconciliation;

use super::existing_application;
use crate::cli::StoreArgs;
use crate::command_output::say;

/// Reconciles every partner, each in one snapshot.
pub(super) fn run(args: &StoreArgs) -> anyhow::Result<ExitCode> {
    let store = existing_application(args)?.store();
    let partners =
        transact(&*store, Access::Read, |unit| -> Result<_, PartnerError> { partners::list(unit) })?;
    let mut found = 0_usize;
    for partner in &partners {
        let id = partner.id;
        for discrepancy in transact(&*store, Access::Read, move |unit| reconciliation::check(unit, id))? {
            found += 1;
            say!("partner {id}: {discrepancy}")?;
        }
    }
    if found == 0 {
        say!("no discrepancies, partners: {}", partners.len())?;
        Ok(ExitCode::SUCCESS)
    } else {
        say!("discrepancies: {found}")?;
        Ok(ExitCode::FAILURE)
    }
}
