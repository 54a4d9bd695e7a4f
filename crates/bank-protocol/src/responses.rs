//! Results of instructions.

use kopeck_domain::Kopecks;
use kopeck_port_bank::{DeclineReason, Verdict};
use serde::{Deserialize, Serialize};

use crate::convert::same_values;

/// The response to [`SubmitRequest`](crate::SubmitRequest): one result for each instruction, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmitResponse {
    /// The results.
    pub results: Vec<InstructionResult<SubmitOutcome>>,
}

/// Reads the verdicts on instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryRequest {
    /// 1 to [`MOST_INSTRUCTIONS`](crate::MOST_INSTRUCTIONS).
    pub keys: Vec<String>,
}

/// The response to [`QueryRequest`]: one result for each key, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryResponse {
    /// The results.
    pub results: Vec<InstructionResult<QueryOutcome>>,
}

/// The result of one key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionResult<O> {
    /// The key.
    pub key: String,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: O,
}

/// The outcome of a submitted instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SubmitOutcome {
    /// Carried out; final.
    Done {
        /// Kopecks that came back from the card, zero or more: with `CLOSE_CARD` and `WITHDRAW`, and with nothing else.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        returned: Option<Kopecks>,
    },
    /// Declined, without effect; final.
    Declined {
        /// Why.
        reason: Reason,
    },
    /// Not accepted: no effect, and it may be sent again.
    NotAccepted,
    /// The bank may have it, and has no verdict: query the key.
    Pending,
}

/// The outcome of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum QueryOutcome {
    /// It was carried out.
    Done {
        /// Kopecks that came back from the card, zero or more: with `CLOSE_CARD` and `WITHDRAW`, and with nothing else.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        returned: Option<Kopecks>,
    },
    /// It was refused and had no effect.
    Declined {
        /// Why.
        reason: Reason,
    },
    /// The bank has the instruction, and no verdict.
    Pending,
    /// The bank never accepted an instruction under this key.
    NotSeen,
}

/// Why an instruction was declined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Reason {
    /// Over the amount by which the card can be topped up.
    OverCardLimit,
    /// The card is blocked or closed.
    Blocked,
    /// The card is blocked by `SET_BLOCK`.
    BlockedByPartner,
    /// The card has expired.
    Expired,
    /// The card is not activated yet.
    NotActivated,
    /// The card is closed already: of `CLOSE_CARD` and `WITHDRAW`.
    Closed,
    /// The card holds less than `WITHDRAW` says, or nothing.
    NotEnoughOnCard,
    /// Any other reason, also an unknown one.
    #[serde(other)]
    Refused,
}

impl From<Verdict> for SubmitOutcome {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Done => Self::Done { returned: None },
            Verdict::Returned(amount) => Self::Done { returned: Some(amount) },
            Verdict::Declined(reason) => Self::Declined { reason: reason.into() },
            Verdict::Pending => Self::Pending,
        }
    }
}

impl From<Option<Verdict>> for QueryOutcome {
    fn from(verdict: Option<Verdict>) -> Self {
        match verdict {
            Some(Verdict::Done) => Self::Done { returned: None },
            Some(Verdict::Returned(amount)) => Self::Done { returned: Some(amount) },
            Some(Verdict::Declined(reason)) => Self::Declined { reason: reason.into() },
            Some(Verdict::Pending) => Self::Pending,
            None => Self::NotSeen,
        }
    }
}

same_values! {
    Reason, DeclineReason;
    OverCardLimit = (DeclineReason::OverCardLimit),
    Blocked = (DeclineReason::Blocked),
    BlockedByPartner = (DeclineReason::BlockedByPartner),
    Expired = (DeclineReason::Expired),
    NotActivated = (DeclineReason::NotActivated),
    Closed = (DeclineReason::Closed),
    NotEnoughOnCard = (DeclineReason::NotEnoughOnCard),
    Refused = (DeclineReason::Refused),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_survives_the_wire() {
        let reasons = [
            DeclineReason::OverCardLimit,
            DeclineReason::Blocked,
            DeclineReason::BlockedByPartner,
            DeclineReason::Expired,
            DeclineReason::NotActivated,
            DeclineReason::Closed,
            DeclineReason::NotEnoughOnCard,
            DeclineReason::Refused,
        ];
        for reason in reasons {
            assert_eq!(DeclineReason::from(Reason::from(reason)), reason);
        }
        let answer = InstructionResult {
            key: "k".to_owned(),
            outcome: SubmitOutcome::from(Verdict::Declined(DeclineReason::OverCardLimit)),
        };
        let json = serde_json::to_string(&answer).unwrap();
        assert_eq!(json, r#"{"key":"k","outcome":"DECLINED","reason":"OVER_CARD_LIMIT"}"#);
        assert_eq!(serde_json::from_str::<InstructionResult<SubmitOutcome>>(&json).unwrap(), answer);
        for (verdict, text) in [
            (Verdict::Done, r#"{"outcome":"DONE"}"#),
            (Verdict::Returned(Kopecks::ZERO), r#"{"outcome":"DONE","returned":0}"#),
            (Verdict::Returned(Kopecks::new(7)), r#"{"outcome":"DONE","returned":7}"#),
        ] {
            assert_eq!(serde_json::to_string(&SubmitOutcome::from(verdict)).unwrap(), text);
            let read: QueryOutcome = serde_json::from_str(text).unwrap();
            assert_eq!(read, QueryOutcome::from(Some(verdict)));
        }
    }

    /// A reason more is still a refusal; an outcome more is not understood.
    #[test]
    fn unknown_enum_values_of_a_newer_bank_are_read() {
        let read = serde_json::from_str::<InstructionResult<SubmitOutcome>>;
        let unheard = read(r#"{"key":"k","outcome":"DECLINED","reason":"MOON_PHASE"}"#).unwrap();
        assert_eq!(unheard.outcome, SubmitOutcome::Declined { reason: Reason::Refused });
        let more = read(r#"{"key":"k","outcome":"DONE","since":"2026-03-02T09:00:00Z"}"#).unwrap();
        assert_eq!(more.outcome, SubmitOutcome::Done { returned: None });
        assert!(read(r#"{"key":"k","outcome":"PERHAPS"}"#).is_err());
        assert!(read(r#"{"key":"k","outcome":"DECLINED"}"#).is_err());
        assert!(read(r#"{"key":"k"}"#).is_err());
    }
}
