//! Sessions of one's own.

use kopeck_domain::ids::{PartnerId, SessionId};
use kopeck_port_store::session::SessionOverview;
use kopeck_port_store::{StoreError, UnitOfWork};

use crate::Env;

/// Why a session cannot be ended.
#[derive(Debug, thiserror::Error)]
pub enum EndSessionError {
    /// There is no such session, or it has ended.
    #[error("there is no such session")]
    NotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The active sessions of the login that began `current`, the oldest first.
///
/// # Errors
/// [`StoreError`].
pub fn list(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    current: SessionId,
) -> Result<Vec<SessionOverview>, StoreError> {
    let mut sessions = unit.sessions().list(partner, current, env.now())?;
    sessions.retain(|session| env.settings.lifetimes.session_end(session.created_at) > env.now());
    Ok(sessions)
}

/// Ends an active session of the login that began `current`. Every instance sees it within seconds.
///
/// # Errors
/// [`EndSessionError`].
pub fn end(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    current: SessionId,
    session: SessionId,
) -> Result<(), EndSessionError> {
    if !list(unit, env, partner, current)?.iter().any(|active| active.id == session) {
        return Err(EndSessionError::NotFound);
    }
    Ok(unit.sessions().revoke(partner, session)?)
}

#[cfg(test)]
mod tests {
    use kopeck_port_store::mock::MockUnit;
    use time::{Duration, OffsetDateTime};
    use uuid::Uuid;

    use super::*;
    use crate::testing::*;

    const CURRENT: SessionId = SessionId::new(Uuid::from_u128(0x5E));

    fn session(number: u128, created_at: OffsetDateTime) -> SessionOverview {
        let id = Uuid::from_u128(number).into();
        SessionOverview { id, created_at, last_used_at: None, address: None }
    }

    fn unit() -> MockUnit {
        let mut unit = MockUnit::default();
        unit.sessions
            .expect_list()
            .withf(|partner, of, now| (*partner, *of, *now) == (PARTNER, CURRENT, START))
            .returning(|_, _, _| {
                Ok(vec![session(1, START - Duration::days(90)), session(2, START - Duration::days(89))])
            });
        unit
    }

    #[test]
    fn a_session_past_its_longest_life_is_not_shown() {
        let listed = list(&mut unit(), &Bench::new(), PARTNER, CURRENT).unwrap();
        assert_eq!(listed.iter().map(|one| one.id.uuid().as_u128()).collect::<Vec<_>>(), [2]);
    }

    /// An unknown one, one that has ended, and one of somebody else look the same.
    #[test]
    fn only_an_active_session_is_ended() {
        let bench = Bench::new();
        for number in [1, 3] {
            let ended = end(&mut unit(), &bench, PARTNER, CURRENT, Uuid::from_u128(number).into());
            assert!(matches!(ended, Err(EndSessionError::NotFound)), "{number}");
        }
        let mut unit = unit();
        let second = Uuid::from_u128(2).into();
        unit.sessions
            .expect_revoke()
            .withf(move |partner, session| (*partner, *session) == (PARTNER, second))
            .times(1)
            .returning(|_, _| Ok(()));
        end(&mut unit, &bench, PARTNER, CURRENT, second).unwrap();
    }
}
