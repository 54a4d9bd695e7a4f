//! What the programmes of a partner will do, if nothing else changes until then.

use time::{Date, OffsetDateTime};

use super::OnShortage;
use super::grant::{Grant, GrantEffect};
use super::period::Period;
use super::plan::PeriodPlan;
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
    /// What the partner can spend before.
    pub available: Kopecks,
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
        let own = programme.cards.iter().filter_map(|place| Some((*place, *cards.get(*place)?)));
        let plan = PeriodPlan::of(programme.grant, programme.pro_rata, period, own)?;
        let before = available;
        for ((card, effect), is_covered) in
            plan.effects().iter().zip(plan.covered(before, programme.on_shortage)?)
        {
            match effect {
                GrantEffect::TopUp(amount) if is_covered => {
                    change(&mut cards, *card, *amount)?;
                    available = available.minus(*amount)?;
                }
                GrantEffect::TakeBack(amount) => {
                    change(&mut cards, *card, amount.negated()?)?;
                    available = available.plus(*amount)?;
                }
                GrantEffect::TopUp(_) | GrantEffect::None => {}
            }
        }
        rows.push(ForecastRow {
            at,
            programme: place,
            period,
            people: plan.effects().len(),
            needed: plan.needed(),
            available: before,
            available_after: available,
            short: plan.shortage(before)?,
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
