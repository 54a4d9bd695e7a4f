//! `kopeck call requests`.

use std::time::Duration;

use clap::Args;
use kopeck_client::{Client, LoggedRequest, RequestLogQuery};
use serde_json::json;

use crate::arguments::whole;
use crate::failure::Failure;
use crate::output::{Output, json_of, print_line};
use crate::system;
use crate::times;

/// Which requests to show.
#[derive(Debug, Clone, Args)]
pub(crate) struct RequestsArgs {
    /// Begin this long ago, such as `15m` or `14d`. Default: an hour ago; with `--follow`: now.
    #[arg(long, value_name = "DURATION", value_parser = times::duration)]
    since: Option<Duration>,
    /// Begin after this number: `seq` of the last request you have.
    #[arg(long, conflicts_with = "since", value_parser = whole(0, None::<i64>))]
    after: Option<i64>,
    /// The most requests.
    #[arg(long, default_value_t = 500, value_parser = whole(1, None::<u64>), conflicts_with = "follow")]
    limit: u64,
    /// Only with this HTTP status, such as `422`.
    #[arg(long, value_parser = whole(100, Some(599_u16)))]
    status: Option<u16>,
    /// Only of this operation, such as `employee.add`.
    #[arg(long)]
    operation: Option<String>,
    /// Only with this `x-request-id`.
    #[arg(long)]
    request_id: Option<String>,
    /// Print requests as they come, each on a line, until interrupted.
    #[arg(long)]
    follow: bool,
    /// End after this many requests.
    #[arg(long, requires = "follow", value_parser = whole(0, None::<u64>))]
    count: Option<u64>,
}

/// How far back it looks.
const AN_HOUR: Duration = Duration::from_secs(3_600);

/// The most requests of a response.
const PAGE: u64 = 500;

impl RequestsArgs {
    /// Numbers are no less than the time in microseconds.
    fn query(&self) -> RequestLogQuery {
        let ago = self.since.unwrap_or(if self.follow { Duration::ZERO } else { AN_HOUR });
        let since = system::unix_now().saturating_sub(ago.as_secs()).saturating_mul(1_000_000);
        RequestLogQuery {
            after: self.after.unwrap_or_else(|| i64::try_from(since).unwrap_or(i64::MAX)),
            limit: None,
            status: self.status,
            operation: self.operation.clone(),
            request_id: self.request_id.clone(),
        }
    }
}

pub(super) async fn run(client: &Client, args: RequestsArgs, as_json: bool) -> Result<Output, Failure> {
    let mut query = args.query();
    if args.follow {
        let mut requests = client.request_log().follow(&query);
        for _ in 0..args.count.unwrap_or(u64::MAX) {
            let request = requests.next().await?;
            print_line(&if as_json { json_of(&request)?.to_string() } else { line(&request)? })?;
        }
        return Ok(Output::nothing());
    }
    let (mut requests, mut left) = (Vec::new(), args.limit);
    while left > 0 {
        query.limit = Some(left.min(PAGE));
        let page = client.request_log().list(&query).await?;
        left -= page.data.len() as u64;
        requests.extend(page.data);
        if page.next == query.after {
            break;
        }
        query.after = page.next;
    }
    let lines = requests.iter().map(line).collect::<Result<Vec<_>, _>>()?;
    Ok(Output::new(json!({"data": json_of(&requests)?, "next": query.after}), lines.join("\n")))
}

/// `2026-01-31T09:30:00Z  422  employee.add  12 ms  10.0.0.1  <id>  phone`.
fn line(request: &LoggedRequest) -> Result<String, Failure> {
    let json = json_of(request)?;
    let at = json.get("at").and_then(serde_json::Value::as_str).unwrap_or_default();
    let LoggedRequest { status, operation, duration_ms, address, request_id, code, fields, replayed, .. } =
        request;
    let address = address.as_deref().unwrap_or("-");
    let mut what: Vec<&str> = code.iter().map(String::as_str).collect();
    what.extend(fields.iter().map(String::as_str));
    if *replayed {
        what.push("replayed");
    }
    let text = format!(
        "{at}  {status}  {operation:<22}  {duration_ms:>5} ms  {address:<15}  {request_id}  {}",
        what.join(" ")
    );
    Ok(text.trim_end().to_owned())
}
