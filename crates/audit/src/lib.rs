#![doc = include_str!("../README.md")]

mod chain;
mod digest;
mod encoding;
mod signature;

use std::borrow::Cow;

use time::OffsetDateTime;

use kopeck_domain::access;
use kopeck_domain::ids::{CredentialId, PartnerId, TokenPairId, UserId};
use kopeck_domain::string_enum;

pub use chain::{Head, Opening, Record};
pub use digest::{Digest, KeyDigest};
pub use signature::{Mark, MarkKind, Signature, Statement};

string_enum! {
    /// The outcome.
    Outcome {
        /// It is about to be done. An action that is not one transaction has an entry before and one after.
        Begun = "BEGUN",
        /// It was done.
        Done = "DONE",
        /// It had been done before; the recorded response was replayed and nothing changed.
        Repeated = "REPEATED",
        /// The rules said no; nothing changed.
        Refused = "REFUSED",
        /// The service could not do it.
        Failed = "FAILED",
    }
}

/// The actor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// An unauthenticated caller.
    Unknown,
    /// The technical login of the partner of the entry, by this pair of tokens.
    Partner(Option<TokenPairId>),
    /// A scoped credential of the partner of the entry, by this pair of tokens.
    Credential(CredentialId, Option<TokenPairId>),
    /// A user: of the partner of the entry, or with the role of an operator.
    User(UserId),
    /// An operator, by the name of the operating system's user.
    Operator(String),
    /// The service by itself, by a rule of the partner of the entry.
    Service,
}

impl Actor {
    /// An authenticated actor, with the pair of tokens of its request.
    #[must_use]
    pub fn of(actor: &access::Actor, pair: Option<TokenPairId>) -> Self {
        match actor {
            access::Actor::Login => Self::Partner(pair),
            access::Actor::Credential(id) => Self::Credential(*id, pair),
            access::Actor::User(id) => Self::User(*id),
            access::Actor::Operator(name) => Self::Operator(name.clone()),
            access::Actor::Service => Self::Service,
        }
    }

    /// The label of its kind.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Unknown => "UNKNOWN",
            Self::Partner(_) => "PARTNER",
            Self::Credential(..) => "CREDENTIAL",
            Self::User(_) => "USER",
            Self::Operator(_) => "OPERATOR",
            Self::Service => "SERVICE",
        }
    }
}

/// One action or attempt. Its only personal data are the source and an operator's user name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The time by the machine's clock, which the sandbox does not move.
    pub at: OffsetDateTime,
    /// The actor.
    pub actor: Actor,
    /// The partner; of an [unknown](Actor::Unknown) actor the one that it claims to be.
    pub partner: Option<PartnerId>,
    /// The source: a network address, or the name of a host.
    pub source: String,
    /// The action: the name of the operation or command.
    pub action: Cow<'static, str>,
    /// The known objects: identifiers such as `order:…`.
    pub subject: String,
    /// The names under which the log of the process has it: the service's own id and, after a space, the caller's if it
    /// sent one.
    pub request_id: Option<String>,
    /// A digest of the idempotency key.
    pub key: Option<KeyDigest>,
    /// Whether the request was sealed.
    pub sealed: bool,
    /// The outcome.
    pub outcome: Outcome,
    /// The HTTP status code.
    pub status: Option<u16>,
    /// The error code of a refusal.
    pub code: Option<Cow<'static, str>>,
}

impl Entry {
    /// An entry of an unknown actor at this time, otherwise empty.
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

    /// The entry of what `actor` did for `partner`.
    #[must_use]
    pub fn by(self, actor: Actor, partner: Option<PartnerId>) -> Self {
        Self { actor, partner, ..self }
    }
}
