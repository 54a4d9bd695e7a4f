//! A unit of work that knows what two calls need: an employee is read, an employee is added. Everything else is not
//! called, and would say so.

use std::ops::Range;
use std::sync::Arc;

use diesel::SqliteConnection;
use kopeck_domain::audit::{Entry, Mark, Opening, Record};
use kopeck_domain::card::{AccountBalance, BankView, Card, CardStatus};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::employee::{Employee, EmployeeStatus};
use kopeck_domain::ids::{CardId, EmployeeId, PartnerId, SessionId, TokenPairId};
use kopeck_domain::limit::Limit;
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::page::{Listed, Page};
use kopeck_domain::partner::{Partner, PartnerStatus};
use kopeck_domain::person::{CustomId, PersonName, Phone};
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::session::TokenPair;
use kopeck_domain::transaction::Transaction;
use kopeck_port_bank::{BankCard, BankError, BankGateway, BankKey, IssuedCard, Submission};
use kopeck_port_store::{
    AccountDue, AuditFilter, AuditRepository, AvailableFilter, CardBatchRepository, CardRecord,
    CardRepository, CategoryRepository, Credentials, EmployeeCards, EmployeeFilter, EmployeeRepository,
    IdempotencyRepository, JobRepository, LedgerRepository, NewCard, OrderRepository, PartnerRepository,
    ReconciliationRepository, RecordedResponse, Rule, SealedNonceRepository, SealingKeyRecord,
    SessionRepository, SpentNonce, StoreError, StoredPair, ThrottleRepository, TransactionRepository,
    UnitOfWork,
};
use time::{Date, OffsetDateTime};

use super::known::Known;
use super::plain;
use crate::numbered;

/// The unit of work.
pub(super) struct Unit {
    pub(super) known: Arc<Known>,
    /// Where an employee is added; without it nowhere.
    pub(super) database: Option<SqliteConnection>,
}

impl Unit {
    /// Runs statements on the database, if there is one.
    pub(super) fn execute(&mut self, statements: &str) -> Result<(), StoreError> {
        self.database.as_mut().map_or(Ok(()), |connection| plain::execute(connection, statements))
    }
}

/// What no call of the load needs.
#[expect(
    clippy::panic,
    reason = "the front door makes a 500 of it, and a measurement with such answers is void"
)]
fn absent() -> ! {
    panic!("there is nothing here to call")
}

macro_rules! absent_repositories {
    ($($name:ident: $repository:path,)*) => {
        $(fn $name(&mut self) -> &mut dyn $repository { absent() })*
    };
}

impl UnitOfWork for Unit {
    fn partners(&mut self) -> &mut dyn PartnerRepository {
        self
    }
    fn sessions(&mut self) -> &mut dyn SessionRepository {
        self
    }
    fn idempotency(&mut self) -> &mut dyn IdempotencyRepository {
        self
    }
    fn sealed_nonces(&mut self) -> &mut dyn SealedNonceRepository {
        self
    }
    fn employees(&mut self) -> &mut dyn EmployeeRepository {
        self
    }
    fn cards(&mut self) -> &mut dyn CardRepository {
        self
    }
    fn audit(&mut self) -> &mut dyn AuditRepository {
        self
    }
    absent_repositories! {
        throttle: ThrottleRepository,
        categories: CategoryRepository,
        transactions: TransactionRepository,
        orders: OrderRepository,
        replenishments: CardBatchRepository<TopUps>,
        limit_changes: CardBatchRepository<LimitChanges>,
        ledger: LedgerRepository,
        jobs: JobRepository,
        reconciliation: ReconciliationRepository,
    }
}

/// What nobody reads is not written.
impl AuditRepository for Unit {
    fn append(&mut self, _: &Entry) -> Result<(), StoreError> {
        Ok(())
    }
    fn list(&mut self, _: &AuditFilter, _: u32) -> Result<Vec<Record>, StoreError> {
        absent()
    }
    fn openings(&mut self, _: u64, _: u32) -> Result<Vec<Opening>, StoreError> {
        absent()
    }
    fn records(&mut self, _: u64, _: u64, _: u32) -> Result<Vec<Record>, StoreError> {
        absent()
    }
    fn last_record(&mut self, _: u64) -> Result<Option<Record>, StoreError> {
        absent()
    }
    fn marks(&mut self, _: u64) -> Result<Vec<Mark>, StoreError> {
        absent()
    }
    fn put_mark(&mut self, _: &Mark) -> Result<(), StoreError> {
        absent()
    }
    fn prune(&mut self, _: &Mark) -> Result<u64, StoreError> {
        absent()
    }
    fn last_chain_in_use(&mut self) -> Result<u64, StoreError> {
        absent()
    }
}

impl EmployeeRepository for Unit {
    fn insert(&mut self, partner: PartnerId, employee: &Employee) -> Result<(), StoreError> {
        match &mut self.database {
            Some(connection) => plain::insert_employee(connection, partner, employee),
            None => Ok(()),
        }
    }
    fn get(&mut self, _: PartnerId, id: EmployeeId) -> Result<Option<Employee>, StoreError> {
        let name = |text| PersonName::parse(text).ok();
        let custom_id = CustomId::parse("T-1000").map_err(|_| StoreError::Corrupt("employee".to_owned()))?;
        Ok(Some(Employee {
            id,
            custom_id,
            surname: name("Ёжиков"),
            name: name("Иван"),
            patronymic: None,
            phone: Phone::parse("9031234567").ok(),
            email: None,
            category: None,
            status: EmployeeStatus::Work,
            created_at: OffsetDateTime::UNIX_EPOCH,
            status_updated_at: OffsetDateTime::UNIX_EPOCH,
        }))
    }
    fn with_cards(
        &mut self,
        partner: PartnerId,
        id: EmployeeId,
    ) -> Result<Option<(Employee, EmployeeCards)>, StoreError> {
        let employee = EmployeeRepository::get(self, partner, id)?;
        employee.map(|employee| Ok((employee, self.of_employee(partner, id)?))).transpose()
    }
    fn id_by_custom_id(&mut self, p: PartnerId, id: &CustomId) -> Result<Option<EmployeeId>, StoreError> {
        if let Some(connection) = &mut self.database
            && plain::is_taken(connection, p, id)?
        {
            return Err(StoreError::Conflict(Rule::EmployeeCustomId));
        }
        Ok(None)
    }
    fn update(&mut self, _: PartnerId, _: &Employee) -> Result<(), StoreError> {
        absent()
    }
    fn list(&mut self, _: PartnerId, _: &EmployeeFilter, _: Page) -> Result<Listed<Employee>, StoreError> {
        absent()
    }
}

impl IdempotencyRepository for Unit {
    fn find(&mut self, partner: PartnerId, key: &str) -> Result<Option<RecordedResponse>, StoreError> {
        if let Some(connection) = &mut self.database
            && plain::has_answer(connection, partner, key)?
        {
            return Err(StoreError::Conflict(Rule::IdempotencyKey));
        }
        Ok(None)
    }
    fn record(
        &mut self,
        partner: PartnerId,
        key: &str,
        answer: &RecordedResponse,
        _: OffsetDateTime,
    ) -> Result<(), StoreError> {
        match &mut self.database {
            Some(connection) => plain::record_answer(connection, partner, key, answer),
            None => Ok(()),
        }
    }
    fn forget_before(&mut self, _: OffsetDateTime, _: u32) -> Result<u64, StoreError> {
        absent()
    }
}

impl SealedNonceRepository for Unit {
    fn find(&mut self, partner: PartnerId, nonce: &str) -> Result<Option<SpentNonce>, StoreError> {
        if let Some(connection) = &mut self.database
            && plain::has_nonce(connection, partner, nonce)?
        {
            return Err(StoreError::Conflict(Rule::SealedNonce));
        }
        Ok(None)
    }
    fn spend(
        &mut self,
        partner: PartnerId,
        nonce: &str,
        spent: &SpentNonce,
        _: OffsetDateTime,
    ) -> Result<(), StoreError> {
        match &mut self.database {
            Some(connection) => plain::spend_nonce(connection, partner, nonce, spent),
            None => Ok(()),
        }
    }
    fn forget_before(&mut self, _: OffsetDateTime, _: u32) -> Result<u64, StoreError> {
        absent()
    }
}

impl PartnerRepository for Unit {
    fn get(&mut self, id: PartnerId) -> Result<Option<Partner>, StoreError> {
        Ok(self.known.partner(id))
    }
    fn sealing_keys(&mut self, id: PartnerId) -> Result<Vec<SealingKeyRecord>, StoreError> {
        Ok(self.known.key(id).into_iter().cloned().collect())
    }
    fn insert(&mut self, _: &Credentials) -> Result<(), StoreError> {
        absent()
    }
    fn by_api_key(&mut self, _: &[u8; 32], _: OffsetDateTime) -> Result<Option<Credentials>, StoreError> {
        absent()
    }
    fn replace_api_key(&mut self, _: PartnerId, _: &[u8; 32], _: OffsetDateTime) -> Result<(), StoreError> {
        absent()
    }
    fn reencrypt_columns(&mut self, _: u32) -> Result<u64, StoreError> {
        absent()
    }
    fn reencrypt_sealing_key(&mut self, _: PartnerId, _: [u8; 8], _: &[u8]) -> Result<(), StoreError> {
        absent()
    }
    fn list(&mut self) -> Result<Vec<Partner>, StoreError> {
        absent()
    }
    fn set_password_hash(&mut self, _: PartnerId, _: &str) -> Result<(), StoreError> {
        absent()
    }
    fn set_status(&mut self, _: PartnerId, _: PartnerStatus) -> Result<(), StoreError> {
        absent()
    }
    fn add_sealing_key(&mut self, _: PartnerId, _: &SealingKeyRecord) -> Result<(), StoreError> {
        absent()
    }
    fn end_sealing_key(&mut self, _: PartnerId, _: [u8; 8], _: OffsetDateTime) -> Result<(), StoreError> {
        absent()
    }
}

impl SessionRepository for Unit {
    fn pair(&mut self, partner: PartnerId, pair: TokenPairId) -> Result<Option<StoredPair>, StoreError> {
        Ok(self.known.pair(partner, pair))
    }
    fn insert(&mut self, _: PartnerId, _: SessionId, _: OffsetDateTime) -> Result<(), StoreError> {
        absent()
    }
    fn revoke(&mut self, _: PartnerId, _: SessionId) -> Result<(), StoreError> {
        absent()
    }
    fn revoke_all_but(&mut self, _: PartnerId, _: u32) -> Result<u64, StoreError> {
        absent()
    }
    fn insert_pair(&mut self, _: PartnerId, _: SessionId, _: &TokenPair) -> Result<(), StoreError> {
        absent()
    }
    fn update_pair(&mut self, _: PartnerId, _: &TokenPair) -> Result<(), StoreError> {
        absent()
    }
    fn forget_expired(&mut self, _: OffsetDateTime, _: u32) -> Result<u64, StoreError> {
        absent()
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
    fn insert_issued(&mut self, _: PartnerId, _: &[NewCard]) -> Result<(), StoreError> {
        absent()
    }
    fn get(&mut self, _: PartnerId, _: CardId) -> Result<Option<CardRecord>, StoreError> {
        absent()
    }
    fn by_number(&mut self, _: PartnerId, _: CardNumber) -> Result<Option<CardRecord>, StoreError> {
        absent()
    }
    fn main_card(&mut self, _: PartnerId, _: EmployeeId) -> Result<Option<CardId>, StoreError> {
        absent()
    }
    fn set_link(&mut self, _: PartnerId, _: &Card) -> Result<(), StoreError> {
        absent()
    }
    fn set_bank_view(&mut self, _: PartnerId, _: CardId, _: &BankView, _: Date) -> Result<(), StoreError> {
        absent()
    }
    fn outdate_bank_view(&mut self, _: PartnerId, _: &[CardId], _: OffsetDateTime) -> Result<(), StoreError> {
        absent()
    }
    fn set_limit(&mut self, _: PartnerId, _: &[CardId], _: &Limit) -> Result<(), StoreError> {
        absent()
    }
    fn accounts_due(&mut self, _: Range<OffsetDateTime>, _: u32) -> Result<Vec<AccountDue>, StoreError> {
        absent()
    }
    fn set_account(&mut self, _: PartnerId, _: CardId, _: &AccountBalance) -> Result<(), StoreError> {
        absent()
    }
    fn available(&mut self, _: PartnerId, _: AvailableFilter, _: Page) -> Result<Listed<Card>, StoreError> {
        absent()
    }
}

/// A bank that nobody asks.
pub(super) struct NoBank;

impl BankGateway for NoBank {
    fn repeat_is_safe(&self) -> bool {
        true
    }
    fn submit(&self, _: &[Submission]) -> Vec<Result<kopeck_port_bank::Verdict, BankError>> {
        absent()
    }
    fn query(&self, _: &[BankKey]) -> Result<Vec<Option<kopeck_port_bank::Verdict>>, BankError> {
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
