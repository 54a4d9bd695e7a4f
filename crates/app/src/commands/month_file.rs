//! The output of commands that write the month of a partner: a file, or standard output.

use std::io::{self, IsTerminal as _, Write};

use anyhow::Context as _;

use crate::cli::MonthArgs;

/// Refuses a spreadsheet that would go to a terminal.
pub(super) fn check(args: &MonthArgs, is_spreadsheet: bool) -> anyhow::Result<()> {
    let to_screen = args.output.is_none() && io::stdout().is_terminal();
    anyhow::ensure!(
        !(to_screen && is_spreadsheet),
        "a spreadsheet cannot be shown on a terminal: name a file by --output"
    );
    Ok(())
}

/// Lets `body` write the month. A new file belongs to its owner alone.
pub(super) fn write(
    args: &MonthArgs,
    body: impl FnOnce(&mut (dyn Write + Send)) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let Some(path) = &args.output else {
        return match body(&mut io::stdout()) {
            // The reader, such as `head`, has closed the pipe.
            Err(error) if is_closed_pipe(&error) => Ok(()),
            written => written,
        };
    };
    let file = kopeck_command_line::create_private_file(path).with_context(|| path.display().to_string())?;
    let mut out = io::BufWriter::new(file);
    body(&mut out)?;
    out.flush().with_context(|| path.display().to_string())
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
