//! Tokens.

use kopeck_service::tokens::IssuedTokens;
use serde::Serialize;

/// A pair of tokens.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokensDto<'a> {
    token_type: &'static str,
    refresh_token: &'a str,
    refresh_expire_at: i64,
    access_token: &'a str,
    access_expire_at: i64,
}

impl<'a> From<&'a IssuedTokens> for TokensDto<'a> {
    fn from(issued: &'a IssuedTokens) -> Self {
        Self {
            token_type: "bearer",
            refresh_token: &issued.refresh_token,
            refresh_expire_at: issued.refresh_expires_at,
            access_token: &issued.access_token,
            access_expire_at: issued.access_expires_at,
        }
    }
}
