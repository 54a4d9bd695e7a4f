//! An accepted request and what was seen of it.

use kopeck_client::RequestState;
use tokio::time::Instant;

use super::call::{Change, RequestKind};

/// An accepted request.
#[derive(Debug, Clone)]
pub(crate) struct TrackedRequest {
    pub(crate) kind: RequestKind,
    /// The request that made it.
    pub(crate) call: Change,
    /// The state seen last.
    pub(crate) state: RequestState,
    /// When it was first seen in process.
    pub(crate) in_process_at: Option<Instant>,
    /// When its end was seen.
    pub(crate) ended_at: Option<Instant>,
}

impl TrackedRequest {
    pub(crate) const fn new(kind: RequestKind, call: Change) -> Self {
        Self { kind, call, state: RequestState::New, in_process_at: None, ended_at: None }
    }

    /// Takes note of a state; returns what is wrong with it after the one seen before.
    pub(crate) fn see(&mut self, state: RequestState, now: Instant) -> Option<String> {
        let forward = may_follow(&self.state, &state);
        let wrong = (!forward).then(|| format!("{state} was seen after {}", self.state));
        if state == RequestState::InProcess {
            self.in_process_at.get_or_insert(now);
        }
        if state.is_final() {
            self.ended_at.get_or_insert(now);
        }
        self.state = state;
        wrong
    }
}

/// Whether `later` can be seen some time after `earlier`.
fn may_follow(earlier: &RequestState, later: &RequestState) -> bool {
    use RequestState as S;
    match earlier {
        S::New => !matches!(later, S::Unknown(_)),
        S::InProcess => !matches!(later, S::New | S::Rejected | S::Unknown(_)),
        S::Success => matches!(later, S::Success | S::Confirmed),
        ended => ended == later && !matches!(later, S::Unknown(_)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use RequestState as S;

    fn seen(states: &[RequestState]) -> bool {
        let call = Change::OrderVirtual { count: 1, amount: 5_000 };
        let mut request = TrackedRequest::new(RequestKind::Order, call);
        states.iter().all(|state| request.see(state.clone(), Instant::now()).is_none())
    }

    #[test]
    fn states_only_move_forward() {
        assert!(seen(&[S::New, S::New, S::InProcess, S::InProcess, S::Success, S::Confirmed, S::Confirmed]));
        assert!(seen(&[S::PartSuccess, S::PartSuccess]));
        assert!(seen(&[S::Rejected]));
        for wrong in [
            [S::InProcess, S::New],
            [S::InProcess, S::Rejected],
            [S::Decline, S::Success],
            [S::Success, S::PartSuccess],
            [S::Rejected, S::InProcess],
            [S::Confirmed, S::Success],
        ] {
            assert!(!seen(&wrong), "{wrong:?}");
        }
    }
}
