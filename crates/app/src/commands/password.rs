//! Reading a new password.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use anyhow::Context as _;
use console::Term;
use kopeck_service::password::MAX_BYTES;
use secrecy::{ExposeSecret as _, SecretString};
use zeroize::Zeroizing;

/// Reads a new password: twice and hidden at a terminal, else the first line of standard input.
pub(super) fn read() -> anyhow::Result<SecretString> {
    if io::stdin().is_terminal() { ask_twice() } else { first_line() }
}

fn ask_twice() -> anyhow::Result<SecretString> {
    let terminal = Term::stderr();
    let ask = |question: &str| -> io::Result<SecretString> {
        terminal.write_str(question)?;
        let answer = terminal.read_secure_line()?;
        Ok(SecretString::from(answer))
    };
    let first = ask("New password: ").context("terminal")?;
    let second = ask("The same again: ").context("terminal")?;
    anyhow::ensure!(first.expose_secret() == second.expose_secret(), "the two passwords differ");
    Ok(first)
}

fn first_line() -> anyhow::Result<SecretString> {
    let mut line = Zeroizing::new(String::new());
    // One byte more than a mark, a password and its line end may have: a longer line is refused, and need not be read.
    let most = u64::try_from(MAX_BYTES + 6)?;
    io::stdin().lock().take(most).read_line(&mut line).context("standard input")?;
    Ok(SecretString::from(password_of(&line)?))
}

/// The password in a line, without the mark with which editors of Windows begin a file.
fn password_of(line: &str) -> anyhow::Result<&str> {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    anyhow::ensure!(!line.is_empty(), "standard input holds no password");
    let is_whole = line.trim() == line && !line.ends_with(char::is_control);
    anyhow::ensure!(
        is_whole,
        "the password on standard input begins or ends with a blank or a control character"
    );
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_and_marks_of_editors_are_stripped() {
        for line in ["correct horse", "correct horse\n", "correct horse\r\n", "\u{feff}correct horse\r\n"] {
            assert_eq!(password_of(line).unwrap(), "correct horse");
        }
        for line in ["", "\n", "\u{feff}\n", "hunter2 \n", "\thunter2", "hunter2\u{a0}\n", "hunter2\r\r\n"] {
            let said = password_of(line).unwrap_err().to_string();
            assert!(!said.contains("hunter2"), "{said}");
        }
    }
}
