//! What the repositories take and give beside the domain's own aggregates.

use crate::session::TokenPair;
use kopeck_domain::Kopecks;
use kopeck_domain::card::{AccountBalance, BankStatus, BankView, Card, CardStatus, CardType};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::category::Category;
use kopeck_domain::employee::EmployeeStatus;
use kopeck_domain::ids::{CardId, CategoryId, CredentialId, EmployeeId, OrderId, PartnerId, SessionId};
use kopeck_domain::ledger::{Balances, Reference};
use kopeck_domain::limit::Limit;
use kopeck_domain::order::OrderState;
use kopeck_domain::partner::Partner;
use kopeck_domain::person::CustomId;
use kopeck_domain::request::{RequestReference, RequestState};
use kopeck_domain::transaction::{Transaction, TransactionType};
use time::{Date, OffsetDateTime};

/// A partner with what proves that a caller is it.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The partner.
    pub partner: Partner,
    /// SHA-256 of the API key.
    pub api_key_hash: [u8; 32],
    /// argon2id text of the password.
    pub password_hash: String,
}

/// Hashes stay out of logs.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("partner", &self.partner.id).finish_non_exhaustive()
    }
}

/// A sealing key at rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealingKeyRecord {
    /// The key's id.
    pub key_id: [u8; 8],
    /// Its secret, encrypted under the master key.
    pub encrypted_secret: Vec<u8>,
    /// When it was issued; the newest is the active one.
    pub created_at: OffsetDateTime,
    /// When it stops being accepted; `None` for the active key.
    pub accepted_until: Option<OffsetDateTime>,
    /// When the partner first sealed a request with it; `None` if it never did.
    pub first_used_at: Option<OffsetDateTime>,
}

/// A token pair with the session it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPair {
    /// The session.
    pub session: SessionId,
    /// The login that it began with.
    pub session_started_at: OffsetDateTime,
    /// When the session was last used, as far as that is recorded.
    pub session_used_at: Option<OffsetDateTime>,
    /// Whether the whole session was revoked.
    pub session_revoked: bool,
    /// The scoped credential that logged in; `None` for the technical login.
    pub credential: Option<CredentialId>,
    /// The pair.
    pub pair: TokenPair,
}

/// The recorded response of an idempotent request: the first one.
#[derive(Clone, PartialEq, Eq)]
pub struct RecordedResponse {
    /// SHA-256 over method, path and body of the request.
    pub fingerprint: [u8; 32],
    /// HTTP status.
    pub status: u16,
    /// The response body, byte for byte; `None` once it was erased with the personal data in it.
    pub body: Option<Vec<u8>>,
    /// The employee whose personal data it holds, if any.
    pub employee: Option<EmployeeId>,
    /// When it was recorded.
    pub recorded_at: OffsetDateTime,
}

/// Bodies hold personal data.
impl std::fmt::Debug for RecordedResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordedResponse").field("status", &self.status).finish_non_exhaustive()
    }
}

/// Which orders or card batches a list shows; everything that is set has to fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestFilter<S> {
    /// In this state.
    pub state: Option<S>,
    /// With this reference of the partner.
    pub reference: Option<RequestReference>,
    /// Accepted at this time or later.
    pub from: Option<OffsetDateTime>,
    /// Accepted before this time.
    pub before: Option<OffsetDateTime>,
}

/// Which orders a list shows.
pub type OrderFilter = RequestFilter<OrderState>;

/// All requests.
impl<S> Default for RequestFilter<S> {
    fn default() -> Self {
        Self { state: None, reference: None, from: None, before: None }
    }
}

impl<S> RequestFilter<S> {
    /// Whether it lets every request through.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self { state: None, reference: None, from: None, before: None })
    }
}

impl RequestFilter<RequestState> {
    /// The filter of one kind of request, with the state as `own` has it; `None` if no request of the kind can be in it.
    pub fn narrowed<S>(&self, own: impl FnOnce(RequestState) -> Option<S>) -> Option<RequestFilter<S>> {
        let state = match self.state {
            Some(state) => Some(own(state)?),
            None => None,
        };
        Some(RequestFilter { state, reference: self.reference.clone(), from: self.from, before: self.before })
    }
}

/// Which employees a list shows; everything that is set has to fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EmployeeFilter {
    /// With this status.
    pub status: Option<EmployeeStatus>,
    /// In this category.
    pub category: Option<CategoryId>,
    /// With this custom identifier.
    pub custom_id: Option<CustomId>,
    /// With this text in surname, name or custom identifier; lower case.
    pub query: Option<String>,
}

/// A category with the number of employees in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CategoryUse {
    /// The category.
    pub category: Category,
    /// Employees in it.
    pub employees: u64,
}

/// A card with the service's copy of what the bank said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardRecord {
    /// The card.
    pub card: Card,
    /// The bank's latest data of it.
    pub bank: BankView,
    /// The account as of the last daily refresh.
    pub account: AccountBalance,
    /// When its transactions were last fetched.
    pub transactions_seen_at: Option<OffsetDateTime>,
    /// What it may be spent on, as the last limit change left it.
    pub limit: Limit,
}

/// A card that the bank issued, as it enters the store.
#[derive(Clone, PartialEq, Eq)]
pub struct NewCard {
    /// The card and the bank's first data of it.
    pub record: CardRecord,
    /// Its place in the order, from 0.
    pub ordinal: u32,
    /// Virtual cards: what activates it.
    pub activation: Option<Activation>,
}

/// What activates a virtual card.
#[derive(Clone, PartialEq, Eq)]
pub struct Activation {
    /// The code; it activates the card for anyone. `None` once the card is activated or the code has expired.
    pub code: Option<String>,
    /// The last day on which it is good.
    pub valid_until: Date,
    /// The money on the card from the start.
    pub first_top_up: Kopecks,
}

/// The code stays out of logs.
impl std::fmt::Debug for Activation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Activation").field("valid_until", &self.valid_until).finish_non_exhaustive()
    }
}

/// One card of an order's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderResultItem {
    /// Its place in the order, from 0.
    pub ordinal: u32,
    /// The product.
    pub card_type: CardType,
    /// The bank's number.
    pub number: CardNumber,
    /// Virtual cards: what activates it.
    pub activation: Option<Activation>,
}

/// A card whose account is due for the daily refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountDue {
    /// Whose card it is.
    pub partner: PartnerId,
    /// The card.
    pub card: CardId,
    /// The bank's number.
    pub number: CardNumber,
}

/// Which transactions a list shows; everything that is set has to fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TransactionFilter {
    /// Not before this time.
    pub from: Option<OffsetDateTime>,
    /// Before this time.
    pub before: Option<OffsetDateTime>,
    /// Of this type.
    pub kind: Option<TransactionType>,
}

/// Which transactions of all cards a partner reads; everything that is set has to fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TransactionQuery {
    /// Those behind this number.
    pub after: i64,
    /// The most transactions.
    pub limit: u32,
    /// When they were executed, and of which type.
    pub filter: TransactionFilter,
    /// Of this card.
    pub card: Option<CardId>,
    /// Of the cards that this employee has.
    pub employee: Option<EmployeeId>,
}

/// A transaction among those of all cards of a partner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartnerTransaction {
    /// Its number among the partner's transactions, from 1 and without gaps: the order in which the service learnt of them.
    pub seq: i64,
    /// The card.
    pub card: CardId,
    /// Who has the card, and their custom identifier, if they have one.
    pub holder: Option<(EmployeeId, Option<CustomId>)>,
    /// The transaction.
    pub transaction: Transaction,
}

/// An employee, as the name of a card leads to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardHolder {
    /// The service's identifier.
    pub id: EmployeeId,
    /// The partner's own identifier.
    pub custom_id: CustomId,
    /// Where the employee is.
    pub status: EmployeeStatus,
}

/// A card with the bank's view of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardView {
    /// The card.
    pub card: Card,
    /// The bank's data of it, as last seen.
    pub bank: BankView,
}

/// The card and the employee that a [`CardRef`](kopeck_domain::card_ref::CardRef) leads to; at least one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardAndHolder {
    /// Whom the reference names, or who has the named card; `None` for an unassigned card, and for one whose holder was
    /// erased.
    pub holder: Option<CardHolder>,
    /// The named card, or the holder's MAIN card; `None` if the holder has none.
    pub card: Option<CardView>,
}

/// Which cards a list shows; everything that is set has to fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CardFilter {
    /// Linked to an employee, or to none.
    pub linked: Option<bool>,
    /// With this status; an unassigned card has none.
    pub status: Option<CardStatus>,
    /// With this status at the bank.
    pub bank_status: Option<BankStatus>,
    /// Of this product.
    pub kind: Option<CardType>,
    /// Issued for this order.
    pub order: Option<OrderId>,
    /// Linked to this employee.
    pub employee: Option<EmployeeId>,
    /// With a last day before this one.
    pub expires_before: Option<Date>,
    /// With this number.
    pub number: Option<CardNumber>,
}

/// Which unassigned cards a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AvailableFilter {
    /// Of this product.
    pub kind: Option<CardType>,
    /// Valid on this day.
    pub today: Date,
}

/// What lies on a partner's accounts, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BalanceSheet {
    /// The accounts.
    pub balances: Balances,
    /// When something last moved; the partner's creation at first.
    pub updated_at: OffsetDateTime,
    /// Below which amount the partner wants to hear of what it can spend; zero for never.
    pub threshold: Kopecks,
    /// Above which amount what the partner's people prepare needs an approval; zero for never.
    pub approval_above: Kopecks,
}

/// What the ledger says of one reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceSums {
    /// The deposit, order or replenishment.
    pub reference: Reference,
    /// Sum of its entries on HELD.
    pub held: Kopecks,
    /// Sum of its entries on SPENT.
    pub spent: Kopecks,
}

/// What the reconciliation compares of one order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderFacts {
    /// The order.
    pub id: OrderId,
    /// Where it stands.
    pub state: OrderState,
    /// What it costs.
    pub cost: Kopecks,
    /// Cards it asked for.
    pub cards: u32,
    /// Cards stored for it.
    pub stored_cards: u32,
    /// Whether a job is waiting for it.
    pub has_job: bool,
}
