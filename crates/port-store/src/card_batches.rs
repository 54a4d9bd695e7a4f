//! Card batches: one repository for each kind.

use crate::page::{Listed, Page};
use kopeck_domain::Kopecks;
use kopeck_domain::card::{CardStatus, Standing};
use kopeck_domain::card_batch::{BatchItem, BatchKind, BatchState, CardBatch, ItemState};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::closing::{ClosingTerms, Closings};
use kopeck_domain::ids::{CardId, ClosingId, LimitChangeId, PartnerId, ReplenishmentId, WithdrawalId};
use kopeck_domain::limit::Limit;
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::withdrawal::Withdrawals;
use time::Date;

use crate::{RequestFilter, StoreError, Subject, UnitOfWork};

/// A kind of card batch that is stored.
pub trait StoredKind: BatchKind {
    /// The job of a batch.
    fn subject(id: Self::Id) -> Subject;
    /// What a batch with these terms claims its cards for.
    fn lane(terms: &Self::Terms) -> Lane;
    /// The repository of this kind.
    fn repository(unit: &mut dyn UnitOfWork) -> &mut dyn CardBatchRepository<Self>;
}

impl StoredKind for TopUps {
    fn subject(id: ReplenishmentId) -> Subject {
        Subject::Replenishment(id)
    }

    fn lane(_: &Kopecks) -> Lane {
        Lane::Money
    }

    fn repository(unit: &mut dyn UnitOfWork) -> &mut dyn CardBatchRepository<Self> {
        unit.replenishments()
    }
}

impl StoredKind for LimitChanges {
    fn subject(id: LimitChangeId) -> Subject {
        Subject::LimitChange(id)
    }

    fn lane(_: &Limit) -> Lane {
        Lane::Limits
    }

    fn repository(unit: &mut dyn UnitOfWork) -> &mut dyn CardBatchRepository<Self> {
        unit.limit_changes()
    }
}

impl StoredKind for Closings {
    fn subject(id: ClosingId) -> Subject {
        Subject::Closing(id)
    }

    fn lane(terms: &ClosingTerms) -> Lane {
        if terms.is_urgent { Lane::Urgent } else { Lane::Money }
    }

    fn repository(unit: &mut dyn UnitOfWork) -> &mut dyn CardBatchRepository<Self> {
        unit.closings()
    }
}

impl StoredKind for Withdrawals {
    fn subject(id: WithdrawalId) -> Subject {
        Subject::Withdrawal(id)
    }

    fn lane(_: &Option<Kopecks>) -> Lane {
        Lane::Money
    }

    fn repository(unit: &mut dyn UnitOfWork) -> &mut dyn CardBatchRepository<Self> {
        unit.withdrawals()
    }
}

/// What an open batch claims its cards for. One batch of a lane has a card at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lane {
    /// For a limit change.
    Limits,
    /// For a replenishment, a withdrawal or a closing: these exclude each other.
    Money,
    /// For a closing of lost and stolen cards alone, which goes after what is in the lane of money.
    Urgent,
}

/// The lanes in which open batches claim a card.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CardClaims {
    /// In [`Lane::Limits`].
    pub limits: bool,
    /// In [`Lane::Money`].
    pub money: bool,
    /// In [`Lane::Urgent`].
    pub urgent: bool,
}

impl CardClaims {
    /// Those of a card that is claimed in this lane alone.
    #[must_use]
    pub const fn of(lane: Lane) -> Self {
        Self {
            limits: matches!(lane, Lane::Limits),
            money: matches!(lane, Lane::Money),
            urgent: matches!(lane, Lane::Urgent),
        }
    }

    /// All of these and those.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            limits: self.limits || other.limits,
            money: self.money || other.money,
            urgent: self.urgent || other.urgent,
        }
    }

    /// Whether they keep a new batch of this lane from having the card.
    #[must_use]
    pub const fn exclude(self, lane: Lane) -> bool {
        match lane {
            Lane::Limits => self.limits,
            Lane::Money => self.money || self.urgent,
            Lane::Urgent => self.urgent,
        }
    }
}

/// Card batches of one kind.
#[expect(
    clippy::missing_errors_doc,
    reason = "every method fails with the database, and says which rules it meets"
)]
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait CardBatchRepository<K: BatchKind> {
    /// Those of `cards` that exist, as a new batch finds them; in any order.
    fn targets(&mut self, partner: PartnerId, cards: &[CardId]) -> Result<Vec<BatchTarget>, StoreError>;
    /// Adds a batch with its cards, which are its own until [`Self::release_cards`].
    /// `Rule::CardInOneBatch` if another open batch has one of them in the same lane.
    fn insert(
        &mut self,
        partner: PartnerId,
        batch: &CardBatch<K>,
        items: &[BatchItem<K>],
    ) -> Result<(), StoreError>;
    /// The batch with this identifier. Within a writing unit of work it stays as read until the end.
    fn get(&mut self, partner: PartnerId, id: K::Id) -> Result<Option<CardBatch<K>>, StoreError>;
    /// Stores the batch's state.
    fn set_state(&mut self, partner: PartnerId, batch: &CardBatch<K>) -> Result<(), StoreError>;
    /// Its cards from `from_ordinal` on, `limit` at most, by ordinal.
    fn items(
        &mut self,
        partner: PartnerId,
        id: K::Id,
        from_ordinal: u32,
        limit: u32,
    ) -> Result<Vec<BatchItem<K>>, StoreError>;
    /// Its undecided cards, `limit` at most, by ordinal.
    fn open_items(
        &mut self,
        partner: PartnerId,
        id: K::Id,
        limit: u32,
    ) -> Result<Vec<BatchItem<K>>, StoreError>;
    /// Those of them that are not marked as sent to the bank.
    fn unsent_items(
        &mut self,
        partner: PartnerId,
        id: K::Id,
        limit: u32,
    ) -> Result<Vec<BatchItem<K>>, StoreError>;
    /// Marks cards, by ordinal, as sent to the bank or not; new ones are not.
    fn mark_sent(
        &mut self,
        partner: PartnerId,
        id: K::Id,
        ordinals: &[u32],
        sent: bool,
    ) -> Result<(), StoreError>;
    /// Decides cards, by ordinal. Cards decided before stay as they are.
    fn settle_items(
        &mut self,
        partner: PartnerId,
        id: K::Id,
        decided: &[(u32, ItemState<K::Refusal>)],
    ) -> Result<(), StoreError>;
    /// Adds kopecks that came back from cards to what came back by the batch.
    fn add_returned(&mut self, partner: PartnerId, id: K::Id, amount: Kopecks) -> Result<(), StoreError>;
    /// How its cards stand.
    fn counts(&mut self, partner: PartnerId, id: K::Id) -> Result<ItemCounts, StoreError>;
    /// Lets other batches have its cards.
    fn release_cards(&mut self, partner: PartnerId, id: K::Id) -> Result<(), StoreError>;
    /// A page, newest first.
    fn list(
        &mut self,
        partner: PartnerId,
        filter: &BatchFilter,
        page: Page,
    ) -> Result<Listed<CardBatch<K>>, StoreError>;
    /// Every batch of the partner, oldest first, as the reconciliation compares them.
    fn facts(&mut self, partner: PartnerId) -> Result<Vec<BatchFacts<K>>, StoreError>;
}

/// Which batches a list shows.
pub type BatchFilter = RequestFilter<BatchState>;

/// A card as a new batch finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchTarget {
    /// The card.
    pub card: CardId,
    /// The bank's number.
    pub number: CardNumber,
    /// Its status with its employee, if it is linked.
    pub status: Option<CardStatus>,
    /// How it stands at the bank, by the service's copy.
    pub standing: Standing,
    /// The last day on which it is valid.
    pub valid_until: Date,
    /// Which open batches have it.
    pub claims: CardClaims,
}

/// How the cards of a batch stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ItemCounts {
    /// Not decided.
    pub open: u32,
    /// Carried out.
    pub done: u32,
    /// Refused.
    pub refused: u32,
}

/// The money of a batch; all zero where the kind moves none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BatchAmounts {
    /// The sum asked for, as the batch itself has it; none where it has none.
    pub asked: Option<Kopecks>,
    /// Sum of the amounts of its open cards.
    pub open: Kopecks,
    /// Sum of the amounts of the cards that were carried out.
    pub done: Kopecks,
    /// Sum of the amounts of its refused cards.
    pub refused: Kopecks,
    /// What came back from its cards, as the batch itself has it.
    pub returned: Kopecks,
    /// Sum of what came back from each of its cards.
    pub returned_by_cards: Kopecks,
}

/// What the reconciliation compares of one batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchFacts<K: BatchKind> {
    /// The batch.
    pub id: K::Id,
    /// Where it stands.
    pub state: BatchState,
    /// Cards it asked for.
    pub cards: u32,
    /// How its cards stand.
    pub counts: ItemCounts,
    /// Its money.
    pub amounts: BatchAmounts,
    /// Cards that it still keeps from other batches.
    pub claimed_cards: u32,
    /// Whether a job is waiting for it.
    pub has_job: bool,
}
