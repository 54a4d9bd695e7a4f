//! Requests beyond the protocol by which a sandbox controls a bank simulator.
//!
//! No real bank has them; any version may change them.

use std::time::Duration;

use kopeck_domain::Kopecks;
use kopeck_domain::limit::LimitRefusal;
use kopeck_domain::payment::PaymentRefusal;
use kopeck_port_bank::sandbox::{BankFaults, CommandKey, Purchase, PurchaseOutcome, Refund};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::serde::rfc3339;

use crate::convert::same_values;

/// A command on one card: `POST`, with its number and `/purchase`, `/refund`, `/activate`, `/block`, `/unblock` or
/// `/expire`.
pub const CARDS: &str = "/simulator/v1/cards";
/// The bank's faults: `PUT`.
pub const BEHAVIOUR: &str = "/simulator/v1/behaviour";
/// The offset of the simulator's clock: `GET`.
pub const CLOCK: &str = "/simulator/v1/clock";
/// Moves the clock forward: `POST`.
pub const ADVANCE: &str = "/simulator/v1/clock/advance";

/// The idempotency key of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdempotencyKeyDto {
    /// Names one command.
    pub key: String,
    /// A key that was last used before this time may be reused.
    #[serde(with = "rfc3339")]
    pub since: OffsetDateTime,
}

/// A purchase at a merchant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PurchaseRequest {
    /// Kopecks, above zero.
    pub amount: Kopecks,
    /// Name of the merchant's outlet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Merchant category code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcc: Option<String>,
    /// The merchant's identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merchant_id: Option<String>,
    /// The time of the purchase; now by default.
    #[serde(default, with = "rfc3339::option", skip_serializing_if = "Option::is_none")]
    pub at: Option<OffsetDateTime>,
    /// Its idempotency key, if it may be retried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub once: Option<IdempotencyKeyDto>,
}

/// The bank's decision on a purchase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PurchaseResponse {
    /// Paid.
    Approved {
        /// The id of the transaction.
        transaction: i64,
    },
    /// No effect.
    Refused {
        /// Why.
        reason: PaymentRefusalDto,
    },
}

/// Why a card does not pay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PaymentRefusalDto {
    /// Permanently closed.
    Closed,
    /// Blocked.
    Blocked,
    /// Past its last day.
    Expired,
    /// Not activated yet.
    NotActivated,
    /// Its limit allows no payment at merchants of this category.
    MerchantCategory,
    /// Its limit allows no payment on this day.
    DayNotAllowed,
    /// Its limit allows no payment at this time.
    TimeNotAllowed,
    /// Over what its limit leaves.
    OverAmount,
    /// More than there is on the card.
    InsufficientBalance,
}

same_values! {
    PaymentRefusalDto, PaymentRefusal;
    Closed = (PaymentRefusal::Closed),
    Blocked = (PaymentRefusal::Blocked),
    Expired = (PaymentRefusal::Expired),
    NotActivated = (PaymentRefusal::NotActivated),
    MerchantCategory = (PaymentRefusal::Limit(LimitRefusal::MerchantCategory)),
    DayNotAllowed = (PaymentRefusal::Limit(LimitRefusal::DayNotAllowed)),
    TimeNotAllowed = (PaymentRefusal::Limit(LimitRefusal::TimeNotAllowed)),
    OverAmount = (PaymentRefusal::Limit(LimitRefusal::OverAmount)),
    InsufficientBalance = (PaymentRefusal::InsufficientBalance),
}

/// Refunds all or part of a payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefundRequest {
    /// The id of the payment.
    pub payment: i64,
    /// Kopecks, above zero.
    pub amount: Kopecks,
    /// Its idempotency key, if it may be retried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub once: Option<IdempotencyKeyDto>,
}

/// A refund.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefundResponse {
    /// The id of its transaction.
    pub transaction: i64,
}

/// Activates a card.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActivateRequest {
    /// Its code; without one the bank does it by its own hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// The bank's faults; absent fields mean none. Rates are probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct BehaviourDto {
    /// Milliseconds added to each response.
    pub latency_ms: u64,
    /// The share of instructions and reads that fail without an effect.
    pub error_rate: f64,
    /// The share of instructions without an effect and without a verdict.
    pub lose_request_rate: f64,
    /// The share of instructions with an effect and no verdict.
    pub lose_answer_rate: f64,
    /// The share of repeated instructions with a second effect.
    pub duplicate_rate: f64,
    /// Whether the bank leaves purchases and refunds out of its feed.
    pub silent_feed: bool,
    /// Whether the bank responds to nothing.
    pub down: bool,
}

/// The offset of the simulator's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClockResponse {
    /// Microseconds by which it is ahead of the machine's; it only ever grows.
    pub offset_micros: i64,
}

/// Moves the clock forward.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdvanceRequest {
    /// Seconds, above zero.
    pub seconds: u64,
    /// The name of the move.
    pub once: IdempotencyKeyDto,
}

/// The response of a command without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Empty {}

impl From<CommandKey> for IdempotencyKeyDto {
    fn from(key: CommandKey) -> Self {
        Self { key: key.text, since: key.since }
    }
}

impl From<IdempotencyKeyDto> for CommandKey {
    fn from(dto: IdempotencyKeyDto) -> Self {
        Self { text: dto.key, since: dto.since }
    }
}

impl From<Purchase> for PurchaseRequest {
    fn from(purchase: Purchase) -> Self {
        let Purchase { amount, place, mcc, merchant_id, at, key } = purchase;
        Self { amount, place, mcc, merchant_id, at, once: key.map(Into::into) }
    }
}

impl From<PurchaseRequest> for Purchase {
    fn from(request: PurchaseRequest) -> Self {
        let PurchaseRequest { amount, place, mcc, merchant_id, at, once } = request;
        Self { amount, place, mcc, merchant_id, at, key: once.map(Into::into) }
    }
}

impl From<Refund> for RefundRequest {
    fn from(Refund { payment, amount, key }: Refund) -> Self {
        Self { payment, amount, once: key.map(Into::into) }
    }
}

impl From<RefundRequest> for Refund {
    fn from(RefundRequest { payment, amount, once }: RefundRequest) -> Self {
        Self { payment, amount, key: once.map(Into::into) }
    }
}

impl From<PurchaseOutcome> for PurchaseResponse {
    fn from(outcome: PurchaseOutcome) -> Self {
        match outcome {
            PurchaseOutcome::Approved(transaction) => Self::Approved { transaction },
            PurchaseOutcome::Declined(refusal) => Self::Refused { reason: refusal.into() },
        }
    }
}

impl From<PurchaseResponse> for PurchaseOutcome {
    fn from(response: PurchaseResponse) -> Self {
        match response {
            PurchaseResponse::Approved { transaction } => Self::Approved(transaction),
            PurchaseResponse::Refused { reason } => Self::Declined(reason.into()),
        }
    }
}

impl From<BankFaults> for BehaviourDto {
    fn from(faults: BankFaults) -> Self {
        let BankFaults {
            latency,
            error_rate,
            lose_request_rate,
            lose_answer_rate,
            duplicate_rate,
            silent_feed,
            down,
        } = faults;
        let latency_ms = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX);
        Self {
            latency_ms,
            error_rate,
            lose_request_rate,
            lose_answer_rate,
            duplicate_rate,
            silent_feed,
            down,
        }
    }
}

impl From<BehaviourDto> for BankFaults {
    fn from(dto: BehaviourDto) -> Self {
        let BehaviourDto {
            latency_ms,
            error_rate,
            lose_request_rate,
            lose_answer_rate,
            duplicate_rate,
            silent_feed,
            down,
        } = dto;
        Self {
            latency: Duration::from_millis(latency_ms),
            error_rate,
            lose_request_rate,
            lose_answer_rate,
            duplicate_rate,
            silent_feed,
            down,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_survives_the_wire() {
        let limits = LimitRefusal::ALL.iter().map(|refusal| PaymentRefusal::Limit(*refusal));
        let all = [
            PaymentRefusal::Closed,
            PaymentRefusal::Blocked,
            PaymentRefusal::Expired,
            PaymentRefusal::NotActivated,
            PaymentRefusal::InsufficientBalance,
        ];
        for refusal in all.into_iter().chain(limits) {
            assert_eq!(PaymentRefusal::from(PaymentRefusalDto::from(refusal)), refusal);
        }
    }
}
