//! Tokens.

use crate::shape::{SecretText, body};

body! {
    /// A pair of tokens.
    pub struct Tokens as "Tokens" {
        /// `bearer`.
        token_type: String,
        /// Good for one new pair.
        refresh_token: SecretText,
        /// Its end, Unix seconds.
        refresh_expire_at: i64,
        /// For all other requests.
        access_token: SecretText,
        /// Its end, Unix seconds.
        access_expire_at: i64,
    }
}
