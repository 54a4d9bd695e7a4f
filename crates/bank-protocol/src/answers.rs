//! What became of instructions, on the wire.

use kopeck_port_bank::{DeclineReason, Verdict};
use serde::{Deserialize, Serialize};

/// The answer to [`SubmitRequest`](crate::SubmitRequest): one for each instruction, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmitAnswer {
    /// The answers.
    pub results: Vec<InstructionAnswer<Outcome>>,
}

/// Asks what became of instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryRequest {
    /// 1 to [`MOST_INSTRUCTIONS`](crate::MOST_INSTRUCTIONS).
    pub keys: Vec<String>,
}

/// The answer to [`QueryRequest`]: one for each key, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryAnswer {
    /// The answers.
    pub results: Vec<InstructionAnswer<QueryOutcome>>,
}

/// What is said under one key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionAnswer<O> {
    /// The key.
    pub key: String,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: O,
}

/// What became of an instruction that was just submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Outcome {
    /// It was carried out, once and for all.
    Done,
    /// It was refused, once and for all, and had no effect.
    Declined {
        /// Why.
        reason: Reason,
    },
    /// The bank did not take it: it had no effect and may be sent again.
    NotAccepted,
    /// The bank may have it and has no verdict: ask by the key.
    Pending,
}

/// What became of an instruction that was submitted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum QueryOutcome {
    /// It was carried out.
    Done,
    /// It was refused and had no effect.
    Declined {
        /// Why.
        reason: Reason,
    },
    /// The bank has it and no verdict yet.
    Pending,
    /// The bank never took an instruction under this key.
    NotSeen,
}

/// Why an instruction was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Reason {
    /// Over the amount by which the card can be topped up.
    OverCardLimit,
    /// The card is blocked or closed.
    Blocked,
    /// The card has expired.
    Expired,
    /// The card is not activated yet.
    NotActivated,
    /// Any other; also words that are not known here.
    #[serde(other)]
    Refused,
}

impl From<Verdict> for Outcome {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Done => Self::Done,
            Verdict::Declined(reason) => Self::Declined { reason: reason.into() },
        }
    }
}

impl From<Option<Verdict>> for QueryOutcome {
    fn from(verdict: Option<Verdict>) -> Self {
        match verdict {
            Some(Verdict::Done) => Self::Done,
            Some(Verdict::Declined(reason)) => Self::Declined { reason: reason.into() },
            None => Self::NotSeen,
        }
    }
}

impl From<DeclineReason> for Reason {
    fn from(reason: DeclineReason) -> Self {
        match reason {
            DeclineReason::OverCardLimit => Self::OverCardLimit,
            DeclineReason::Blocked => Self::Blocked,
            DeclineReason::Expired => Self::Expired,
            DeclineReason::NotActivated => Self::NotActivated,
            DeclineReason::Refused => Self::Refused,
        }
    }
}

impl From<Reason> for DeclineReason {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::OverCardLimit => Self::OverCardLimit,
            Reason::Blocked => Self::Blocked,
            Reason::Expired => Self::Expired,
            Reason::NotActivated => Self::NotActivated,
            Reason::Refused => Self::Refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_survives_the_wire() {
        let reasons = [
            DeclineReason::OverCardLimit,
            DeclineReason::Blocked,
            DeclineReason::Expired,
            DeclineReason::NotActivated,
            DeclineReason::Refused,
        ];
        for reason in reasons {
            assert_eq!(DeclineReason::from(Reason::from(reason)), reason);
        }
        let answer = InstructionAnswer {
            key: "k".to_owned(),
            outcome: Outcome::from(Verdict::Declined(DeclineReason::OverCardLimit)),
        };
        let json = serde_json::to_string(&answer).unwrap();
        assert_eq!(json, r#"{"key":"k","outcome":"DECLINED","reason":"OVER_CARD_LIMIT"}"#);
        assert_eq!(serde_json::from_str::<InstructionAnswer<Outcome>>(&json).unwrap(), answer);
    }

    /// A reason more is still a refusal; an outcome more is not understood.
    #[test]
    fn words_that_a_newer_bank_may_say() {
        let read = serde_json::from_str::<InstructionAnswer<Outcome>>;
        let unheard = read(r#"{"key":"k","outcome":"DECLINED","reason":"MOON_PHASE"}"#).unwrap();
        assert_eq!(unheard.outcome, Outcome::Declined { reason: Reason::Refused });
        let more = read(r#"{"key":"k","outcome":"DONE","since":"2026-03-02T09:00:00Z"}"#).unwrap();
        assert_eq!(more.outcome, Outcome::Done);
        assert!(read(r#"{"key":"k","outcome":"PERHAPS"}"#).is_err());
        assert!(read(r#"{"key":"k","outcome":"DECLINED"}"#).is_err());
        assert!(read(r#"{"key":"k"}"#).is_err());
    }
}
