//! The measurements of a run.

use crate::record::Record;

/// All of them, in their order.
pub(super) struct Results {
    records: Vec<Record>,
}

/// Names a figure of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Figure {
    pub(super) row: &'static str,
    pub(super) side: &'static str,
    pub(super) figure: &'static str,
}

impl Results {
    /// Reads one measurement a line.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let records = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        Ok(Self { records })
    }

    /// The figure of a measurement that is no point of a curve; the median if it was measured several times.
    pub(super) fn figure(&self, of: Figure) -> Option<f64> {
        let of_this =
            |record: &&Record| record.row == of.row && record.side == of.side && record.at.is_none();
        let figures = self.records.iter().filter(of_this).filter_map(|record| record.figures.get(of.figure));
        median(figures.copied().collect())
    }

    /// The points of a curve, by where they lie.
    pub(super) fn curve(&self, of: Figure) -> Vec<(f64, f64)> {
        let point = |record: &Record| {
            (record.row == of.row && record.side == of.side).then_some(())?;
            Some((record.at?, *record.figures.get(of.figure)?))
        };
        let mut points: Vec<_> = self.records.iter().filter_map(point).collect();
        points.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        points
    }

    /// Measurements of loads that are no points of a curve.
    pub(super) fn loads(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|record| record.at.is_none() && record.figures.contains_key("per_second"))
    }
}

fn median(mut figures: Vec<f64>) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    let middle = figures.len() / 2;
    let upper = *figures.get(middle)?;
    match (figures.len() % 2, middle.checked_sub(1).and_then(|below| figures.get(below))) {
        (0, Some(lower)) => Some(f64::midpoint(*lower, upper)),
        _ => Some(upper),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_measurements_count_by_their_median() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![9.0, 1.0, 2.0, 4.0]), Some(3.0));
    }

    #[test]
    fn curves_and_single_values_are_distinguished() {
        let results = Results::parse(
            "{\"row\":\"a\",\"side\":\"ours\",\"per_second\":5.0}\n\
            {\"row\":\"a\",\"side\":\"ours\",\"at\":10.0,\"per_second\":7.0}\n\
            {\"row\":\"a\",\"side\":\"ours\",\"at\":1.0,\"per_second\":8.0}",
        )
        .unwrap();
        let of = Figure { row: "a", side: "ours", figure: "per_second" };
        assert_eq!(results.figure(of), Some(5.0));
        assert_eq!(results.curve(of), [(1.0, 8.0), (10.0, 7.0)]);
        assert_eq!(results.loads().count(), 1);
    }
}
