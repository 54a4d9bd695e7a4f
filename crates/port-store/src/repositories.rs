//! One repository an aggregate. Everything belongs to a partner: another partner's rows are as if they were not there.
//!
//! Every method fails with a [`StoreError`] if the database does, and those that can meet a constraint say which
//! [`Rule`](crate::Rule) they fail with.
#![expect(clippy::missing_errors_doc, reason = "the module says it once for all")]

mod partners;

pub use partners::*;

use std::ops::Range;

use crate::page::{Listed, Page};
use kopeck_domain::Kopecks;
use kopeck_domain::card::{AccountBalance, BankView, BlockState, Card, CardStatus};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::category::{Category, CategoryName};
use kopeck_domain::employee::Employee;
use kopeck_domain::ids::{CardId, CategoryId, EmployeeId, OrderId, PartnerId};
use kopeck_domain::ledger::{Balances, Movement, MovementKind, TransferReference};
use kopeck_domain::limit::Limit;
use kopeck_domain::order::{Order, OrderLine};
use kopeck_domain::person::CustomId;
use kopeck_domain::transaction::Transaction;
use time::{Date, OffsetDateTime};

use crate::{
    AccountDue, AvailableFilter, BalanceSheet, CardAndHolder, CardFilter, CardRecord, CategoryUse,
    EmployeeFilter, NewCard, OrderFacts, OrderFilter, OrderResultItem, PartnerTransaction, RecordedResponse,
    ReferenceSums, StoreError, TransactionFilter, TransactionQuery,
};

/// Failed logins and spent nonces. Subjects are keyed digests: no login and no address is stored.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait ThrottleRepository {
    /// The timestamps of the latest failures of `subject` after `since`, `limit` at most, latest first.
    fn failures(
        &mut self,
        subject: &[u8; 32],
        since: OffsetDateTime,
        limit: u32,
    ) -> Result<Vec<OffsetDateTime>, StoreError>;
    /// Records a failure.
    fn record_failure(&mut self, subject: &[u8; 32], at: OffsetDateTime) -> Result<(), StoreError>;
    /// Spends a nonce of a token request: `false` if it was spent under this API key after `since` before.
    fn spend_nonce(
        &mut self,
        api_key_hash: &[u8; 32],
        nonce: &str,
        at: OffsetDateTime,
        since: OffsetDateTime,
    ) -> Result<bool, StoreError>;
    /// Removes what is older than `moment`, `limit` rows at most.
    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError>;
}

/// Recorded responses of idempotent requests.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait IdempotencyRepository {
    /// The response recorded under the key, if any.
    fn find(&mut self, partner: PartnerId, key: &str) -> Result<Option<RecordedResponse>, StoreError>;
    /// Records a response, in place of an older one under the same key if that was recorded before `stale_before`.
    /// `Rule::IdempotencyKey` if the key has a response that is not stale.
    fn record(
        &mut self,
        partner: PartnerId,
        key: &str,
        answer: &RecordedResponse,
        stale_before: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Removes responses recorded before `moment`, `limit` at most.
    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError>;
}

/// The cards of an employee in the order of their issue, each with its status.
pub type EmployeeCards = Vec<(CardId, CardStatus)>;

/// Employees.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait EmployeeRepository {
    /// Adds an employee at the end of the partner's list. `Rule::EmployeeCustomId`, `Rule::Reference` (category).
    fn insert(&mut self, partner: PartnerId, employee: &Employee) -> Result<(), StoreError>;
    /// Stores a changed employee. `Rule::EmployeeCustomId`, `Rule::Reference` (category).
    fn update(&mut self, partner: PartnerId, employee: &Employee) -> Result<(), StoreError>;
    /// Overwrites the personal data of an employee for good, here and wherever else it is stored: in responses recorded for
    /// retries, whose keys stay spent, and in events. The employee is in no look-up and no list any more; what refers to the
    /// identifier stays.
    fn erase(&mut self, partner: PartnerId, id: EmployeeId, at: OffsetDateTime) -> Result<(), StoreError>;
    /// The employee with this identifier. Within a writing unit of work it stays as read until the end.
    fn get(&mut self, partner: PartnerId, id: EmployeeId) -> Result<Option<Employee>, StoreError>;
    /// The employee with this identifier, and their cards as [`CardRepository::of_employee`] lists them.
    fn with_cards(
        &mut self,
        partner: PartnerId,
        id: EmployeeId,
    ) -> Result<Option<(Employee, EmployeeCards)>, StoreError>;
    /// Who has this custom identifier.
    fn id_by_custom_id(
        &mut self,
        partner: PartnerId,
        custom_id: &CustomId,
    ) -> Result<Option<EmployeeId>, StoreError>;
    /// A page, in order of creation.
    fn list(
        &mut self,
        partner: PartnerId,
        filter: &EmployeeFilter,
        page: Page,
    ) -> Result<Listed<Employee>, StoreError>;
}

/// Categories.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait CategoryRepository {
    /// Adds a category. `Rule::CategoryName`.
    fn insert(
        &mut self,
        partner: PartnerId,
        category: &Category,
        at: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Renames a category. `Rule::CategoryName`.
    fn rename(&mut self, partner: PartnerId, category: &Category) -> Result<(), StoreError>;
    /// Removes a category. `Rule::Reference` if an employee has it.
    fn delete(&mut self, partner: PartnerId, id: CategoryId) -> Result<(), StoreError>;
    /// The category with this identifier.
    fn get(&mut self, partner: PartnerId, id: CategoryId) -> Result<Option<Category>, StoreError>;
    /// Which category has this name, without regard to letter case.
    fn id_by_name(
        &mut self,
        partner: PartnerId,
        name: &CategoryName,
    ) -> Result<Option<CategoryId>, StoreError>;
    /// How many employees have the category.
    fn employees_in(&mut self, partner: PartnerId, id: CategoryId) -> Result<u64, StoreError>;
    /// A page, in order of creation.
    fn list(&mut self, partner: PartnerId, page: Page) -> Result<Listed<CategoryUse>, StoreError>;
}

/// Cards.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait CardRepository {
    /// Adds cards that the bank issued for an order. `Rule::CardNumber` if a card of any partner has one of the numbers.
    fn insert_issued(&mut self, partner: PartnerId, cards: &[NewCard]) -> Result<(), StoreError>;
    /// The card with this identifier. Within a writing unit of work it stays as read until the end.
    fn get(&mut self, partner: PartnerId, id: CardId) -> Result<Option<CardRecord>, StoreError>;
    /// The card with this number.
    fn by_number(&mut self, partner: PartnerId, number: CardNumber)
    -> Result<Option<CardRecord>, StoreError>;
    /// What each of `references` leads to, in their order; `None` for one that the partner does not have. Within a writing
    /// unit of work that stays as read until the end.
    fn by_references(
        &mut self,
        partner: PartnerId,
        references: &[CardRef],
    ) -> Result<Vec<Option<CardAndHolder>>, StoreError>;
    /// The employee's MAIN card.
    fn main_card(&mut self, partner: PartnerId, employee: EmployeeId) -> Result<Option<CardId>, StoreError>;
    /// The employee's cards, in the order in which they were issued.
    fn of_employee(
        &mut self,
        partner: PartnerId,
        employee: EmployeeId,
    ) -> Result<Vec<(CardId, CardStatus)>, StoreError>;
    /// Stores the card's link and block. `Rule::OneMainCard`, `Rule::Reference` (employee).
    fn set_link(&mut self, partner: PartnerId, card: &Card) -> Result<(), StoreError>;
    /// Those of `cards` that the partner blocks, each with the state of its block; in any order.
    fn blocked(
        &mut self,
        partner: PartnerId,
        cards: &[CardId],
    ) -> Result<Vec<(CardId, BlockState)>, StoreError>;
    /// Whether an open closing has the card as lost or stolen, and has no verdict on it.
    fn is_being_closed(&mut self, partner: PartnerId, card: CardId) -> Result<bool, StoreError>;
    /// Cards of any partner with a block or unblock that the bank has not confirmed, `limit` at most.
    fn unconfirmed_blocks(&mut self, limit: u32) -> Result<Vec<(PartnerId, Card)>, StoreError>;
    /// Stores the bank's data of a card, unless newer data is stored already; returns whether it did. Stored data that is
    /// more than `CLOCK_SKEW` ahead does not count as newer: a clock that was set back since has stored it. Removes the
    /// activation code of a card that is activated.
    fn set_bank_view(
        &mut self,
        partner: PartnerId,
        card: CardId,
        view: &BankView,
        valid_until: Date,
    ) -> Result<bool, StoreError>;
    /// Expires the bank's data of these cards and the copy of their transactions, because something happened to the cards
    /// since. Data of `too_old_at` or before is expired already and may stay.
    fn outdate_bank_view(
        &mut self,
        partner: PartnerId,
        cards: &[CardId],
        too_old_at: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Stores what the cards may be spent on.
    fn set_limit(&mut self, partner: PartnerId, cards: &[CardId], limit: &Limit) -> Result<(), StoreError>;
    /// Cards of any partner whose account was last refreshed before or after `day`, the longest ago first, `limit` at
    /// most. After it lies what was refreshed by a clock that was set back since.
    fn accounts_due(&mut self, day: Range<OffsetDateTime>, limit: u32)
    -> Result<Vec<AccountDue>, StoreError>;
    /// Whose cards have these numbers. Numbers that no card has are left out.
    fn owners(&mut self, numbers: &[CardNumber]) -> Result<Vec<(CardNumber, PartnerId, CardId)>, StoreError>;
    /// Cards of any partner of whose expiry an event is due, the longest due first, `limit` at most.
    fn expiries_due(&mut self, today: Date, limit: u32) -> Result<Vec<(PartnerId, CardId)>, StoreError>;
    /// Stores when the `next` event of the card's expiry is due, if one is due on `today` or was before; else `false`.
    fn take_expiry(
        &mut self,
        partner: PartnerId,
        card: CardId,
        today: Date,
        next: Option<Date>,
    ) -> Result<bool, StoreError>;
    /// Stores the account's balance as of a refresh.
    fn set_account(
        &mut self,
        partner: PartnerId,
        card: CardId,
        account: &AccountBalance,
    ) -> Result<(), StoreError>;
    /// Removes activation codes that were valid up to a day before this one: `limit` at most, of any partners. Returns how
    /// many those were.
    fn forget_activation_codes(&mut self, before: Date, limit: u32) -> Result<u64, StoreError>;
    /// A page, in the order of their issue.
    fn list(
        &mut self,
        partner: PartnerId,
        filter: &CardFilter,
        page: Page,
    ) -> Result<Listed<CardRecord>, StoreError>;
    /// A page of the unassigned cards: not linked, valid on the filter's day, open at the bank; in the order of
    /// their issue.
    fn available(
        &mut self,
        partner: PartnerId,
        filter: AvailableFilter,
        page: Page,
    ) -> Result<Listed<Card>, StoreError>;
}

/// The copy of the bank's transactions.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait TransactionRepository {
    /// The greatest id stored for the card; 0 if none is.
    fn latest_id(&mut self, partner: PartnerId, card: CardId) -> Result<i64, StoreError>;
    /// Adds transactions, passing over those that are stored already, and notes when they were fetched. The new ones
    /// are numbered behind all others of the partner, in the order given.
    fn append(
        &mut self,
        partner: PartnerId,
        card: CardId,
        transactions: &[Transaction],
        seen_at: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// What the card spent from `from` until before `until`: payments less refunds and reversals.
    fn spent(
        &mut self,
        partner: PartnerId,
        card: CardId,
        from: OffsetDateTime,
        until: OffsetDateTime,
    ) -> Result<Kopecks, StoreError>;
    /// A page, newest first.
    fn list(
        &mut self,
        partner: PartnerId,
        card: CardId,
        filter: TransactionFilter,
        page: Page,
    ) -> Result<Listed<Transaction>, StoreError>;
    /// Transactions of all cards in the order of their numbers.
    fn after(
        &mut self,
        partner: PartnerId,
        query: &TransactionQuery,
    ) -> Result<Vec<PartnerTransaction>, StoreError>;
}

/// Orders.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait OrderRepository {
    /// Adds an order with its lines.
    fn insert(&mut self, partner: PartnerId, order: &Order, lines: &[OrderLine]) -> Result<(), StoreError>;
    /// The order with this identifier. Within a writing unit of work it stays as read until the end.
    fn get(&mut self, partner: PartnerId, id: OrderId) -> Result<Option<Order>, StoreError>;
    /// The order's lines, in their order.
    fn lines(&mut self, partner: PartnerId, id: OrderId) -> Result<Vec<OrderLine>, StoreError>;
    /// Stores the order's state.
    fn set_state(&mut self, partner: PartnerId, order: &Order) -> Result<(), StoreError>;
    /// How many of its cards are stored; each time those that come next by ordinal are, so that no ordinal is left out.
    fn stored_cards(&mut self, partner: PartnerId, id: OrderId) -> Result<u32, StoreError>;
    /// Cards of its result from `from_ordinal` on, `limit` at most.
    fn result(
        &mut self,
        partner: PartnerId,
        id: OrderId,
        from_ordinal: u32,
        limit: u32,
    ) -> Result<Vec<OrderResultItem>, StoreError>;
    /// A page, newest first.
    fn list(
        &mut self,
        partner: PartnerId,
        filter: &OrderFilter,
        page: Page,
    ) -> Result<Listed<Order>, StoreError>;
}

/// The ledger.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait LedgerRepository {
    /// What lies on the partner's accounts. Within a writing unit of work it stays as read until the end.
    fn sheet(&mut self, partner: PartnerId) -> Result<Option<BalanceSheet>, StoreError>;
    /// Writes `movement` with its entries and the balances after it.
    /// `Rule::TransferReference` if this kind of movement has been booked under its reference before.
    fn book(
        &mut self,
        partner: PartnerId,
        movement: &Movement,
        after: Balances,
        at: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Sets the amount below which the partner wants to hear of what it can spend; zero for never.
    fn set_threshold(&mut self, partner: PartnerId, threshold: Kopecks) -> Result<(), StoreError>;
    /// Sets the amount above which what the partner's people prepare needs an approval; zero for never.
    fn set_approval(&mut self, partner: PartnerId, above: Kopecks) -> Result<(), StoreError>;
    /// The amount of the transfer of this kind under `reference`.
    fn transferred(
        &mut self,
        partner: PartnerId,
        kind: MovementKind,
        reference: &TransferReference,
    ) -> Result<Option<Kopecks>, StoreError>;
}

/// Sums over the whole ledger of a partner, for the check, and the copy of the bank's transactions by card and day, for the
/// comparison with the bank. No sum trusts a stored balance.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait ReconciliationRepository {
    /// The accounts, added up from the entries.
    fn entry_sums(&mut self, partner: PartnerId) -> Result<Balances, StoreError>;
    /// Numbers of movements whose entries do not add up to zero.
    fn unbalanced_movements(&mut self, partner: PartnerId) -> Result<Vec<i64>, StoreError>;
    /// Numbers of movements after which other balances are stored than the entries up to them add up to.
    fn wrong_balances_after(&mut self, partner: PartnerId) -> Result<Vec<i64>, StoreError>;
    /// HELD and SPENT by reference, without references that are zero on both.
    fn reference_sums(&mut self, partner: PartnerId) -> Result<Vec<ReferenceSums>, StoreError>;
    /// Every order.
    fn orders(&mut self, partner: PartnerId) -> Result<Vec<OrderFacts>, StoreError>;
    /// Employees with more than one MAIN card.
    fn employees_with_two_main_cards(&mut self, partner: PartnerId) -> Result<Vec<EmployeeId>, StoreError>;
    /// What all partners together have on HELD, by their stored balances.
    fn held_by_all(&mut self) -> Result<Kopecks, StoreError>;
    /// Cards of all partners with numbers above `after`, by ascending number, `limit` at most.
    fn cards(
        &mut self,
        after: Option<CardNumber>,
        limit: u32,
    ) -> Result<Vec<(CardNumber, PartnerId, CardId)>, StoreError>;
    /// The transactions of these cards that were executed in `period`, in any order.
    fn transactions(
        &mut self,
        partner: PartnerId,
        cards: &[CardId],
        period: &Range<OffsetDateTime>,
    ) -> Result<Vec<(CardId, Transaction)>, StoreError>;
    /// The transaction of a card with this id.
    fn transaction(
        &mut self,
        partner: PartnerId,
        card: CardId,
        id: i64,
    ) -> Result<Option<Transaction>, StoreError>;
}
