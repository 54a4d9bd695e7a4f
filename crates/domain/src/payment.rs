//! The approval of a payment: one rule for purchases and for forecasts.

use time::{Date, OffsetDateTime};

use crate::Kopecks;
use crate::card::BankStatus;
use crate::ids::{CardId, EmployeeId};
use crate::limit::{Decision, LimitRefusal};

/// The state of a paying card, without its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payer {
    /// Whether it can pay, by the bank and by the partner.
    pub bank_status: BankStatus,
    /// The last day on which it is valid.
    pub valid_until: Date,
    /// Whether it was activated.
    pub is_activated: bool,
    /// Money on it.
    pub balance: Kopecks,
}

/// Why a payment is declined. The text is for the partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum PaymentRefusal {
    /// Closed for good.
    #[error("the card is closed")]
    Closed,
    /// Blocked, by the bank or by the partner.
    #[error("the card is blocked")]
    Blocked,
    /// Past its last day.
    #[error("the card has expired")]
    Expired,
    /// A virtual card whose code was not used yet.
    #[error("the card is not activated")]
    NotActivated,
    /// Its limit forbids it.
    #[error("{}", .0.text())]
    Limit(LimitRefusal),
    /// More than there is on the card.
    #[error("not enough money on the card")]
    InsufficientBalance,
}

/// Every refusal with its code.
const CODES: [(PaymentRefusal, &str); 9] = [
    (PaymentRefusal::Closed, "card_closed"),
    (PaymentRefusal::Blocked, "card_blocked"),
    (PaymentRefusal::Expired, "card_expired"),
    (PaymentRefusal::NotActivated, "not_activated"),
    (PaymentRefusal::Limit(LimitRefusal::MerchantCategory), "merchant_category"),
    (PaymentRefusal::Limit(LimitRefusal::DayNotAllowed), "day_not_allowed"),
    (PaymentRefusal::Limit(LimitRefusal::TimeNotAllowed), "time_not_allowed"),
    (PaymentRefusal::Limit(LimitRefusal::OverAmount), "limit_exceeded"),
    (PaymentRefusal::InsufficientBalance, "insufficient_funds"),
];

impl PaymentRefusal {
    /// The word for programs.
    #[must_use]
    pub fn code(self) -> &'static str {
        CODES.iter().find(|(refusal, _)| *refusal == self).map_or("declined", |(_, code)| code)
    }

    /// The refusal with this code, if there is one.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        CODES.iter().find(|(_, word)| *word == code).map(|(refusal, _)| *refusal)
    }
}

/// Its code.
#[cfg(feature = "serde")]
impl serde::Serialize for PaymentRefusal {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for PaymentRefusal {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = String::deserialize(deserializer)?;
        Self::from_code(&code).ok_or_else(|| serde::de::Error::custom("not the code of a refusal"))
    }
}

impl Payer {
    /// Decides on a payment of `amount` on the day `today`, of which the card's limit says what `limit` says.
    ///
    /// # Errors
    /// The first [`PaymentRefusal`] that applies, in the order in which they are declared: what concerns the card as
    /// a whole comes before what concerns this payment.
    pub fn pays(self, amount: Kopecks, today: Date, limit: &Decision) -> Result<(), PaymentRefusal> {
        match self.bank_status {
            BankStatus::Closed => return Err(PaymentRefusal::Closed),
            BankStatus::BlockedByBank | BankStatus::Blocking | BankStatus::Blocked => {
                return Err(PaymentRefusal::Blocked);
            }
            BankStatus::Open | BankStatus::Unblocking => {}
        }
        if today > self.valid_until {
            return Err(PaymentRefusal::Expired);
        }
        if !self.is_activated {
            return Err(PaymentRefusal::NotActivated);
        }
        if let Some(refusal) = limit.refusal {
            return Err(PaymentRefusal::Limit(refusal));
        }
        if amount > self.balance { Err(PaymentRefusal::InsufficientBalance) } else { Ok(()) }
    }
}

/// A purchase that the bank declined.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CardDeclined {
    /// The card.
    pub card: CardId,
    /// Its holder, if any.
    pub employee: Option<EmployeeId>,
    /// The purchase, and why it was declined.
    pub purchase: DeclinedPurchase,
}

/// A purchase that had no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DeclinedPurchase {
    /// When it was tried.
    #[cfg_attr(feature = "serde", serde(with = "time::serde::rfc3339"))]
    pub at: OffsetDateTime,
    /// Kopecks, above zero.
    pub amount: Kopecks,
    /// Why; `None` for a reason of the bank's own.
    pub reason: Option<PaymentRefusal>,
    /// Name of the merchant's outlet.
    pub place: Option<String>,
    /// Merchant category code.
    pub mcc: Option<String>,
    /// The merchant's identifier.
    pub merchant_id: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::date;

    const TODAY: Date = date!(2026 - 03 - 16);
    const FREE: Decision = Decision { refusal: None, remaining: None, resets_at: None };

    fn payer() -> Payer {
        Payer {
            bank_status: BankStatus::Open,
            valid_until: TODAY,
            is_activated: true,
            balance: Kopecks::new(1_000),
        }
    }

    fn limited(refusal: LimitRefusal) -> Decision {
        Decision { refusal: Some(refusal), ..FREE }
    }

    #[test]
    fn a_sound_card_pays_up_to_its_balance_on_its_last_day() {
        assert_eq!(payer().pays(Kopecks::new(1_000), TODAY, &FREE), Ok(()));
        let over = payer().pays(Kopecks::new(1_001), TODAY, &FREE);
        assert_eq!(over, Err(PaymentRefusal::InsufficientBalance));
    }

    /// Each card has the faults of all before it too, so that the first of them has to be named.
    #[test]
    fn of_several_refusals_the_first_is_named() {
        let amount = Kopecks::new(1_001);
        let refusal = |payer: Payer, limit: &Decision| payer.pays(amount, TODAY, limit).unwrap_err();
        for &why in LimitRefusal::ALL {
            assert_eq!(refusal(payer(), &limited(why)), PaymentRefusal::Limit(why));
        }
        let limit = limited(LimitRefusal::OverAmount);
        let asleep = Payer { is_activated: false, ..payer() };
        assert_eq!(refusal(asleep, &limit), PaymentRefusal::NotActivated);
        let expired = Payer { valid_until: date!(2026 - 03 - 15), ..asleep };
        assert_eq!(refusal(expired, &limit), PaymentRefusal::Expired);
        for (bank_status, why) in [
            (BankStatus::BlockedByBank, PaymentRefusal::Blocked),
            (BankStatus::Blocking, PaymentRefusal::Blocked),
            (BankStatus::Blocked, PaymentRefusal::Blocked),
            (BankStatus::Unblocking, PaymentRefusal::Expired),
            (BankStatus::Closed, PaymentRefusal::Closed),
        ] {
            assert_eq!(refusal(Payer { bank_status, ..expired }, &limit), why, "{bank_status}");
        }
    }

    #[test]
    fn every_refusal_has_its_own_words() {
        for &why in LimitRefusal::ALL {
            assert_eq!(
                PaymentRefusal::from_code(PaymentRefusal::Limit(why).code()),
                Some(PaymentRefusal::Limit(why))
            );
        }
        let texts: std::collections::BTreeSet<String> =
            CODES.iter().map(|(why, _)| why.to_string()).collect();
        assert_eq!(texts.len(), CODES.len());
        for (why, code) in CODES {
            assert_eq!((why.code(), PaymentRefusal::from_code(code)), (code, Some(why)));
        }
        assert_eq!(PaymentRefusal::from_code("moon_phase"), None);
    }
}
