//! Limits: how they are set, and that purchases obey them.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::limit::{Days, Limit, LimitRefusal, PaymentAttempt, Period, decide};
use kopeck_domain::payment::PaymentRefusal;
use kopeck_port_bank::sandbox::{BankFaults, Purchase, PurchaseOutcome, Refund, SandboxControl as _};
use kopeck_port_bank::{BankError, BankGateway as _, BankKey, DeclineReason, Verdict};
use proptest::prelude::*;
use time::{Duration, OffsetDateTime};

use crate::bank::{Bank, START, set_limit, virtual_cards};

const DONE: Result<Verdict, BankError> = Ok(Verdict::Done);

/// The limit of these parts; a window is `HH:MM-HH:MM`.
fn limit(allowance: Option<(i64, &str)>, days: &[i64], windows: &[&str]) -> Limit {
    let limit = Limit::on(Days::parse(days).unwrap()).within(windows.iter().copied());
    let limit = match allowance {
        Some((amount, period)) => limit.per(period.parse().unwrap(), Kopecks::new(amount)),
        None => limit,
    };
    limit.build().unwrap()
}

fn at(text: &str) -> OffsetDateTime {
    Zone::parse("+03:00").unwrap().parse_moment(text).unwrap()
}

fn pay(bank: &Bank, card: CardNumber, amount: i64, at: Option<OffsetDateTime>) -> PurchaseOutcome {
    let purchase = Purchase { at, ..Purchase::new(Kopecks::new(amount)) };
    bank.bank.purchase(card, &purchase).unwrap()
}

fn paid(answer: PurchaseOutcome) -> i64 {
    let PurchaseOutcome::Approved(transaction) = answer else { unreachable!("{answer:?}") };
    transaction
}

fn limited(refusal: LimitRefusal) -> PurchaseOutcome {
    PurchaseOutcome::Declined(PaymentRefusal::Limit(refusal))
}

const OVER: LimitRefusal = LimitRefusal::OverAmount;

#[test]
fn a_limit_holds_from_when_it_is_set_until_it_is_lifted() {
    let bank = Bank::new();
    let card = bank.card_with("o", 10_000);
    paid(pay(&bank, card, 400, None));
    assert_eq!(bank.submit_one(set_limit("l1", card, &limit(Some((1_000, "CDAY")), &[], &[]))), DONE);
    // Earlier payments of the day count.
    assert_eq!(pay(&bank, card, 601, None), limited(OVER));
    paid(pay(&bank, card, 600, None));
    let bank = bank.restarted();
    assert_eq!(pay(&bank, card, 1, None), limited(OVER));
    assert_eq!(bank.submit_one(set_limit("l2", card, &limit(Some((1_001, "CDAY")), &[], &[]))), DONE);
    paid(pay(&bank, card, 1, None));
    assert_eq!(bank.submit_one(set_limit("l3", card, &Limit::Unlimited)), DONE);
    paid(pay(&bank, card, 8_999, None));
    bank.assert_books_are_right();
}

#[test]
fn a_limit_is_of_its_card_alone() {
    let bank = Bank::new();
    let [card, other] = ["a", "b"].map(|key| bank.card_with(key, 1_000));
    bank.submit_one(set_limit("l", card, &limit(Some((1, "CDAY")), &[], &[]))).unwrap();
    assert_eq!(pay(&bank, card, 2, None), limited(OVER));
    paid(pay(&bank, other, 1_000, None));
    paid(pay(&bank, card, 1, None));
}

#[test]
fn each_refusal_leaves_the_limit_alone() {
    let bank = Bank::new();
    let [blocked, expired] = ["a", "b"].map(|key| bank.card_with(key, 1_000));
    bank.bank.block(blocked).unwrap();
    bank.bank.expire(expired).unwrap();
    let asleep = bank.issue("v", vec![virtual_cards(1, 1_000)]).first().unwrap().number;
    let unknown = CardNumber::from_u64(1_000_000_000).unwrap();
    let limit = limit(Some((1, "CDAY")), &[], &[]);
    let answers = bank.bank.submit(&[
        set_limit("1", blocked, &limit),
        set_limit("2", expired, &limit),
        set_limit("3", asleep, &limit),
        set_limit("4", unknown, &limit),
    ]);
    let declined = |reason| Ok(Verdict::Declined(reason));
    assert_eq!(answers, [DONE, declined(DeclineReason::Expired), DONE, declined(DeclineReason::Refused)]);
    bank.bank.unblock(blocked).unwrap();
    assert_eq!(pay(&bank, blocked, 2, None), limited(OVER));
}

#[test]
fn a_retry_changes_nothing_and_another_limit_is_no_retry() {
    let bank = Bank::new();
    let card = bank.card_with("o", 1_000);
    let (first, second) = (limit(Some((1, "CDAY")), &[], &[]), limit(Some((2, "CDAY")), &[], &[]));
    bank.submit_one(set_limit("1", card, &first)).unwrap();
    bank.submit_one(set_limit("2", card, &second)).unwrap();
    assert_eq!(bank.submit_one(set_limit("1", card, &first)), DONE);
    paid(pay(&bank, card, 2, None));
    assert_eq!(bank.bank.applied(&BankKey::new("1").unwrap()).unwrap(), 1);
    assert!(matches!(bank.submit_one(set_limit("1", card, &second)), Err(BankError::Unavailable(_))));
}

/// A query by key finds the verdict of a lost response, and a second effect sets the same limit.
#[test]
fn a_faulty_bank_still_sets_the_limit() {
    let bank = Bank::new();
    let card = bank.card_with("o", 1_000);
    let submission = set_limit("1", card, &limit(Some((1, "CDAY")), &[], &[]));
    bank.bank.inject_faults(BankFaults { lose_answer_rate: 1.0, ..BankFaults::default() }).unwrap();
    assert!(matches!(bank.submit_one(submission.clone()), Err(BankError::Unknown(_))));
    assert_eq!(bank.bank.query(&[BankKey::new("1").unwrap()]), Ok(vec![Some(Verdict::Done)]));
    bank.bank.inject_faults(BankFaults { duplicate_rate: 1.0, ..BankFaults::default() }).unwrap();
    assert_eq!(bank.submit_one(submission), DONE);
    assert_eq!(bank.bank.applied(&BankKey::new("1").unwrap()).unwrap(), 2);
    assert_eq!(pay(&bank, card, 2, None), limited(OVER));
}

#[test]
fn many_limits_in_one_batch() {
    let bank = Bank::new();
    let cards = bank.issue("v", vec![virtual_cards(1_200, 1_000)]);
    let limit = limit(None, &[], &["00:00-08:59"]);
    let batch: Vec<_> =
        cards.iter().map(|card| set_limit(&card.number.to_string(), card.number, &limit)).collect();
    assert!(bank.bank.submit(&batch).iter().all(|answer| *answer == DONE));
    for card in [cards.first(), cards.last()].into_iter().flatten() {
        bank.bank.activate(card.number, None).unwrap();
        assert_eq!(pay(&bank, card.number, 1, None), limited(LimitRefusal::TimeNotAllowed));
    }
}

#[test]
fn the_category_of_the_merchant_decides() {
    let bank = Bank::new();
    let pay_at = |card, mcc: Option<&str>| {
        let purchase = Purchase { mcc: mcc.map(str::to_owned), ..Purchase::new(Kopecks::new(1)) };
        bank.bank.purchase(card, &purchase).unwrap()
    };
    let [only, except] = ["a", "b"].map(|key| bank.card_with(key, 1_000));
    let limit = Limit::only_at(["5812", "5411-5499"]).build().unwrap();
    assert_eq!(bank.submit_one(set_limit("1", only, &limit)), DONE);
    let limit = Limit::except_at(["5812", "5411-5499"]).build().unwrap();
    assert_eq!(bank.submit_one(set_limit("2", except, &limit)), DONE);
    let refused = limited(LimitRefusal::MerchantCategory);
    for mcc in ["5812", "5411", "5450", "5499"] {
        paid(pay_at(only, Some(mcc)));
        assert_eq!(pay_at(except, Some(mcc)), refused, "{mcc}");
    }
    for mcc in [Some("5813"), Some("0000"), Some("food"), None] {
        assert_eq!(pay_at(only, mcc), refused, "{mcc:?}");
        paid(pay_at(except, mcc));
    }
    bank.submit_one(set_limit("3", only, &Limit::Unlimited)).unwrap();
    paid(pay_at(only, None));
    bank.assert_books_are_right();
}

/// `at` is what decides day, time and period.
#[test]
fn the_time_of_the_purchase_decides() {
    let bank = Bank::new();
    let card = bank.card_with("o", 10_000);
    // Saturday, 21 November 2026.
    let limit = limit(Some((1_000, "CWEEK")), &[6, 7], &["09:00-18:00"]);
    bank.submit_one(set_limit("l", card, &limit)).unwrap();
    for (moment, expected) in [
        ("20.11.2026 12:00", Some(LimitRefusal::DayNotAllowed)),
        ("21.11.2026 08:59", Some(LimitRefusal::TimeNotAllowed)),
        ("21.11.2026 09:00", None),
        ("22.11.2026 17:59", None),
        ("22.11.2026 18:00", Some(LimitRefusal::TimeNotAllowed)),
        ("23.11.2026 12:00", Some(LimitRefusal::DayNotAllowed)),
    ] {
        let answer = pay(&bank, card, 100, Some(at(moment)));
        assert_eq!(
            expected.map(limited),
            matches!(answer, PurchaseOutcome::Declined(_)).then_some(answer),
            "{moment}"
        );
    }
    // 200 are gone this week; the next has the whole amount, also before the clock gets there.
    assert_eq!(pay(&bank, card, 801, None), limited(OVER));
    paid(pay(&bank, card, 1_000, Some(at("28.11.2026 09:00"))));
    paid(pay(&bank, card, 800, None));
    assert_eq!(pay(&bank, card, 1, None), limited(OVER));
}

#[test]
fn a_refund_makes_room_in_the_period_in_which_it_comes() {
    let bank = Bank::new();
    let card = bank.card_with("o", 10_000);
    bank.submit_one(set_limit("l", card, &limit(Some((1_000, "CDAY")), &[], &[]))).unwrap();
    let payment = paid(pay(&bank, card, 1_000, None));
    let back = |amount| Refund { payment, amount: Kopecks::new(amount), key: None };
    bank.bank.refund(card, &back(300)).unwrap();
    paid(pay(&bank, card, 300, None));
    assert_eq!(pay(&bank, card, 1, None), limited(OVER));
    bank.days_pass(1);
    // More refunded than spent does not raise the limit.
    bank.bank.refund(card, &back(700)).unwrap();
    assert_eq!(pay(&bank, card, 1_001, None), limited(OVER));
    paid(pay(&bank, card, 1_000, None));
}

/// Reasons of the card come before its limit, and the limit before the balance.
#[test]
fn of_several_refusals_the_first_is_named() {
    let bank = Bank::new();
    let card = bank.card_with("o", 100);
    bank.submit_one(set_limit("l", card, &limit(Some((50, "CDAY")), &[], &[]))).unwrap();
    assert_eq!(pay(&bank, card, 101, None), limited(OVER));
    bank.bank.block(card).unwrap();
    assert_eq!(pay(&bank, card, 101, None), PurchaseOutcome::Declined(PaymentRefusal::Blocked));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// The bank's own sums and the rule of the domain agree on every purchase, whenever it is made.
    #[test]
    fn purchases_obey_the_rule_of_the_domain(
        period in prop::sample::select(Period::ALL),
        allowance in 1_i64..2_000,
        purchases in prop::collection::vec((1_i64..900, 0_i64..120 * 24), 1..25),
    ) {
        let zone = Zone::parse("+03:00").unwrap();
        let limit = limit(Some((allowance, period.as_str())), &[1, 2, 3, 4, 5], &["08:00-20:00"]);
        let bank = Bank::new();
        let card = bank.card_with("o", 1_000_000);
        bank.submit_one(set_limit("l", card, &limit)).unwrap();
        let mut payments: Vec<(OffsetDateTime, i64)> = Vec::new();
        for (amount, hours) in purchases {
            let at = OffsetDateTime::from_unix_timestamp(START).unwrap() + Duration::hours(hours);
            let period = limit.period_around(zone, at).unwrap();
            let spent = payments.iter().filter(|(paid_at, _)| period.contains(paid_at)).map(|(_, paid)| paid).sum();
            let attempt = PaymentAttempt::new(at, Kopecks::new(amount));
            let decision = decide(&limit, zone, &attempt, Kopecks::new(spent));
            let answer = pay(&bank, card, amount, Some(at));
            prop_assert_eq!(decision.refusal.map(limited), matches!(answer, PurchaseOutcome::Declined(_)).then_some(answer));
            if decision.is_allowed() {
                payments.push((at, amount));
            }
        }
        bank.assert_books_are_right();
    }
}
