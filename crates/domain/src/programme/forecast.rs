//! What the programmes of a partner will do, if nothing else changes until then.

use time::{Date, OffsetDateTime};

use super::OnShortage;
use super::grant::{Grant, GrantEffect, Share};
use super::period::Period;
use super::schedule::{Schedule, Validity};
use super::workdays::Workdays;

use crate::calendar::Zone;
use crate::money::{AmountOverflow, Kopecks};

/// A programme, and whom it pays.
#[derive(Debug, Clone)]
pub struct PlannedProgramme {
    /// When it pays.
    pub schedule: Schedule,
    /// For which periods.
    pub validity: Validity,
    /// The last period that has a run.
    pub last: Option<Period>,
    /// What it does with each card.
    pub grant: Grant,
    /// Whether a person who was added within a period gets a share.
    pub pro_rata: bool,
    /// What happens if the balance is short.
    pub on_shortage: OnShortage,
    /// The cards of those whom it pays, by their places, in the order of `customId`.
    pub cards: Vec<usize>,
}

/// The MAIN card of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForecastCard {
    /// What it holds.
    pub balance: Kopecks,
    /// When the person was added.
    pub added_on: Date,
}

/// What a programme will do in a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForecastRow {
    /// When.
    pub at: OffsetDateTime,
    /// The place of the programme.
    pub programme: usize,
    /// The period.
    pub period: Period,
    /// How many cards it changes, or would if the money were there.
    pub people: usize,
    /// What they get together.
    pub needed: Kopecks,
    /// What the partner can spend afterwards.
    pub available_after: Kopecks,
    /// What is missing of `needed`; zero if nothing is.
    pub short: Kopecks,
}

/// What `programmes`, in the order of their creation, will do from `now` up to the end of `until`, in the order of time. Of
/// those due at one moment the first goes first. What has been given stays on the cards: nobody spends anything.
///
/// # Errors
/// [`AmountOverflow`] if a sum does not fit.
pub fn forecast(
    programmes: &[PlannedProgramme],
    mut cards: Vec<ForecastCard>,
    mut available: Kopecks,
    (now, until): (OffsetDateTime, Date),
    workdays: &Workdays,
    zone: Zone,
) -> Result<Vec<ForecastRow>, AmountOverflow> {
    let mut due = Vec::new();
    for (place, programme) in programmes.iter().enumerate() {
        let periods = programme.schedule.periods(programme.validity, programme.last, workdays, zone);
        let periods = periods.skip_while(|due| due.has_expired(now));
        due.extend(
            periods.take_while(|due| zone.day(due.at) <= until).map(|due| (due.at, place, due.period)),
        );
    }
    due.sort_by_key(|(at, place, _)| (*at, *place));
    let mut rows = Vec::with_capacity(due.len());
    for (at, place, period) in due {
        let Some(programme) = programmes.get(place) else { continue };
        let plan = PeriodPlan::of(programme, period, &cards)?;
        let (taken, needed) = (plan.sum(false)?, plan.sum(true)?);
        let missing = needed.minus(available)?;
        let given = if missing.is_positive() && programme.on_shortage == OnShortage::Nothing {
            Vec::new()
        } else {
            plan.covered(available)?
        };
        let spent = Kopecks::sum(given.iter().map(|(_, amount)| *amount))?;
        for (card, amount) in given {
            change(&mut cards, card, amount)?;
        }
        for (card, amount) in plan.amounts(false) {
            change(&mut cards, card, amount.negated()?)?;
        }
        available = available.minus(spent)?.plus(taken)?;
        let short = if missing.is_positive() { missing } else { Kopecks::ZERO };
        rows.push(ForecastRow {
            at,
            programme: place,
            period,
            people: plan.0.len(),
            needed,
            available_after: available,
            short,
        });
    }
    Ok(rows)
}

fn change(cards: &mut [ForecastCard], place: usize, by: Kopecks) -> Result<(), AmountOverflow> {
    if let Some(card) = cards.get_mut(place) {
        card.balance = card.balance.plus(by)?;
    }
    Ok(())
}

/// What happens to cards in one period; cards to which nothing happens are left out.
struct PeriodPlan(Vec<(usize, GrantEffect)>);

impl PeriodPlan {
    fn of(
        programme: &PlannedProgramme,
        period: Period,
        cards: &[ForecastCard],
    ) -> Result<Self, AmountOverflow> {
        let mut plan = Vec::new();
        for place in &programme.cards {
            let Some(card) = cards.get(*place) else { continue };
            let share = if programme.pro_rata { Share::since(period, card.added_on) } else { Share::WHOLE };
            let effect = programme.grant.effect(card.balance, share)?;
            if effect != GrantEffect::None {
                plan.push((*place, effect));
            }
        }
        Ok(Self(plan))
    }

    /// What is given to cards, or taken from them.
    fn amounts(&self, given: bool) -> impl Iterator<Item = (usize, Kopecks)> {
        self.0.iter().filter_map(move |(card, effect)| match effect {
            GrantEffect::TopUp(amount) if given => Some((*card, *amount)),
            GrantEffect::TakeBack(amount) if !given => Some((*card, *amount)),
            GrantEffect::None | GrantEffect::TopUp(_) | GrantEffect::TakeBack(_) => None,
        })
    }

    fn sum(&self, given: bool) -> Result<Kopecks, AmountOverflow> {
        Kopecks::sum(self.amounts(given).map(|(_, amount)| amount))
    }

    /// What `available` covers, card by card; one that is not covered does not stand in the way of a smaller one behind it.
    fn covered(&self, available: Kopecks) -> Result<Vec<(usize, Kopecks)>, AmountOverflow> {
        let (mut covered, mut spent) = (Vec::new(), Kopecks::ZERO);
        for (card, amount) in self.amounts(true) {
            let with_it = spent.plus(amount)?;
            if with_it <= available {
                spent = with_it;
                covered.push((card, amount));
            }
        }
        Ok(covered)
    }
}
