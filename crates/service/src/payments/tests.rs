use super::*;
use crate::testing::*;
use kopeck_domain::card::{BankView, Standing};
use kopeck_domain::limit::{Limit, LimitRefusal, Period};
use kopeck_port_bank::{BankCard, BankError, MockBankGateway};
use kopeck_port_store::CardRecord;
use kopeck_port_store::mock::{InPlaceStore, MockUnit};
use time::Duration;
use time::macros::datetime;

/// So many kopecks a day.
fn daily(amount: i64) -> Limit {
    Limit::per(Period::Day, Kopecks::new(amount)).build().unwrap()
}

/// A card that holds 5,000 and may pay within `limit`.
fn record(limit: Limit) -> CardRecord {
    let record = card_record(1);
    let bank = BankView { activated_at: Some(BEFORE), ..record.bank };
    CardRecord { bank, limit, transactions_seen_at: Some(START), ..record }
}

fn unit(record: CardRecord) -> MockUnit {
    let mut unit = MockUnit::default();
    unit.cards.expect_get().returning(move |_, _| Ok(Some(record.clone())));
    unit
}

fn question(amount: i64) -> Question {
    Question { amount: kopecks(amount), at: None, mcc: None }
}

fn ask(unit: &mut MockUnit, amount: i64, at: Option<OffsetDateTime>) -> Forecast {
    can_pay(unit, &Bench::new(), PARTNER, card_id(1), &Question { at, ..question(amount) }).unwrap()
}

#[test]
fn an_unlimited_card_pays_up_to_its_balance() {
    let free = |refusal| Forecast { refusal, remaining: None, resets_at: None };
    let mut unit = unit(record(Limit::Unlimited));
    assert_eq!(ask(&mut unit, 5_000, None), free(None));
    assert_eq!(ask(&mut unit, 5_001, None), free(Some(PaymentRefusal::InsufficientBalance)));
}

#[test]
fn the_limit_counts_what_was_spent_in_the_period_of_the_question() {
    // 09:00 UTC is noon in the service's zone.
    let today = (datetime!(2026-03-09 21:00 UTC), datetime!(2026-03-10 21:00 UTC));
    let later = (datetime!(2026-03-19 21:00 UTC), datetime!(2026-03-20 21:00 UTC));
    for (at, (from, until)) in [(None, today), (Some(START + Duration::days(10)), later)] {
        let mut unit = unit(record(daily(1_000)));
        unit.transactions
            .expect_spent()
            .withf(move |partner, card, start, end| {
                (*partner, *card, *start, *end) == (PARTNER, card_id(1), from, until)
            })
            .returning(|_, _, _, _| Ok(kopecks(400)));
        let forecast = |refusal| Forecast { refusal, remaining: Some(kopecks(600)), resets_at: Some(until) };
        assert_eq!(ask(&mut unit, 600, at), forecast(None));
        assert_eq!(ask(&mut unit, 601, at), forecast(Some(PaymentRefusal::Limit(LimitRefusal::OverAmount))));
    }
}

#[test]
fn the_category_of_the_merchant_counts() {
    let limit = Limit::only_at(["5812"]).build().unwrap();
    let refusal = |mcc: Option<&str>| {
        let question = Question { mcc: mcc.map(str::to_owned), ..question(1) };
        can_pay(&mut unit(record(limit.clone())), &Bench::new(), PARTNER, card_id(1), &question)
            .unwrap()
            .refusal
    };
    let misplaced = Some(PaymentRefusal::Limit(LimitRefusal::MerchantCategory));
    assert_eq!(refusal(Some("5812")), None);
    assert_eq!(
        (refusal(Some("5813")), refusal(Some("food")), refusal(None)),
        (misplaced, misplaced, misplaced)
    );
}

#[test]
fn the_card_itself_may_stand_in_the_way() {
    let sound = || record(Limit::Unlimited);
    let blocked = CardRecord { bank: BankView { standing: Standing::Blocked, ..sound().bank }, ..sound() };
    let asleep = CardRecord { bank: BankView { activated_at: None, ..sound().bank }, ..sound() };
    assert_eq!(ask(&mut unit(blocked), 1, None).refusal, Some(PaymentRefusal::Blocked));
    assert_eq!(ask(&mut unit(asleep), 1, None).refusal, Some(PaymentRefusal::NotActivated));
    // The last moment of its last day, and the first of the next.
    let over = datetime!(2026-03-31 21:00 UTC);
    assert_eq!(ask(&mut unit(sound()), 1, Some(over - Duration::SECOND)).refusal, None);
    assert_eq!(ask(&mut unit(sound()), 1, Some(over)).refusal, Some(PaymentRefusal::Expired));
}

#[test]
fn an_unknown_card_is_not_found() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.cards.expect_get().returning(|_, _| Ok(None));
    let answer = can_pay(&mut unit, &bench, PARTNER, card_id(1), &question(1));
    assert_eq!(answer, Err(CardError::NotFound));
    let prepared = prepare(&InPlaceStore::new(unit), &MockBankGateway::new(), &bench, PARTNER, card_id(1));
    assert_eq!(prepared, Err(TransactionsError::NotFound));
}

/// The bank is queried for the card if its copy is stale, and for transactions only if the limit has an amount.
#[test]
fn the_bank_is_queried_only_for_what_the_response_needs() {
    for (limit, age, asks) in [
        (Limit::Unlimited, 9, [0, 0]),
        (daily(1), 9, [0, 0]),
        (Limit::Unlimited, 10, [1, 0]),
        (daily(1), 10, [1, 1]),
    ] {
        let (bench, mut unit, mut bank) = (Bench::new(), unit(record(limit)), MockBankGateway::new());
        bench.clock.advance(Duration::seconds(age));
        let [cards, transactions] = asks;
        let answer = BankCard {
            balance: kopecks(1),
            remaining_top_up: kopecks(1),
            account: kopecks(1),
            activated_at: None,
            standing: Standing::Open,
            valid_until: LAST_DAY,
        };
        bank.expect_card().times(cards).returning(move |_| Ok(Some(answer)));
        bank.expect_transactions().times(transactions).returning(|_, _, _| Ok(Vec::new()));
        unit.cards.expect_set_bank_view().times(cards).returning(|_, _, _, _| Ok(true));
        unit.transactions.expect_latest_id().returning(|_, _| Ok(0));
        unit.transactions.expect_append().times(transactions).returning(|_, _, _, _| Ok(()));
        assert_eq!(prepare(&InPlaceStore::new(unit), &bank, &bench, PARTNER, card_id(1)), Ok(()));
    }
}

#[test]
fn without_the_bank_and_without_a_copy_the_read_fails() {
    let (bench, mut bank) = (Bench::new(), MockBankGateway::new());
    let mut unit = unit(CardRecord { transactions_seen_at: None, ..record(daily(1)) });
    unit.transactions.expect_latest_id().returning(|_, _| Ok(0));
    bank.expect_transactions().returning(|_, _, _| Err(BankError::Unavailable("down".to_owned())));
    let prepared = prepare(&InPlaceStore::new(unit), &bank, &bench, PARTNER, card_id(1));
    assert_eq!(prepared, Err(TransactionsError::BankUnavailable));
}
