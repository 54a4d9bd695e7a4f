//! Pairs of tokens.

use kopeck_domain::ids::TokenPairId;
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
