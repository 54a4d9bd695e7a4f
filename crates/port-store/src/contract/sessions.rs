//! Logins and token pairs.

use crate::session::{PairState, SessionHolder, SessionOverview, TokenPair};
use kopeck_domain::ids::{PartnerId, SessionId};

use super::support::{at, id, partner, read, write};
use crate::{Rule, Store, StoreError, StoredPair};

fn pair(expires: i64) -> TokenPair {
    TokenPair {
        id: id(),
        state: PairState::Fresh,
        used: false,
        successor: None,
        reissued: false,
        refresh_expires_at: at(expires),
    }
}

fn session(store: &dyn Store, partner: PartnerId) -> SessionId {
    let session = id();
    write(store, move |unit| unit.sessions().insert(partner, session, None, at(0))).unwrap();
    session
}

fn insert(
    store: &dyn Store,
    partner: PartnerId,
    session: SessionId,
    pair: &TokenPair,
) -> Result<(), StoreError> {
    let pair = pair.clone();
    write(store, move |unit| unit.sessions().insert_pair(partner, session, &pair))
}

fn get(store: &dyn Store, partner: PartnerId, pair: &TokenPair) -> Option<StoredPair> {
    let id = pair.id;
    read(store, move |unit| unit.sessions().pair(partner, id))
}

fn forget(store: &dyn Store, moment: i64, limit: u32) -> u64 {
    write(store, move |unit| unit.sessions().forget_expired(at(moment), limit)).unwrap()
}

/// What was stored comes back whole; what was not is not there.
pub fn a_pair_is_stored_with_its_session(store: &dyn Store) {
    let partner = partner(store);
    let session = session(store, partner);
    let fresh = pair(100);
    assert_eq!(get(store, partner, &fresh), None);
    insert(store, partner, session, &fresh).unwrap();
    let stored = StoredPair {
        session,
        session_started_at: at(0),
        session_used_at: None,
        session_revoked: false,

        credential: None,
        pair: fresh.clone(),
    };
    assert_eq!(get(store, partner, &fresh), Some(stored));
}

/// Every field that a rotation touches, there and back.
pub fn a_changed_pair_is_stored(store: &dyn Store) {
    let partner = partner(store);
    let session = session(store, partner);
    let (first, neighbour) = (pair(100), pair(100));
    insert(store, partner, session, &first).unwrap();
    insert(store, partner, session, &neighbour).unwrap();
    let spent = TokenPair {
        state: PairState::Spent,
        used: true,
        successor: Some(id()),
        reissued: true,
        ..first.clone()
    };
    let revoked = TokenPair { state: PairState::Revoked, ..first };
    for changed in [spent, revoked] {
        let update = changed.clone();
        write(store, move |unit| unit.sessions().update_pair(partner, &update)).unwrap();
        assert_eq!(get(store, partner, &changed).unwrap().pair, changed);
        assert_eq!(get(store, partner, &neighbour).unwrap().pair, neighbour);
    }
}

/// Whichever pair of it is looked at, and no pair of another session.
pub fn a_revoked_session_shows_in_its_pairs(store: &dyn Store) {
    let partner = partner(store);
    let (revoked, kept) = (session(store, partner), session(store, partner));
    let pairs = [(revoked, pair(1)), (revoked, pair(2)), (kept, pair(3))];
    for (session, pair) in &pairs {
        insert(store, partner, *session, pair).unwrap();
    }
    write(store, move |unit| unit.sessions().revoke(partner, revoked)).unwrap();
    let shown = pairs.map(|(_, pair)| get(store, partner, &pair).unwrap().session_revoked);
    assert_eq!(shown, [true, true, false]);
}

/// By their beginning, and of the same timestamp by their identifier; another partner's stay.
pub fn all_but_the_latest_sessions_are_revoked(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let start = |partner, seconds| {
        let (session, pair): (SessionId, _) = (id(), pair(100));
        write(store, move |unit| unit.sessions().insert(partner, session, None, at(seconds))).unwrap();
        insert(store, partner, session, &pair).unwrap();
        pair
    };
    let sessions = [start(partner, 1), start(partner, 3), start(partner, 3), start(partner, 2)];
    let foreign = start(other, 0);
    let revoke = |keep| {
        write(store, move |unit| unit.sessions().revoke_all_but(partner, SessionHolder::Anyone, keep))
            .unwrap()
    };
    let revoked = || sessions.clone().map(|pair| get(store, partner, &pair).unwrap().session_revoked);
    assert_eq!((revoke(4), revoked()), (0, [false; 4]));
    assert_eq!((revoke(2), revoked()), (2, [true, false, false, true]));
    assert_eq!((revoke(1), revoked()), (1, [true, true, false, true]), "of one moment");
    assert_eq!((revoke(0), revoked()), (1, [true; 4]));
    assert_eq!(revoke(0), 0);
    assert!(!get(store, other, &foreign).unwrap().session_revoked);
}

/// A pair tells whose session it is of. Of one holder those of the others stay.
pub fn sessions_are_revoked_by_their_holder(store: &dyn Store) {
    let partner = partner(store);
    let [one, other] = [id(), id()];
    let holders = [None, Some(one), Some(one), Some(other)];
    let pairs =
        [(1, holders[0]), (2, holders[1]), (3, holders[2]), (4, holders[3])].map(|(seconds, holder)| {
            let (session, pair): (SessionId, _) = (id(), pair(100));
            write(store, move |unit| unit.sessions().insert(partner, session, holder, at(seconds))).unwrap();
            insert(store, partner, session, &pair).unwrap();
            pair
        });
    let found = || pairs.clone().map(|pair| get(store, partner, &pair).unwrap());
    assert_eq!(found().map(|stored| stored.credential), holders);
    let revoke = |holder, keep| {
        write(store, move |unit| unit.sessions().revoke_all_but(partner, holder, keep)).unwrap()
    };
    let revoked = || found().map(|stored| stored.session_revoked);
    assert_eq!((revoke(SessionHolder::Credential(one), 1), revoked()), (1, [false, true, false, false]));
    assert_eq!((revoke(SessionHolder::Credential(one), 0), revoked()), (1, [false, true, true, false]));
    assert_eq!((revoke(SessionHolder::Login, 0), revoked()), (1, [true, true, true, false]));
    assert_eq!((revoke(SessionHolder::Anyone, 0), revoked()), (1, [true; 4]));
}

/// Not those that were revoked, those whose tokens have all ended, and another partner's.
pub fn active_sessions_are_counted(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let active = |partner, seconds| read(store, move |unit| unit.sessions().active(partner, at(seconds)));
    assert_eq!(active(partner, 0), 0);
    let [ends, lasts, revoked] = [50, 100, 100].map(|until| {
        let session = session(store, partner);
        insert(store, partner, session, &pair(until)).unwrap();
        session
    });
    assert_eq!((active(partner, 10), active(other, 10)), (3, 0));
    write(store, move |unit| unit.sessions().revoke(partner, revoked)).unwrap();
    assert_eq!([49, 50, 99, 100].map(|seconds| active(partner, seconds)), [2, 1, 1, 0]);
    insert(store, partner, ends, &pair(200)).unwrap();
    insert(store, partner, lasts, &pair(150)).unwrap();
    assert_eq!([149, 150, 199].map(|seconds| active(partner, seconds)), [2, 1, 1]);
}

/// A session of another partner is no session.
pub fn a_pair_needs_a_session_of_the_same_partner(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let session = session(store, first);
    for (partner, session) in [(first, id()), (second, session), (id(), session)] {
        let refused = insert(store, partner, session, &pair(1));
        assert_eq!(refused, Err(StoreError::Conflict(Rule::Reference)));
    }
}

/// Neither seen nor changed nor revoked by another.
pub fn a_pair_is_its_partners_own(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let session = session(store, first);
    let kept = pair(1);
    insert(store, first, session, &kept).unwrap();
    assert_eq!(get(store, second, &kept), None);
    let update = TokenPair { used: true, ..kept.clone() };
    write(store, move |unit| {
        unit.sessions().update_pair(second, &update)?;
        unit.sessions().revoke(second, session)
    })
    .unwrap();
    let stored = StoredPair {
        session,
        session_started_at: at(0),
        session_used_at: None,
        session_revoked: false,

        credential: None,
        pair: kept.clone(),
    };
    assert_eq!(get(store, first, &kept), Some(stored));
}

/// Pairs one by one, and a session with its last pair; a session that has just begun stays.
pub fn expired_sessions_are_forgotten(store: &dyn Store) {
    let partner = partner(store);
    let (old, living) = (session(store, partner), session(store, partner));
    let (ended, also_ended, valid) = (pair(50), pair(60), pair(61));
    insert(store, partner, old, &ended).unwrap();
    insert(store, partner, living, &also_ended).unwrap();
    insert(store, partner, living, &valid).unwrap();
    let begun: SessionId = id();
    write(store, move |unit| unit.sessions().insert(partner, begun, None, at(61))).unwrap();
    assert_eq!(forget(store, 50, 10), 0, "a token is good up to its end");
    assert_eq!(forget(store, 61, 10), 3, "two pairs and a session");
    assert_eq!(get(store, partner, &ended), None);
    assert_eq!(get(store, partner, &also_ended), None);
    assert_eq!(get(store, partner, &valid).unwrap().session, living);
    let refused = insert(store, partner, old, &pair(99));
    assert_eq!(refused, Err(StoreError::Conflict(Rule::Reference)), "the session is gone too");
    insert(store, partner, living, &pair(99)).unwrap();
    insert(store, partner, begun, &pair(99)).unwrap();
}

/// However small it is, enough repetitions remove all.
pub fn forgetting_stops_at_its_limit(store: &dyn Store) {
    let partner = partner(store);
    for _ in 0..3 {
        let session = session(store, partner);
        insert(store, partner, session, &pair(10)).unwrap();
    }
    let removed: Vec<u64> = (0..7).map(|_| forget(store, 20, 1)).collect();
    assert_eq!(removed, [1, 1, 1, 1, 1, 1, 0]);
}

/// With its address, wherever the session is read; a use that is noted late changes nothing.
pub fn the_latest_use_of_a_session_is_kept(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let session = session(store, partner);
    let pair = pair(100);
    insert(store, partner, session, &pair).unwrap();
    let touch = |partner, seconds, address: Option<&'static str>| {
        write(store, move |unit| unit.sessions().touch(partner, session, at(seconds), address)).unwrap();
    };
    let seen = || {
        let listed = list(store, partner, session, 10).pop().unwrap();
        assert_eq!(listed.last_used_at, get(store, partner, &pair).unwrap().session_used_at);
        (listed.last_used_at, listed.address)
    };
    assert_eq!(seen(), (None, None));
    touch(partner, 20, Some("10.0.0.1"));
    assert_eq!(seen(), (Some(at(20)), Some("10.0.0.1".to_owned())));
    touch(partner, 19, Some("10.0.0.2"));
    touch(other, 30, Some("10.0.0.3"));
    assert_eq!(seen(), (Some(at(20)), Some("10.0.0.1".to_owned())));
    touch(partner, 21, None);
    assert_eq!(seen(), (Some(at(21)), None));
}

fn list(store: &dyn Store, partner: PartnerId, of: SessionId, now: i64) -> Vec<SessionOverview> {
    read(store, move |unit| unit.sessions().list(partner, of, at(now)))
}

/// Not those that were revoked, those whose tokens have all ended, and another partner's.
pub fn sessions_are_listed_oldest_first(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let begin = |partner, seconds, until| {
        let session = id();
        write(store, move |unit| unit.sessions().insert(partner, session, None, at(seconds))).unwrap();
        insert(store, partner, session, &pair(until)).unwrap();
        session
    };
    let [second, first, revoked, ended] =
        [(2, 100), (1, 100), (3, 100), (0, 50)].map(|(seconds, until)| begin(partner, seconds, until));
    begin(other, 0, 100);
    write(store, move |unit| unit.sessions().revoke(partner, revoked)).unwrap();
    let foreign = list(store, other, first, 10);
    assert_eq!(foreign, [], "a session of another partner is none");
    let listed = |now| -> Vec<_> { list(store, partner, first, now).into_iter().map(|one| one.id).collect() };
    assert_eq!(
        (listed(49), listed(50), listed(100)),
        (vec![ended, first, second], vec![first, second], vec![])
    );
    let of_first = list(store, partner, first, 50).remove(0);
    let whole = SessionOverview { id: first, created_at: at(1), last_used_at: None, address: None };
    assert_eq!(of_first, whole);
}

/// Another partner's stay.
pub fn all_sessions_but_one_are_revoked(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let begin = |partner| {
        let session = session(store, partner);
        insert(store, partner, session, &pair(100)).unwrap();
        session
    };
    let (kept, _, _, foreign) = (begin(partner), begin(partner), begin(partner), begin(other));
    let revoke = || write(store, move |unit| unit.sessions().revoke_others(partner, kept)).unwrap();
    let ids =
        |partner, of| -> Vec<_> { list(store, partner, of, 10).into_iter().map(|one| one.id).collect() };
    assert_eq!((revoke(), ids(partner, kept)), (2, vec![kept]));
    assert_eq!((revoke(), ids(other, foreign)), (0, vec![foreign]));
}
