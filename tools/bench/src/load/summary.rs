//! What a load came to.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;

/// Latencies are kept to three digits.
const DIGITS: u8 = 3;
/// The longest recorded latency, in microseconds.
const LONGEST: u64 = 120_000_000;

/// What was seen within the measurement.
pub(crate) struct LoadSummary {
    latencies: Histogram<u64>,
    wrong: BTreeMap<u16, u64>,
    /// How long the measurement took.
    pub(crate) time: Duration,
}

impl LoadSummary {
    /// Nothing yet.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let latencies = Histogram::new_with_bounds(1, LONGEST, DIGITS)?;
        Ok(Self { latencies, wrong: BTreeMap::new(), time: Duration::ZERO })
    }

    /// Notes a response: how long it took, and its status if that is not the right one.
    pub(crate) fn note(&mut self, latency: Duration, wrong: Option<u16>) {
        self.latencies.saturating_record(u64::try_from(latency.as_micros()).unwrap_or(LONGEST));
        if let Some(status) = wrong {
            *self.wrong.entry(status).or_default() += 1;
        }
    }

    /// The figures by name.
    pub(crate) fn figures(&self) -> BTreeMap<String, f64> {
        let calls = self.latencies.len() as f64;
        let mut figures = BTreeMap::from([
            ("calls".to_owned(), calls),
            ("seconds".to_owned(), self.time.as_secs_f64()),
            ("per_second".to_owned(), calls / self.time.as_secs_f64()),
            ("errors".to_owned(), self.wrong.values().sum::<u64>() as f64),
            ("max_us".to_owned(), self.latencies.max() as f64),
        ]);
        for (name, quantile) in [("p50_us", 0.5), ("p90_us", 0.9), ("p99_us", 0.99), ("p999_us", 0.999)] {
            figures.insert(name.to_owned(), self.latencies.value_at_quantile(quantile) as f64);
        }
        for (status, count) in &self.wrong {
            figures.insert(format!("status_{status}"), *count as f64);
        }
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_latencies() {
        let mut seen = LoadSummary::new().unwrap();
        for us in 1..=1_000 {
            seen.note(Duration::from_micros(us), None);
        }
        seen.time = Duration::from_secs(2);
        let figures = seen.figures();
        assert_eq!(figures["p50_us"], 500.0);
        assert_eq!(figures["p99_us"], 990.0);
        assert_eq!(figures["p999_us"], 999.0);
        assert_eq!(figures["max_us"], 1_000.0);
        assert_eq!(figures["per_second"], 500.0);
    }

    #[test]
    fn wrong_responses_are_counted_by_status() {
        let mut seen = LoadSummary::new().unwrap();
        seen.note(Duration::from_micros(5), Some(503));
        seen.note(Duration::from_micros(5), Some(503));
        seen.note(Duration::from_micros(5), None);
        seen.time = Duration::from_secs(1);
        let figures = seen.figures();
        assert_eq!((figures["errors"], figures["status_503"], figures["calls"]), (2.0, 2.0, 3.0));
    }
}
