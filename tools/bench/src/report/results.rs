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

    /// The figure of a measurement; the median if it was measured several times.
    pub(super) fn figure(&self, of: Figure) -> Option<f64> {
        let of_this = |record: &&Record| record.row == of.row && record.side == of.side;
        let figures = self.records.iter().filter(of_this).filter_map(|record| record.figures.get(of.figure));
        median(figures.copied().collect())
    }

    /// Measurements of loads.
    pub(super) fn loads(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|record| record.figures.contains_key("per_second"))
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
}
