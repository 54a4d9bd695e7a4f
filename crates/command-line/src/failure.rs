//! The error of a command.

use std::error::Error as _;
use std::fmt::Write as _;

use kopeck_client::{Error, IdempotencyKey, Uuid};
use serde_json::{Map, Value, json};

use crate::exit::Exit;
use crate::money;
use crate::terminal;

/// The error of a command. Users see it, so it holds no secret.
#[derive(Debug)]
pub(crate) struct Failure(Box<Details>);

#[derive(Debug)]
struct Details {
    exit: Exit,
    message: String,
    /// Further details, by name.
    details: Map<String, Value>,
    /// The faults of fields, cards or rows.
    faults: Vec<String>,
}

impl Failure {
    /// Something on this side.
    pub(crate) fn local(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    /// Invalid arguments.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Something that was looked for in vain.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(Exit::NotFound, message)
    }

    /// A file of which nothing was sent, as it has faulty rows.
    pub(crate) fn rows(message: impl Into<String>, faults: &[crate::csv_file::RowFault]) -> Self {
        let mut failure = Self::new(Exit::FaultyRows, message);
        failure.0.details.insert("faults".to_owned(), json!(faults));
        failure.0.faults = faults.iter().map(ToString::to_string).collect();
        failure
    }

    /// The user interrupted the command.
    pub(crate) fn interrupted() -> Self {
        Self::new(Exit::Interrupted, "interrupted")
    }

    /// A mutation failed.
    pub(crate) fn of_write(error: Error, key: &IdempotencyKey) -> Self {
        let lost = error.may_have_happened();
        let failure = Self::from(error);
        if lost { failure.repeatable(key) } else { failure }
    }

    /// The outcome of the request under this key is unknown.
    pub(crate) fn repeatable(self, key: &IdempotencyKey) -> Self {
        self.with("idempotencyKey", key.as_str())
    }

    /// The error occurred after `request` was accepted.
    pub(crate) fn after(self, request: Uuid) -> Self {
        self.with("acceptedRequest", request.to_string())
    }

    /// Names arguments instead of fields in the text for people; `argument` maps a field to its argument. The JSON
    /// names fields.
    pub(crate) fn naming(mut self, argument: impl Fn(&str) -> Option<String>) -> Self {
        for fault in &mut self.0.faults {
            if let Some((field, reason)) = fault.split_once(": ")
                && let Some(argument) = argument(field)
            {
                *fault = format!("{argument}: {reason}");
            }
        }
        self
    }

    pub(crate) const fn exit(&self) -> Exit {
        self.0.exit
    }

    /// Says it on standard error, to a person or to a program.
    pub(crate) fn print(&self, json: bool) {
        let said = if json { format!("{}\n", self.json()) } else { self.text() };
        eprint!("{}", terminal::clean_lines(&said));
    }

    /// Whether the user can mend the failure without the service's support.
    fn is_mendable(&self) -> bool {
        use Exit::{Conflict, NotAllowed, NotFound, Refused, Throttled, Usage};
        matches!(self.0.exit, Usage | Refused | NotFound | NotAllowed | Conflict | Throttled)
    }

    fn new(exit: Exit, message: impl Into<String>) -> Self {
        let (details, faults) = Default::default();
        Self(Box::new(Details { exit, message: message.into(), details, faults }))
    }

    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.details.insert(name.to_owned(), value.into());
        self
    }

    fn json(&self) -> Value {
        let Details { exit, message, details, .. } = &*self.0;
        let mut told = Map::new();
        told.insert("exit".to_owned(), exit.code().into());
        told.insert("kind".to_owned(), exit.word().into());
        told.insert("message".to_owned(), message.as_str().into());
        told.extend(details.clone());
        json!({ "error": told })
    }

    fn text(&self) -> String {
        let Details { message, details, faults, .. } = &*self.0;
        let mut text = format!("kopeck call: {}\n", terminal::clean(message));
        for fault in faults {
            let _ = writeln!(text, "  {}", terminal::clean(fault));
        }
        let detail = |name: &str| details.get(name).and_then(Value::as_str);
        if let Some(id) = detail("requestId").filter(|_| !self.is_mendable()) {
            let _ = writeln!(text, "To ask the service's support about it, quote {}.", terminal::clean(id));
        }
        if let Some(id) = detail("acceptedRequest") {
            let _ = writeln!(text, "The request was accepted before that: {id}.");
        }
        if let Some(key) = detail("idempotencyKey") {
            let _ = writeln!(
                text,
                "Perhaps it was done all the same. Repeat the command with --idempotency-key {key}: nothing is done twice."
            );
        }
        if let Some(seconds) = details.get("retryAfterSeconds") {
            let _ = writeln!(text, "Try again in {seconds} s.");
        }
        text
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let mut failure = Self::new(Exit::of(&error), message_of(&error));
        if let Some(status) = error.status() {
            failure = failure.with("status", status);
        }
        if let Some(code) = error.code() {
            failure = failure.with("code", code.as_str());
        }
        if let Some(id) = error.request_id() {
            failure = failure.with("requestId", id);
        }
        if let Some(after) = error.retry_after() {
            failure = failure.with("retryAfterSeconds", after.as_secs());
        }
        match &error {
            Error::Invalid { faults, .. } => {
                let reason = |fault: &kopeck_client::FieldFault| json!({"field": fault.field, "reason": fault.detail.as_ref().unwrap_or(&fault.message)});
                failure.0.faults = faults.iter().map(|fault| money::in_roubles(&fault.to_string())).collect();
                failure.with("faults", faults.iter().map(reason).collect::<Vec<_>>())
            }
            Error::Cards { faults, .. } => {
                let reason = |fault: &kopeck_client::CardFault| {
                    let code = fault.code.as_ref().map(|code| code.as_str());
                    json!({"idCard": fault.id_card, "code": code, "reason": fault.message})
                };
                failure.0.faults = faults.iter().map(ToString::to_string).collect();
                failure.with("faults", faults.iter().map(reason).collect::<Vec<_>>())
            }
            _ => failure,
        }
    }
}

fn message_of(error: &Error) -> String {
    match error {
        // The fault of each follows below.
        Error::Invalid { note: Some(note), .. } => format!("the service refuses these values ({note}):"),
        Error::Invalid { .. } => "the service refuses these values:".to_owned(),
        Error::Cards { status, .. } => format!("the service refuses these cards (status {status}):"),
        Error::Transport { .. } | Error::Decode(_) => {
            let mut message = error.to_string();
            let mut source = error.source();
            while let Some(cause) = source {
                let _ = write!(message, ": {cause}");
                source = cause.source();
            }
            message
        }
        _ => error.to_string(),
    }
}

/// The place in the list and the name of a field such as `data[7].amount` or `cards[0].idCard`.
pub(crate) fn field_of_item(field: &str) -> Option<(usize, &str)> {
    let (_, item) = field.split_once('[')?;
    let (place, name) = item.split_once("].")?;
    Some((place.parse().ok()?, name))
}

#[cfg(test)]
mod tests {
    use kopeck_client::FieldFault;

    use super::*;

    #[test]
    fn a_lost_response_reports_the_key_and_a_refusal_does_not() {
        let key = IdempotencyKey::parse("payroll-7").unwrap();
        let lost = Failure::of_write(Error::Timeout, &key);
        assert!(lost.text().contains("--idempotency-key payroll-7"), "{}", lost.text());
        let json = lost.json();
        assert_eq!(json["error"]["idempotencyKey"], "payroll-7");
        assert_eq!((&json["error"]["exit"], &json["error"]["kind"]), (&8.into(), &"unavailable".into()));
        let refused = Failure::of_write(Error::Sealing("x".to_owned()), &key);
        assert!(!refused.text().contains("payroll-7"));
    }

    #[test]
    fn every_faulty_field_is_reported() {
        let fault = |field: &str| FieldFault {
            field: field.to_owned(),
            message: "incorrect value passed".to_owned(),
            detail: Some("must not be empty".to_owned()),
        };
        let error = Error::Invalid {
            faults: vec![fault("surname"), fault("phone")],
            note: None,
            request_id: Some("r-1".to_owned()),
        };
        let failure = Failure::from(error);
        assert_eq!(
            failure.text(),
            "kopeck call: the service refuses these values:\n  surname: must not be empty\n  phone: must not be empty\n"
        );
        assert_eq!(failure.json()["error"]["requestId"], "r-1");
        assert_eq!(failure.json()["error"]["faults"][1]["field"], "phone");
    }

    #[test]
    fn the_support_is_named_where_nothing_else_helps() {
        for (status, named) in
            [(400, false), (402, false), (404, false), (409, false), (429, false), (500, true), (503, true)]
        {
            let error = Error::Api {
                status,
                code: None,
                message: "no".to_owned(),
                request_id: Some("r-1".to_owned()),
                retry_after: None,
            };
            assert_eq!(Failure::from(error).text().contains("quote r-1"), named, "{status}");
        }
    }

    #[test]
    fn texts_from_elsewhere_cannot_steer_the_terminal() {
        let error = Error::Api {
            status: 502,
            code: None,
            message: "\u{1b}[2J\u{7}gone".to_owned(),
            request_id: None,
            retry_after: None,
        };
        assert!(!Failure::from(error).text().contains(['\u{1b}', '\u{7}']));
    }
}
