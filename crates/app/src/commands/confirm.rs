//! Asking back at a terminal.

use std::fmt::Arguments;
use std::io::{self, IsTerminal as _};

use anyhow::Context as _;
use kopeck_domain::Kopecks;

use crate::cli::ConfirmArgs;
use crate::command_output::note;

/// At a terminal, asks for a confirmation of a large amount.
pub(super) fn amount(args: ConfirmArgs, amount: Kopecks, what: &str) -> anyhow::Result<()> {
    if args.asks(amount, io::stdin().is_terminal()) {
        ask(format_args!("{what} {amount} roubles?"))?;
    }
    Ok(())
}

/// Asks for a yes.
pub(super) fn ask(question: Arguments<'_>) -> anyhow::Result<()> {
    note(format_args!("{question} [y/N]"));
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).context("terminal")?;
    anyhow::ensure!(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()), "nothing was changed");
    Ok(())
}
