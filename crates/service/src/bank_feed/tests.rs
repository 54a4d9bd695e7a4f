use kopeck_domain::Kopecks;
use kopeck_port_store::BankFeedState;
use kopeck_port_store::mock::MockUnit;

use super::*;
use crate::testing::*;

fn declined_entry(seq: i64) -> FeedEntry {
    let purchase = DeclinedPurchase {
        at: START,
        amount: Kopecks::new(5),
        reason: None,
        place: None,
        mcc: None,
        merchant_id: None,
    };
    FeedEntry { seq, at: START, card: number(1), change: FeedChange::Declined(purchase) }
}

/// A process that was stopped with a page in its hands: meanwhile another has read on, and forgotten which declines it recorded.
#[test]
fn a_decline_of_a_page_that_others_have_passed_is_not_recorded() {
    let env = Bench::new();
    let mut unit = MockUnit::default();
    let state = BankFeedState { cursor: 500, ..BankFeedState::default() };
    unit.bank_feed.expect_state().times(1).returning(move || Ok(state));
    unit.bank_feed.expect_record_decline().times(2).returning(|_, seq| Ok(seq == 500 - LATE_ENTRIES + 1));
    unit.cards.expect_get().returning(|_, _| Ok(Some(card_record(1))));
    unit.transactions.expect_latest_id().returning(|_, _| Ok(0));
    let mut recorder =
        Recorder { env: &env, partner: PARTNER, passed: None, cards: HashMap::new(), events: Vec::new() };
    for seq in [1, 500 - LATE_ENTRIES, 500 - LATE_ENTRIES + 1, 500] {
        recorder.record(&mut unit, card_id(1), &declined_entry(seq), &mut ToFetch::default()).unwrap();
    }
    assert_eq!(recorder.events.len(), 1);
}
