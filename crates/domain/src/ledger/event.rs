//! What events tell of a partner's money.

use super::TransferReference;
use crate::Kopecks;
use crate::ids::{ClosingId, WithdrawalId};
use crate::request::RequestReference;

/// Money that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Deposited {
    /// Kopecks.
    pub amount: Kopecks,
    /// The operator's reference; none for the first deposit of a partner, and for one of the sandbox.
    pub reference: Option<TransferReference>,
}

/// Money that came back from a card.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Returned {
    /// Kopecks, above zero.
    pub amount: Kopecks,
    /// The request that brought it back.
    pub by: ReturnOrigin,
    /// What the partner calls the request.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub reference: Option<RequestReference>,
}

/// A request that brings money back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum ReturnOrigin {
    /// The card was closed.
    Closing(ClosingId),
    /// Its money was taken back.
    Withdrawal(WithdrawalId),
}

/// Money that was taken from the partner's balance by an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Transfer {
    /// Kopecks, above zero.
    pub amount: Kopecks,
    /// The reference of the payment, or of the deposit that was reversed.
    pub reference: TransferReference,
}

/// Less money than a partner wants to have left.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BalanceLow {
    /// What the partner can spend now, kopecks.
    pub available: Kopecks,
    /// The threshold that it fell below, kopecks.
    pub threshold: Kopecks,
}
