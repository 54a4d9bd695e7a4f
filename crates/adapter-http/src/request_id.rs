//! The ids of a request.

use uuid::Uuid;

/// Our own id of a request, and the client's if it is well-formed. Clients may repeat an id, or send another
/// partner's, so ours identifies logs and audit entries.
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

    /// The client's, or `-`, for the log.
    pub(crate) fn caller(&self) -> &str {
        self.caller.as_deref().unwrap_or("-")
    }

    /// The id in the response: the client's, else ours.
    pub(crate) fn shown(&self) -> &str {
        self.caller.as_deref().unwrap_or(&self.own)
    }

    /// Both, for an audit entry: ours, and after a space the client's.
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
