//! Cookies of the console.
//!
//! `__Host-` makes browsers take them only from this host, for the whole of it, over TLS or on loopback.

/// A cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cookie {
    /// The token of the session.
    Session,
    /// The token of a login that waits for its second factor.
    PendingLogin,
    /// Ties the form of a login to the browser that asked for it.
    LoginForm,
}

impl Cookie {
    const fn name(self) -> &'static str {
        match self {
            Self::Session => "__Host-kopeck",
            Self::PendingLogin => "__Host-kopeck-login",
            Self::LoginForm => "__Host-kopeck-form",
        }
    }

    /// Its value in a `Cookie` header.
    pub(crate) fn of(self, header: &str) -> Option<&str> {
        let mut pairs = header.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(name, _)| *name == self.name()).map(|(_, value)| value).filter(|value| !value.is_empty())
    }

    /// The value of `Set-Cookie` that stores it until the browser is closed.
    pub(crate) fn set(self, value: &str) -> String {
        format!("{}={value}; Path=/; Secure; HttpOnly; SameSite=Strict", self.name())
    }

    /// The value of `Set-Cookie` that removes it.
    pub(crate) fn remove(self) -> String {
        format!("{}; Max-Age=0", self.set(""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_found_by_their_whole_name() {
        let header = "a=1; __Host-kopeck-login=two;__Host-kopeck=one; __Host-kopeck-form=";
        assert_eq!(Cookie::Session.of(header), Some("one"));
        assert_eq!(Cookie::PendingLogin.of(header), Some("two"));
        assert_eq!(Cookie::LoginForm.of(header), None);
        assert_eq!(Cookie::Session.of(""), None);
        assert!(
            Cookie::Session
                .set("x")
                .starts_with("__Host-kopeck=x; Path=/; Secure; HttpOnly; SameSite=Strict")
        );
    }
}
