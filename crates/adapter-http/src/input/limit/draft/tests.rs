use super::*;
use proptest::prelude::*;

/// The draft with these parts; empty lists are left out, and a window is `HH:MM-HH:MM`.
fn draft(allowance: Option<(i64, &str)>, days: &[i64], times: &[&str]) -> LimitDraft {
    let windows = times.iter().map(|text| Ok(window_draft(text))).collect::<Vec<_>>();
    LimitDraft {
        unlimited: None,
        amount: allowance.map(|(amount, _)| Ok(amount)),
        period: allowance.map(|(_, period)| Ok(period.to_owned())),
        days: (!days.is_empty()).then(|| Ok(days.to_vec())),
        times: (!windows.is_empty()).then_some(Ok(windows)),
        categories: None,
    }
}

/// The draft of the window `from-to`, whatever the two are.
fn window_draft(text: &str) -> WindowDraft {
    let (from, to) = text.split_once('-').unwrap();
    WindowDraft { from: Some(Ok(from.to_owned())), to: Some(Ok(to.to_owned())) }
}

/// The limit of a draft; its faults, or `None` for a conflict.
fn parse(draft: &LimitDraft) -> Result<Limit, Option<Faults>> {
    let mut faults = Faults::new();
    let read = draft.read("limit", &mut faults);
    assert_eq!(read.is_none(), !faults.is_empty());
    read.ok_or(Some(faults))?.map_err(|LimitConflict| None)
}

fn window(text: &str) -> Window {
    text.parse().unwrap()
}

/// `HH:MM` of a minute of the day.
fn time_text(minute: u16) -> String {
    format!("{:02}:{:02}", minute / 60, minute % 60)
}

/// Which minutes of the day a window covers, found by walking it.
fn minute_table(window: Window) -> Vec<bool> {
    let (from, to) = (usize::from(window.from().minutes()), usize::from(window.to().minutes()));
    let end = if to < from { to + 1440 } else { to };
    let mut table = vec![false; 1440];
    (from..end).for_each(|minute| table[minute % 1440] = true);
    table
}

fn faulty<T>() -> Part<T> {
    Some(Err(Invalid::new("must be of another type")))
}

fn days(numbers: &[i64]) -> LimitDraft {
    LimitDraft { days: Some(Ok(numbers.to_vec())), ..LimitDraft::default() }
}

fn times(windows: &[&str]) -> LimitDraft {
    LimitDraft {
        times: Some(Ok(windows.iter().map(|text| Ok(window_draft(text))).collect())),
        ..LimitDraft::default()
    }
}

fn texts(categories: &[&str]) -> Part<Vec<Result<String, Invalid>>> {
    Some(Ok(categories.iter().map(|text| Ok((*text).to_owned())).collect()))
}

fn categories(
    only: Part<Vec<Result<String, Invalid>>>,
    except: Part<Vec<Result<String, Invalid>>>,
) -> LimitDraft {
    LimitDraft { categories: Some(Ok(CategoriesDraft { only, except })), ..LimitDraft::default() }
}

fn unlimited(rest: LimitDraft) -> LimitDraft {
    LimitDraft { unlimited: Some(Ok(true)), ..rest }
}

/// The fields that are faulty, in their order; `conflict`, or nothing for a sound draft.
fn verdict(draft: &LimitDraft) -> Vec<String> {
    match parse(draft) {
        Ok(_) => Vec::new(),
        Err(None) => vec!["conflict".to_owned()],
        Err(Some(faults)) => faults.as_slice().iter().map(|fault| fault.field.clone()).collect(),
    }
}

#[test]
fn reads_every_setting() {
    let draft = draft(Some((500_000, "CQUARTET")), &[5, 1], &["22:00-06:00", "09:00-18:00"]);
    let limit = parse(&draft).unwrap();
    assert!(!limit.is_unlimited());
    let allowance = limit.allowance().unwrap();
    assert_eq!((allowance.amount(), allowance.period()), (Kopecks::new(500_000), Period::Quarter));
    assert_eq!(limit.days().numbers().collect::<Vec<_>>(), [1, 5]);
    assert_eq!(limit.windows(), [window("22:00-06:00"), window("09:00-18:00")]);
}

#[test]
fn one_setting_is_enough() {
    for draft in [
        draft(Some((1, "CDAY")), &[], &[]),
        draft(Some((i64::MAX, "CWEEK")), &[], &[]),
        days(&[7]),
        days(&[1, 2, 3, 4, 5, 6, 7]),
        times(&["00:00-24:00"]),
        times(&["23:59-00:00"]),
        categories(texts(&["5812"]), None),
        categories(None, texts(&["0000-9999"])),
        LimitDraft { unlimited: Some(Ok(false)), times: Some(Ok(vec![])), ..days(&[1]) },
    ] {
        assert_eq!(verdict(&draft), [""; 0], "{draft:?}");
        assert!(!parse(&draft).unwrap().is_unlimited());
    }
}

#[test]
fn no_setting_is_a_fault_of_the_limit() {
    for draft in [
        LimitDraft::default(),
        days(&[]),
        times(&[]),
        categories(None, None),
        LimitDraft { unlimited: Some(Ok(false)), times: Some(Ok(vec![])), ..days(&[]) },
    ] {
        assert_eq!(verdict(&draft), ["limit"], "{draft:?}");
    }
}

#[test]
fn unlimited_stands_alone() {
    let empty = LimitDraft { times: Some(Ok(vec![])), ..days(&[]) };
    let no_merchants = unlimited(categories(None, None));
    for draft in [unlimited(LimitDraft::default()), unlimited(days(&[])), unlimited(empty), no_merchants] {
        assert_eq!(parse(&draft), Ok(Limit::Unlimited), "{draft:?}");
    }
    let amount = LimitDraft { amount: Some(Ok(100)), ..LimitDraft::default() };
    let period = LimitDraft { period: Some(Ok("CDAY".to_owned())), ..LimitDraft::default() };
    let merchants = categories(None, texts(&["5812"]));
    let times = times(&["09:00-18:00"]);
    for rest in [draft(Some((100, "CDAY")), &[], &[]), amount, period, days(&[1]), times, merchants] {
        assert_eq!(verdict(&unlimited(rest.clone())), ["conflict"], "{rest:?}");
    }
}

#[test]
fn faulty_values_come_before_a_conflict() {
    assert_eq!(verdict(&unlimited(draft(Some((0, "CDAY")), &[], &[]))), ["limit.amount"]);
    assert_eq!(verdict(&unlimited(draft(Some((1, "CDAY")), &[8], &[]))), ["limit.days"]);
    assert_eq!(verdict(&unlimited(times(&["09:00-12:00", "11:00-13:00"]))), ["limit.times[1]"]);
    assert_eq!(verdict(&unlimited(LimitDraft { amount: faulty(), ..days(&[1]) })), ["limit.amount"]);
    assert_eq!(verdict(&LimitDraft { unlimited: faulty(), ..days(&[1]) }), ["limit.unlimited"]);
}

#[test]
fn amount_and_period_come_together() {
    let amount = |amount: Part<i64>| LimitDraft { amount, ..days(&[1]) };
    let period = |period: Part<String>| LimitDraft { period, ..days(&[1]) };
    assert_eq!(verdict(&amount(Some(Ok(100)))), ["limit.period"]);
    assert_eq!(verdict(&period(Some(Ok("CDAY".to_owned())))), ["limit.amount"]);
    assert_eq!(verdict(&amount(Some(Ok(0)))), ["limit.amount", "limit.period"]);
    assert_eq!(verdict(&amount(faulty())), ["limit.amount", "limit.period"]);
    assert_eq!(verdict(&period(Some(Ok("cday".to_owned())))), ["limit.period", "limit.amount"]);
    for kopecks in [0, -1, i64::MIN] {
        assert_eq!(verdict(&draft(Some((kopecks, "CDAY")), &[], &[])), ["limit.amount"]);
    }
    for word in ["", "CYEAR", "cday", "CDAY ", "CQUARTER"] {
        assert_eq!(verdict(&draft(Some((1, word)), &[], &[])), ["limit.period"], "{word:?}");
    }
}

#[test]
fn windows_are_named_by_their_place() {
    for (windows, fields) in [
        (&["09:00-09:00"][..], &["limit.times[0].to"][..]),
        (&["00:00-00:00"], &["limit.times[0].to"]),
        (&["24:00-06:00"], &["limit.times[0].from"]),
        (&["09:00-24:01"], &["limit.times[0].to"]),
        (&["9:00-x"], &["limit.times[0].from", "limit.times[0].to"]),
        (&["09:00-10:00", "10:00-11:00", "x-12:00"], &["limit.times[2].from"]),
        (&["22:00-06:00", "05:00-07:00"], &["limit.times[1]"]),
        (
            &["09:00-10:00", "x-y", "09:30-11:00"],
            &["limit.times[1].from", "limit.times[1].to", "limit.times[2]"],
        ),
    ] {
        assert_eq!(verdict(&times(windows)), fields, "{windows:?}");
    }
    let listed = |window| LimitDraft { times: Some(Ok(vec![window])), ..LimitDraft::default() };
    assert_eq!(verdict(&listed(Err(Invalid::new("must be an object")))), ["limit.times[0]"]);
    assert_eq!(verdict(&listed(Ok(WindowDraft::default()))), ["limit.times[0].from", "limit.times[0].to"]);
    let half = WindowDraft { from: faulty(), ..window_draft("09:00-10:00") };
    assert_eq!(verdict(&listed(Ok(half))), ["limit.times[0].from"]);
    assert_eq!(verdict(&LimitDraft { times: faulty(), ..LimitDraft::default() }), ["limit.times"]);
}

#[test]
fn ten_windows_are_the_most() {
    let hours: Vec<String> = (0..11).map(|hour| format!("{hour:02}:00-{hour:02}:30")).collect();
    let hours: Vec<&str> = hours.iter().map(String::as_str).collect();
    assert_eq!(verdict(&times(&hours[..10])), [""; 0]);
    assert_eq!(verdict(&times(&hours)), ["limit.times"]);
}

#[test]
fn merchant_categories_are_named_by_their_place() {
    let (only, except) = ("limit.merchantCategories.only", "limit.merchantCategories.except");
    let many = |number| texts(&vec!["5812"; number]);
    assert_eq!(verdict(&categories(many(100), None)), [""; 0]);
    assert_eq!(verdict(&categories(many(101), None)), [only]);
    assert_eq!(verdict(&categories(None, many(0))), [except]);
    assert_eq!(verdict(&categories(faulty(), None)), [only]);
    assert_eq!(verdict(&categories(many(1), many(1))), ["limit.merchantCategories"]);
    let faults = categories(None, texts(&["581", "5812", "5499-5411", "food"]));
    assert_eq!(verdict(&faults), ["[0]", "[2]", "[3]"].map(|place| format!("{except}{place}")));
    let wrong_type = LimitDraft { categories: faulty(), ..days(&[1]) };
    assert_eq!(verdict(&wrong_type), ["limit.merchantCategories"]);
}

#[test]
fn all_faults_are_gathered_beside_those_of_the_call() {
    let mut call = Faults::of("data[0].idCard", "must be a uuid");
    let bad = LimitDraft { unlimited: faulty(), ..draft(Some((0, "X")), &[0], &["x-y"]) };
    assert_eq!(bad.read("cards[3].limit", &mut call), None);
    let fields: Vec<&str> = call.as_slice().iter().map(|fault| fault.field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "data[0].idCard",
            "cards[3].limit.unlimited",
            "cards[3].limit.amount",
            "cards[3].limit.period",
            "cards[3].limit.days",
            "cards[3].limit.times[0].from",
            "cards[3].limit.times[0].to",
        ]
    );
    // Faults elsewhere in the request do not affect the limit.
    assert_eq!(unlimited(days(&[])).read("limit", &mut call), Some(Ok(Limit::Unlimited)));
    assert_eq!(unlimited(days(&[1])).read("limit", &mut call), Some(Err(LimitConflict)));
    assert!(matches!(days(&[1]).read("limit", &mut call), Some(Ok(Limit::Limited(_)))));
}

/// A part that is missing, of the wrong type, or drawn from `given`.
fn part<T: std::fmt::Debug + Clone + 'static>(
    given: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Part<T>> {
    prop_oneof![3 => Just(None), 1 => Just(faulty()), 8 => given.prop_map(|value| Some(Ok(value)))]
}

fn times_of_day() -> impl Strategy<Value = String> {
    prop_oneof![8 => (0_u16..=1440).prop_map(time_text), 1 => "[0-9:]{0,6}", 1 => any::<String>()]
}

fn window_drafts() -> impl Strategy<Value = WindowDraft> {
    let text =
        || prop_oneof![12 => times_of_day().prop_map(|text| Some(Ok(text))), 1 => part(times_of_day())];
    (text(), text()).prop_map(|(from, to)| WindowDraft { from, to })
}

fn drafts() -> impl Strategy<Value = LimitDraft> {
    let amount = prop_oneof![4 => 1_i64..1_000_000, 1 => any::<i64>()];
    let word = prop_oneof![
        8 => prop::sample::select(vec!["CDAY", "CWEEK", "CMONTH", "CQUARTET"]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    let days = prop_oneof![
        4 => prop::collection::btree_set(1_i64..=7, 0..=7).prop_map(|days| days.into_iter().collect()),
        1 => prop::collection::vec(-1_i64..10, 0..10),
        1 => prop::collection::vec(any::<i64>(), 0..3),
    ];
    let window = prop_oneof![
        12 => window_drafts().prop_map(Ok),
        1 => Just(Err(Invalid::new("must be an object"))),
    ];
    let windows = prop_oneof![4 => prop::collection::vec(window.clone(), 0..3), 1 => prop::collection::vec(window, 0..13)];
    (part(any::<bool>()), part(amount), part(word), part(days), part(windows)).prop_map(
        |(unlimited, amount, period, days, times)| LimitDraft {
            unlimited,
            amount,
            period,
            days,
            times,
            categories: None,
        },
    )
}

/// Whether a window is valid, without the parser: `H` and `M` are looked up among all texts there are.
fn naive_window(draft: &Result<WindowDraft, Invalid>) -> Option<Window> {
    let Ok(WindowDraft { from: Some(Ok(from)), to: Some(Ok(to)) }) = draft else { return None };
    let minute = |text: &str, most: u16| (0..=most).any(|minute| time_text(minute) == text);
    (minute(from, 1439) && minute(to, 1440) && from != to).then(|| window(&format!("{from}-{to}")))
}

/// Whether the windows are at most ten, sound, and cover no minute twice.
fn naive_windows(drafts: &[Result<WindowDraft, Invalid>]) -> bool {
    let mut covered = vec![0; 1440];
    let sound = drafts.iter().all(|draft| {
        naive_window(draft).is_some_and(|window| {
            covered.iter_mut().zip(minute_table(window)).for_each(|(count, one)| *count += i32::from(one));
            true
        })
    });
    sound && drafts.len() <= 10 && covered.iter().all(|count| *count < 2)
}

/// The verdict on a draft: `Err(false)` faulty, `Err(true)` a conflict, `Ok` whether it is unlimited.
fn naive_verdict(draft: &LimitDraft) -> Result<bool, bool> {
    let given = |part: bool| if part { Ok(()) } else { Err(false) };
    given(!matches!(draft.unlimited, Some(Err(_))))?;
    given(draft.amount.as_ref().is_none_or(|amount| matches!(amount, Ok(1..))))?;
    given(draft.period.as_ref().is_none_or(|period| {
        period.as_ref().is_ok_and(|word| ["CDAY", "CWEEK", "CMONTH", "CQUARTET"].contains(&word.as_str()))
    }))?;
    given(draft.days.as_ref().is_none_or(|days| {
        days.as_ref().is_ok_and(|days| {
            days.iter()
                .all(|day| (1..=7).contains(day) && days.iter().filter(|other| *other == day).count() == 1)
        })
    }))?;
    given(draft.times.as_ref().is_none_or(|times| times.as_ref().is_ok_and(|times| naive_windows(times))))?;
    let listed = matches!(&draft.days, Some(Ok(days)) if !days.is_empty())
        || matches!(&draft.times, Some(Ok(times)) if !times.is_empty());
    match (&draft.unlimited, &draft.amount, &draft.period) {
        (Some(Ok(true)), None, None) if !listed => Ok(true),
        (Some(Ok(true)), _, _) => Err(true),
        (_, Some(_), Some(_)) => Ok(false),
        (_, None, None) if listed => Ok(false),
        _ => Err(false),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_draft_is_read_as_the_rules_say(draft in drafts()) {
        let parsed = parse(&draft);
        let verdict = match &parsed {
            Ok(limit) => Ok(limit.is_unlimited()),
            Err(None) => Err(true),
            Err(Some(faults)) => {
                prop_assert!(!faults.is_empty());
                for fault in faults.as_slice() {
                    prop_assert!(fault.field == "limit" || fault.field.starts_with("limit."), "{}", fault.field);
                }
                Err(false)
            }
        };
        prop_assert_eq!(verdict, naive_verdict(&draft));
    }
}
