//! Commands that orders and card batches share: state, wait, result.

use std::time::Duration;

use clap::Args;
use kopeck_client::{
    Client, Date, Error, HasReference, RequestFilter, RequestState, RequestStatus, Uuid, Wait, Write,
};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, json_of};
use crate::progress::Progress;
use crate::table::{self, Column, flag, money, text};
use crate::terminal;
use crate::times;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    Order,
    TopUp,
    LimitChange,
    Closing,
    Withdrawal,
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

/// What the caller names a new request.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReferenceArgs {
    /// What you call the request, such as its number in your books: letters, digits, blanks and `-_./#`.
    #[arg(long, value_name = "TEXT")]
    reference: Option<String>,
}

impl ReferenceArgs {
    /// The request under its reference, if it has one.
    pub(crate) fn name<T: HasReference>(&self, request: Write<T>) -> Write<T> {
        match &self.reference {
            Some(reference) => request.reference(reference),
            None => request,
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

const ORDER: [Column; 4] = [
    text("customIdCard", "/customIdCard"),
    text("type", "/typeCard"),
    money("amount", "/amount"),
    text("activate until", "/validityPeriod"),
];
const CODE: Column = text("activation code", "/activationCode");
const TOP_UP: [Column; 4] = [
    text("idCard", "/idCard"),
    flag("topped up", "/resultReplenishment"),
    money("amount", "/amountReplenishment"),
    text("reason", "/errorReplenishment"),
];
const LIMIT: [Column; 3] =
    [text("idCard", "/idCard"), flag("limit set", "/resultLimit"), text("reason", "/errorLimit")];

const CLOSING: [Column; 4] = [
    text("idCard", "/idCard"),
    flag("closed", "/resultClosing"),
    money("returned", "/amountReturned"),
    text("reason", "/errorClosing"),
];
const WITHDRAWAL: [Column; 4] = [
    text("idCard", "/idCard"),
    flag("taken", "/resultWithdrawal"),
    money("withdrawn", "/amountWithdrawn"),
    text("reason", "/errorWithdrawal"),
];

impl RequestKind {
    /// Reports a new request, and waits for its end with `--wait`.
    pub(crate) async fn accepted(self, client: &Client, id: Uuid, wait: WaitArgs) -> Result<Output, Failure> {
        match wait.wait {
            None => Ok(RequestReport { id, state: RequestState::New, reference: None, result: None }
                .output(Exit::Done)),
            Some(patience) => self.follow(client, id, patience).await.map_err(|failure| failure.after(id)),
        }
    }

    /// Reports the state of a request, and waits for its end with `--wait`.
    pub(crate) async fn status(self, client: &Client, id: Uuid, wait: WaitArgs) -> Result<Output, Failure> {
        match wait.wait {
            None => Ok(changed(self.ask(client, id).await?)),
            Some(patience) => self.follow(client, id, patience).await,
        }
    }

    /// Reports the result of each card, with activation codes on demand.
    pub(crate) async fn result(self, client: &Client, id: Uuid, codes: bool) -> Result<Output, Failure> {
        let (json, text) = self.outcome(client, id, codes).await?;
        Ok(Output::new(json, text))
    }

    async fn ask(self, client: &Client, id: Uuid) -> Result<RequestStatus, Error> {
        match self {
            Self::Order => client.orders().status(id).await,
            Self::TopUp => client.replenishments().status(id).await,
            Self::LimitChange => client.limits().status(id).await,
            Self::Closing => client.closings().status(id).await,
            Self::Withdrawal => client.withdrawals().status(id).await,
        }
    }

    async fn follow(self, client: &Client, id: Uuid, patience: Duration) -> Result<Output, Failure> {
        let progress = Progress::request();
        let wait = Wait::up_to(patience);
        let seen = |state: &RequestState| progress.state(state);
        let ended = async {
            match self {
                Self::Order => client.orders().wait(id, wait, seen).await,
                Self::TopUp => client.replenishments().wait(id, wait, seen).await,
                Self::LimitChange => client.limits().wait(id, wait, seen).await,
                Self::Closing => client.closings().wait(id, wait, seen).await,
                Self::Withdrawal => client.withdrawals().wait(id, wait, seen).await,
            }
        };
        let ended = tokio::select! {
            ended = ended => ended,
            // The process that made the request may not have seen its identifier yet.
            Ok(()) = tokio::signal::ctrl_c() => return Err(Failure::interrupted()),
        };
        drop(progress);
        let state = match ended {
            Ok(state) => state,
            // The request continues without this command, so its present state is a result.
            Err(Error::Unfinished { last }) => {
                let state = last.unwrap_or(RequestState::New);
                return Ok(
                    RequestReport { id, state, reference: None, result: None }.output(Exit::StillWaiting)
                );
            }
            Err(error) => return Err(error.into()),
        };
        let result =
            if self.has_result(&state) { Some(self.outcome(client, id, false).await?) } else { None };
        let exit = match state {
            RequestState::Success | RequestState::Confirmed => Exit::Done,
            _ => Exit::OtherwiseThanAsked,
        };
        Ok(RequestReport { id, state, reference: None, result }.output(exit))
    }

    fn has_result(self, state: &RequestState) -> bool {
        match state {
            RequestState::Success | RequestState::PartSuccess | RequestState::Confirmed => true,
            RequestState::Decline => self != Self::Order,
            _ => false,
        }
    }

    async fn outcome(self, client: &Client, id: Uuid, codes: bool) -> Result<(Value, String), Failure> {
        let (cards, columns) = match self {
            Self::Order => {
                let mut result = client.orders().result(id).await?;
                let mut columns = ORDER.to_vec();
                if codes {
                    columns.push(CODE);
                } else {
                    result.data.iter_mut().for_each(|card| card.activation_code = None);
                }
                (json_of(&result.data)?, columns)
            }
            Self::TopUp => (json_of(&client.replenishments().result(id).await?)?, TOP_UP.to_vec()),
            Self::LimitChange => (json_of(&client.limits().result(id).await?)?, LIMIT.to_vec()),
            Self::Closing => (json_of(&client.closings().result(id).await?)?, CLOSING.to_vec()),
            Self::Withdrawal => (json_of(&client.withdrawals().result(id).await?)?, WITHDRAWAL.to_vec()),
        };
        let text = table::list(cards.as_array().map_or(&[][..], Vec::as_slice), &columns);
        Ok((json!({ "data": cards }), text))
    }
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
