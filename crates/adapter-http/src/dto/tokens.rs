//! Tokens.

use kopeck_service::tokens::IssuedTokens;

use crate::openapi::schema::api_type;

api_type! {
    /// A pair of tokens.
    pub(crate) struct TokensDto<'a> as "Tokens" {
        /// `bearer`.
        token_type: &'static str,
        /// Good for one new pair.
        refresh_token: &'a str,
        /// Its end, Unix seconds.
        refresh_expire_at: i64,
        /// Opens all other calls.
        access_token: &'a str,
        /// Its end, Unix seconds.
        access_expire_at: i64,
    }
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
