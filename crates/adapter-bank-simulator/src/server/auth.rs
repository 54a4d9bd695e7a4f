//! The shared secret.

use actix_web::http::header::{AUTHORIZATION, HeaderMap};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Opens to those who show the secret.
pub(super) struct Lock([u8; 32]);

impl Lock {
    pub(super) fn new(secret: &SecretString) -> Self {
        Self(Sha256::digest(secret.expose_secret()).into())
    }

    /// Whether the caller shows the secret. Digests are compared, in constant time, so that neither how much of it is
    /// right nor how long it is can be told from the time that this takes.
    pub(super) fn opens_to(&self, headers: &HeaderMap) -> bool {
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
        let lock = Lock::new(&SecretString::from("s3cret"));
        let opens = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
            lock.opens_to(&headers)
        };
        assert!(opens("Bearer s3cret") && opens("bearer s3cret"));
        for wrong in
            ["", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3crets", "Bearer  s3cret", "Basic s3cret"]
        {
            assert!(!opens(wrong), "{wrong:?}");
        }
        assert!(!lock.opens_to(&HeaderMap::new()));
    }
}
