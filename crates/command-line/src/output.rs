//! The output of a command.

use std::io::{self, Write as _};

use serde::Serialize;
use serde_json::Value;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal;

/// The output in two forms: text for people, one JSON document for programs.
#[derive(Debug)]
pub(crate) struct Output {
    json: Value,
    text: String,
    exit: Exit,
}

impl Output {
    pub(crate) fn new(json: Value, text: impl Into<String>) -> Self {
        Self { json, text: text.into(), exit: Exit::Done }
    }

    /// With further fields before the others of the JSON object, and text before the other text.
    pub(crate) fn with(mut self, fields: &Value, text: &str) -> Self {
        if let (Some(own), Some(fields)) = (self.json.as_object_mut(), fields.as_object()) {
            own.extend(fields.clone());
        }
        self.text.insert_str(0, text);
        self
    }

    /// Of a command that has printed all it had to say.
    pub(crate) fn nothing() -> Self {
        Self { json: Value::Null, text: String::new(), exit: Exit::Done }
    }

    /// Sets the exit code.
    pub(crate) const fn ending(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Prints it on standard output.
    pub(crate) fn print(&self, json: bool) -> Result<Exit, Failure> {
        let text = if json && !self.json.is_null() { self.json.to_string() } else { self.text.clone() };
        match write(&text) {
            // The reader, such as `head`, has closed the pipe.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(self.exit),
            written => written.map(|()| self.exit).map_err(failed),
        }
    }
}

/// Prints a line of an output without end on standard output.
///
/// # Errors
/// If standard output is closed.
pub(crate) fn print_line(line: &str) -> Result<(), Failure> {
    write(line).map_err(failed)
}

/// Writes text, with a line break at its end, if there is any.
fn write(text: &str) -> io::Result<()> {
    let text = terminal::clean_lines(text);
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.is_empty() && !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()
}

fn failed(error: io::Error) -> Failure {
    Failure::local(format!("standard output: {error}"))
}

/// The JSON of a response.
pub(crate) fn json_of(value: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(value)
        .map_err(|error| Failure::local(format!("the answer has no JSON form: {error}")))
}
