//! The operator's calendar of holidays.

use serde_json::{Value, json};

use crate::process::Installation;

/// Also while a service runs; a faulty file changes nothing.
#[test]
fn a_calendar_is_replaced_as_a_whole_or_not_at_all() {
    let installation = Installation::new();
    installation.create_partner(&[]);
    let running = installation.serve(&[]);
    let file = installation.path().join("calendar.csv");
    let import = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let output = installation.run(&["calendar", "import", file.to_str().unwrap()]);
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let list = || -> Value {
        serde_json::from_str(&installation.succeed(&["calendar", "list", "--json"])).unwrap()
    };
    let day = |date: &str, kind: &str| json!({"date": date, "kind": kind});
    assert_eq!(list(), json!([]));
    let (code, said) = import("date,kind\n20.02.2027,working\n31.12.2026,holiday\n01.01.2027,holiday\n");
    assert!(code == Some(0) && said.contains("3 days"), "{said}");
    let first = json!([day("31.12.2026", "holiday"), day("01.01.2027", "holiday"), day("20.02.2027", "working")]);
    assert_eq!(list(), first);
    let (code, said) = import("date,kind\n08.03.2027,holiday\n31.02.2027,holiday\n09.03.2027,day off\n");
    assert!(code == Some(1) && said.contains("line 3: date") && said.contains("line 4: kind"), "{said}");
    assert_eq!(import("date;kind\n08.03.2027;holiday\n").0, Some(1));
    assert_eq!(list(), first, "nothing is taken");
    assert_eq!(import("date,kind\n08.03.2027,holiday\n").0, Some(0));
    assert_eq!(list(), json!([day("08.03.2027", "holiday")]));
    let shown = installation.succeed(&["calendar", "list"]);
    assert!(shown.contains("08.03.2027") && shown.contains("holiday"), "{shown}");
    drop(running);
    let missing = installation.run(&["calendar", "import", "nowhere.csv"]);
    assert_eq!(missing.status.code(), Some(1));
    let log = installation.succeed(&["audit", "list", "--json"]);
    assert!(log.contains("\"calendar.import\"") && log.contains("days:3"), "{log}");
}
