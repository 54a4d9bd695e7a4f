//! Kopecks, as people read them.

/// `1234567` as `12 345.67`.
pub(crate) fn shown(kopecks: i64) -> String {
    let sign = if kopecks < 0 { "-" } else { "" };
    let (whole, rest) = (kopecks.unsigned_abs() / 100, kopecks.unsigned_abs() % 100);
    let digits = whole.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}.{rest:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_grouped_by_thousands() {
        for (kopecks, text) in [
            (0, "0.00"),
            (5, "0.05"),
            (100_000, "1 000.00"),
            (99_999, "999.99"),
            (123_456_789, "1 234 567.89"),
            (-150, "-1.50"),
            (i64::MIN, "-92 233 720 368 547 758.08"),
        ] {
            assert_eq!(shown(kopecks), text);
        }
    }
}
