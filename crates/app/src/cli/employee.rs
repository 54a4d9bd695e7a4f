//! Options of `kopeck employee …`.

use clap::{Args, Subcommand};
use uuid::Uuid;

use super::PartnerArgs;

/// Commands for the employees of a partner.
#[derive(Debug, Subcommand)]
pub enum EmployeeCommand {
    /// Permanently erase an employee's personal data, as the partner can. They must have no card that is neither
    /// closed nor expired.
    Erase(EmployeeEraseArgs),
}

/// An employee to erase.
#[derive(Debug, Args)]
pub struct EmployeeEraseArgs {
    /// The partner.
    #[command(flatten)]
    pub partner: PartnerArgs,
    /// The employee's identifier: idEmployee.
    pub employee: Uuid,
    /// On PostgreSQL also rewrite the tables, so that nothing of the person is left in free space of their files. Each
    /// table is locked meanwhile; the database URL must be that of the owner of the tables. SQLite's file is rewritten in
    /// any case, when no server uses it.
    #[arg(long)]
    pub rewrite: bool,
}
