use super::*;
use crate::testing::*;
use kopeck_domain::card::Standing;
use kopeck_port_store::CardClaims;
use kopeck_port_store::mock::MockUnit;

fn target(card: u64) -> BatchTarget {
    BatchTarget {
        card: card_id(u128::from(card)),
        number: number(card),
        status: None,
        standing: Standing::Blocked,
        valid_until: LAST_DAY.previous_day().unwrap(),
        claims: CardClaims::default(),
    }
}

fn withdrawal(card: u128, amount: Option<i64>) -> CardWithdrawal {
    CardWithdrawal { card: card_id(card).into(), amount: amount.map(kopecks) }
}

/// Cards that are expired, blocked or unassigned give their money back too.
#[test]
fn a_batch_asks_for_the_sum_if_every_card_has_an_amount() {
    for (amounts, sum) in [([Some(300), Some(200)], Some(500)), ([Some(300), None], None)] {
        let mut unit = MockUnit::default();
        unit.withdrawals.expect_targets().returning(|_, _| Ok(vec![target(0), target(1)]));
        unit.withdrawals
            .expect_insert()
            .withf(move |_, _, items| {
                items.iter().map(|item| item.terms).eq(amounts.map(|amount| amount.map(kopecks)))
            })
            .times(1)
            .returning(|_, _, _| Ok(()));
        unit.jobs.expect_enqueue().times(1).returning(|_, _, _| Ok(()));
        let withdrawals = [withdrawal(0, amounts[0]), withdrawal(1, amounts[1])];
        let batch = create(&mut unit, &Bench::new(), PARTNER, &withdrawals, None).unwrap();
        assert_eq!(*batch.terms(), sum.map(kopecks));
    }
    let mut unit = MockUnit::default();
    unit.withdrawals.expect_targets().returning(|_, _| Ok(vec![target(0), target(1)]));
    let too_much = [withdrawal(0, Some(i64::MAX)), withdrawal(1, Some(1))];
    let refused = create(&mut unit, &Bench::new(), PARTNER, &too_much, None);
    assert_eq!(refused, Err(CreateBatchError::Terms(AmountOverflow)));
}

#[test]
fn every_card_gives_its_amount_back_under_its_own_key() {
    for amount in [None, Some(kopecks(300))] {
        let item = WithdrawalItem { terms: amount, ..sample_items::<Withdrawals>(3).pop().unwrap() };
        let key = "withdrawal/00000000-0000-0000-0000-000000000001/2";
        assert_eq!(Withdrawals::key(withdrawal_id(1), &item).as_str(), key);
        let expected = Instruction::Withdraw { card: item.number, amount };
        assert_eq!(Withdrawals::instruction(&None, &item), expected);
    }
    for (reason, refusal) in [
        (DeclineReason::NotEnoughOnCard, WithdrawalRefusal::NotEnoughOnCard),
        (DeclineReason::Closed, WithdrawalRefusal::Closed),
        (DeclineReason::Refused, WithdrawalRefusal::RefusedByBank),
        (DeclineReason::Blocked, WithdrawalRefusal::RefusedByBank),
    ] {
        assert_eq!(Withdrawals::refusal(reason), refusal);
    }
}
