//! The ids of a request.

use uuid::Uuid;

/// What a request is called: by an id of our own, and by the caller's if it sent a well-formed one. CallerCache may send one id
/// many times, or another partner's, so that logs and audit entries are told apart by ours.
#[derive(Debug, Clone)]
pub(crate) struct RequestId {
    own: String,
    caller: Option<String>,
}

impl RequestId {
    pub(crate) fn new(own: Uuid, caller: Option<String>) -> Self {
        Self { own: own.to_string(), caller }
    }

    /// Our own, unique.
    pub(crate) fn own(&self) -> &str {
        &self.own
    }

    /// The caller's, or `-`, for the log.
    pub(crate) fn caller(&self) -> &str {
        self.caller.as_deref().unwrap_or("-")
    }

    /// What the answer names: the caller's if there is one, else ours.
    pub(crate) fn shown(&self) -> &str {
        self.caller.as_deref().unwrap_or(&self.own)
    }

    /// Both, as an audit entry has them: ours, and after a space the caller's if there is one.
    pub(crate) fn audited(&self) -> String {
        match &self.caller {
            Some(caller) => format!("{} {caller}", self.own),
            None => self.own.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_callers_id_is_shown_and_ours_is_kept_beside_it() {
        let own = Uuid::from_u128(7);
        let both = RequestId::new(own, Some("mine-1".to_owned()));
        assert_eq!((both.shown(), both.caller(), both.own()), ("mine-1", "mine-1", &*own.to_string()));
        assert_eq!(both.audited(), format!("{own} mine-1"));
        let one = RequestId::new(own, None);
        assert_eq!((one.shown(), one.caller(), one.audited()), (&*own.to_string(), "-", own.to_string()));
    }
}
