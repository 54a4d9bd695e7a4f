//! Output of commands, other than those that serve.

use std::fmt::Arguments;
use std::io::{self, Write as _};

use anyhow::Context as _;

/// Writes to standard output. A closed pipe, as by `head`, is no error: the command continues to its exit code.
///
/// # Errors
/// Any other failure, such as a full disk.
pub(crate) fn print(text: Arguments<'_>) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_fmt(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("standard output"),
    }
}

/// Writes a line to standard error for the operator. A failure is ignored.
pub(crate) fn note(line: Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Rows as lines, each column as wide as its widest text.
pub(crate) fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// `println!` by [`print`]: returns its error in place of a panic.
macro_rules! say {
    ($($line:tt)*) => { $crate::command_output::print(format_args!("{}\n", format_args!($($line)*))) };
}
pub(crate) use say;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_text() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned);
        let rows =
            [row(["DONE", "partner.rotate_api_key", "-"]), row(["REFUSED", "Łódź", "x"]), row(["", "", ""])];
        let lines = "DONE     partner.rotate_api_key  -\nREFUSED  Łódź                    x\n\n";
        assert_eq!(aligned(&rows), lines);
    }
}
