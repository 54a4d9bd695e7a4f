//! The programmes of a partner: their rules, the periods that come due while days pass, and the runs that they made.

use kopeck_client::{
    Client, Error, OnShortage, PrimitiveDateTime, Programme, ProgrammeAmount, ProgrammePeriod,
    ProgrammeTerms, Run, RunFilter,
};
use tokio::time::Instant;

/// Days that pass during the faults.
pub(super) const DAYS: u32 = 15;
pub(super) const SECONDS_OF_A_DAY: u32 = 86_400;
/// Runs of a page.
const PER_PAGE: u64 = 100;

/// The programmes of a partner, and since when it has them.
#[derive(Clone)]
pub(crate) struct Paydays {
    pub(crate) programmes: Vec<Programme>,
    pub(super) created: Instant,
}

/// A rule for each day of the week; Wednesday has two at the same time.
pub(super) fn rules() -> Vec<ProgrammeTerms> {
    let fixed = |amount, cap| ProgrammeAmount { fixed: Some(amount), cap, ..ProgrammeAmount::default() };
    let up_to = |amount| ProgrammeAmount { up_to: Some(amount), ..ProgrammeAmount::default() };
    let down_to = ProgrammeAmount { down_to: Some(2_500), ..ProgrammeAmount::default() };
    let rules = [
        (1, fixed(1_000, None), OnShortage::Nothing),
        (2, fixed(700, Some(3_000)), OnShortage::Part),
        (3, up_to(4_000), OnShortage::Nothing),
        (3, fixed(300, None), OnShortage::Part),
        (4, down_to, OnShortage::Nothing),
        (5, fixed(500, None), OnShortage::Part),
        (6, up_to(3_500), OnShortage::Part),
        (7, fixed(900, None), OnShortage::Nothing),
    ];
    let terms = |(number, (day, amount, on_shortage))| ProgrammeTerms {
        on_shortage,
        ..ProgrammeTerms::new(format!("rule {number}"), amount, ProgrammePeriod::Week, day)
    };
    (1..).zip(rules).map(terms).collect()
}

/// The runs that programmes made, the oldest first.
pub(crate) async fn runs_of_programmes(client: &Client) -> Result<Vec<Run>, Error> {
    let mut runs = client.runs().all(&RunFilter::default()).per_page(PER_PAGE).collect().await?;
    runs.retain(|run| run.id_programme.is_some());
    runs.reverse();
    Ok(runs)
}

impl Paydays {
    /// The names of the periods that came due since a programme was created, day by day.
    pub(crate) fn due(&self, programme: &Programme) -> Vec<String> {
        let passed = time::Duration::seconds((DAYS * SECONDS_OF_A_DAY).into()) + self.created.elapsed();
        due(programme.terms.day, programme.created_at, programme.created_at + passed)
    }
}

/// The weeks of which this day, at 09:00, lies between two times.
fn due(day: i64, since: PrimitiveDateTime, until: PrimitiveDateTime) -> Vec<String> {
    let mut dates = std::iter::successors(Some(since.date()), |date| date.next_day());
    let dates = dates.by_ref().take_while(|date| *date <= until.date());
    let at = |date: time::Date| date.midnight() + time::Duration::hours(9);
    dates
        .filter(|date| i64::from(date.weekday().number_from_monday()) == day)
        .filter(|date| since < at(*date) && at(*date) <= until)
        .map(|date| {
            let (year, week, _) = date.to_iso_week_date();
            format!("{year}-W{week:02}")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_week_is_due_on_its_day_at_nine() {
        let (since, until) = (datetime!(2026-12-21 09:00), datetime!(2027-01-04 08:59));
        assert_eq!(due(1, since, until), ["2026-W53"]);
        assert_eq!(due(1, datetime!(2026-12-21 08:59), datetime!(2027-01-04 09:00)).len(), 3);
        assert_eq!(due(7, since, until), ["2026-W52", "2026-W53"]);
    }
}
