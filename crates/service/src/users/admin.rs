//! What operators and owners do with users: create, list, reset, disable, enable, change the role, delete.

use kopeck_domain::access::Role;
use kopeck_domain::ids::{PartnerId, UserId};
use kopeck_domain::partner::Partner;
use kopeck_domain::user::{User, UserLogin, UserStatus, check_role};
use kopeck_port_store::{SessionStage, StoreError, UnitOfWork, UserRecord};
use secrecy::SecretString;
use time::OffsetDateTime;

use super::{INITIAL_PASSWORD_LIFE, UserError, UserService, check_user_password};
use crate::Env;

/// A new user.
#[derive(Debug)]
pub struct NewUser {
    /// Its partner; `None` for an operator.
    pub partner: Option<Partner>,
    /// Its role.
    pub role: Role,
    /// Its login.
    pub login: UserLogin,
    /// Its first password; generated if absent.
    pub password: Option<SecretString>,
}

/// A user that is not stored yet, made outside of a unit of work because hashing a password is slow.
pub struct UserDraft {
    record: UserRecord,
    password: SecretString,
}

/// A password that another person has set, and its hash.
pub struct NewPassword {
    /// The password, to be shown once.
    pub password: SecretString,
    hash: String,
    until: OffsetDateTime,
}

/// What a reset takes away.
pub struct Reset {
    /// The password to replace the present one, if it is replaced.
    pub password: Option<NewPassword>,
    /// Whether the second factor and the recovery codes go: the next login sets up new ones.
    pub second_factor: bool,
}

/// A user with what an operator may know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserOverview {
    /// The user.
    pub user: User,
    /// Whether the second factor is set up.
    pub has_second_factor: bool,
    /// How many recovery codes are left.
    pub recovery_codes: u64,
    /// Until when a password that another person has set is accepted; `None` if the user has set its own.
    pub initial_until: Option<OffsetDateTime>,
    /// The time of the last login.
    pub last_login_at: Option<OffsetDateTime>,
    /// How many sessions are open.
    pub sessions: u64,
}

impl UserService {
    /// Generates a user's identifier and first password without storing them.
    ///
    /// # Errors
    /// [`UserError::Role`], [`UserError::Password`], [`UserError::Security`].
    pub fn prepare(&self, new: NewUser) -> Result<UserDraft, UserError> {
        let partner = new.partner.as_ref().map(|partner| partner.id);
        check_role(new.role, partner).map_err(UserError::Role)?;
        let user = User {
            id: UserId::new(self.env.ids.next_id()),
            partner,
            login: new.login,
            role: new.role,
            status: UserStatus::Active,
            created_at: self.env.now(),
        };
        let NewPassword { password, hash, until } =
            self.new_password(&user, new.partner.as_ref(), new.password)?;
        let record = UserRecord {
            user,
            password_hash: hash,
            initial_until: Some(until),
            second_factor: None,
            last_login_at: None,
        };
        Ok(UserDraft { record, password })
    }

    /// Stores a new user, who can log in at once.
    ///
    /// # Errors
    /// [`UserError::LoginTaken`], [`UserError::NoPartner`].
    pub fn create(
        &self,
        unit: &mut dyn UnitOfWork,
        draft: &UserDraft,
    ) -> Result<(User, SecretString), UserError> {
        let user = &draft.record.user;
        if let Some(partner) = user.partner {
            unit.partners().get(partner)?.ok_or(UserError::NoPartner)?;
        }
        unit.users().insert(&draft.record)?;
        Ok((user.clone(), draft.password.clone()))
    }

    /// Checks and hashes a password that another person sets; generates it if absent. It is accepted for
    /// [`INITIAL_PASSWORD_LIFE`], and the user has to replace it.
    ///
    /// # Errors
    /// [`UserError::Password`], [`UserError::Security`].
    pub fn new_password(
        &self,
        user: &User,
        partner: Option<&Partner>,
        password: Option<SecretString>,
    ) -> Result<NewPassword, UserError> {
        let password = match password {
            Some(password) => {
                check_user_password(&password, user, partner)?;
                password
            }
            None => SecretString::from(self.random_text(18)),
        };
        let hash = self.passwords.hash(&password)?;
        Ok(NewPassword { password, hash, until: self.env.now() + INITIAL_PASSWORD_LIFE })
    }
}

/// The user with this login, of whatever partner.
///
/// # Errors
/// [`UserError::NotFound`].
pub fn find(unit: &mut dyn UnitOfWork, login: &UserLogin) -> Result<User, UserError> {
    unit.users().by_login(login)?.map(|record| record.user).ok_or(UserError::NotFound)
}

/// The users of a partner, or the operators, oldest first.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn list(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: Option<PartnerId>,
) -> Result<Vec<UserOverview>, StoreError> {
    let now = env.now();
    let mut users = Vec::new();
    for UserRecord { user, password_hash: _, initial_until, second_factor, last_login_at } in
        unit.users().list(partner)?
    {
        let sessions = unit.users().sessions(partner, user.id)?;
        let is_open = |stage, end| stage == SessionStage::Open && now < end;
        let open = sessions.iter().filter(|session| is_open(session.stage, super::sessions::end_of(session)));
        users.push(UserOverview {
            has_second_factor: second_factor.is_some(),
            recovery_codes: unit.users().recovery_codes(partner, user.id)?,
            initial_until,
            last_login_at,
            sessions: open.count() as u64,
            user,
        });
    }
    Ok(users)
}

/// Replaces the password, takes the second factor away, or both; ends all sessions and returns their number.
///
/// # Errors
/// [`UserError::NotFound`].
pub fn reset(unit: &mut dyn UnitOfWork, user: &User, what: &Reset) -> Result<u64, UserError> {
    let mut record = locked(unit, user)?;
    if let Some(NewPassword { hash, until, .. }) = &what.password {
        record.password_hash.clone_from(hash);
        record.initial_until = Some(*until);
    }
    if what.second_factor {
        record.second_factor = None;
        unit.users().set_recovery_codes(user.partner, user.id, &[])?;
    }
    store_and_end_sessions(unit, &record)
}

/// Lets a user log in, or not; ends all sessions and returns their number.
///
/// # Errors
/// [`UserError::NotFound`].
pub fn set_status(unit: &mut dyn UnitOfWork, user: &User, status: UserStatus) -> Result<u64, UserError> {
    let mut record = locked(unit, user)?;
    record.user.status = status;
    store_and_end_sessions(unit, &record)
}

/// Gives a user another role; ends all sessions and returns their number.
///
/// # Errors
/// [`UserError::NotFound`], [`UserError::Role`] between operators and users of partners.
pub fn set_role(unit: &mut dyn UnitOfWork, user: &User, role: Role) -> Result<u64, UserError> {
    let mut record = locked(unit, user)?;
    check_role(role, user.partner).map_err(UserError::Role)?;
    record.user.role = role;
    store_and_end_sessions(unit, &record)
}

/// Removes a user with its sessions, for good; audit entries keep the identifier.
///
/// # Errors
/// [`UserError::NotFound`].
pub fn delete(unit: &mut dyn UnitOfWork, user: &User) -> Result<(), UserError> {
    locked(unit, user)?;
    Ok(unit.users().delete(user.partner, user.id)?)
}

/// The user as it is now, and stays until the end of the unit of work.
fn locked(unit: &mut dyn UnitOfWork, user: &User) -> Result<UserRecord, UserError> {
    unit.users().get(user.partner, user.id)?.ok_or(UserError::NotFound)
}

fn store_and_end_sessions(unit: &mut dyn UnitOfWork, record: &UserRecord) -> Result<u64, UserError> {
    unit.users().update(record)?;
    Ok(unit.users().end_sessions(record.user.partner, record.user.id, None)?)
}

#[cfg(test)]
mod tests;
