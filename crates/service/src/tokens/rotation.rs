//! The rules of the rotation of token pairs.
//!
//! A login starts a *session*. Every refresh spends a pair and issues a new one in the same session. A spent refresh
//! token comes either from a client that lost the response, or from a thief: [`refresh`] tells them apart.

use kopeck_port_store::session::{PairState, TokenPair};
use time::OffsetDateTime;

/// The decision about a refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefreshDecision {
    /// Spend the pair and issue a new one.
    Rotate,
    /// The response to the first exchange was lost: revoke the pair that it issued, and issue another.
    Reissue,
    /// The token was stolen or copied: revoke the whole session.
    RevokeSession,
    /// Refuse, and change nothing.
    Refuse,
}

/// Decides about a refresh by the token of `pair`. `successor` is the pair that it was last exchanged for.
#[must_use]
pub(crate) fn refresh(
    pair: &TokenPair,
    successor: Option<&TokenPair>,
    now: OffsetDateTime,
) -> RefreshDecision {
    match pair.state {
        PairState::Revoked => RefreshDecision::Refuse,
        PairState::Fresh if pair.refresh_expires_at <= now => RefreshDecision::Refuse,
        PairState::Fresh => RefreshDecision::Rotate,
        PairState::Spent => match successor {
            Some(next) if !pair.reissued && !next.used && next.state == PairState::Fresh => {
                RefreshDecision::Reissue
            }
            Some(_) | None => RefreshDecision::RevokeSession,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kopeck_domain::ids::TokenPairId;
    use time::Duration;
    use uuid::Uuid;

    fn pair(id: u128, state: PairState, used: bool, reissued: bool) -> TokenPair {
        TokenPair {
            id: TokenPairId::new(Uuid::from_u128(id)),
            state,
            used,
            successor: Some(TokenPairId::new(Uuid::from_u128(id + 1))),
            reissued,
            refresh_expires_at: OffsetDateTime::UNIX_EPOCH + Duration::days(30),
        }
    }

    /// Every state of the pair × what became of its successor.
    #[test]
    fn the_whole_table() {
        let now = OffsetDateTime::UNIX_EPOCH;
        let lost = RefreshDecision::Reissue;
        for state in PairState::ALL {
            for next_state in PairState::ALL {
                for (used, reissued) in [(false, false), (false, true), (true, false), (true, true)] {
                    let next = pair(2, *next_state, used, false);
                    let decision = refresh(&pair(1, *state, true, reissued), Some(&next), now);
                    let expected = match (state, next_state, used, reissued) {
                        (PairState::Fresh, _, _, _) => RefreshDecision::Rotate,
                        (PairState::Revoked, _, _, _) => RefreshDecision::Refuse,
                        (PairState::Spent, PairState::Fresh, false, false) => lost,
                        (PairState::Spent, _, _, _) => RefreshDecision::RevokeSession,
                    };
                    assert_eq!(decision, expected, "{state} {next_state} used={used} reissued={reissued}");
                }
            }
        }
        assert_eq!(
            refresh(&pair(1, PairState::Spent, true, false), None, now),
            RefreshDecision::RevokeSession
        );
    }

    #[test]
    fn an_expired_refresh_token_is_refused() {
        let fresh = pair(1, PairState::Fresh, false, false);
        let end = fresh.refresh_expires_at;
        assert_eq!(refresh(&fresh, None, end - Duration::SECOND), RefreshDecision::Rotate);
        assert_eq!(refresh(&fresh, None, end), RefreshDecision::Refuse);
    }
}
