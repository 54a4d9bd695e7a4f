//! Sessions of users: look up, keep alive, list, end; and the change of one's own password.

use kopeck_audit::{Entry, Outcome};
use kopeck_domain::Invalid;
use kopeck_domain::access::{Actor, Authority, Scopes};
use kopeck_domain::calendar::CLOCK_SKEW;
use kopeck_domain::ids::SessionId;
use kopeck_domain::user::User;
use kopeck_port_store::{
    Access, SessionStage, Store, StoreError, UnitOfWork, UserRecord, UserSessionRecord, transact,
};
use secrecy::{ExposeSecret, SecretString};
use time::{Duration, OffsetDateTime};

use super::{
    IDLE_LIFE, UserError, UserService, check_user_password, entry_of, may_log_in, partner_is_active,
    token_digest,
};
use crate::tokens::throttle::{self, MAX_FAILURES};

/// The last use of a session is stored to the minute, so that a page with ten requests writes once.
const TOUCH: Duration = Duration::MINUTE;

/// An open session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserSession {
    /// The user.
    pub user: User,
    /// Whether the user has to replace its password before it may do anything else.
    pub must_change_password: bool,
    record: UserSessionRecord,
}

impl UserSession {
    /// Who acts, and what it may do: nothing as long as another person knows the password.
    #[must_use]
    pub fn authority(&self) -> Authority {
        let scopes = if self.must_change_password { Scopes::default() } else { self.user.role.scopes() };
        Authority { actor: Actor::User(self.user.id), scopes }
    }

    /// The session's identifier.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.record.id
    }

    /// When the session ends if nothing more is done in it.
    #[must_use]
    pub fn ends_at(&self) -> OffsetDateTime {
        end_of(&self.record)
    }
}

/// A session as its user sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionView {
    /// Its identifier.
    pub id: SessionId,
    /// Its beginning.
    pub created_at: OffsetDateTime,
    /// Its last use, to the minute.
    pub last_used_at: OffsetDateTime,
    /// The network address of its login.
    pub address: Option<String>,
    /// Whether it is the one that asks.
    pub is_current: bool,
}

/// Which of the user's other sessions end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndedSessions {
    /// This one.
    One(SessionId),
    /// All but the one that asks.
    Others,
}

/// What a change to one's own account is confirmed by.
#[derive(Debug)]
pub struct Confirmation {
    /// The present password.
    pub password: SecretString,
    /// The network address for the throttle, if any.
    pub address: Option<String>,
    /// The audit entry of the request; actor, partner, subject and outcome are filled in.
    pub entry: Entry,
}

/// A session behind a change that its user has confirmed.
#[derive(Debug)]
pub struct RenewedSession {
    /// Its new token: the one from before is worth nothing any more. It is stored nowhere.
    pub token: SecretString,
    /// How many other sessions of the user have ended.
    pub ended: u64,
}

/// A password that was right, and the token that the session gets.
#[derive(Clone)]
struct Confirmed {
    /// The hash that the password fits.
    hash: String,
    entry: Entry,
    token: SecretString,
    token_digest: [u8; 32],
}

/// When a session ends if nothing more is done in it.
pub(super) fn end_of(session: &UserSessionRecord) -> OffsetDateTime {
    session.expires_at.min(session.last_used_at + IDLE_LIFE)
}

/// Whether a session has not reached its end. One that was used in the future was begun by a clock that was set back since,
/// which would let it live longer.
pub(super) fn is_live(session: &UserSessionRecord, now: OffsetDateTime) -> bool {
    now < end_of(session) && session.last_used_at <= now + CLOCK_SKEW
}

impl UserService {
    /// The open session under this token, unless it has ended, the user is disabled or its partner suspended. Nothing is
    /// remembered: whatever ends a session, in whichever process, the next look-up refuses it.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails.
    pub fn look_up(
        &self,
        unit: &mut dyn UnitOfWork,
        token: &SecretString,
    ) -> Result<Option<UserSession>, StoreError> {
        let now = self.env.now();
        let record = unit.users().session(&token_digest(token))?;
        let Some(record) = record.filter(|found| found.stage == SessionStage::Open && is_live(found, now))
        else {
            return Ok(None);
        };
        let user = unit.users().get(record.partner, record.user)?;
        let Some(UserRecord { user, initial_until, .. }) = user.filter(|user| may_log_in(user, now)) else {
            return Ok(None);
        };
        let is_active = partner_is_active(unit, &user)?;
        let session = UserSession { user, must_change_password: initial_until.is_some(), record };
        Ok(Some(session).filter(|_| is_active))
    }

    /// Whether [`Self::touch`] would store anything.
    #[must_use]
    pub fn needs_touch(&self, session: &UserSession) -> bool {
        self.env.now() - session.record.last_used_at >= TOUCH
    }

    /// Stores the use of a session, so that it lives on.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails.
    pub fn touch(&self, unit: &mut dyn UnitOfWork, session: &UserSession) -> Result<(), StoreError> {
        if self.needs_touch(session) {
            unit.users().touch_session(&session.record, self.env.now())?;
        }
        Ok(())
    }

    /// The user's open sessions, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails.
    pub fn sessions(
        &self,
        unit: &mut dyn UnitOfWork,
        session: &UserSession,
    ) -> Result<Vec<SessionView>, StoreError> {
        let now = self.env.now();
        let mut sessions = unit.users().sessions(session.user.partner, session.user.id)?;
        sessions.retain(|session| session.stage == SessionStage::Open && is_live(session, now));
        let view = |each: UserSessionRecord| SessionView {
            id: each.id,
            created_at: each.created_at,
            last_used_at: each.last_used_at,
            address: each.address,
            is_current: each.id == session.id(),
        };
        Ok(sessions.into_iter().map(view).collect())
    }

    /// Logs out: ends the session that asks.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails.
    pub fn log_out(
        &self,
        unit: &mut dyn UnitOfWork,
        session: &UserSession,
        entry: &Entry,
    ) -> Result<(), StoreError> {
        let user = &session.user;
        if unit.users().end_session(user.partner, user.id, session.id())? {
            unit.audit().append(&entry_of(user, entry, Outcome::Done))?;
        }
        Ok(())
    }

    /// Has the user give the password once more, before a change that is none of its own account. Returns the session's new
    /// token. The caller writes the audit entry of the change.
    ///
    /// # Errors
    /// As [`Self::end_sessions`].
    pub fn reauthenticate(
        &self,
        store: &dyn Store,
        session: &UserSession,
        confirmation: Confirmation,
    ) -> Result<SecretString, UserError> {
        let confirmed = self.confirm(store, session, confirmation)?;
        let (session, token) = (session.clone(), confirmed.token.clone());
        transact(store, Access::Write, move |unit| renew(unit, &session, &confirmed))?;
        Ok(token)
    }

    /// Ends other sessions of the user, who gives the password once more.
    ///
    /// # Errors
    /// [`UserError::BadCredentials`] if the password is wrong or the session over, [`UserError::TooMany`], or the failure of
    /// a port.
    pub fn end_sessions(
        &self,
        store: &dyn Store,
        session: &UserSession,
        which: EndedSessions,
        confirmation: Confirmation,
    ) -> Result<RenewedSession, UserError> {
        let confirmed = self.confirm(store, session, confirmation)?;
        let (session, token) = (session.clone(), confirmed.token.clone());
        let ended = transact(store, Access::Write, move |unit| {
            let user = renew(unit, &session, &confirmed)?.user;
            let ended = match which {
                EndedSessions::One(id) => unit.users().end_session(user.partner, user.id, id)?.into(),
                EndedSessions::Others => {
                    unit.users().end_sessions(user.partner, user.id, Some(session.id()))?
                }
            };
            unit.audit().append(&entry_of(&user, &confirmed.entry, Outcome::Done))?;
            Ok::<_, UserError>(ended)
        })?;
        Ok(RenewedSession { token, ended })
    }

    /// Replaces the user's own password, and ends its other sessions.
    ///
    /// # Errors
    /// [`UserError::Password`] if the policy refuses the new one, [`UserError::BadCredentials`] if the present one is wrong or
    /// the session over, [`UserError::TooMany`], or the failure of a port.
    pub fn change_password(
        &self,
        store: &dyn Store,
        session: &UserSession,
        new: &SecretString,
        confirmation: Confirmation,
    ) -> Result<RenewedSession, UserError> {
        let owner = session.user.partner;
        let partner = transact(store, Access::Read, move |unit| -> Result<_, StoreError> {
            Ok(owner.map(|partner| unit.partners().get(partner)).transpose()?.flatten())
        })?;
        check_user_password(new, &session.user, partner.as_ref())?;
        if new.expose_secret() == confirmation.password.expose_secret() {
            return Err(UserError::Password(Invalid::new("must differ from the present one")));
        }
        let confirmed = self.confirm(store, session, confirmation)?;
        let (hash, session) = (self.passwords.hash(new)?, session.clone());
        let token = confirmed.token.clone();
        let ended = transact(store, Access::Write, move |unit| {
            let mut record = renew(unit, &session, &confirmed)?;
            record.password_hash.clone_from(&hash);
            record.initial_until = None;
            unit.users().update(&record)?;
            let user = &record.user;
            unit.audit().append(&entry_of(user, &confirmed.entry, Outcome::Done))?;
            Ok::<_, UserError>(unit.users().end_sessions(user.partner, user.id, Some(session.id()))?)
        })?;
        Ok(RenewedSession { token, ended })
    }

    /// Checks the present password. A wrong one counts for the address and the user, and has an audit entry.
    fn confirm(
        &self,
        store: &dyn Store,
        session: &UserSession,
        confirmation: Confirmation,
    ) -> Result<Confirmed, UserError> {
        let Confirmation { password, address, entry } = confirmation;
        let (user, settled) = (session.user.clone(), self.env.settled());
        let mut subjects = self.address_subjects(address.as_deref());
        subjects.push(self.user_subject("confirmation", &user));
        let (checked, key) = (subjects.clone(), (user.partner, user.id));
        let found = transact(store, Access::Read, move |unit| {
            check(unit, &checked, settled)?;
            Ok::<_, UserError>(unit.users().get(key.0, key.1)?)
        })?;
        let stored = found.map(|record| record.password_hash);
        if self.passwords.verify(&password, stored.as_deref())
            && let Some(hash) = stored
        {
            let (token, token_digest) = self.new_token();
            return Ok(Confirmed { hash, entry, token, token_digest });
        }
        transact(store, Access::Write, move |unit| -> Result<(), UserError> {
            check(unit, &subjects, settled)?;
            throttle::record(unit, &subjects, settled)?;
            Ok(unit.audit().append(&entry_of(&user, &entry, Outcome::Refused))?)
        })?;
        Err(UserError::BadCredentials)
    }
}

fn check(unit: &mut dyn UnitOfWork, subjects: &[[u8; 32]], settled: OffsetDateTime) -> Result<(), UserError> {
    let locked = throttle::locked_subject(unit, subjects, MAX_FAILURES, settled)?;
    locked.map_or(Ok(()), |retry_after| Err(UserError::TooMany { retry_after }))
}

/// Gives a session that is still open its new token. Returns its user, whose password is still the one that was checked.
fn renew(
    unit: &mut dyn UnitOfWork,
    session: &UserSession,
    confirmed: &Confirmed,
) -> Result<UserRecord, UserError> {
    let user = &session.user;
    let record = unit.users().get(user.partner, user.id)?.ok_or(UserError::BadCredentials)?;
    let open = unit.users().session(&session.record.token_digest)?.ok_or(UserError::BadCredentials)?;
    if record.password_hash != confirmed.hash {
        return Err(UserError::BadCredentials);
    }
    unit.users().end_session(user.partner, user.id, open.id)?;
    unit.users().insert_session(&UserSessionRecord { token_digest: confirmed.token_digest, ..open })?;
    Ok(record)
}

#[cfg(test)]
mod tests;
