//! The forms' tokens, which a page of another site does not know.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::request::Request;

/// The token of the forms of a session, made of the session's own secret.
pub(crate) fn form_token(secret: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(b"kopeck console form\0");
    hash.update(secret.as_bytes());
    URL_SAFE_NO_PAD.encode(hash.finalize())
}

/// Whether a form was made for this secret, and sent by a page of the console itself.
pub(crate) fn is_own_form(request: &Request, token: &str, secret: &str) -> bool {
    says_own_site(request) != Some(false) && bool::from(token.as_bytes().ct_eq(form_token(secret).as_bytes()))
}

/// Whether the browser says that the request comes from a page of this host.
pub(crate) fn is_surely_own_site(request: &Request) -> bool {
    says_own_site(request) == Some(true)
}

/// What the browser says of that. Old browsers say nothing.
fn says_own_site(request: &Request) -> Option<bool> {
    match (&request.fetch_site, &request.origin) {
        (Some(site), _) => Some(site == "same-origin"),
        (None, Some(origin)) => {
            let host = origin.split_once("://").map(|(_, host)| host);
            Some(host.is_some_and(|host| host.eq_ignore_ascii_case(&request.host)))
        }
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_of_another_site_or_session_is_refused() {
        let token = form_token("secret");
        let from = |site: Option<&str>, origin: Option<&str>| Request {
            host: "127.0.0.1:8080".to_owned(),
            fetch_site: site.map(str::to_owned),
            origin: origin.map(str::to_owned),
            ..Request::default()
        };
        let own = Some("http://127.0.0.1:8080");
        for good in [from(Some("same-origin"), own), from(None, own), from(None, None)] {
            assert!(is_own_form(&good, &token, "secret"), "{good:?}");
            assert_eq!(is_surely_own_site(&good), good.origin.is_some(), "{good:?}");
            assert!(!is_own_form(&good, &token, "other") && !is_own_form(&good, "", "secret"));
        }
        let (other, null) = (Some("https://evil.example"), Some("null"));
        for bad in [
            from(Some("cross-site"), own),
            from(Some("same-site"), own),
            from(Some("none"), own),
            from(None, other),
            from(None, null),
        ] {
            assert!(!is_own_form(&bad, &token, "secret") && !is_surely_own_site(&bad), "{bad:?}");
        }
    }
}
