//! Authentication by the shared secret.

use actix_web::http::header::{AUTHORIZATION, HeaderMap};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// The digest of the shared secret.
pub(super) struct SharedSecret([u8; 32]);

impl SharedSecret {
    pub(super) fn new(secret: &SecretString) -> Self {
        Self(Sha256::digest(secret.expose_secret()).into())
    }

    /// Whether the request has the secret. Digests are compared in constant time, so the time tells neither a correct
    /// prefix nor the length.
    pub(super) fn is_shown_by(&self, headers: &HeaderMap) -> bool {
        let shown =
            headers.get(AUTHORIZATION).and_then(|value| value.as_bytes().split_at_checked(BEARER.len()));
        let Some((scheme, secret)) = shown else { return false };
        let digest: [u8; 32] = Sha256::digest(secret).into();
        scheme.eq_ignore_ascii_case(BEARER) && bool::from(digest.ct_eq(&self.0))
    }
}

const BEARER: &[u8] = b"Bearer ";

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    #[test]
    fn only_the_secret_opens() {
        let secret = SharedSecret::new(&SecretString::from("s3cret"));
        let opens = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
            secret.is_shown_by(&headers)
        };
        assert!(opens("Bearer s3cret") && opens("bearer s3cret"));
        for wrong in
            ["", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3crets", "Bearer  s3cret", "Basic s3cret"]
        {
            assert!(!opens(wrong), "{wrong:?}");
        }
        assert!(!secret.is_shown_by(&HeaderMap::new()));
    }
}
