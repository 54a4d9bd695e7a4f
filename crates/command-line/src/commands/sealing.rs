//! `kopeck call seal` and `kopeck call open`, for implementers of sealing in another language.

use clap::Args;
use kopeck_sealing::{
    Clear, RequestContext, ResponseContext, SealingKey, Slot, bound_path, key_id_of, open_request,
    open_response, seal_request, valid_nonce,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::context;
use crate::failure::Failure;
use crate::output::Output;
use crate::profile::{self, Profiles};
use crate::prompt;
use crate::system;

/// The request of a value, and its slot.
#[derive(Debug, Clone, Args)]
pub(crate) struct SlotArgs {
    /// The method of the request, such as `POST`.
    #[arg(long)]
    method: String,
    /// The path of the request, such as `/v1/category`, with `*` in place of each sealed segment.
    #[arg(long)]
    path: String,
    /// The slot of the value in the request: `body`, `query`, `path:NAME`, `query:NAME`, `field:/NAME`.
    #[arg(long, default_value = "body")]
    slot: String,
}

/// The context of a value to seal.
#[derive(Debug, Clone, Args)]
pub(crate) struct SealArgs {
    #[command(flatten)]
    place: SlotArgs,
    /// The x-nonce of the request; a random one if absent, shown on standard error.
    #[arg(long)]
    nonce: Option<String>,
    /// The time to seal at, in Unix seconds; now if absent.
    #[arg(long)]
    at: Option<u64>,
}

/// The context of a value to open.
#[derive(Debug, Clone, Args)]
pub(crate) struct OpenArgs {
    #[command(flatten)]
    place: SlotArgs,
    /// The x-nonce of the request.
    #[arg(long)]
    nonce: String,
    /// The value is a response with this status code.
    #[arg(long, value_name = "STATUS", conflicts_with = "slot")]
    answer: Option<u16>,
    /// The time to open at, in Unix seconds; now if absent. A value opens for 300 seconds.
    #[arg(long)]
    at: Option<u64>,
}

/// Seals standard input, as in a request.
pub(super) fn seal(args: &SealArgs, profile: Option<&str>) -> Result<Output, Failure> {
    let key = key(profile)?;
    let nonce = match &args.nonce {
        Some(nonce) => checked(nonce)?,
        None => system::hex(&system::random::<16>()?),
    };
    let plaintext = prompt::standard_input()?;
    let path = bound_path(&args.place.path);
    let ctx = args.place.request(&path, &nonce)?;
    let now = args.at.unwrap_or_else(system::unix_now);
    let sealed = seal_request(&key, &ctx, now, system::random()?, without_line_end(&plaintext).as_bytes());
    if args.nonce.is_none() {
        eprintln!("x-nonce: {nonce}");
    }
    let json = json!({"sealed": sealed, "nonce": nonce, "path": path, "slot": args.place.slot});
    Ok(Output::new(json, sealed))
}

/// Opens standard input, as in a request or a response.
pub(super) fn open(args: &OpenArgs, profile: Option<&str>) -> Result<Output, Failure> {
    let key = key(profile)?;
    let nonce = checked(&args.nonce)?;
    let input = prompt::standard_input()?;
    let sealed = sealed_value(&input);
    if let Ok(id) = key_id_of(&sealed)
        && id != key.id()
    {
        let lacks = "which this profile does not have: was the sealing key rotated?";
        return Err(Failure::local(format!("sealed under key {id}, {lacks}")));
    }
    let path = bound_path(&args.place.path);
    let now = args.at.unwrap_or_else(system::unix_now);
    let opened = match args.answer {
        Some(status) => {
            let ctx = ResponseContext { method: &args.place.method, path: &path, nonce: &nonce, status };
            open_response(&key, &ctx, now, &sealed)
        }
        None => open_request(&key, &args.place.request(&path, &nonce)?, now, &sealed),
    };
    let opened = opened.map_err(|refusal| Failure::local(format!("the value does not open: {refusal}")))?;
    let json = serde_json::from_str(&opened).unwrap_or_else(|_| Value::String(opened.to_string()));
    Ok(Output::new(json!({ "opened": json }), opened.as_str()))
}

impl SlotArgs {
    fn request<'a>(&'a self, path: &'a str, nonce: &'a str) -> Result<RequestContext<'a>, Failure> {
        Ok(RequestContext { method: &self.method, path, nonce, slot: self.slot()?, clear: Clear::none() })
    }

    fn slot(&self) -> Result<Slot<'_>, Failure> {
        match self.slot.split_once(':') {
            None if self.slot == "body" => Ok(Slot::Body),
            None if self.slot == "query" => Ok(Slot::Query),
            Some(("path", name)) if !name.is_empty() => Ok(Slot::Path(name)),
            Some(("query", name)) if !name.is_empty() => Ok(Slot::QueryParameter(name)),
            Some(("field", name)) if name.len() > 1 && name.starts_with('/') => Ok(Slot::Field(&name[1..])),
            _ => Err(Failure::usage("the slot must be body, query, path:NAME, query:NAME or field:/NAME")),
        }
    }
}

fn key(profile: Option<&str>) -> Result<SealingKey, Failure> {
    let profiles = Profiles::load(&profile::path()?)?;
    let (name, profile) = profiles.choose(profile)?;
    context::sealing_key(profile)?
        .ok_or_else(|| Failure::local(format!("the profile {name} has no sealing key: it calls in clear")))
}

fn checked(nonce: &str) -> Result<String, Failure> {
    if valid_nonce(nonce) {
        return Ok(nonce.to_owned());
    }
    Err(Failure::usage("the nonce must be 16 to 64 of A-Z a-z 0-9 . _ ~ + / = -"))
}

/// The value alone, or the body that it came in.
fn sealed_value(text: &str) -> String {
    #[derive(Deserialize)]
    struct Envelope {
        sealed: String,
    }
    serde_json::from_str(text).map_or_else(|_| text.trim().to_owned(), |Envelope { sealed }| sealed)
}

/// Shells put a line end behind what they pass on.
fn without_line_end(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_read_as_they_are_written() {
        for slot in ["body", "query", "path:idCard", "query:page", "field:/statusCard"] {
            let place = SlotArgs { method: "GET".to_owned(), path: "/v1".to_owned(), slot: slot.to_owned() };
            assert_eq!(place.slot().unwrap().to_string(), slot);
        }
        for slot in ["", "path", "path:", "field:x", "field:/", "other:x"] {
            let place = SlotArgs { method: "GET".to_owned(), path: "/v1".to_owned(), slot: slot.to_owned() };
            assert!(place.slot().is_err(), "{slot}");
        }
    }

    #[test]
    fn a_value_is_taken_with_or_without_its_body() {
        assert_eq!(sealed_value("s1.abc\n"), "s1.abc");
        assert_eq!(sealed_value("{\"sealed\": \"s1.abc\"}\n"), "s1.abc");
    }
}
