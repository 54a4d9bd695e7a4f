//! Charts of values over time, as shapes of an SVG: lines that a style sheet colours, and no text, so that they stretch to any
//! width. Scale and key stand around them as HTML. A value holds until the next one.

/// The sides of the drawing, in its own units.
const SIDES: (i64, i64) = (1_000, 200);

/// The values at a point in time, one of each line.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    /// Where it stands: seconds, days, or a count. Points are in its order.
    pub(crate) at: i64,
    /// What stands there, for people.
    pub(crate) label: String,
    pub(crate) values: Vec<i64>,
    /// Whether it is marked by a red line.
    pub(crate) is_alarm: bool,
}

/// A chart. A page shows it with a table of its values.
#[derive(Debug)]
pub(crate) struct Chart {
    pub(crate) caption: String,
    /// Its accessible name: each line with its first and last value.
    pub(crate) label: String,
    /// The highest and the lowest value of the scale.
    pub(crate) scale: [String; 2],
    /// The first and the last point.
    pub(crate) span: [String; 2],
    /// The path of the line at zero, if some values are below.
    pub(crate) zero: String,
    /// The path of the marks.
    pub(crate) alarms: String,
    pub(crate) lines: Vec<Line>,
}

/// A line with its name in the key.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) path: String,
}

impl Chart {
    /// A chart of at least two points; `names` are those of the lines, `text` writes a value. Nothing is there to draw of fewer.
    pub(crate) fn new(
        caption: impl Into<String>,
        names: &[&str],
        points: &[Point],
        text: impl Fn(i64) -> String,
    ) -> Option<Self> {
        let (first, last) = (points.first()?, points.last().filter(|_| points.len() > 1)?);
        let values = || points.iter().flat_map(|point| point.values.iter().copied());
        let (lowest, highest) = (values().min()?.min(0), values().max()?.max(0));
        let across = |at: i64| scaled(at, (first.at, last.at), SIDES.0);
        let down = |value: i64| SIDES.1 - scaled(value, (lowest, highest), SIDES.1);
        let value = |point: &Point, line: usize| point.values.get(line).copied().unwrap_or_default();
        let line = |(line, name): (usize, &&str)| {
            let mut path = format!("M0 {}", down(value(first, line)));
            for point in points.get(1..).unwrap_or_default() {
                let (x, y) = (across(point.at), down(value(point, line)));
                path.push_str(&format!("H{x}V{y}"));
            }
            Line { name: (*name).to_owned(), path }
        };
        let caption = caption.into();
        let told = |(line, name): (usize, &&str)| {
            let end = |point: &Point| format!("{} {}", point.label, text(value(point, line)));
            format!(" {name}: {} – {}.", end(first), end(last))
        };
        let told: String = names.iter().enumerate().map(told).collect();
        let alarms = points.iter().filter(|point| point.is_alarm);
        Some(Self {
            label: format!("{caption}.{told}"),
            caption,
            scale: [text(highest), text(lowest)],
            span: [first.label.clone(), last.label.clone()],
            zero: if lowest < 0 { format!("M0 {}H{}", down(0), SIDES.0) } else { String::new() },
            alarms: alarms.map(|point| format!("M{} 0V{}", across(point.at), SIDES.1)).collect(),
            lines: names.iter().enumerate().map(line).collect(),
        })
    }
}

/// Where `value` stands between `ends` on a side of this length.
fn scaled(value: i64, (low, high): (i64, i64), length: i64) -> i64 {
    let (part, whole) = (i128::from(value) - i128::from(low), i128::from(high) - i128::from(low));
    i64::try_from(part * i128::from(length) / whole.max(1)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(values: &[i64]) -> Option<Chart> {
        let point = |(day, value): (usize, &i64)| Point {
            at: 10 * i64::try_from(day).unwrap(),
            label: format!("day {day}"),
            values: vec![*value],
            is_alarm: *value < 0,
        };
        let points: Vec<Point> = values.iter().enumerate().map(point).collect();
        Chart::new("Balance", &["available"], &points, |value| value.to_string())
    }

    #[test]
    fn values_stand_on_their_scale() {
        let steps = chart(&[100, 50, -100]).unwrap();
        assert_eq!(steps.lines[0].path, "M0 0H500V50H1000V200");
        assert_eq!((&*steps.zero, &*steps.alarms), ("M0 100H1000", "M1000 0V200"));
        assert_eq!(
            (steps.scale, steps.span),
            (["100", "-100"].map(String::from), ["day 0", "day 2"].map(String::from))
        );
        assert_eq!(steps.label, "Balance. available: day 0 100 – day 2 -100.");
        let far = chart(&[i64::MAX, i64::MIN]).unwrap();
        assert_eq!(far.lines[0].path, "M0 0H1000V200");
        assert_eq!(chart(&[0, 0]).unwrap().lines[0].path, "M0 200H1000V200");
        assert!(chart(&[1]).is_none() && chart(&[]).is_none());
    }
}
