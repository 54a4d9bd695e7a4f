//! Outcomes of logins, for metrics.

use kopeck_domain::string_enum;

string_enum! {
    /// Who logs in.
    LoginKind {
        /// A partner's technical login.
        Login = "login",
        /// A scoped credential of a partner.
        Credential = "credential",
        /// A user of a partner, or nobody that is known.
        User = "user",
        /// An operator.
        Operator = "operator",
    }
}

string_enum! {
    /// The outcome of a login.
    LoginOutcome {
        /// It began a session.
        Granted = "granted",
        /// Wrong credentials, or a login that is not accepted.
        Refused = "refused",
        /// The password was right, and the second factor wrong.
        WrongCode = "wrong_code",
        /// Too many failures before it.
        Throttled = "throttled",
        /// The password was right, and there were too many wrong second factors before it.
        CodeThrottled = "code_throttled",
    }
}

/// Records metrics of logins. It must not block.
pub trait LoginObserver: Send + Sync {
    /// A login ended.
    fn record_login(&self, kind: LoginKind, outcome: LoginOutcome);
}

/// Records nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopLoginObserver;

impl LoginObserver for NoopLoginObserver {
    fn record_login(&self, _kind: LoginKind, _outcome: LoginOutcome) {}
}
