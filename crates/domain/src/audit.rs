//! The audit log: who did what, when, from where, with what outcome.
//!
//! Entries stand in *chains*, each with one writer. The [hash](Digest) of an entry covers the entry, its place and the
//! hash before it, so that an entry that was changed, removed or put elsewhere shows. A [signature](Signature) beside the
//! hash keeps whoever lacks the key from computing the hashes anew. What a chain cannot show by itself, that its end was
//! cut off, shows against a [`Head`] that was noted elsewhere, or against a [`Mark`].

mod chain;
mod digest;
mod encoding;
mod signature;

use std::borrow::Cow;

use time::OffsetDateTime;

use crate::ids::{PartnerId, TokenPairId};
use crate::string_enum::string_enum;

pub use chain::{Head, Opening, Record};
pub use digest::{Digest, KeyDigest};
pub use signature::{Mark, MarkKind, Signature, Statement};

string_enum! {
    /// What came of it.
    Outcome {
        /// It is about to be done. What cannot be committed together with its entry has one before and one after.
        Begun = "BEGUN",
        /// It was done.
        Done = "DONE",
        /// It had been done before; the first answer was given again and nothing changed.
        Repeated = "REPEATED",
        /// The rules said no; nothing changed.
        Refused = "REFUSED",
        /// The service could not do it.
        Failed = "FAILED",
    }
}

/// Who it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// Somebody who did not prove to be anybody.
    Unknown,
    /// The partner of the entry, by this pair of tokens.
    Partner(Option<TokenPairId>),
    /// A person at the command line, by the name of the operating system's user.
    Operator(String),
}

impl Actor {
    /// What kind of actor it is, as a word.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Unknown => "UNKNOWN",
            Self::Partner(_) => "PARTNER",
            Self::Operator(_) => "OPERATOR",
        }
    }
}

/// One thing that was done, or tried. Holds no personal data but for where it came from and, of an operator, the name of
/// the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When, by the machine's own time and to the microsecond: the sandbox does not move it.
    pub at: OffsetDateTime,
    /// Who.
    pub actor: Actor,
    /// The partner that it concerns. Of an [unknown](Actor::Unknown) actor the one that it claims to be.
    pub partner: Option<PartnerId>,
    /// From where: a network address, or the name of a host.
    pub source: String,
    /// What: the name of the operation or command.
    pub action: Cow<'static, str>,
    /// What was made, changed or shown, as far as it is known: words and identifiers such as `order:…`.
    pub subject: String,
    /// The names under which the log of the process has it: the service's own id and, after a space, the caller's if it
    /// sent one.
    pub request_id: Option<String>,
    /// Stands for the key under which the call is done once.
    pub key: Option<KeyDigest>,
    /// Whether the call came sealed.
    pub sealed: bool,
    /// What came of it.
    pub outcome: Outcome,
    /// The status of the answer, of a call over HTTP.
    pub status: Option<u16>,
    /// The reason of a refusal, as a word.
    pub code: Option<Cow<'static, str>>,
}

impl Entry {
    /// Something done at this moment by somebody unknown; nothing else is known of it.
    #[must_use]
    pub fn new(at: OffsetDateTime, source: impl Into<String>, action: impl Into<Cow<'static, str>>) -> Self {
        Self {
            at,
            actor: Actor::Unknown,
            partner: None,
            source: source.into(),
            action: action.into(),
            subject: String::new(),
            request_id: None,
            key: None,
            sealed: false,
            outcome: Outcome::Done,
            status: None,
            code: None,
        }
    }
}
