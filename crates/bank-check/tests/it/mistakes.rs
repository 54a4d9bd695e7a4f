//! The mistakes that are planted in the reference connector. `scripts/test-bank-connector` plants them.

use kopeck_bank_check::rule;

const PLANTED: &str = include_str!("../../../../deploy/bank-connector/mistakes.py");
const PAGE: &str = include_str!("../../../../docs/bank/mistakes.md");

#[test]
fn the_page_explains_each_of_the_twenty_mistakes() {
    let planted: Vec<(u16, &str)> = PLANTED
        .split("\n@mistake(")
        .skip(1)
        .map(|text| {
            let (number, rest) = text.split_once(")\nclass ").unwrap();
            (number.parse().unwrap(), rest.split_once('(').unwrap().0)
        })
        .collect();
    assert_eq!(planted.len(), 20);
    for (number, name) in planted {
        assert!(rule(number).is_some(), "{name}: there is no rule {number}");
        let row = PAGE.lines().find(|line| line.starts_with(&format!("| `{name}`: "))).unwrap();
        assert!(row.contains(&format!(" | {number} | ")), "{row}");
    }
}
