//! Sessions and pairs of tokens.

use kopeck_domain::ids::{CredentialId, SessionId, TokenPairId};
use kopeck_domain::string_enum;
use time::OffsetDateTime;

string_enum! {
    /// The state of a pair of tokens.
    PairState {
        /// Its refresh token can be exchanged.
        Fresh = "FRESH",
        /// Its refresh token was exchanged; the access token lives on to its end.
        Spent = "SPENT",
        /// Neither token is accepted any more.
        Revoked = "REVOKED",
    }
}

/// A pair of tokens as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenPair {
    /// Its identifier.
    pub id: TokenPairId,
    /// Its state.
    pub state: PairState,
    /// Whether either of its tokens was ever used.
    pub used: bool,
    /// The pair it was last exchanged for.
    pub successor: Option<TokenPairId>,
    /// Whether the retry after a lost response was used.
    pub reissued: bool,
    /// The end of its refresh token.
    pub refresh_expires_at: OffsetDateTime,
}

/// A session as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOverview {
    /// The session.
    pub id: SessionId,
    /// When it began.
    pub created_at: OffsetDateTime,
    /// When it was last used, as far as that is recorded.
    pub last_used_at: Option<OffsetDateTime>,
    /// The address that it was used from then, if that is known.
    pub address: Option<String>,
}

/// Whose sessions, of those of a partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionHolder {
    /// All.
    Anyone,
    /// Those of the technical login.
    Login,
    /// Those of a scoped credential.
    Credential(CredentialId),
}

impl From<Option<CredentialId>> for SessionHolder {
    fn from(credential: Option<CredentialId>) -> Self {
        credential.map_or(Self::Login, Self::Credential)
    }
}
