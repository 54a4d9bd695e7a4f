//! Rules of the way to the bank, switched off.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use kopeck_domain::card_number::CardNumber;
use kopeck_domain::transaction::Transaction;
use kopeck_port_bank::{
    BankCard, BankError, BankGateway, BankKey, DeclineReason, IssuedCard, Submission, Verdict,
};

use crate::store::lock;

/// Without the rule that a key never changes: each submission goes under one of its own, and nobody knows what
/// became of those before.
pub(super) struct FreshKeys {
    inner: Arc<dyn BankGateway>,
    /// The latest key by the one that should have been used.
    latest: Mutex<BTreeMap<BankKey, BankKey>>,
    made: Mutex<u64>,
}

impl FreshKeys {
    pub(super) fn new(inner: Arc<dyn BankGateway>) -> Self {
        Self { inner, latest: Mutex::default(), made: Mutex::default() }
    }

    fn fresh(&self, submission: &Submission) -> Submission {
        let mut made = lock(&self.made);
        *made += 1;
        let key = BankKey::new(format!("{}#{made}", submission.key.as_str()));
        lock(&self.latest).insert(submission.key.clone(), key.clone());
        Submission { key, instruction: submission.instruction.clone() }
    }
}

impl BankGateway for FreshKeys {
    fn repeat_is_safe(&self) -> bool {
        self.inner.repeat_is_safe()
    }

    fn submit(&self, submissions: &[Submission]) -> Vec<Result<Verdict, BankError>> {
        let fresh: Vec<Submission> = submissions.iter().map(|submission| self.fresh(submission)).collect();
        self.inner.submit(&fresh)
    }

    fn query(&self, keys: &[BankKey]) -> Result<Vec<Option<Verdict>>, BankError> {
        self.inner.query(keys)
    }

    fn issued_cards(&self, key: &BankKey, skip: u32, limit: u32) -> Result<Vec<IssuedCard>, BankError> {
        let latest = lock(&self.latest).get(key).cloned();
        self.inner.issued_cards(latest.as_ref().unwrap_or(key), skip, limit)
    }

    fn card(&self, number: CardNumber) -> Result<Option<BankCard>, BankError> {
        self.inner.card(number)
    }

    fn transactions(
        &self,
        number: CardNumber,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Transaction>, BankError> {
        self.inner.transactions(number, after, limit)
    }
}

/// A gateway that passes on what is not its affair.
macro_rules! passes_on {
    ($($method:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {
        $(fn $method(&self, $($argument: $kind),*) -> $result {
            self.0.$method($($argument),*)
        })*
    };
}

/// Without the rule that an unknown answer decides nothing: it is taken for a refusal.
pub(super) struct Hasty(pub(super) Arc<dyn BankGateway>);

impl BankGateway for Hasty {
    fn submit(&self, submissions: &[Submission]) -> Vec<Result<Verdict, BankError>> {
        let refused = Ok(Verdict::Declined(DeclineReason::Refused));
        let hasty = |answer| match answer {
            Err(BankError::Unknown(_)) => refused.clone(),
            Ok(_) | Err(BankError::Unavailable(_)) => answer,
        };
        self.0.submit(submissions).into_iter().map(hasty).collect()
    }

    passes_on! {
        repeat_is_safe() -> bool;
        query(keys: &[BankKey]) -> Result<Vec<Option<Verdict>>, BankError>;
        issued_cards(key: &BankKey, skip: u32, limit: u32) -> Result<Vec<IssuedCard>, BankError>;
        card(number: CardNumber) -> Result<Option<BankCard>, BankError>;
        transactions(number: CardNumber, after: i64, limit: u32) -> Result<Vec<Transaction>, BankError>;
    }
}

/// Without the rule that what may have been sent is not sent again to a bank that would do it twice.
pub(super) struct Trusting(pub(super) Arc<dyn BankGateway>);

impl BankGateway for Trusting {
    fn repeat_is_safe(&self) -> bool {
        true
    }

    passes_on! {
        submit(submissions: &[Submission]) -> Vec<Result<Verdict, BankError>>;
        query(keys: &[BankKey]) -> Result<Vec<Option<Verdict>>, BankError>;
        issued_cards(key: &BankKey, skip: u32, limit: u32) -> Result<Vec<IssuedCard>, BankError>;
        card(number: CardNumber) -> Result<Option<BankCard>, BankError>;
        transactions(number: CardNumber, after: i64, limit: u32) -> Result<Vec<Transaction>, BankError>;
    }
}
