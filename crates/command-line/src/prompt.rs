//! Prompts. Secrets are typed without echo.

use std::io::{self, IsTerminal as _, Read as _};

use console::Term;
use kopeck_client::SecretString;
use zeroize::Zeroizing;

use crate::failure::Failure;

/// Prompts with echo. `None` at end of input.
pub(crate) fn visible(question: &str) -> Result<Option<String>, Failure> {
    answer(question, |terminal| terminal.read_line())
}

/// Prompts for a secret.
pub(crate) fn unseen(question: &str) -> Result<Option<SecretString>, Failure> {
    answer(question, |terminal| terminal.read_secure_line()).map(|answer| answer.map(SecretString::from))
}

/// Everything that standard input has.
pub(crate) fn standard_input() -> Result<Zeroizing<String>, Failure> {
    let mut text = Zeroizing::new(String::new());
    let failed = |error: io::Error| Failure::local(format!("standard input: {error}"));
    io::stdin().lock().read_to_string(&mut text).map_err(failed)?;
    // Editors of Windows begin a file so.
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
}

fn answer(question: &str, read: impl Fn(&Term) -> io::Result<String>) -> Result<Option<String>, Failure> {
    if !io::stdin().is_terminal() {
        return Ok(None);
    }
    let terminal = Term::stderr();
    let answer = terminal.write_str(question).and_then(|()| read(&terminal));
    answer
        .map(|text| Some(text.trim().to_owned()))
        .map_err(|error| Failure::local(format!("terminal: {error}")))
}
