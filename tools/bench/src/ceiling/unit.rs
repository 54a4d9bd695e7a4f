//! A store that keeps nothing. It answers what reading and adding an employee needs; nothing else is called.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use kopeck_audit::{Entry, Mark, Opening, Record};
use kopeck_domain::card::{AccountBalance, BankView, Card, CardStatus};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::closing::Closings;
use kopeck_domain::employee::{Employee, NewEmployee};
use kopeck_domain::event::{Event, EventType};
use kopeck_domain::ids::{CardId, EmployeeId, EventId, PartnerId, SessionId, TokenPairId};
use kopeck_domain::limit::Limit;
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::partner::{Partner, PartnerStatus, SealingPolicy};
use kopeck_domain::person::{CustomId, PersonName, Phone};
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::transaction::Transaction;
use kopeck_domain::withdrawal::Withdrawals;
use kopeck_port_bank::{BankCard, BankError, BankGateway, BankKey, IssuedCard, Submission, Verdict};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::session::TokenPair;
use kopeck_port_store::{
    Access, AccountDue, AuditFilter, AuditRepository, AvailableFilter, BankFeedRepository,
    CardBatchRepository, CardFilter, CardRecord, CardRepository, CategoryRepository, Credentials, Done,
    EmployeeCards, EmployeeFilter, EmployeeRepository, EventRepository, FeedEvent, IdempotencyRepository,
    JobRepository, LedgerRepository, MovementRepository, NewCard, OrderRepository, PartnerRepository,
    ReconciliationRepository, RecordedResponse, ReencryptionCursor, SealedNonceRepository, SealingKeyRecord,
    SessionRepository, SpentNonce, Store, StoreError, StoredPair, ThrottleRepository, TransactionRepository,
    UnitOfWork, WebhookRepository, Work,
};
use time::{Date, OffsetDateTime};

use super::seeded::SeededPartners;
use crate::numbered;

/// Runs units of work at once, on the calling thread. Reads return the same of every employee; writes are forgotten.
pub(super) struct Nothing(pub(super) Arc<SeededPartners>);

impl Store for Nothing {
    fn submit(&self, _: Access, mut work: Work, done: Done) {
        let mut unit = Unit(Arc::clone(&self.0));
        let result = catch_unwind(AssertUnwindSafe(|| work(&mut unit)));
        done(result.map(drop).map_err(|_| StoreError::Failed("a unit of work panicked".to_owned())));
    }
}

struct Unit(Arc<SeededPartners>);

/// Methods that no request of the load calls.
macro_rules! absent {
    ($($name:ident($($argument:ty),*) -> $value:ty;)*) => {
        $(fn $name(&mut self $(, _: $argument)*) -> Result<$value, StoreError> { absent() })*
    };
}

#[expect(clippy::panic, reason = "the HTTP adapter makes a 500 of it, and a measurement with errors is void")]
fn absent() -> ! {
    panic!("the yardstick does not have this")
}

macro_rules! repositories {
    (present { $($name:ident: $repository:path,)* } absent { $($no_name:ident: $no_repository:path,)* }) => {
        $(fn $name(&mut self) -> &mut dyn $repository { self })*
        $(fn $no_name(&mut self) -> &mut dyn $no_repository { absent() })*
    };
}

impl UnitOfWork for Unit {
    repositories! {
        present {
            partners: PartnerRepository,
            sessions: SessionRepository,
            idempotency: IdempotencyRepository,
            sealed_nonces: SealedNonceRepository,
            employees: EmployeeRepository,
            cards: CardRepository,
            events: EventRepository,
            audit: AuditRepository,
        }
        absent {
            throttle: ThrottleRepository,
            categories: CategoryRepository,
            transactions: TransactionRepository,
            orders: OrderRepository,
            replenishments: CardBatchRepository<TopUps>,
            limit_changes: CardBatchRepository<LimitChanges>,
            closings: CardBatchRepository<Closings>,
            withdrawals: CardBatchRepository<Withdrawals>,
            ledger: LedgerRepository,
            movements: MovementRepository,
            jobs: JobRepository,
            reconciliation: ReconciliationRepository,
            bank_feed: BankFeedRepository,
            webhooks: WebhookRepository,
        }
    }
}

impl AuditRepository for Unit {
    fn append(&mut self, _: &Entry) -> Result<(), StoreError> {
        Ok(())
    }
    absent! {
        list(&AuditFilter, u32) -> Vec<Record>;
        openings(u64, u32) -> Vec<Opening>;
        records(u64, u64, u32) -> Vec<Record>;
        last_record(u64) -> Option<Record>;
        marks(u64) -> Vec<Mark>;
        put_mark(&Mark) -> ();
        prune(&Mark) -> u64;
        last_chain_in_use() -> u64;
    }
}

impl EventRepository for Unit {
    fn append(&mut self, _: PartnerId, _: &[Event]) -> Result<(), StoreError> {
        Ok(())
    }
    absent! {
        after(PartnerId, i64, &[EventType], u32) -> Vec<FeedEvent>;
        by_id(PartnerId, EventId) -> Option<FeedEvent>;
        last(PartnerId) -> i64;
        expired_up_to(PartnerId) -> i64;
        forget_before(OffsetDateTime, u32) -> u64;
    }
}

impl EmployeeRepository for Unit {
    fn insert(&mut self, _: PartnerId, _: &Employee) -> Result<(), StoreError> {
        Ok(())
    }
    fn get(&mut self, _: PartnerId, id: EmployeeId) -> Result<Option<Employee>, StoreError> {
        let name = |text| PersonName::parse(text).ok();
        let custom_id = CustomId::parse("T-1000").map_err(|_| StoreError::Corrupt("employee".to_owned()))?;
        let fields = NewEmployee {
            surname: name("Ёжиков"),
            name: name("Иван"),
            phone: Phone::parse("9031234567").ok(),
            ..NewEmployee::default()
        };
        Ok(Some(Employee::add(id, custom_id, fields, OffsetDateTime::UNIX_EPOCH)))
    }
    fn with_cards(
        &mut self,
        partner: PartnerId,
        id: EmployeeId,
    ) -> Result<Option<(Employee, EmployeeCards)>, StoreError> {
        let employee = EmployeeRepository::get(self, partner, id)?;
        employee.map(|employee| Ok((employee, self.of_employee(partner, id)?))).transpose()
    }
    fn id_by_custom_id(&mut self, _: PartnerId, _: &CustomId) -> Result<Option<EmployeeId>, StoreError> {
        Ok(None)
    }
    absent! {
        update(PartnerId, &Employee) -> ();
        erase(PartnerId, EmployeeId, OffsetDateTime) -> ();
        list(PartnerId, &EmployeeFilter, Page) -> Listed<Employee>;
    }
}

impl IdempotencyRepository for Unit {
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
    absent! {
        forget_before(OffsetDateTime, u32) -> u64;
    }
}

impl SealedNonceRepository for Unit {
    fn find(&mut self, _: PartnerId, _: &str) -> Result<Option<SpentNonce>, StoreError> {
        Ok(None)
    }
    fn spend(&mut self, _: PartnerId, _: &str, _: &SpentNonce, _: OffsetDateTime) -> Result<(), StoreError> {
        Ok(())
    }
    absent! {
        forget_before(OffsetDateTime, u32) -> u64;
    }
}

impl PartnerRepository for Unit {
    fn get(&mut self, id: PartnerId) -> Result<Option<Partner>, StoreError> {
        Ok(self.0.partner(id))
    }
    fn sealing_keys(&mut self, id: PartnerId) -> Result<Vec<SealingKeyRecord>, StoreError> {
        Ok(self.0.key(id).into_iter().cloned().collect())
    }
    absent! {
        insert(&Credentials) -> ();
        by_api_key(&[u8; 32], OffsetDateTime) -> Option<Credentials>;
        replace_api_key(PartnerId, &[u8; 32], OffsetDateTime) -> ();
        reencrypt_columns(ReencryptionCursor, u32) -> (u64, Option<ReencryptionCursor>);
        reencrypt_sealing_key(PartnerId, [u8; 8], &[u8]) -> ();
        list() -> Vec<Partner>;
        set_password_hash(PartnerId, &str) -> ();
        set_status(PartnerId, PartnerStatus) -> ();
        set_sealing(PartnerId, SealingPolicy) -> ();
        set_name(PartnerId, &str) -> ();
        delete(PartnerId) -> ();
        former_api_key_until(PartnerId) -> Option<OffsetDateTime>;
        add_sealing_key(PartnerId, &SealingKeyRecord) -> ();
        end_sealing_key(PartnerId, [u8; 8], OffsetDateTime) -> ();
        mark_sealing_key_used(PartnerId, [u8; 8], OffsetDateTime) -> ();
    }
}

impl SessionRepository for Unit {
    fn pair(&mut self, partner: PartnerId, pair: TokenPairId) -> Result<Option<StoredPair>, StoreError> {
        Ok(self.0.pair(partner, pair))
    }
    absent! {
        insert(PartnerId, SessionId, OffsetDateTime) -> ();
        revoke(PartnerId, SessionId) -> ();
        revoke_all_but(PartnerId, u32) -> u64;
        active(PartnerId, OffsetDateTime) -> u64;
        insert_pair(PartnerId, SessionId, &TokenPair) -> ();
        update_pair(PartnerId, &TokenPair) -> ();
        forget_expired(OffsetDateTime, u32) -> u64;
    }
}

impl CardRepository for Unit {
    fn of_employee(&mut self, _: PartnerId, _: EmployeeId) -> Result<Vec<(CardId, CardStatus)>, StoreError> {
        let card = |number, status| (CardId::new(numbered::id(number)), status);
        Ok(vec![
            card(numbered::MAIN_CARDS + 1, CardStatus::Main),
            card(numbered::ADDITIONAL_CARDS + 1, CardStatus::Additional),
        ])
    }
    absent! {
        insert_issued(PartnerId, &[NewCard]) -> ();
        get(PartnerId, CardId) -> Option<CardRecord>;
        by_number(PartnerId, CardNumber) -> Option<CardRecord>;
        main_card(PartnerId, EmployeeId) -> Option<CardId>;
        set_link(PartnerId, &Card) -> ();
        blocked(PartnerId, &[CardId]) -> Vec<(CardId, kopeck_domain::card::BlockState)>;
        is_being_closed(PartnerId, CardId) -> bool;
        set_bank_view(PartnerId, CardId, &BankView, Date) -> bool;
        outdate_bank_view(PartnerId, &[CardId], OffsetDateTime) -> ();
        set_limit(PartnerId, &[CardId], &Limit) -> ();
        accounts_due(Range<OffsetDateTime>, u32) -> Vec<AccountDue>;
        forget_activation_codes(Date, u32) -> u64;
        owners(&[CardNumber]) -> Vec<(CardNumber, PartnerId, CardId)>;
        unconfirmed_blocks(u32) -> Vec<(PartnerId, kopeck_domain::card::Card)>;
        expiries_due(Date, u32) -> Vec<(PartnerId, CardId)>;
        take_expiry(PartnerId, CardId, Date, Option<Date>) -> bool;
        set_account(PartnerId, CardId, &AccountBalance) -> ();
        list(PartnerId, &CardFilter, Page) -> Listed<CardRecord>;
        available(PartnerId, AvailableFilter, Page) -> Listed<Card>;
    }
}

/// A bank that no request of the load calls.
pub(super) struct NoBank;

impl BankGateway for NoBank {
    fn repeat_is_safe(&self) -> bool {
        true
    }
    fn submit(&self, _: &[Submission]) -> Vec<Result<Verdict, BankError>> {
        absent()
    }
    fn query(&self, _: &[BankKey]) -> Result<Vec<Option<Verdict>>, BankError> {
        absent()
    }
    fn issued_cards(&self, _: &BankKey, _: u32, _: u32) -> Result<Vec<IssuedCard>, BankError> {
        absent()
    }
    fn card(&self, _: CardNumber) -> Result<Option<BankCard>, BankError> {
        absent()
    }
    fn transactions(&self, _: CardNumber, _: i64, _: u32) -> Result<Vec<Transaction>, BankError> {
        absent()
    }
}
