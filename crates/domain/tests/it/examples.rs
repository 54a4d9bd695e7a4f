//! The functions of the examples.

#[expect(dead_code, reason = "main is the example's")]
#[path = "../../examples/ledger_replay.rs"]
mod ledger_replay;
#[expect(dead_code, reason = "main is the example's")]
#[path = "../../examples/limit_calculator.rs"]
mod limit_calculator;
#[expect(dead_code, reason = "main is the example's")]
#[path = "../../examples/staff_file.rs"]
mod staff_file;

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_domain::limit::{Limit, Period};
use time::Weekday;

#[test]
fn the_limit_calculator_counts_what_was_approved_in_the_period() {
    let limit =
        Limit::per(Period::Week, Kopecks::new(10_000)).on([Weekday::Monday, Weekday::Tuesday]).build();
    let payments = "at,kopecks\n\
        02.03.2026 12:00,7000\n\
        02.03.2026 13:00,3001\n\
        03.03.2026 12:00,3000\n\
        04.03.2026 12:00,1\n\
        09.03.2026 12:00,10000\n";
    let report = limit_calculator::report(&limit.unwrap(), Zone::parse("+03:00").unwrap(), payments).unwrap();
    let verdicts: Vec<&str> = report.lines().filter_map(|line| line.split_whitespace().nth(3)).collect();
    assert_eq!(verdicts, ["approved", "OVER_AMOUNT", "approved", "DAY_NOT_ALLOWED", "approved"]);
    assert!(report.ends_with("left before: 100.00\n"), "{report}");
}

#[test]
fn the_staff_file_checker_names_lines_and_quotes_no_value() {
    let file = "customId,surname,phone,email,status,note\n\
        E-1,Ёжиков,9031234567,,WORK,any text\n\
        E 2,Иванов2,903,x@,FIRED,\n\
        E-1,,,,,\n";
    let faults = staff_file::check(file).unwrap();
    let places: Vec<&str> =
        faults.iter().filter_map(|fault| fault.split_once(": ")).map(|(at, _)| at).collect();
    let line_3 = ["line 3, customId", "line 3, surname", "line 3, phone", "line 3, email", "line 3, status"];
    assert_eq!(places, [&line_3[..], &["line 4, customId"]].concat());
    assert!(!faults.concat().contains("Иванов"));
}

/// The file has faults on purpose.
#[test]
fn the_faults_of_the_documented_staff_file_are_found() {
    let faults = staff_file::check(include_str!("../../../../docs/examples/employees.csv")).unwrap();
    assert_eq!(faults.len(), 15, "{faults:#?}");
    assert_eq!(faults[7], "line 121, customId: stands on line 20 already");
}

#[test]
fn the_ledger_replay_shows_what_cannot_have_happened() {
    let order = "00000000-0000-0000-0000-000000000007";
    let journal = format!(
        "kind,kopecks,reference\nDEPOSIT,100000,invoice-17\nHOLD,30000,{order}\nHOLD,70001,{order}\nCAPTURE,30000,{order}\nRETURN,5000,{order}\nWITHDRAWAL,75000,payout-1\n"
    );
    let lines = ledger_replay::replay(&journal).unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines[1], "HOLD       available 700.00, held 300.00, spent 0.00: ok");
    assert!(lines[2].ends_with("IMPOSSIBLE: the account AVAILABLE does not cover the amount"), "{lines:?}");
    assert_eq!(lines[3], "CAPTURE    available 700.00, held 0.00, spent 300.00: ok");
    assert_eq!(lines[5], "WITHDRAWAL available 0.00, held 0.00, spent 250.00: ok");
}
