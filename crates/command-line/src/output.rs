//! The output of a command.

use std::io::{self, Write as _};

use serde::Serialize;
use serde_json::Value;

use crate::exit::Exit;
use crate::failure::Failure;

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

    /// Sets the exit code.
    pub(crate) const fn ending(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Prints it on standard output.
    pub(crate) fn print(&self, json: bool) -> Result<Exit, Failure> {
        let mut text = if json { self.json.to_string() } else { self.text.clone() };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            // The reader, such as `head`, has closed the pipe.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(self.exit),
            Err(error) => Err(Failure::local(format!("standard output: {error}"))),
            Ok(()) => Ok(self.exit),
        }
    }
}

/// The JSON of a response.
pub(crate) fn json_of(value: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(value)
        .map_err(|error| Failure::local(format!("the answer has no JSON form: {error}")))
}
