//! Which card is topped up by how much, and what has to become of it.

use crate::outcome::CardOutcome;

/// How many cards the request is for.
pub(crate) const TOP_UPS: usize = 150;

/// Cards at the end whose amounts exceed the rest of the balance.
const UNCOVERED: usize = 4;

/// The case that a card demonstrates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A top-up like any other.
    Ordinary,
    /// By one kopeck more than the card takes.
    OverTheCard,
    /// The bank blocks the card.
    Blocked,
    /// An amount that the sandbox's bank refuses.
    RefusedByBank,
    /// The card's code was not used yet.
    NotActivated,
    /// More than what the partner's balance has left.
    Uncovered,
}

impl Role {
    /// The role of the card at `place` of the request. The first cards are plastic, which are activated from their
    /// issue; a card that is not activated has to be further behind.
    pub(crate) const fn at(place: usize) -> Self {
        match place {
            9 | 69 | 129 => Self::OverTheCard,
            5 | 46 | 87 => Self::Blocked,
            19 | 59 | 99 => Self::RefusedByBank,
            34 | 74 => Self::NotActivated,
            _ if place >= TOP_UPS - UNCOVERED => Self::Uncovered,
            _ => Self::Ordinary,
        }
    }

    /// How much to ask for at `place`, of a card that still takes `remaining_top_up`.
    pub(crate) const fn amount(self, place: usize, remaining_top_up: i64) -> i64 {
        match self {
            Self::OverTheCard => remaining_top_up + 1,
            Self::RefusedByBank => 25_013,
            Self::Uncovered => 1_000_000,
            Self::Ordinary | Self::Blocked | Self::NotActivated => match place % 4 {
                0 => 25_000,
                1 => 31_450,
                2 => 40_099,
                _ => 60_000,
            },
        }
    }
}

/// A card as it stands before it is topped up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CardNow {
    pub(crate) blocked: bool,
    pub(crate) activated: bool,
    /// By how much it can be topped up.
    pub(crate) remaining_top_up: i64,
}

impl CardNow {
    /// The outcome of a top-up by `amount` at the sandbox's bank.
    const fn outcome(self, amount: i64) -> CardOutcome {
        if amount % 100 == 13 {
            CardOutcome::RefusedByBank
        } else if self.blocked {
            CardOutcome::Blocked
        } else if !self.activated {
            CardOutcome::NotActivated
        } else if amount > self.remaining_top_up {
            CardOutcome::OverTheCard
        } else {
            CardOutcome::ToppedUp
        }
    }
}

/// The expected outcome of each card of one request, with `available` kopecks on the balance: amounts are held card by
/// card, while the money lasts, before the bank request.
pub(crate) fn forecast(available: i64, cards: &[(i64, CardNow)]) -> Vec<CardOutcome> {
    let mut left = available;
    cards
        .iter()
        .map(|&(amount, card)| {
            if amount > left {
                return CardOutcome::NotEnoughBalance;
            }
            left -= amount;
            card.outcome(amount)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: CardNow = CardNow { blocked: false, activated: true, remaining_top_up: 1_000 };

    #[test]
    fn every_role_is_played_and_most_cards_are_ordinary() {
        let count = |role| (0..TOP_UPS).filter(|place| Role::at(*place) == role).count();
        let roles =
            [Role::OverTheCard, Role::Blocked, Role::RefusedByBank, Role::NotActivated, Role::Uncovered];
        assert!(roles.into_iter().all(|role| count(role) > 0));
        assert!(count(Role::Ordinary) > TOP_UPS / 2);
    }

    #[test]
    fn no_ordinary_amount_is_refused_for_its_kopecks() {
        for place in 0..TOP_UPS {
            let amount = Role::Ordinary.amount(place, 0);
            assert_eq!(CardNow { remaining_top_up: amount, ..GOOD }.outcome(amount), CardOutcome::ToppedUp);
        }
    }

    #[test]
    fn each_card_is_judged_by_itself() {
        let cards = [
            (1_000, GOOD),
            (1_001, GOOD),
            (10, CardNow { blocked: true, ..GOOD }),
            (10, CardNow { activated: false, ..GOOD }),
            (213, GOOD),
        ];
        let outcomes = forecast(1_000_000, &cards);
        assert_eq!(
            outcomes,
            [
                CardOutcome::ToppedUp,
                CardOutcome::OverTheCard,
                CardOutcome::Blocked,
                CardOutcome::NotActivated,
                CardOutcome::RefusedByBank
            ]
        );
    }

    #[test]
    fn money_goes_in_order_and_a_smaller_card_behind_still_gets_some() {
        let outcomes = forecast(100, &[(60, GOOD), (50, GOOD), (40, GOOD), (1, GOOD)]);
        assert_eq!(
            outcomes,
            [
                CardOutcome::ToppedUp,
                CardOutcome::NotEnoughBalance,
                CardOutcome::ToppedUp,
                CardOutcome::NotEnoughBalance
            ]
        );
    }

    #[test]
    fn a_top_up_that_the_bank_will_refuse_is_held_too() {
        let blocked = CardNow { blocked: true, ..GOOD };
        assert_eq!(
            forecast(100, &[(60, blocked), (60, GOOD)]),
            [CardOutcome::Blocked, CardOutcome::NotEnoughBalance]
        );
    }
}
