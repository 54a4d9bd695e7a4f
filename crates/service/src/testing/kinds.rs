//! The kinds of card batches with their samples.

use super::*;

/// A kind of card batch with its samples.
pub(crate) trait SampleKind: ProcessedKind {
    /// The verdict on a card that was carried out.
    const DONE: Verdict = Verdict::Done;

    /// The state of a card with this verdict.
    fn done() -> ItemState<Self::Refusal> {
        match Self::DONE {
            Verdict::Returned(amount) => ItemState::Returned(amount),
            Verdict::Done | Verdict::Declined(_) | Verdict::Pending => ItemState::Done,
        }
    }

    /// What a batch of so many cards says for all of them.
    fn terms(cards: u32) -> Self::Terms;
    /// What it says for the card with this ordinal.
    fn item_terms(ordinal: u32) -> Self::ItemTerms;
    /// The mock of its repository.
    fn mock(unit: &mut MockUnit) -> &mut MockCardBatchRepository<Self>;
    /// What follows from the verdicts on these cards of a batch of five is done once, and nothing else.
    fn expect_applied(unit: &mut MockUnit, done: &[u32], refused: &[u32]);
}

impl SampleKind for TopUps {
    fn terms(cards: u32) -> Kopecks {
        Kopecks::sum((0..cards).map(Self::item_terms)).unwrap()
    }

    fn item_terms(ordinal: u32) -> Kopecks {
        kopecks(100 * i64::from(ordinal + 1))
    }

    fn mock(unit: &mut MockUnit) -> &mut MockCardBatchRepository<Self> {
        &mut unit.replenishments
    }

    /// Captured and released, and the bank's word of the cards is too old.
    fn expect_applied(unit: &mut MockUnit, done: &[u32], refused: &[u32]) {
        let outdated: Vec<CardId> = done.iter().map(|ordinal| card_id(u128::from(*ordinal))).collect();
        if !outdated.is_empty() {
            unit.cards
                .expect_outdate_bank_view()
                .withf(move |_, cards, too_old_at| *cards == outdated && *too_old_at < START)
                .times(1)
                .returning(|_, _, _| Ok(()));
        }
        let mut held = Self::terms(5).get();
        for (kind, ordinals) in [(MovementKind::Capture, done), (MovementKind::Release, refused)] {
            let amount =
                Kopecks::sum(ordinals.iter().map(|ordinal| Self::item_terms(*ordinal))).unwrap().get();
            if amount > 0 {
                let reference = Reference::Replenishment(replenishment_id(1));
                expect_booking(unit, sheet(0, held), kind, reference, amount);
                held -= amount;
            }
        }
    }
}

impl SampleKind for LimitChanges {
    fn terms(_: u32) -> Limit {
        daily(700)
    }

    fn item_terms(_: u32) {}

    fn mock(unit: &mut MockUnit) -> &mut MockCardBatchRepository<Self> {
        &mut unit.limit_changes
    }

    /// The cards that were done have the new limit.
    fn expect_applied(unit: &mut MockUnit, done: &[u32], _: &[u32]) {
        let cards: Vec<CardId> = done.iter().map(|ordinal| card_id(u128::from(*ordinal))).collect();
        if !cards.is_empty() {
            unit.cards
                .expect_set_limit()
                .withf(move |partner, ids, limit| {
                    *partner == PARTNER && *ids == cards && *limit == daily(700)
                })
                .times(1)
                .returning(|_, _, _| Ok(()));
        }
    }
}

/// What comes back from every sample card.
pub(crate) const RETURNED: Kopecks = Kopecks::new(70);

/// Accounts of a partner who has spent so much.
pub(crate) fn spent_sheet(spent: i64) -> BalanceSheet {
    let sheet = sheet(0, 0);
    let balances = Balances { deposited: kopecks(-spent), spent: kopecks(spent), ..sheet.balances };
    BalanceSheet { balances, ..sheet }
}

/// Each card that was done has a movement of its own, and the batch knows the sum.
fn expect_returned<K: SampleKind>(unit: &mut MockUnit, done: usize, outdated: Vec<CardId>) {
    if done > 0 {
        unit.ledger.expect_sheet().returning(|_| Ok(Some(spent_sheet(500))));
        let movement = Movement::new(MovementKind::Return, K::reference(batch_id::<K>()).unwrap(), RETURNED);
        unit.ledger
            .expect_book()
            .withf(move |_, booked, after, _| Ok(booked) == movement.as_ref() && after.spent == kopecks(430))
            .times(done)
            .returning(|_, _, _, _| Ok(()));
        let sum = RETURNED.get() * i64::try_from(done).unwrap();
        K::mock(unit)
            .expect_add_returned()
            .withf(move |_, id, amount| (*id, amount.get()) == (batch_id::<K>(), sum))
            .times(1)
            .returning(|_, _, _| Ok(()));
    }
    if !outdated.is_empty() {
        unit.cards
            .expect_outdate_bank_view()
            .withf(move |_, cards, too_old_at| *cards == outdated && *too_old_at < START)
            .times(1)
            .returning(|_, _, _| Ok(()));
    }
}

fn card_ids(ordinals: &[u32]) -> Vec<CardId> {
    ordinals.iter().map(|ordinal| card_id(u128::from(*ordinal))).collect()
}

impl SampleKind for Closings {
    const DONE: Verdict = Verdict::Returned(RETURNED);

    fn terms(_: u32) -> ClosingTerms {
        ClosingTerms { is_urgent: false }
    }

    fn item_terms(_: u32) -> ClosingReason {
        ClosingReason::Damaged
    }

    fn mock(unit: &mut MockUnit) -> &mut MockCardBatchRepository<Self> {
        &mut unit.closings
    }

    /// The cards are closed, their money has come back, and those that were refused are read again.
    fn expect_applied(unit: &mut MockUnit, done: &[u32], refused: &[u32]) {
        expect_returned::<Self>(unit, done.len(), card_ids(refused));
        for card in card_ids(done) {
            let n = u64::try_from(card.uuid().as_u128()).unwrap();
            unit.cards
                .expect_get()
                .withf(move |partner, id| (*partner, *id) == (PARTNER, card))
                .returning(move |_, _| Ok(Some(card_record(n))));
            unit.cards
                .expect_set_bank_view()
                .withf(move |_, id, view, last_day| {
                    (*id, view.standing, view.balance, *last_day)
                        == (card, Standing::Closed, Kopecks::ZERO, LAST_DAY)
                })
                .times(1)
                .returning(|_, _, _, _| Ok(true));
        }
    }
}

impl SampleKind for Withdrawals {
    const DONE: Verdict = Verdict::Returned(RETURNED);

    fn terms(cards: u32) -> Option<Kopecks> {
        Some(kopecks(RETURNED.get() * i64::from(cards)))
    }

    fn item_terms(_: u32) -> Option<Kopecks> {
        Some(RETURNED)
    }

    fn mock(unit: &mut MockUnit) -> &mut MockCardBatchRepository<Self> {
        &mut unit.withdrawals
    }

    /// The money has come back, and the bank's word of all cards is too old.
    fn expect_applied(unit: &mut MockUnit, done: &[u32], refused: &[u32]) {
        expect_returned::<Self>(unit, done.len(), card_ids(&[done, refused].concat()));
    }
}

/// The identifier of every sample batch.
pub(crate) fn batch_id<K: SampleKind>() -> K::Id {
    K::Id::from(Uuid::from_u128(1))
}

pub(crate) fn batch<K: SampleKind>(state: BatchState, cards: u32) -> CardBatch<K> {
    CardBatch::from_stored(BatchFields {
        state,
        ..CardBatch::new(batch_id::<K>(), cards, K::terms(cards), BEFORE).into_fields()
    })
}

/// So many undecided cards of a batch.
pub(crate) fn sample_items<K: SampleKind>(count: u32) -> Vec<BatchItem<K>> {
    (0..count).map(|ordinal| open_item(ordinal, K::item_terms(ordinal))).collect()
}

/// Makes a test of each case for each kind of card batch.
macro_rules! for_each_kind {
    ($($case:ident)*) => {
        mod top_ups {
            $(#[test]
            fn $case() {
                super::$case::<kopeck_domain::replenishment::TopUps>();
            })*
        }
        mod limit_changes {
            $(#[test]
            fn $case() {
                super::$case::<kopeck_domain::limit_change::LimitChanges>();
            })*
        }
        mod closings {
            $(#[test]
            fn $case() {
                super::$case::<kopeck_domain::closing::Closings>();
            })*
        }
        mod withdrawals {
            $(#[test]
            fn $case() {
                super::$case::<kopeck_domain::withdrawal::Withdrawals>();
            })*
        }
    };
}
pub(crate) use for_each_kind;
