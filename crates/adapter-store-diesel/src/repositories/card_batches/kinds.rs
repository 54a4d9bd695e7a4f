//! What each kind of card batch has in its columns.

use kopeck_domain::Kopecks;
use kopeck_domain::limit::Limit;
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::replenishment::TopUps;
use kopeck_port_store::{StoreError, StoredKind};

use crate::convert::{AsKey, corrupt};
use crate::counters::List;
use crate::limit_text;
use crate::repositories::jobs;

/// A kind of card batch and its columns.
pub(crate) trait StoredColumns: StoredKind<Id: AsKey> {
    /// The column `kind` of batches and items, and that of their jobs.
    const KIND: &'static str;
    /// The list that numbers its batches.
    const LIST: List;

    /// The columns `amount` and `spending_limit` of a batch.
    fn columns(terms: &Self::Terms) -> (Option<i64>, Option<String>);
    /// The terms in these columns.
    fn terms(amount: Option<i64>, spending_limit: Option<&str>) -> Result<Self::Terms, StoreError>;
    /// The column `amount` of an item.
    fn item_amount(terms: Self::ItemTerms) -> Option<i64>;
    /// The terms in this column.
    fn item_terms(amount: Option<i64>) -> Result<Self::ItemTerms, StoreError>;
}

impl StoredColumns for TopUps {
    const KIND: &'static str = jobs::REPLENISHMENT;
    const LIST: List = List::Replenishments;

    fn columns(amount: &Kopecks) -> (Option<i64>, Option<String>) {
        (Some(amount.get()), None)
    }

    fn terms(amount: Option<i64>, _: Option<&str>) -> Result<Kopecks, StoreError> {
        amount.map(Kopecks::new).ok_or_else(|| corrupt("card_batches.amount"))
    }

    fn item_amount(amount: Kopecks) -> Option<i64> {
        Some(amount.get())
    }

    fn item_terms(amount: Option<i64>) -> Result<Kopecks, StoreError> {
        amount.map(Kopecks::new).ok_or_else(|| corrupt("card_batch_items.amount"))
    }
}

impl StoredColumns for LimitChanges {
    const KIND: &'static str = jobs::LIMIT_CHANGE;
    const LIST: List = List::LimitChanges;

    fn columns(limit: &Limit) -> (Option<i64>, Option<String>) {
        (None, Some(limit_text::text(limit)))
    }

    fn terms(_: Option<i64>, spending_limit: Option<&str>) -> Result<Limit, StoreError> {
        limit_text::parse(spending_limit.unwrap_or_default(), "card_batches.spending_limit")
    }

    fn item_amount((): ()) -> Option<i64> {
        None
    }

    fn item_terms(_: Option<i64>) -> Result<(), StoreError> {
        Ok(())
    }
}
