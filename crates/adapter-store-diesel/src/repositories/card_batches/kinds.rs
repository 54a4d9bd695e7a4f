//! What each kind of card batch has in its columns.

use kopeck_domain::Kopecks;
use kopeck_domain::closing::{ClosingReason, ClosingTerms, Closings};
use kopeck_domain::limit::Limit;
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::withdrawal::Withdrawals;
use kopeck_port_store::{StoreError, StoredKind};

use crate::convert::{AsKey, corrupt, word};
use crate::counters::List;
use crate::limit_text;
use crate::repositories::jobs;

/// The columns of a batch that only some kinds have.
#[derive(Default)]
pub(crate) struct BatchColumns {
    pub(super) amount: Option<i64>,
    pub(super) spending_limit: Option<String>,
    pub(super) is_urgent: bool,
}

/// The columns of an item that only some kinds have.
#[derive(Default)]
pub(crate) struct ItemColumns {
    pub(super) amount: Option<i64>,
    pub(super) reason: Option<&'static str>,
}

/// A kind of card batch and its columns.
pub(crate) trait StoredColumns: StoredKind<Id: AsKey> {
    /// The column `kind` of batches and items, and that of their jobs.
    const KIND: &'static str;
    /// The list that numbers its batches.
    const LIST: List;

    /// The columns of a batch.
    fn columns(terms: &Self::Terms) -> BatchColumns;
    /// The terms in these columns.
    fn terms(columns: &BatchColumns) -> Result<Self::Terms, StoreError>;
    /// The columns of an item.
    fn item_columns(terms: Self::ItemTerms) -> ItemColumns;
    /// The terms in the columns `amount` and `reason`.
    fn item_terms(amount: Option<i64>, reason: Option<&str>) -> Result<Self::ItemTerms, StoreError>;
}

impl StoredColumns for TopUps {
    const KIND: &'static str = jobs::REPLENISHMENT;
    const LIST: List = List::Replenishments;

    fn columns(amount: &Kopecks) -> BatchColumns {
        BatchColumns { amount: Some(amount.get()), ..BatchColumns::default() }
    }

    fn terms(columns: &BatchColumns) -> Result<Kopecks, StoreError> {
        columns.amount.map(Kopecks::new).ok_or_else(|| corrupt("card_batches.amount"))
    }

    fn item_columns(amount: Kopecks) -> ItemColumns {
        ItemColumns { amount: Some(amount.get()), ..ItemColumns::default() }
    }

    fn item_terms(amount: Option<i64>, _: Option<&str>) -> Result<Kopecks, StoreError> {
        amount.map(Kopecks::new).ok_or_else(|| corrupt("card_batch_items.amount"))
    }
}

impl StoredColumns for LimitChanges {
    const KIND: &'static str = jobs::LIMIT_CHANGE;
    const LIST: List = List::LimitChanges;

    fn columns(limit: &Limit) -> BatchColumns {
        BatchColumns { spending_limit: Some(limit.to_string()), ..BatchColumns::default() }
    }

    fn terms(columns: &BatchColumns) -> Result<Limit, StoreError> {
        let text = columns.spending_limit.as_deref().unwrap_or_default();
        limit_text::parse(text, "card_batches.spending_limit")
    }

    fn item_columns((): ()) -> ItemColumns {
        ItemColumns::default()
    }

    fn item_terms(_: Option<i64>, _: Option<&str>) -> Result<(), StoreError> {
        Ok(())
    }
}

impl StoredColumns for Closings {
    const KIND: &'static str = jobs::CLOSING;
    const LIST: List = List::Closings;

    fn columns(terms: &ClosingTerms) -> BatchColumns {
        BatchColumns { is_urgent: terms.is_urgent, ..BatchColumns::default() }
    }

    fn terms(columns: &BatchColumns) -> Result<ClosingTerms, StoreError> {
        Ok(ClosingTerms { is_urgent: columns.is_urgent })
    }

    fn item_columns(reason: ClosingReason) -> ItemColumns {
        ItemColumns { reason: Some(reason.as_str()), ..ItemColumns::default() }
    }

    fn item_terms(_: Option<i64>, reason: Option<&str>) -> Result<ClosingReason, StoreError> {
        word(reason.unwrap_or_default(), "card_batch_items.reason")
    }
}

impl StoredColumns for Withdrawals {
    const KIND: &'static str = jobs::WITHDRAWAL;
    const LIST: List = List::Withdrawals;

    fn columns(amount: &Option<Kopecks>) -> BatchColumns {
        BatchColumns { amount: amount.map(Kopecks::get), ..BatchColumns::default() }
    }

    fn terms(columns: &BatchColumns) -> Result<Option<Kopecks>, StoreError> {
        Ok(columns.amount.map(Kopecks::new))
    }

    fn item_columns(amount: Option<Kopecks>) -> ItemColumns {
        ItemColumns { amount: amount.map(Kopecks::get), ..ItemColumns::default() }
    }

    fn item_terms(amount: Option<i64>, _: Option<&str>) -> Result<Option<Kopecks>, StoreError> {
        Ok(amount.map(Kopecks::new))
    }
}
