//! The outcome of one card of a top-up.

use std::fmt;

use kopeck_client::ReplenishmentResult;

/// The actual or expected outcome of a card.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CardOutcome {
    ToppedUp,
    NotEnoughBalance,
    OverTheCard,
    Blocked,
    Expired,
    NotActivated,
    RefusedByBank,
    /// A reason that the demo does not know, in the service's words.
    Other(String),
}

/// Words by which the service's texts are mapped to outcomes.
const WORDS: [(&str, CardOutcome); 6] = [
    ("not enough partner balance", CardOutcome::NotEnoughBalance),
    ("over the amount by which the card can be topped up", CardOutcome::OverTheCard),
    ("blocked by the bank", CardOutcome::Blocked),
    ("expired", CardOutcome::Expired),
    ("not activated", CardOutcome::NotActivated),
    ("refused by the bank", CardOutcome::RefusedByBank),
];

impl CardOutcome {
    /// The outcome that the service reports.
    pub(crate) fn of(result: &ReplenishmentResult) -> Self {
        match (result.result_replenishment, result.error_replenishment.as_deref()) {
            (true, None) => Self::ToppedUp,
            (true, Some(reason)) => Self::Other(format!("topped up, and yet: {reason}")),
            (false, None) => Self::Other("refused without a reason".to_owned()),
            (false, Some(reason)) => WORDS
                .into_iter()
                .find(|(words, _)| reason.contains(words))
                .map_or_else(|| Self::Other(reason.to_owned()), |(_, outcome)| outcome),
        }
    }
}

impl fmt::Display for CardOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Other(words) = self {
            return f.write_str(words);
        }
        let words = WORDS.iter().find(|(_, outcome)| outcome == self).map_or("topped up", |(words, _)| words);
        f.write_str(words)
    }
}

#[cfg(test)]
mod tests {
    use kopeck_client::Uuid;

    use super::*;

    fn outcome(topped_up: bool, reason: Option<&str>) -> CardOutcome {
        CardOutcome::of(&ReplenishmentResult {
            id_card: Uuid::nil(),
            result_replenishment: topped_up,
            amount_replenishment: 1,
            error_replenishment: reason.map(str::to_owned),
        })
    }

    #[test]
    fn reasons_are_known_by_their_texts() {
        assert_eq!(outcome(true, None), CardOutcome::ToppedUp);
        assert_eq!(outcome(false, Some("the card is blocked by the bank")), CardOutcome::Blocked);
        assert_eq!(outcome(false, Some("not enough partner balance")), CardOutcome::NotEnoughBalance);
        assert_eq!(outcome(false, Some("too late")), CardOutcome::Other("too late".to_owned()));
    }

    #[test]
    fn contradictory_responses_are_separate_outcomes() {
        assert!(matches!(outcome(true, Some("expired")), CardOutcome::Other(_)));
        assert!(matches!(outcome(false, None), CardOutcome::Other(_)));
    }

    #[test]
    fn every_outcome_has_words() {
        assert_eq!(CardOutcome::ToppedUp.to_string(), "topped up");
        assert_eq!(CardOutcome::Expired.to_string(), "expired");
        assert_eq!(CardOutcome::Other("x".to_owned()).to_string(), "x");
    }
}
