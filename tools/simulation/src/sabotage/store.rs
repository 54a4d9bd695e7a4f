//! Rules of the store, switched off.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use kopeck_domain::Kopecks;
use kopeck_domain::closing::Closings;
use kopeck_domain::event::{Event, EventType};
use kopeck_domain::ids::{EventId, PartnerId};
use kopeck_domain::ledger::{Balances, Movement, MovementKind, TransferReference};
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::withdrawal::Withdrawals;
use kopeck_port_store::{
    Access, AuditRepository, Backlog, BalanceSheet, BankFeedRepository, CardBatchRepository, CardRepository,
    CategoryRepository, Claim, Done, EmployeeRepository, EventRepository, FeedEvent, Horizon,
    IdempotencyRepository, JobClock, JobRepository, LedgerRepository, MovementRepository, OrderRepository,
    PartnerRepository, ReconciliationRepository, RecordedResponse, Reschedule, SealedNonceRepository,
    SessionRepository, SpentNonce, Store, StoreError, StuckJob, Subject, ThrottleRepository,
    TransactionRepository, UnitOfWork, WebhookRepository, Work,
};
use time::{Duration, OffsetDateTime};

use super::Sabotage;
use crate::store::lock;

/// The latest claim of each piece of work.
type Latest = Arc<Mutex<HashMap<Subject, Claim>>>;

/// A store that lacks a rule.
pub(super) struct SabotagedStore {
    inner: Arc<dyn Store>,
    sabotage: Sabotage,
    latest: Latest,
}

impl SabotagedStore {
    pub(super) fn new(inner: Arc<dyn Store>, sabotage: Sabotage) -> Self {
        Self { inner, sabotage, latest: Latest::default() }
    }
}

impl Store for SabotagedStore {
    fn submit(&self, access: Access, mut work: Work, done: Done) {
        let (sabotage, latest) = (self.sabotage, Arc::clone(&self.latest));
        let sabotaged: Work =
            Box::new(move |unit| work(&mut SabotagedUnit { unit, sabotage, latest: Arc::clone(&latest) }));
        self.inner.submit(access, sabotaged, done);
    }
}

/// A unit of work that lacks a rule.
pub(super) struct SabotagedUnit<'a> {
    pub(super) unit: &'a mut dyn UnitOfWork,
    sabotage: Sabotage,
    latest: Latest,
}

macro_rules! passed_on {
    ($($method:ident: $repository:ident;)*) => {
        $(fn $method(&mut self) -> &mut dyn $repository {
            self.unit.$method()
        })*
    };
}

impl UnitOfWork for SabotagedUnit<'_> {
    fn jobs(&mut self) -> &mut dyn JobRepository {
        match self.sabotage {
            Sabotage::NoAttemptCheck | Sabotage::ForgottenSending => self,
            _ => self.unit.jobs(),
        }
    }

    fn ledger(&mut self) -> &mut dyn LedgerRepository {
        if self.sabotage == Sabotage::NoHold { self } else { self.unit.ledger() }
    }

    fn idempotency(&mut self) -> &mut dyn IdempotencyRepository {
        if self.sabotage == Sabotage::ForgottenAnswers { self } else { self.unit.idempotency() }
    }

    fn sealed_nonces(&mut self) -> &mut dyn SealedNonceRepository {
        if self.sabotage == Sabotage::ForgottenNonces { self } else { self.unit.sealed_nonces() }
    }

    fn events(&mut self) -> &mut dyn EventRepository {
        if self.sabotage == Sabotage::DoubledEvents { self } else { self.unit.events() }
    }

    fn replenishments(&mut self) -> &mut dyn CardBatchRepository<TopUps> {
        if self.sabotage == Sabotage::ForgottenMarks { self } else { self.unit.replenishments() }
    }

    fn limit_changes(&mut self) -> &mut dyn CardBatchRepository<LimitChanges> {
        if self.sabotage == Sabotage::ForgottenMarks { self } else { self.unit.limit_changes() }
    }

    fn closings(&mut self) -> &mut dyn CardBatchRepository<Closings> {
        if self.sabotage == Sabotage::ForgottenMarks { self } else { self.unit.closings() }
    }

    fn withdrawals(&mut self) -> &mut dyn CardBatchRepository<Withdrawals> {
        if self.sabotage == Sabotage::ForgottenMarks { self } else { self.unit.withdrawals() }
    }

    passed_on! {
        partners: PartnerRepository;
        sessions: SessionRepository;
        throttle: ThrottleRepository;
        employees: EmployeeRepository;
        categories: CategoryRepository;
        cards: CardRepository;
        transactions: TransactionRepository;
        orders: OrderRepository;
        reconciliation: ReconciliationRepository;
        movements: MovementRepository;
        bank_feed: BankFeedRepository;
        webhooks: WebhookRepository;
        audit: AuditRepository;
    }
}

impl SabotagedUnit<'_> {
    /// The claim that counts in the store; without the check of attempts, whatever the attempt of `claim`.
    fn counting(&self, claim: &Claim) -> Claim {
        match self.sabotage {
            Sabotage::NoAttemptCheck => lock(&self.latest).get(&claim.subject).unwrap_or(claim).clone(),
            _ => claim.clone(),
        }
    }
}

/// Attempts are not checked, or claims forget that something may have been sent.
impl JobRepository for SabotagedUnit<'_> {
    fn enqueue(&mut self, partner: PartnerId, subject: Subject, delay: Duration) -> Result<(), StoreError> {
        self.unit.jobs().enqueue(partner, subject, delay)
    }

    fn claim(&mut self, lease: Duration, limit: u32) -> Result<Vec<Claim>, StoreError> {
        let mut claims = self.unit.jobs().claim(lease, limit)?;
        for claim in &mut claims {
            lock(&self.latest).insert(claim.subject, claim.clone());
            if self.sabotage == Sabotage::ForgottenSending {
                claim.may_have_sent = false;
            }
        }
        Ok(claims)
    }

    fn is_current(&mut self, claim: &Claim) -> Result<bool, StoreError> {
        Ok(self.sabotage == Sabotage::NoAttemptCheck || self.unit.jobs().is_current(claim)?)
    }

    fn reschedule(&mut self, claim: &Claim, terms: Reschedule) -> Result<(), StoreError> {
        let claim = self.counting(claim);
        self.unit.jobs().reschedule(&claim, terms)
    }

    fn complete(&mut self, claim: &Claim) -> Result<(), StoreError> {
        let claim = self.counting(claim);
        self.unit.jobs().complete(&claim)
    }

    fn cancel(&mut self, partner: PartnerId, subject: Subject) -> Result<(), StoreError> {
        self.unit.jobs().cancel(partner, subject)
    }

    fn end_all_leases(&mut self) -> Result<(), StoreError> {
        self.unit.jobs().end_all_leases()
    }

    fn mark_stuck(&mut self, claim: &Claim) -> Result<(), StoreError> {
        let claim = self.counting(claim);
        self.unit.jobs().mark_stuck(&claim)
    }

    fn stuck(&mut self) -> Result<Vec<StuckJob>, StoreError> {
        self.unit.jobs().stuck()
    }

    fn force_claim(
        &mut self,
        partner: PartnerId,
        subject: Subject,
        lease: Duration,
    ) -> Result<Option<Claim>, StoreError> {
        self.unit.jobs().force_claim(partner, subject, lease)
    }

    fn is_any_due(&mut self) -> Result<bool, StoreError> {
        self.unit.jobs().is_any_due()
    }

    fn clock(&mut self, horizon: Horizon) -> Result<JobClock, StoreError> {
        self.unit.jobs().clock(horizon)
    }

    fn bring_within(&mut self, horizon: Horizon) -> Result<u64, StoreError> {
        self.unit.jobs().bring_within(horizon)
    }

    fn count(&mut self) -> Result<u64, StoreError> {
        self.unit.jobs().count()
    }

    fn count_of(&mut self, partner: PartnerId) -> Result<u64, StoreError> {
        self.unit.jobs().count_of(partner)
    }

    fn backlog(&mut self) -> Result<Backlog, StoreError> {
        self.unit.jobs().backlog()
    }
}

/// More than anything costs.
const PLENTY: Kopecks = Kopecks::new(1 << 60);

/// What is held stays free for others to spend, and is taken only with the capture.
impl LedgerRepository for SabotagedUnit<'_> {
    fn sheet(&mut self, partner: PartnerId) -> Result<Option<BalanceSheet>, StoreError> {
        let sheet = self.unit.ledger().sheet(partner)?;
        Ok(sheet.map(|sheet| BalanceSheet { balances: Balances { held: PLENTY, ..sheet.balances }, ..sheet }))
    }

    fn book(
        &mut self,
        partner: PartnerId,
        movement: &Movement,
        after: Balances,
        at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        match movement.kind() {
            MovementKind::Hold | MovementKind::Release => return Ok(()),
            MovementKind::Deposit
            | MovementKind::Return
            | MovementKind::Withdrawal
            | MovementKind::Correction => {
                let held = self.unit.ledger().sheet(partner)?.map(|sheet| sheet.balances.held);
                let after = Balances { held: held.unwrap_or_default(), ..after };
                return self.unit.ledger().book(partner, movement, after, at);
            }
            MovementKind::Capture => {}
        }
        let broken = |error: &dyn std::fmt::Display| StoreError::Failed(format!("nothing was held: {error}"));
        let hold = Movement::new(MovementKind::Hold, movement.reference().clone(), movement.amount())
            .map_err(|error| broken(&error))?;
        for part in [&hold, movement] {
            let sheet = self.unit.ledger().sheet(partner)?.ok_or_else(|| broken(&"no accounts"))?;
            let after = sheet.balances.after(part).map_err(|error| broken(&error))?;
            self.unit.ledger().book(partner, part, after, at)?;
        }
        Ok(())
    }

    fn set_threshold(&mut self, partner: PartnerId, threshold: Kopecks) -> Result<(), StoreError> {
        self.unit.ledger().set_threshold(partner, threshold)
    }

    fn transferred(
        &mut self,
        partner: PartnerId,
        kind: MovementKind,
        reference: &TransferReference,
    ) -> Result<Option<Kopecks>, StoreError> {
        self.unit.ledger().transferred(partner, kind, reference)
    }
}

/// Nothing is remembered.
impl IdempotencyRepository for SabotagedUnit<'_> {
    fn find(&mut self, _: PartnerId, _: &str) -> Result<Option<RecordedResponse>, StoreError> {
        Ok(None)
    }

    fn record(
        &mut self,
        _: PartnerId,
        _: &str,
        _: &RecordedResponse,
        _: OffsetDateTime,
    ) -> Result<(), StoreError> {
        Ok(())
    }

    fn forget_before(&mut self, _: OffsetDateTime, _: u32) -> Result<u64, StoreError> {
        Ok(0)
    }
}

/// No nonce is ever spent.
impl SealedNonceRepository for SabotagedUnit<'_> {
    fn find(&mut self, _: PartnerId, _: &str) -> Result<Option<SpentNonce>, StoreError> {
        Ok(None)
    }

    fn spend(&mut self, _: PartnerId, _: &str, _: &SpentNonce, _: OffsetDateTime) -> Result<(), StoreError> {
        Ok(())
    }

    fn forget_before(&mut self, _: OffsetDateTime, _: u32) -> Result<u64, StoreError> {
        Ok(0)
    }
}

/// Events are duplicated.
impl EventRepository for SabotagedUnit<'_> {
    fn append(&mut self, partner: PartnerId, events: &[Event]) -> Result<(), StoreError> {
        self.unit.events().append(partner, events)?;
        self.unit.events().append(partner, events)
    }

    fn after(
        &mut self,
        partner: PartnerId,
        after: i64,
        types: &[EventType],
        limit: u32,
    ) -> Result<Vec<FeedEvent>, StoreError> {
        self.unit.events().after(partner, after, types, limit)
    }

    fn by_id(&mut self, partner: PartnerId, id: EventId) -> Result<Option<FeedEvent>, StoreError> {
        self.unit.events().by_id(partner, id)
    }

    fn last(&mut self, partner: PartnerId) -> Result<i64, StoreError> {
        self.unit.events().last(partner)
    }

    fn expired_up_to(&mut self, partner: PartnerId) -> Result<i64, StoreError> {
        self.unit.events().expired_up_to(partner)
    }

    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        self.unit.events().forget_before(moment, limit)
    }
}
