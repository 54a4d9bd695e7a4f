//! Files that users have sent to a long form and not used yet: the form keeps its state here, so that each of its steps can
//! be opened again, after a new login too.

use kopeck_domain::ids::UploadId;
use kopeck_domain::user::User;
use kopeck_port_store::{StoreError, UnitOfWork, UserUpload};
use time::Duration;

use crate::Env;

/// How long an upload is kept.
pub const UPLOAD_LIFE: Duration = Duration::hours(1);
/// How many uploads of a user are kept; a further one removes the oldest.
pub const MAX_UPLOADS: u32 = 5;

/// Keeps a file of a user. The same identifier again keeps what is there.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn keep_upload(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    user: &User,
    id: UploadId,
    content: &[u8],
) -> Result<(), StoreError> {
    if unit.users().upload(user.partner, user.id, id)?.is_some() {
        return Ok(());
    }
    let now = env.now();
    let upload = UserUpload {
        id,
        partner: user.partner,
        user: user.id,
        content: content.to_vec(),
        created_at: now,
        expires_at: now + UPLOAD_LIFE,
    };
    unit.users().add_upload(&upload, MAX_UPLOADS)
}

/// A file that the user has sent, as long as it is kept.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn upload(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    user: &User,
    id: UploadId,
) -> Result<Option<Vec<u8>>, StoreError> {
    let found = unit.users().upload(user.partner, user.id, id)?;
    Ok(found.filter(|upload| upload.expires_at > env.now()).map(|upload| upload.content))
}

#[cfg(test)]
mod tests {
    use kopeck_domain::access::Role;
    use kopeck_domain::user::{UserLogin, UserStatus};
    use kopeck_port_store::mock::MockUnit;
    use uuid::Uuid;

    use super::*;
    use crate::testing::*;
    use crate::users::testing::{LOGIN, USER};

    #[test]
    fn an_upload_is_kept_for_an_hour() {
        let (env, mut unit) = (Bench::new().shared(), MockUnit::default());
        let user = User {
            id: USER,
            partner: None,
            login: UserLogin::parse(LOGIN).unwrap(),
            role: Role::Operator,
            status: UserStatus::Active,
            created_at: START,
        };
        let id = UploadId::new(Uuid::nil());
        unit.users.expect_upload().times(1).returning(|_, _, _| Ok(None));
        let is_bounded = |upload: &UserUpload, kept: &u32| {
            (upload.expires_at, *kept, upload.content.as_slice())
                == (START + UPLOAD_LIFE, MAX_UPLOADS, b"file")
        };
        unit.users.expect_add_upload().withf(is_bounded).times(1).returning(|_, _| Ok(()));
        keep_upload(&mut unit, &env, &user, id, b"file").unwrap();
        let stored = move |expires_at| UserUpload {
            id,
            partner: None,
            user: USER,
            content: b"file".to_vec(),
            created_at: START,
            expires_at,
        };
        unit.users
            .expect_upload()
            .times(2)
            .returning(move |_, _, _| Ok(Some(stored(START + Duration::SECOND))));
        keep_upload(&mut unit, &env, &user, id, b"other").unwrap();
        assert_eq!(upload(&mut unit, &env, &user, id), Ok(Some(b"file".to_vec())));
        unit.users.expect_upload().times(1).returning(move |_, _, _| Ok(Some(stored(START))));
        assert_eq!(upload(&mut unit, &env, &user, id), Ok(None));
    }
}
