use time::Duration;
use uuid::Uuid;

use super::*;
use crate::access::Scopes;
use crate::ids::RunId;
use crate::run::{NewRun, RunKind, RunTotals};

const DIGEST: Digest = Digest::from_bytes([1; 32]);
const OTHER: Digest = Digest::from_bytes([2; 32]);
const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

fn user(number: u128) -> Authority {
    Authority { actor: Actor::User(Uuid::from_u128(number).into()), scopes: Scopes::ALL }
}

fn draft(faulty: u32, at: Option<OffsetDateTime>) -> Run {
    let new = NewRun {
        id: RunId::new(Uuid::from_u128(9)),
        kind: RunKind::TopUp,
        reference: None,
        at,
        creates_categories: false,
        totals: RunTotals { number: 3, faulty, amount: Kopecks::new(500), ..RunTotals::default() },
        digest: DIGEST,
    };
    Run::draft(new, user(1).actor, NOW)
}

fn submitted(above: i64) -> Run {
    draft(0, None).submit(&user(2), DIGEST, false, Kopecks::new(above), NOW).unwrap()
}

#[test]
fn a_submission_goes_ahead_waits_for_an_approval_or_for_its_time() {
    let later = NOW + Duration::HOUR;
    for (at, above, state) in [
        (None, 0, RunState::InProcess),
        (None, 500, RunState::InProcess),
        (None, 499, RunState::WaitingApproval),
        (Some(NOW), 0, RunState::InProcess),
        (Some(later), 0, RunState::Scheduled),
        (Some(later), 499, RunState::WaitingApproval),
    ] {
        let run = draft(0, at).submit(&user(1), DIGEST, false, Kopecks::new(above), NOW).unwrap();
        assert_eq!((run.state(), run.submitted().unwrap().at), (state, NOW), "{at:?} {above}");
        let again = run.clone().submit(&user(1), DIGEST, false, Kopecks::ZERO, NOW);
        assert_eq!(again, Ok(run), "a second submission changes nothing");
    }
}

#[test]
fn a_submission_needs_scope_digest_and_a_word_on_its_faults() {
    let submit = |run: Run, by: &Authority, digest, skip| run.submit(by, digest, skip, Kopecks::ZERO, NOW);
    let lacking = Authority { scopes: Scopes::of(&[Scope::RunsWrite]), ..user(1) };
    let forbidden = Err(SubmitError::Forbidden(Scope::ReplenishmentsWrite));
    assert_eq!(submit(draft(1, None), &lacking, OTHER, false), forbidden);
    assert_eq!(submit(draft(1, None), &user(1), OTHER, false), Err(SubmitError::Changed));
    assert_eq!(submit(draft(1, None), &user(1), DIGEST, false), Err(SubmitError::Faulty));
    assert!(submit(draft(1, None), &user(1), DIGEST, true).is_ok());
    let cancelled = draft(0, None).cancel(NOW).unwrap();
    assert_eq!(submit(cancelled, &user(1), DIGEST, false), Err(SubmitError::Changed));
    let late = draft(0, None).submit(&user(1), DIGEST, false, Kopecks::ZERO, NOW + DRAFT_LIFETIME);
    assert_eq!(late, Err(SubmitError::Changed));
}

#[test]
fn another_person_approves_or_refuses() {
    let waiting = || submitted(1);
    for own in [1, 2] {
        assert_eq!(waiting().approve(&user(own), DIGEST, NOW), Err(ApproveRunError::Forbidden));
        assert_eq!(waiting().refuse(&user(own), None, NOW), Err(ApproveRunError::Forbidden));
    }
    assert_eq!(waiting().approve(&user(3), OTHER, NOW), Err(ApproveRunError::Changed));
    let approved = waiting().approve(&user(3), DIGEST, NOW).unwrap();
    assert_eq!((approved.state(), approved.approved_by()), (RunState::InProcess, Some(&user(3).actor)));
    assert_eq!(approved.approve(&user(3), DIGEST, NOW), Err(ApproveRunError::Changed));
    let refused = waiting().refuse(&user(3), Some("too much".to_owned()), NOW).unwrap();
    assert_eq!(
        (refused.state(), refused.refusal().map(String::as_str)),
        (RunState::Rejected, Some("too much"))
    );
    assert_eq!(draft(0, None).approve(&user(3), DIGEST, NOW), Err(ApproveRunError::Changed));
    let late = NOW + approval::LIFETIME;
    assert_eq!(waiting().approve(&user(3), DIGEST, late), Err(ApproveRunError::Changed));
    assert_eq!(waiting().refuse(&user(3), None, late), Err(ApproveRunError::Changed));
}

#[test]
fn only_what_has_not_begun_is_cancelled() {
    let scheduled = draft(0, Some(NOW + Duration::HOUR));
    let scheduled = scheduled.submit(&user(1), DIGEST, false, Kopecks::ZERO, NOW).unwrap();
    for run in [draft(0, None), submitted(1), scheduled.clone()] {
        let cancelled = run.cancel(NOW).unwrap();
        assert_eq!(cancelled.state(), RunState::Rejected);
        assert_eq!(cancelled.clone().cancel(NOW), Ok(cancelled));
    }
    let started = scheduled.start(NOW).unwrap();
    assert_eq!(started.clone().cancel(NOW), Err(CancelRunError(RunState::InProcess)));
    assert!(started.start(NOW).is_err());
    let expired = draft(0, None).expire(NOW + DRAFT_LIFETIME);
    assert_eq!(expired.cancel(NOW), Err(CancelRunError(RunState::Expired)));
}

#[test]
fn drafts_and_approvals_expire() {
    let state = |run: Run, after: Duration| run.expire(NOW + after).state();
    let instant = Duration::MICROSECOND;
    assert_eq!(state(draft(0, None), DRAFT_LIFETIME - instant), RunState::Draft);
    assert_eq!(state(draft(0, None), DRAFT_LIFETIME), RunState::Expired);
    assert_eq!(state(submitted(1), approval::LIFETIME - instant), RunState::WaitingApproval);
    assert_eq!(state(submitted(1), approval::LIFETIME), RunState::Expired);
    assert_eq!(state(submitted(0), Duration::days(99)), RunState::InProcess);
}

#[test]
fn a_run_ends_by_what_became_of_its_items() {
    for (done, missed, end) in [
        (2, 0, RunState::Success),
        (1, 1, RunState::PartSuccess),
        (0, 2, RunState::Decline),
        (0, 0, RunState::Decline),
    ] {
        assert_eq!(submitted(0).conclude(done, missed, NOW).unwrap().state(), end);
    }
    assert!(draft(0, None).conclude(1, 0, NOW).is_err());
}
