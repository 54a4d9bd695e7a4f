//! What a command answers with.

use std::io::{self, Write as _};

use serde::Serialize;
use serde_json::Value;

use crate::exit::Exit;
use crate::failure::Failure;

/// One answer in two forms: a text for people, one JSON document for programs.
#[derive(Debug)]
pub(crate) struct Answer {
    json: Value,
    text: String,
    exit: Exit,
}

impl Answer {
    pub(crate) fn new(json: Value, text: impl Into<String>) -> Self {
        Self { json, text: text.into(), exit: Exit::Done }
    }

    /// The same, though it is not what was hoped for.
    pub(crate) const fn ending(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Puts it on standard output.
    pub(crate) fn print(&self, json: bool) -> Result<Exit, Failure> {
        let mut text = if json { self.json.to_string() } else { self.text.clone() };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            // Whoever reads, such as `head`, has had enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(self.exit),
            Err(error) => Err(Failure::local(format!("standard output: {error}"))),
            Ok(()) => Ok(self.exit),
        }
    }
}

/// What the service sent, in its own words.
pub(crate) fn json_of(value: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(value)
        .map_err(|error| Failure::local(format!("the answer has no JSON form: {error}")))
}
