//! How far each row is from what is required.

use super::rows::Judged;
use super::svg::{Anchor, Svg};

const WIDTH: f64 = 860.0;
/// Where the bars begin.
const LEFT: f64 = 420.0;
const RIGHT: f64 = 60.0;
const TOP: f64 = 44.0;
const ROW: f64 = 24.0;
/// The margins at both ends of the scale, which is logarithmic; what lies beyond is cut off.
const RANGE: (f64, f64) = (0.1, 10.0);

/// A bar for each row: up to the dashed line nothing is met, beyond it all.
pub(super) fn plot(judged: &[Judged]) -> String {
    let bottom = TOP + ROW * judged.len() as f64;
    let mut svg = Svg::new(WIDTH, bottom + 16.0, "How far each figure is from what is required");
    svg.label((LEFT, 16.0), Anchor::Start, "head", "times what is required (1 is just met; logarithmic)");
    for tick in [0.1, 0.3, 1.0, 3.0, 10.0] {
        svg.label((x_of(tick), 36.0), Anchor::Middle, "", tick);
        svg.line((x_of(tick), TOP - 4.0), (x_of(tick), bottom), if tick == 1.0 { "goal" } else { "axis" });
    }
    for (index, row) in judged.iter().enumerate() {
        let y = TOP + ROW * index as f64;
        let class = if row.is_met() { "met" } else { "missed" };
        svg.label((LEFT - 8.0, y + 16.0), Anchor::End, "", row.row.what.replace('`', ""));
        svg.bar((LEFT, y + 4.0), x_of(row.margin) - LEFT, ROW - 8.0, class);
        let end = x_of(row.margin) + 4.0;
        svg.label((end, y + 16.0), Anchor::Start, "", short(row.margin));
    }
    svg.finish()
}

fn short(margin: f64) -> String {
    if margin > RANGE.1 { format!("> {}", RANGE.1) } else { format!("{margin:.2}") }
}

fn x_of(margin: f64) -> f64 {
    let (low, high) = RANGE;
    let part = (margin.clamp(low, high) / low).ln() / (high / low).ln();
    LEFT + part * (WIDTH - LEFT - RIGHT)
}

#[cfg(test)]
mod tests {
    use super::super::results::Results;
    use super::super::rows;
    use super::*;

    #[test]
    fn what_is_just_met_ends_in_the_middle() {
        let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
        assert!((x_of(1.0) - middle).abs() < 0.001);
        assert_eq!(x_of(0.01), LEFT);
        assert_eq!(x_of(1e9), WIDTH - RIGHT);
    }

    #[test]
    fn every_row_has_a_bar_of_its_colour() {
        let results = Results::parse(
            "{\"row\":\"start\",\"side\":\"ours\",\"idle_mib\":40.0,\"binary_mib\":14.0,\"first_answer_ms\":50.0}",
        )
        .unwrap();
        let svg = plot(&rows::judge(&results));
        assert_eq!(svg.matches("class=\"met\"").count(), 2);
        assert_eq!(svg.matches("class=\"missed\"").count(), 1);
        assert!(svg.contains(">0.50</text>"));
    }
}
