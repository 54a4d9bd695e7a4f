//! What a programme does with cards in one period: one rule for forecasts and for runs.

use super::OnShortage;
use super::forecast::ForecastCard;
use super::grant::{Grant, GrantEffect, Share};
use super::period::Period;
use crate::money::{AmountOverflow, Kopecks};

/// What happens to cards in one period; cards to which nothing happens are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeriodPlan {
    effects: Vec<(usize, GrantEffect)>,
    needed: Kopecks,
    taken: Kopecks,
}

impl PeriodPlan {
    /// The plan of a period for `cards`, each with its place, in the order in which they are paid.
    ///
    /// # Errors
    /// [`AmountOverflow`] if a sum does not fit.
    pub fn of(
        grant: Grant,
        pro_rata: bool,
        period: Period,
        cards: impl IntoIterator<Item = (usize, ForecastCard)>,
    ) -> Result<Self, AmountOverflow> {
        let mut plan = Self { effects: Vec::new(), needed: Kopecks::ZERO, taken: Kopecks::ZERO };
        for (place, card) in cards {
            let share = if pro_rata { Share::since(period, card.added_on) } else { Share::WHOLE };
            let effect = grant.effect(card.balance, share)?;
            match effect {
                GrantEffect::None => continue,
                GrantEffect::TopUp(amount) => plan.needed = plan.needed.plus(amount)?,
                GrantEffect::TakeBack(amount) => plan.taken = plan.taken.plus(amount)?,
            }
            plan.effects.push((place, effect));
        }
        Ok(plan)
    }

    /// What happens to which card, if the money is there.
    #[must_use]
    pub fn effects(&self) -> &[(usize, GrantEffect)] {
        &self.effects
    }

    /// What the cards get together, kopecks.
    #[must_use]
    pub const fn needed(&self) -> Kopecks {
        self.needed
    }

    /// What is taken back from the cards together, kopecks.
    #[must_use]
    pub const fn taken(&self) -> Kopecks {
        self.taken
    }

    /// What `available` lacks of the whole; zero if it lacks nothing.
    ///
    /// # Errors
    /// [`AmountOverflow`] if the difference does not fit.
    pub fn shortage(&self, available: Kopecks) -> Result<Kopecks, AmountOverflow> {
        let missing = self.needed.minus(available)?;
        Ok(if missing.is_positive() { missing } else { Kopecks::ZERO })
    }

    /// Whether each effect happens with what is `available`: card by card, and one that is not covered does not stand in the
    /// way of a smaller one behind it.
    ///
    /// # Errors
    /// [`AmountOverflow`] if a sum does not fit.
    pub fn covered(&self, available: Kopecks, on_shortage: OnShortage) -> Result<Vec<bool>, AmountOverflow> {
        let nobody = on_shortage == OnShortage::Nothing && self.shortage(available)?.is_positive();
        let (mut covered, mut spent) = (Vec::with_capacity(self.effects.len()), Kopecks::ZERO);
        for (_, effect) in &self.effects {
            covered.push(match effect {
                GrantEffect::TopUp(amount) => {
                    let with_it = spent.plus(*amount)?;
                    let is_covered = !nobody && with_it <= available;
                    if is_covered {
                        spent = with_it;
                    }
                    is_covered
                }
                GrantEffect::TakeBack(_) | GrantEffect::None => true,
            });
        }
        Ok(covered)
    }
}
