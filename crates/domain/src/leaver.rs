//! Leavers: what happens to the cards of an employee who leaves, by the partner's rules.

use time::{Duration, OffsetDateTime};

use crate::card::CardStatus;
use crate::ids::{CardId, EmployeeId, RunId};
use crate::invalid::Invalid;

/// The most days between somebody's leaving and the taking back: ten years.
pub const MAX_DAYS: u16 = 3_650;

/// A partner's rules for leavers. By default nothing happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeaverRules {
    freeze: bool,
    take_back_after_days: Option<u16>,
    close: bool,
}

impl LeaverRules {
    /// The rules with these parts.
    ///
    /// # Errors
    /// [`Invalid`] if cards are to be closed and nothing says when: that is after the taking back.
    pub fn new(freeze: bool, take_back_after_days: Option<u16>, close: bool) -> Result<Self, Invalid> {
        if close && take_back_after_days.is_none() {
            return Err(Invalid::new(
                "needs takeBackAfterDays: cards are closed once what is on them was taken back",
            ));
        }
        Ok(Self { freeze, take_back_after_days, close })
    }

    /// Whether their cards are frozen at once.
    #[must_use]
    pub const fn freeze(&self) -> bool {
        self.freeze
    }

    /// After how many days of 24 hours what is left on their cards is taken back; `None` for never.
    #[must_use]
    pub const fn take_back_after_days(&self) -> Option<u16> {
        self.take_back_after_days
    }

    /// Whether their cards are closed then.
    #[must_use]
    pub const fn close(&self) -> bool {
        self.close
    }

    /// Whether nothing happens.
    #[must_use]
    pub const fn is_off(&self) -> bool {
        !self.freeze && self.take_back_after_days.is_none()
    }

    /// When what is left is taken back from somebody who left at this time.
    #[must_use]
    pub fn take_back_at(&self, left_at: OffsetDateTime) -> Option<OffsetDateTime> {
        self.take_back_after_days.map(|days| left_at.saturating_add(Duration::days(days.into())))
    }
}

/// A card that was frozen because its holder left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrozenCard {
    /// The card.
    pub card: CardId,
    /// The status that it had.
    pub status: CardStatus,
}

/// Somebody who left while the partner had rules for that, and what is still to happen by them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaver {
    /// The employee.
    pub employee: EmployeeId,
    /// When the employee left.
    pub left_at: OffsetDateTime,
    /// The cards that were frozen for it.
    pub frozen: Vec<FrozenCard>,
    /// Whether the cards are closed once what is left on them was taken back.
    pub closes: bool,
    /// The run that takes it back, once there is one.
    pub run: Option<RunId>,
    /// When the next step is due; `None` if none is, or while the run is under way.
    pub look_at: Option<OffsetDateTime>,
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn without_rules_nothing_happens() {
        let rules = LeaverRules::default();
        assert!(rules.is_off());
        assert_eq!(rules.take_back_at(datetime!(2026-03-02 12:00 UTC)), None);
        for on in [LeaverRules::new(true, None, false), LeaverRules::new(false, Some(0), false)] {
            assert!(!on.unwrap().is_off());
        }
    }

    #[test]
    fn nothing_is_closed_before_it_was_taken_back() {
        assert!(LeaverRules::new(true, None, true).is_err());
        let rules = LeaverRules::new(false, Some(30), true).unwrap();
        assert!(rules.close());
    }

    /// Also over a change of the clocks, and to the end of time.
    #[test]
    fn a_day_has_24_hours() {
        let rules = LeaverRules::new(true, Some(30), true).unwrap();
        let at = rules.take_back_at(datetime!(2026-03-02 12:34:56.7 +3));
        assert_eq!(at, Some(datetime!(2026-04-01 12:34:56.7 +3)));
        let last = LeaverRules::new(true, Some(MAX_DAYS), false).unwrap();
        assert!(last.take_back_at(datetime!(9999-12-31 23:59:59 UTC)).is_some());
    }
}
