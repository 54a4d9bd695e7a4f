//! Commands that orders and card batches share: state, wait, result.

use std::time::Duration;

use clap::Args;
use kopeck_client::{
    Client, Date, Error, HasReference, RequestFilter, RequestKind, RequestState, RequestStatus, Requests,
    Uuid, Wait, Write,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::context::IdempotencyArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, json_of};
use crate::progress::Progress;
use crate::table::{self, Column};
use crate::terminal;
use crate::times;

/// A kind of request.
pub(crate) trait RequestCommand {
    /// One in a list.
    type Record: RequestKind;

    const DECLINED_HAS_RESULT: bool = true;

    fn of(client: &Client) -> Requests<'_, Self::Record>;

    /// The result of each card, with activation codes on demand.
    async fn outcome(client: &Client, id: Uuid, codes: bool) -> Result<(Value, String), Failure>;
}

/// Whether to wait for the end of a request.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct WaitArgs {
    /// Wait until the request is processed, for two minutes or as long as it says, such as `--wait=10m`; then show the
    /// result.
    #[arg(
        long,
        value_name = "DURATION",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "2m",
        value_parser = times::duration
    )]
    wait: Option<Duration>,
}

/// Arguments of any new request.
#[derive(Debug, Clone, Args)]
pub(crate) struct NewRequestArgs {
    /// Your name for the request, such as its number in your books: letters, digits, blanks and `-_./#`.
    #[arg(long, value_name = "TEXT")]
    reference: Option<String>,
    #[command(flatten)]
    wait: WaitArgs,
    #[command(flatten)]
    repeat: IdempotencyArgs,
}

impl NewRequestArgs {
    /// Sends a new request, reports it, and waits for its end with `--wait`. `argument` maps a field to its argument.
    pub(crate) async fn send<K: RequestCommand, T: HasReference + DeserializeOwned + 'static>(
        &self,
        client: &Client,
        created: Write<T>,
        id: fn(&T) -> Uuid,
        argument: impl Fn(&str) -> Option<String>,
    ) -> Result<Output, Failure> {
        let created = match &self.reference {
            Some(reference) => created.reference(reference),
            None => created,
        };
        let created = self.repeat.send(created).await.map_err(|failure| failure.naming(argument))?;
        let id = id(&created);
        match self.wait.wait {
            None => Ok(RequestReport { id, state: RequestState::New, reference: None, result: None }
                .output(Exit::Done)),
            Some(patience) => follow::<K>(client, id, patience).await.map_err(|failure| failure.after(id)),
        }
    }
}

/// Which requests to list.
#[derive(Debug, Clone, Args)]
pub(crate) struct RequestFilterArgs {
    /// Only those in this state, such as `IN_PROCESS`.
    #[arg(long = "status", value_name = "STATUS")]
    state: Option<RequestState>,
    /// Only those with exactly this reference.
    #[arg(long, value_name = "TEXT")]
    reference: Option<String>,
    /// Only those of this day and later, `DD.MM.YYYY`.
    #[arg(long, value_parser = times::date)]
    from: Option<Date>,
    /// Only those of this day and earlier, `DD.MM.YYYY`.
    #[arg(long, value_parser = times::date)]
    to: Option<Date>,
}

impl From<RequestFilterArgs> for RequestFilter {
    fn from(args: RequestFilterArgs) -> Self {
        let RequestFilterArgs { state, reference, from, to } = args;
        Self { state, reference, from, to }
    }
}

/// The output of a request.
struct RequestReport {
    id: Uuid,
    state: RequestState,
    reference: Option<String>,
    result: Option<(Value, String)>,
}

/// Reports the state of a request, and waits for its end with `--wait`.
pub(crate) async fn status<K: RequestCommand>(
    client: &Client,
    id: Uuid,
    wait: WaitArgs,
) -> Result<Output, Failure> {
    match wait.wait {
        None => Ok(changed(K::of(client).status(id).await?)),
        Some(patience) => follow::<K>(client, id, patience).await,
    }
}

/// Reports the result of each card, with activation codes on demand.
pub(crate) async fn result<K: RequestCommand>(
    client: &Client,
    id: Uuid,
    codes: bool,
) -> Result<Output, Failure> {
    let (json, text) = K::outcome(client, id, codes).await?;
    Ok(Output::new(json, text))
}

/// The results of cards as JSON and as a table.
pub(crate) fn listed(results: &impl Serialize, columns: &[Column]) -> Result<(Value, String), Failure> {
    let results = json_of(results)?;
    let text = table::list(results.as_array().map_or(&[][..], Vec::as_slice), columns);
    Ok((json!({ "data": results }), text))
}

async fn follow<K: RequestCommand>(client: &Client, id: Uuid, patience: Duration) -> Result<Output, Failure> {
    let (requests, progress) = (K::of(client), Progress::request());
    let ended = tokio::select! {
        ended = requests.wait(id, Wait::up_to(patience), |state| progress.state(state)) => ended,
        // The process that made the request may not have seen its identifier yet.
        Ok(()) = tokio::signal::ctrl_c() => return Err(Failure::interrupted()),
    };
    drop(progress);
    let state = match ended {
        Ok(state) => state,
        // The request continues without this command, so its present state is a result.
        Err(Error::Unfinished { last }) => {
            let state = last.unwrap_or(RequestState::New);
            return Ok(RequestReport { id, state, reference: None, result: None }.output(Exit::StillWaiting));
        }
        Err(error) => return Err(error.into()),
    };
    let has_result = match state {
        RequestState::Success | RequestState::PartSuccess | RequestState::Confirmed => true,
        RequestState::Decline => K::DECLINED_HAS_RESULT,
        _ => false,
    };
    let result = if has_result { Some(K::outcome(client, id, false).await?) } else { None };
    let exit = match state {
        RequestState::Success | RequestState::Confirmed => Exit::Done,
        _ => Exit::OtherwiseThanAsked,
    };
    Ok(RequestReport { id, state, reference: None, result }.output(exit))
}

/// The state that a request is in now.
pub(crate) fn changed(RequestStatus { id, state, reference, .. }: RequestStatus) -> Output {
    RequestReport { id, state, reference, result: None }.output(Exit::Done)
}

impl RequestReport {
    fn output(self, exit: Exit) -> Output {
        let Self { id, state, reference, result } = self;
        let mut json = json!({ "id": id, "status": state.as_str() });
        let mut text = format!("{id} {}\n", terminal::clean(state.as_str()));
        if let Some(reference) = reference {
            text.truncate(text.len() - 1);
            text.push_str(&format!(" {}\n", terminal::clean(&reference)));
            if let Some(json) = json.as_object_mut() {
                json.insert("reference".to_owned(), reference.into());
            }
        }
        if exit == Exit::StillWaiting {
            text.push_str("It is not finished yet, and goes on; ask for its status later.\n");
        }
        if let Some((result, shown)) = result {
            if let (Some(json), Value::Object(result)) = (json.as_object_mut(), result) {
                json.extend(result);
            }
            text.push_str(&shown);
        }
        Output::new(json, text).ending(exit)
    }
}
