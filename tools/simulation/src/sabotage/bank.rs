//! Rules of bank requests, switched off.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use kopeck_port_bank::{BankError, BankGateway, BankKey, DeclineReason, Submission, Verdict};
use kopeck_test_support::FakeBank;
use uuid::Uuid;

use crate::store::lock;

/// Without the rule that a key never changes: each submission has a new key, and the verdicts of earlier keys are lost.
pub(super) fn with_new_keys(bank: Arc<dyn BankGateway>) -> FakeBank {
    // The latest key by the one that should have been used.
    let submitted: Arc<Mutex<BTreeMap<BankKey, BankKey>>> = Arc::default();
    let (latest, made) = (Arc::clone(&submitted), Mutex::new(0_u128));
    let renew = move |submission: &Submission| {
        let mut made = lock(&made);
        *made += 1;
        let key = BankKey::of("renewed", Uuid::from_u128(*made), None);
        lock(&submitted).insert(submission.key.clone(), key.clone());
        Submission { key, instruction: submission.instruction.clone() }
    };
    FakeBank::over(bank)
        .on_submit(move |bank, submissions| {
            let renewed: Vec<Submission> = submissions.iter().map(&renew).collect();
            bank.submit(&renewed)
        })
        .on_issued_cards(move |bank, key, skip, limit| {
            let latest = lock(&latest).get(key).cloned();
            bank.issued_cards(latest.as_ref().unwrap_or(key), skip, limit)
        })
}

/// Without the rule that an unknown outcome decides nothing: it counts as a refusal.
pub(super) fn with_timeouts_as_refusals(bank: Arc<dyn BankGateway>) -> FakeBank {
    let refused = |outcome| match outcome {
        Err(BankError::Unknown(_)) => Ok(Verdict::Declined(DeclineReason::Refused)),
        Ok(_) | Err(BankError::Unavailable(_)) => outcome,
    };
    FakeBank::over(bank)
        .on_submit(move |bank, submissions| bank.submit(submissions).into_iter().map(refused).collect())
}

/// Without the rule that a submission is not retried at a bank that would carry it out twice.
pub(super) fn with_unsafe_retries(bank: Arc<dyn BankGateway>) -> FakeBank {
    FakeBank::over(bank).repeat_is_safe(true)
}
