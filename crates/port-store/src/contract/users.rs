//! Users, their second factors and their sessions.

use kopeck_domain::access::Role;
use kopeck_domain::ids::{PartnerId, SessionId, UploadId};
use kopeck_domain::user::{User, UserLogin, UserStatus};

use super::support::{at, fresh, id, partner, read, write};
use crate::{Rule, SecondFactor, SessionStage, Store, StoreError, UserRecord, UserSessionRecord, UserUpload};

/// A user of a partner, or an operator, who has just been created.
pub(super) fn user(partner: Option<PartnerId>, seconds: i64) -> UserRecord {
    UserRecord {
        user: User {
            id: id(),
            partner,
            login: UserLogin::parse(&format!("user-{}@example.ru", fresh())).unwrap(),
            role: if partner.is_some() { Role::Finance } else { Role::Operator },
            status: UserStatus::Active,
            created_at: at(seconds),
        },
        password_hash: "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA".to_owned(),
        initial_until: Some(at(700)),
        second_factor: None,
        last_login_at: None,
    }
}

fn insert(store: &dyn Store, record: &UserRecord) -> Result<(), StoreError> {
    let record = record.clone();
    write(store, move |unit| unit.users().insert(&record))
}

fn stored(store: &dyn Store, partner: Option<PartnerId>, seconds: i64) -> UserRecord {
    let record = user(partner, seconds);
    insert(store, &record).unwrap();
    record
}

fn get(store: &dyn Store, record: &UserRecord) -> Option<UserRecord> {
    let (partner, id) = (record.user.partner, record.user.id);
    read(store, move |unit| unit.users().get(partner, id))
}

fn by_login(store: &dyn Store, record: &UserRecord) -> Option<UserRecord> {
    let login = record.user.login.clone();
    read(store, move |unit| unit.users().by_login(&login))
}

fn session(record: &UserRecord, seconds: i64) -> UserSessionRecord {
    let mut token_digest = [3; 32];
    token_digest[..8].copy_from_slice(&fresh().to_be_bytes());
    UserSessionRecord {
        id: id(),
        partner: record.user.partner,
        user: record.user.id,
        token_digest,
        stage: SessionStage::Open,
        setup: None,
        address: None,
        created_at: at(seconds),
        last_used_at: at(seconds),
        expires_at: at(seconds + 100),
    }
}

fn start(store: &dyn Store, record: &UserRecord, seconds: i64) -> UserSessionRecord {
    let session = session(record, seconds);
    let inserted = session.clone();
    write(store, move |unit| unit.users().insert_session(&inserted)).unwrap();
    session
}

fn find(store: &dyn Store, session: &UserSessionRecord) -> Option<UserSessionRecord> {
    let digest = session.token_digest;
    read(store, move |unit| unit.users().session(&digest))
}

fn sessions(store: &dyn Store, record: &UserRecord) -> Vec<UserSessionRecord> {
    let (partner, id) = (record.user.partner, record.user.id);
    read(store, move |unit| unit.users().sessions(partner, id))
}

/// An operator too; under another partner or login there is nobody.
pub fn a_user_is_found_by_login_and_by_id(store: &dyn Store) {
    let other = partner(store);
    for owner in [Some(partner(store)), None] {
        let record = user(owner, 1);
        assert_eq!((get(store, &record), by_login(store, &record)), (None, None));
        insert(store, &record).unwrap();
        assert_eq!(get(store, &record).as_ref(), Some(&record));
        assert_eq!(by_login(store, &record).as_ref(), Some(&record));
        let id = record.user.id;
        assert_eq!(read(store, move |unit| unit.users().get(Some(other), id)), None);
    }
}

/// Of whatever partner; the unit of work can go on after the refusal.
pub fn a_login_belongs_to_one_user(store: &dyn Store) {
    let (one, two) = (partner(store), partner(store));
    let taken = stored(store, Some(one), 1);
    let mut other = user(Some(two), 2);
    other.user.login = taken.user.login.clone();
    assert_eq!(insert(store, &other), Err(StoreError::Conflict(Rule::UserLogin)));
    let (tried, free) = (other.clone(), user(Some(two), 2));
    let added = free.clone();
    write(store, move |unit| {
        assert_eq!(unit.users().insert(&tried), Err(StoreError::Conflict(Rule::UserLogin)));
        unit.users().insert(&added)
    })
    .unwrap();
    assert_eq!((get(store, &other), get(store, &free)), (None, Some(free)));
}

/// Of one timestamp by their identifiers; and operators by themselves.
pub fn users_are_listed_oldest_first_each_partner_its_own(store: &dyn Store) {
    let (one, two) = (partner(store), partner(store));
    let list = |owner| {
        let records = read(store, move |unit| unit.users().list(owner));
        records.into_iter().map(|record| record.user.id).collect::<Vec<_>>()
    };
    assert_eq!(list(Some(one)), []);
    let users = [3, 1, 2, 2].map(|seconds| stored(store, Some(one), seconds).user.id);
    let (other, operator) = (stored(store, Some(two), 1), stored(store, None, 1));
    assert_eq!(list(Some(one)), [users[1], users[2], users[3], users[0]]);
    assert_eq!(list(Some(two)), [other.user.id]);
    assert_eq!(list(None), [operator.user.id]);
}

/// Every field that changes, there and back; nobody else's.
pub fn a_changed_user_is_stored(store: &dyn Store) {
    let owner = Some(partner(store));
    let (before, neighbour) = (stored(store, owner, 1), stored(store, owner, 1));
    let changed = UserRecord {
        user: User { role: Role::Auditor, status: UserStatus::Disabled, ..before.user.clone() },
        password_hash: "another".to_owned(),
        initial_until: None,
        second_factor: Some(SecondFactor { secret: [9; 20], last_step: 58_000_000 }),
        last_login_at: Some(at(9)),
    };
    for record in [changed, before] {
        let update = record.clone();
        write(store, move |unit| unit.users().update(&update)).unwrap();
        assert_eq!(get(store, &record), Some(record));
        assert_eq!(get(store, &neighbour).as_ref(), Some(&neighbour));
    }
}

/// Neither codes nor sessions; the login is free again.
pub fn a_deleted_user_leaves_nothing(store: &dyn Store) {
    let owner = Some(partner(store));
    let (gone, kept) = (stored(store, owner, 1), stored(store, owner, 1));
    let (ended, other) = (start(store, &gone, 1), start(store, &kept, 1));
    let id = gone.user.id;
    write(store, move |unit| {
        unit.users().set_recovery_codes(owner, id, &[[1; 32]])?;
        unit.users().delete(owner, id)
    })
    .unwrap();
    assert_eq!((get(store, &gone), by_login(store, &gone), find(store, &ended)), (None, None, None));
    assert_eq!(read(store, move |unit| unit.users().recovery_codes(owner, id)), 0);
    assert_eq!((get(store, &kept).as_ref(), find(store, &other)), (Some(&kept), Some(other)));
    let mut again = user(owner, 2);
    again.user.login = gone.user.login;
    insert(store, &again).unwrap();
}

/// By its user alone; new codes replace the former ones.
pub fn a_recovery_code_is_spent_once(store: &dyn Store) {
    let owner = Some(partner(store));
    let (one, two) = (stored(store, owner, 1).user.id, stored(store, owner, 1).user.id);
    let set = |id, digests: &'static [[u8; 32]]| {
        write(store, move |unit| unit.users().set_recovery_codes(owner, id, digests)).unwrap();
    };
    let spend = |id, digest: [u8; 32]| {
        write(store, move |unit| unit.users().spend_recovery_code(owner, id, &digest)).unwrap()
    };
    let left = |id| read(store, move |unit| unit.users().recovery_codes(owner, id));
    set(one, &[[1; 32], [2; 32]]);
    set(two, &[[1; 32]]);
    assert_eq!((left(one), spend(one, [3; 32])), (2, false));
    assert_eq!((spend(one, [1; 32]), spend(one, [1; 32]), left(one)), (true, false, 1));
    assert_eq!(left(two), 1);
    set(one, &[[4; 32]]);
    assert_eq!((spend(one, [2; 32]), spend(one, [4; 32]), left(one)), (false, true, 0));
    set(two, &[]);
    assert_eq!(left(two), 0);
}

/// Whole, an operator's too; its last use is stored.
pub fn a_session_of_a_user_is_found_by_its_token(store: &dyn Store) {
    for owner in [Some(partner(store)), None] {
        let record = stored(store, owner, 1);
        let neighbour = start(store, &record, 1);
        let pending = UserSessionRecord {
            stage: SessionStage::Pending,
            setup: Some([7; 20]),
            address: Some("192.0.2.1".to_owned()),
            last_used_at: at(3),
            ..session(&record, 2)
        };
        assert_eq!(find(store, &pending), None);
        let inserted = pending.clone();
        write(store, move |unit| unit.users().insert_session(&inserted)).unwrap();
        assert_eq!(find(store, &pending).as_ref(), Some(&pending));
        let touched = pending.clone();
        write(store, move |unit| unit.users().touch_session(&touched, at(60))).unwrap();
        assert_eq!(find(store, &pending), Some(UserSessionRecord { last_used_at: at(60), ..pending }));
        assert_eq!(find(store, &neighbour), Some(neighbour));
    }
}

/// Of one timestamp by their identifiers; nobody else's.
pub fn sessions_of_a_user_end_one_by_one_and_together(store: &dyn Store) {
    let owner = Some(partner(store));
    let (one, two) = (stored(store, owner, 1), stored(store, owner, 1));
    let begun = [3, 1, 2, 2].map(|seconds| start(store, &one, seconds));
    let other = start(store, &two, 1);
    assert_eq!(sessions(store, &one), [1, 2, 3, 0].map(|n: usize| begun[n].clone()));
    let end = |record: &UserRecord, session: SessionId| {
        let id = record.user.id;
        write(store, move |unit| unit.users().end_session(owner, id, session)).unwrap()
    };
    assert_eq!(
        (end(&two, begun[1].id), end(&one, begun[1].id), end(&one, begun[1].id)),
        (false, true, false)
    );
    assert_eq!(find(store, &begun[1]), None);
    let end_all = |kept| {
        let id = one.user.id;
        write(store, move |unit| unit.users().end_sessions(owner, id, kept)).unwrap()
    };
    assert_eq!(end_all(Some(begun[3].id)), 2);
    assert_eq!(sessions(store, &one), [begun[3].clone()]);
    assert_eq!((end_all(None), end_all(None)), (1, 0));
    assert_eq!(sessions(store, &one), []);
    assert_eq!(sessions(store, &two), [other]);
}

/// Not those of another partner, and not those of operators.
pub fn sessions_of_all_users_of_a_partner_end(store: &dyn Store) {
    let (one, two) = (partner(store), partner(store));
    let begin = |owner| {
        let record = stored(store, owner, 1);
        start(store, &record, 1)
    };
    let ended = [begin(Some(one)), begin(Some(one))];
    let kept = [begin(Some(two)), begin(None)];
    let end = || write(store, move |unit| unit.users().end_sessions_of(one)).unwrap();
    assert_eq!((end(), end()), (2, 0));
    assert!(ended.iter().all(|session| find(store, session).is_none()));
    assert!(kept.iter().all(|session| find(store, session).is_some()));
}

/// The oldest first, no more than the limit.
pub fn old_sessions_of_users_are_forgotten(store: &dyn Store) {
    let record = stored(store, Some(partner(store)), 1);
    let begun = [1, 2, 3, 4].map(|seconds| start(store, &record, seconds));
    let forget =
        |moment, limit| write(store, move |unit| unit.users().forget_expired(at(moment), limit)).unwrap();
    assert_eq!(forget(101, 10), 0);
    assert_eq!(forget(104, 2), 2);
    assert_eq!(sessions(store, &record), begun[2..]);
    assert_eq!((forget(104, 10), forget(104, 10)), (1, 0));
    assert_eq!(sessions(store, &record), begun[3..]);
}

/// Sends a file of a user that is kept for 100 seconds, beside the newest `kept - 1` others.
fn send(store: &dyn Store, record: &UserRecord, seconds: i64, kept: u32) -> UserUpload {
    let (partner, user) = (record.user.partner, record.user.id);
    let content = fresh().to_be_bytes().to_vec();
    let upload = UserUpload {
        id: id(),
        partner,
        user,
        content,
        created_at: at(seconds),
        expires_at: at(seconds + 100),
    };
    let new = upload.clone();
    write(store, move |unit| unit.users().add_upload(&new, kept)).unwrap();
    upload
}

fn upload(store: &dyn Store, record: &UserRecord, id: UploadId) -> Option<UserUpload> {
    let (partner, user) = (record.user.partner, record.user.id);
    read(store, move |unit| unit.users().upload(partner, user, id))
}

/// The newest uploads are kept until their end, each for its user alone.
pub fn a_users_newest_uploads_are_kept_until_their_end(store: &dyn Store) {
    let owner = partner(store);
    let [one, two] = [Some(owner), None].map(|owner| stored(store, owner, 1));
    let colleague = stored(store, Some(owner), 1);
    let other = send(store, &two, 0, 2);
    let [first, second, third] = [1, 2, 3].map(|seconds| send(store, &one, seconds, 2));
    assert_eq!(upload(store, &one, first.id), None);
    assert_eq!(upload(store, &one, second.id), Some(second.clone()));
    assert_eq!(upload(store, &one, third.id), Some(third.clone()));
    assert_eq!((upload(store, &colleague, third.id), upload(store, &two, third.id)), (None, None));
    assert_eq!(upload(store, &two, other.id), Some(other));
    let forget = |moment| write(store, move |unit| unit.users().forget_expired(at(moment), 10)).unwrap();
    assert_eq!((forget(103), forget(103)), (2, 0));
    assert_eq!((upload(store, &one, second.id), upload(store, &one, third.id)), (None, Some(third)));
    let user = one.user.id;
    write(store, move |unit| unit.users().delete(Some(owner), user)).unwrap();
    assert_eq!(get(store, &one), None);
}
