//! The curves, one panel a family.

use super::curves::{FAMILIES, Family};
use super::results::Results;
use super::svg::{Anchor, Svg};
use super::tables::thousands;

const WIDTH: f64 = 860.0;
const PANEL: (f64, f64) = (WIDTH / 2.0, 260.0);
/// Room around the curves of a panel: left, right, top, bottom.
const ROOM: (f64, f64, f64, f64) = (70.0, 36.0, 62.0, 44.0);

/// All families that were measured.
pub(super) fn plot(results: &Results) -> String {
    let measured: Vec<_> = FAMILIES.iter().filter(|family| has_points(family, results)).collect();
    let rows = measured.len().div_ceil(2) as f64;
    let mut svg = Svg::new(WIDTH, rows * PANEL.1, "How cost grows");
    for (index, family) in measured.iter().enumerate() {
        let corner = ((index % 2) as f64 * PANEL.0, (index / 2) as f64 * PANEL.1);
        panel(&mut svg, corner, family, results);
    }
    svg.finish()
}

fn has_points(family: &Family, results: &Results) -> bool {
    family.curves.iter().any(|curve| !results.curve(curve.figure).is_empty())
}

fn panel(svg: &mut Svg, (x, y): (f64, f64), family: &Family, results: &Results) {
    let curves: Vec<_> = family.curves.iter().map(|curve| results.curve(curve.figure)).collect();
    let all = || curves.iter().flatten();
    let highest = round_up(all().map(|(_, value)| *value).fold(0.0, f64::max));
    let first = all().map(|(at, _)| *at).fold(f64::INFINITY, f64::min);
    let last = all().map(|(at, _)| *at).fold(0.0, f64::max);
    let (left, right) = (x + ROOM.0, x + PANEL.0 - ROOM.1);
    let (top, bottom) = (y + ROOM.2, y + PANEL.1 - ROOM.3);
    // Logarithmic to the right, linear from nothing upwards.
    let place = |(at, value): (f64, f64)| {
        let part = if last > first { (at / first).ln() / (last / first).ln() } else { 0.5 };
        (left + part * (right - left), bottom - value / highest * (bottom - top))
    };

    svg.label((x + 8.0, y + 18.0), Anchor::Start, "head", family.title);
    svg.label((x + 8.0, y + 36.0), Anchor::Start, "", family.unit);
    svg.line((left, top), (left, bottom), "axis");
    svg.line((left, bottom), (right, bottom), "axis");
    for part in [0.0, 0.5, 1.0] {
        let height = bottom - part * (bottom - top);
        svg.label((left - 6.0, height + 4.0), Anchor::End, "", thousands(part * highest));
    }
    if let Some(longest) = curves.iter().max_by_key(|points| points.len()) {
        for (at, _) in longest {
            let (tick, _) = place((*at, 0.0));
            svg.line((tick, bottom), (tick, bottom + 4.0), "axis");
            svg.label((tick, bottom + 17.0), Anchor::Middle, "", thousands(*at));
        }
    }
    svg.label((right, bottom + 34.0), Anchor::End, "", family.axis);
    for (series, (curve, points)) in family.curves.iter().zip(&curves).enumerate() {
        let points: Vec<_> = points.iter().map(|point| place(*point)).collect();
        svg.curve(&points, series);
        let legend = (left + 4.0 + 124.0 * series as f64, top - 8.0);
        svg.bar((legend.0, legend.1 - 9.0), 9.0, 9.0, &format!("d{series}"));
        svg.label((legend.0 + 13.0, legend.1), Anchor::Start, "", curve.name);
    }
}

/// The next 1, 2 or 5 with zeros.
fn round_up(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(value.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= value);
    step.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_at_round_numbers() {
        let ends = [0.0, 0.9, 1.0, 1.1, 4_300.0, 5_001.0].map(round_up);
        assert_eq!(ends, [1.0, 1.0, 1.0, 2.0, 5_000.0, 10_000.0]);
    }

    #[test]
    fn a_family_without_points_has_no_panel() {
        let results = Results::parse(
            "{\"row\":\"by-instances\",\"side\":\"read\",\"at\":1.0,\"per_second\":100.0}\n\
            {\"row\":\"by-instances\",\"side\":\"read\",\"at\":4.0,\"per_second\":300.0}",
        )
        .unwrap();
        let svg = plot(&results);
        assert_eq!(svg.matches("class=\"head\"").count(), 1);
        assert_eq!(svg.matches("<circle").count(), 2);
        assert_eq!(svg.matches("NaN").count(), 0);
    }
}
