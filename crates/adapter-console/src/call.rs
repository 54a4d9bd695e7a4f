//! Calls of operations, and what their refusals say to people.

use kopeck_api::{CodedError, FaultyCard, FaultyFields, Operation};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::host::{ApiRequest, ApiResponse, Caller, FileForm, Host};
use crate::texts::{Language, Text, code_text, field_text};
use crate::view::{Notice, Page};

/// Why something was not done or not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The status code of the page.
    pub(crate) status: u16,
    /// What it says.
    pub(crate) lines: Vec<String>,
}

impl Problem {
    /// A problem with this text.
    pub(crate) fn new(status: u16, language: Language, text: Text) -> Self {
        Self { status, lines: vec![text.of(language).to_owned()] }
    }

    /// Whatever there is not, and whatever the user may not see: the two are not told apart.
    pub(crate) fn hidden(status: u16, language: Language) -> Self {
        Self::new(status, language, Text::NOTHING_HERE)
    }

    /// The service's own failure.
    pub(crate) fn failed(language: Language) -> Self {
        Self::new(500, language, Text::FAILED)
    }

    /// The message above a page.
    pub(crate) fn notice(&self) -> Notice {
        Notice { is_problem: true, lines: self.lines.clone() }
    }

    fn of(response: &ApiResponse, language: Language) -> Self {
        let body = &response.body;
        let lines = if response.status == 422
            && let Ok(faulty) = serde_json::from_slice::<FaultyFields>(body)
        {
            let line = |fault: &kopeck_api::FaultyField| field_text(language, &fault.field, &fault.detail);
            faulty.data.iter().map(line).collect()
        } else if let Ok(error) = serde_json::from_slice::<CodedError>(body) {
            vec![code_text(language, error.code.as_str(), &error.message)]
        } else if let Ok(cards) = serde_json::from_slice::<Vec<FaultyCard>>(body) {
            cards.iter().map(|card| code_text(language, card.code.as_str(), &card.message)).collect()
        } else {
            vec![Text::FAILED.of(language).to_owned()]
        };
        Self { status: response.status, lines }
    }
}

impl Page {
    /// The page again, with what was wrong with its form above everything else.
    pub(crate) fn refused(mut self, problem: Option<&Problem>) -> Self {
        if let Some(problem) = problem {
            self.status = problem.status;
        }
        self.noting(problem.map(Problem::notice))
    }
}

/// An operation to call.
#[derive(Default)]
pub(crate) struct Call<'a> {
    pub(crate) ids: &'a [&'a str],
    pub(crate) query: &'a [(&'a str, &'a str)],
    pub(crate) body: Option<Value>,
    pub(crate) key: Option<&'a str>,
    pub(crate) file: Option<FileForm>,
}

/// Calls an operation.
///
/// # Errors
/// What its refusal says.
pub(crate) async fn send(
    host: &dyn Host,
    caller: &Caller,
    language: Language,
    operation: &'static Operation,
    call: Call<'_>,
) -> Result<ApiResponse, Problem> {
    let query = call.query.iter().filter(|(_, value)| !value.is_empty());
    let request = ApiRequest {
        operation,
        ids: call.ids.iter().map(|id| (*id).to_owned()).collect(),
        query: form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish(),
        body: call.body.map(|body| body.to_string().into_bytes()).unwrap_or_default(),
        key: call.key.map(str::to_owned),
        file: call.file,
        language,
    };
    let response = host.call(caller, request).await;
    if (200..300).contains(&response.status) { Ok(response) } else { Err(Problem::of(&response, language)) }
}

/// Reads the body of a response.
///
/// # Errors
/// If it is not of this form.
pub(crate) fn read<T: DeserializeOwned>(response: &ApiResponse, language: Language) -> Result<T, Problem> {
    serde_json::from_slice(&response.body).map_err(|error| {
        log::error!(error:%; "the response of an operation is not of its form");
        Problem::failed(language)
    })
}
