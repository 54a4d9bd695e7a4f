//! What a bank can do, and what it cannot.

use kopeck_domain::limit::{Limit, Period};

use crate::Instruction;

/// Something that a bank may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Capability {
    /// Spending limits per day.
    DailyLimits,
    /// Spending limits per week.
    WeeklyLimits,
    /// Spending limits per month.
    MonthlyLimits,
    /// Spending limits per quarter.
    QuarterlyLimits,
    /// Limits to weekdays.
    Weekdays,
    /// Limits to times of the day.
    Hours,
    /// Limits to merchants by their category.
    MerchantCategories,
    /// [`Instruction::Withdraw`].
    Withdrawals,
    /// [`Instruction::CloseCard`].
    Closings,
    /// [`BankGateway::feed`](crate::BankGateway::feed).
    Feed,
    /// [`BankGateway::registry`](crate::BankGateway::registry).
    Registry,
    /// [`BankGateway::repeat_is_safe`](crate::BankGateway::repeat_is_safe).
    RepeatSafe,
}

impl Capability {
    /// Every capability.
    pub const ALL: [Self; 12] = [
        Self::DailyLimits,
        Self::WeeklyLimits,
        Self::MonthlyLimits,
        Self::QuarterlyLimits,
        Self::Weekdays,
        Self::Hours,
        Self::MerchantCategories,
        Self::Withdrawals,
        Self::Closings,
        Self::Feed,
        Self::Registry,
        Self::RepeatSafe,
    ];

    /// Its name on the wire, in settings and in logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.texts().0
    }

    /// What the bank does not support, for people: "spending limits per day".
    #[must_use]
    pub const fn about(self) -> &'static str {
        self.texts().1
    }

    /// The capability of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|capability| capability.name() == name)
    }

    const fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::DailyLimits => ("daily-limits", "spending limits per day"),
            Self::WeeklyLimits => ("weekly-limits", "spending limits per week"),
            Self::MonthlyLimits => ("monthly-limits", "spending limits per month"),
            Self::QuarterlyLimits => ("quarterly-limits", "spending limits per quarter"),
            Self::Weekdays => ("weekdays", "limits to weekdays"),
            Self::Hours => ("hours", "limits to times of the day"),
            Self::MerchantCategories => ("merchant-categories", "limits to merchant categories"),
            Self::Withdrawals => ("withdrawals", "withdrawals from cards"),
            Self::Closings => ("closings", "closing cards"),
            Self::Feed => ("feed", "a feed of what happens to cards"),
            Self::Registry => ("registry", "a registry for reconciliation"),
            Self::RepeatSafe => ("repeat-safe", "idempotent retries"),
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// What a bank can do: everything, unless it says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    missing: u16,
    largest_batch: u32,
}

/// What the bank cannot do, though it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the bank does not support {}", .0.about())]
pub struct NotSupported(pub Capability);

impl Capabilities {
    /// The most instructions or keys of a request, if the bank says nothing else.
    pub const LARGEST_BATCH: u32 = 1_000;
    /// What a bank can do that says nothing.
    pub const EVERYTHING: Self = Self { missing: 0, largest_batch: Self::LARGEST_BATCH };

    /// Everything but these.
    #[must_use]
    pub fn without(missing: impl IntoIterator<Item = Capability>) -> Self {
        let missing = missing.into_iter().fold(0, |bits, capability| bits | capability.bit());
        Self { missing, ..Self::EVERYTHING }
    }

    /// With at most `most` instructions or keys in a request: 1 to [`LARGEST_BATCH`](Self::LARGEST_BATCH), else the nearest.
    #[must_use]
    pub fn with_largest_batch(self, most: u32) -> Self {
        Self { largest_batch: most.clamp(1, Self::LARGEST_BATCH), ..self }
    }

    /// The most instructions or keys of a request.
    #[must_use]
    pub const fn largest_batch(&self) -> u32 {
        self.largest_batch
    }

    /// Whether the bank has it.
    #[must_use]
    pub const fn has(&self, capability: Capability) -> bool {
        self.missing & capability.bit() == 0
    }

    /// What the bank lacks.
    pub fn missing(&self) -> impl Iterator<Item = Capability> + use<> {
        let all = *self;
        Capability::ALL.into_iter().filter(move |capability| !all.has(*capability))
    }

    /// That the bank has it.
    ///
    /// # Errors
    /// [`NotSupported`].
    pub const fn require(&self, capability: Capability) -> Result<(), NotSupported> {
        if self.has(capability) { Ok(()) } else { Err(NotSupported(capability)) }
    }

    /// That the bank can hold cards to every part of `limit`.
    ///
    /// # Errors
    /// [`NotSupported`] for the first part that it cannot.
    pub fn require_limit(&self, limit: &Limit) -> Result<(), NotSupported> {
        let period = limit.allowance().map(|allowance| match allowance.period() {
            Period::Day => Capability::DailyLimits,
            Period::Week => Capability::WeeklyLimits,
            Period::Month => Capability::MonthlyLimits,
            Period::Quarter => Capability::QuarterlyLimits,
        });
        let weekdays = limit.days().numbers().next().map(|_| Capability::Weekdays);
        let hours = limit.windows().first().map(|_| Capability::Hours);
        let categories = limit.merchant_categories().map(|_| Capability::MerchantCategories);
        let needed = [period, weekdays, hours, categories];
        needed.into_iter().flatten().try_for_each(|capability| self.require(capability))
    }

    /// That the bank can carry out `instruction`.
    ///
    /// # Errors
    /// [`NotSupported`].
    pub fn require_for(&self, instruction: &Instruction) -> Result<(), NotSupported> {
        match instruction {
            Instruction::SetLimit { limit, .. } => self.require_limit(limit),
            Instruction::CloseCard { .. } => self.require(Capability::Closings),
            Instruction::Withdraw { .. } => self.require(Capability::Withdrawals),
            Instruction::IssueCards(_) | Instruction::TopUp { .. } | Instruction::SetBlock { .. } => Ok(()),
        }
    }
}

impl Default for Capabilities {
    fn default() -> Self {
        Self::EVERYTHING
    }
}

#[cfg(test)]
mod tests {
    use kopeck_domain::Kopecks;
    use time::Weekday;

    use super::*;

    #[test]
    fn every_capability_has_a_name_and_a_bit_of_its_own() {
        for capability in Capability::ALL {
            assert_eq!(Capability::from_name(capability.name()), Some(capability));
            let poor = Capabilities::without([capability]);
            assert_eq!(poor.missing().collect::<Vec<_>>(), [capability]);
            assert_eq!(poor.require(capability), Err(NotSupported(capability)));
        }
        assert_eq!(Capability::from_name("teleport"), None);
        assert_eq!(Capabilities::EVERYTHING.missing().count(), 0);
    }

    #[test]
    fn a_limit_needs_each_of_its_parts() {
        let limit = Limit::per(Period::Week, Kopecks::new(1))
            .on([Weekday::Monday])
            .within(["09:00-12:00"])
            .only_at(["5812"])
            .build()
            .unwrap();
        let needed: Vec<Capability> = Capability::ALL
            .into_iter()
            .filter(|capability| Capabilities::without([*capability]).require_limit(&limit).is_err())
            .collect();
        let parts = ["weekly-limits", "weekdays", "hours", "merchant-categories"];
        assert_eq!(needed, parts.map(|name| Capability::from_name(name).unwrap()));
        assert_eq!(Capabilities::without(Capability::ALL).require_limit(&Limit::Unlimited), Ok(()));
    }

    #[test]
    fn a_batch_has_a_size() {
        let batch = |most| Capabilities::EVERYTHING.with_largest_batch(most).largest_batch();
        assert_eq!((batch(0), batch(50), batch(5_000)), (1, 50, 1_000));
    }
}
