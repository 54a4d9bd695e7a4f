//! How long tokens and sessions live.

use time::{Duration, OffsetDateTime};

/// How long tokens live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// Of an access token; 15 minutes unless set.
    pub access: Duration,
    /// Of a refresh token; 30 days unless set.
    pub refresh: Duration,
    /// Of a session, however often its tokens are refreshed; 90 days unless set.
    pub session: Duration,
}

impl Lifetimes {
    /// The end of a session that began at `start`; none of its tokens is good from then on.
    #[must_use]
    pub fn session_end(&self, start: OffsetDateTime) -> OffsetDateTime {
        start + self.session
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_however_often_it_is_refreshed() {
        let lifetimes = Lifetimes {
            access: Duration::minutes(15),
            refresh: Duration::days(30),
            session: Duration::days(90),
        };
        let start = OffsetDateTime::UNIX_EPOCH + Duration::days(1);
        assert_eq!(lifetimes.session_end(start), OffsetDateTime::UNIX_EPOCH + Duration::days(91));
    }
}
