//! What a programme does at which moment, and what its partner does with it.

use uuid::Uuid;

use super::*;
use crate::access::{Actor, Authority, Scopes};
use crate::employee::EmployeeStatus;
use crate::ids::ProgrammeId;

fn fields() -> TermsFields {
    TermsFields {
        name: ProgrammeName::parse(" Meals ").unwrap(),
        audience: Audience::All,
        statuses: vec![EmployeeStatus::Work],
        grant: Grant::UpTo(kopecks(500)),
        every: Every::Month,
        day: 5,
        month: None,
        time: TimeOfDay::parse("09:00").unwrap(),
        shift: Shift::None,
        pro_rata: false,
        on_shortage: OnShortage::Nothing,
        from: None,
        until: None,
        reference: None,
    }
}

fn terms() -> Terms {
    Terms::new(fields()).unwrap()
}

fn user(number: u128) -> Authority {
    Authority { actor: Actor::User(Uuid::from_u128(number).into()), scopes: Scopes::ALL }
}

/// Of user 1, made at noon of 1 November.
fn programme(terms: Terms, needs_approval: bool) -> Programme {
    let id = ProgrammeId::new(Uuid::from_u128(1));
    Programme::new(id, terms, user(1).actor, needs_approval, moment("01.11.2026 12:00"))
}

fn step(programme: &Programme, now: &str) -> ProgrammeStep {
    programme.step(&calendar(), moscow(), moment(now))
}

fn due(period: &str, at: &str) -> DuePeriod {
    DuePeriod { period: period.parse().unwrap(), at: moment(at) }
}

#[test]
fn a_period_is_announced_looked_at_on_its_day_and_paid() {
    let november = due("2026-11", "05.11.2026 09:00");
    let fresh = programme(terms(), false);
    let wait = |at| ProgrammeStep::Wait(Some(moment(at)));
    assert_eq!(step(&fresh, "02.11.2026 08:59"), wait("02.11.2026 09:00"));
    assert_eq!(step(&fresh, "02.11.2026 09:00"), ProgrammeStep::Notice(november));
    let told = |is_of_the_day| {
        fresh.clone().told(Notice { period: november.period, is_of_the_day, told_short: false })
    };
    assert_eq!(step(&told(false), "02.11.2026 09:00"), wait("05.11.2026 00:00"));
    assert_eq!(step(&told(false), "05.11.2026 00:00"), ProgrammeStep::Notice(november));
    assert_eq!(step(&told(true), "05.11.2026 00:00"), wait("05.11.2026 09:00"));
    assert_eq!(step(&told(false), "05.11.2026 09:00"), ProgrammeStep::Pay(november));
    assert_eq!(step(&fresh, "12.11.2026 09:00"), ProgrammeStep::Pay(november));
    assert_eq!(step(&fresh, "12.11.2026 09:01"), ProgrammeStep::Miss(november));
    let paid = told(true).paid(november.period);
    assert_eq!(step(&paid, "05.11.2026 09:00"), wait("02.12.2026 09:00"));
}

#[test]
fn the_last_period_ends_it_and_other_terms_begin_it_anew() {
    let last = Terms::new(TermsFields { until: Some(day("30.11.2026")), ..fields() }).unwrap();
    let paid = programme(last, false).paid("2026-11".parse().unwrap());
    assert_eq!(step(&paid, "05.11.2026 09:00"), ProgrammeStep::End);
    let ended = paid.end();
    assert_eq!(
        (ended.status(), step(&ended, "06.11.2026 00:00")),
        (ProgrammeState::Ended, ProgrammeStep::Wait(None))
    );
    assert_eq!(ended.clone().pause(), Err(ProgrammeStateError::State));
    assert_eq!(ended.clone().resume(moment("06.11.2026 00:00")), Err(ProgrammeStateError::State));
    let again = ended.change(terms(), user(1).actor, false, moment("06.11.2026 00:00"));
    assert_eq!(again.next(&calendar(), moscow()), Some(due("2026-12", "05.12.2026 09:00")));
}

/// The next period is the one with the day behind the last.
#[test]
fn another_length_of_periods_follows_the_last_one() {
    let paid = programme(terms(), false).paid("2026-11".parse().unwrap());
    let next = |every, day| {
        let terms = Terms::new(TermsFields { every, day, ..fields() }).unwrap();
        let changed = paid.clone().change(terms, user(1).actor, false, moment("06.11.2026 00:00"));
        changed.next(&calendar(), moscow()).unwrap().period.to_string()
    };
    assert_eq!(
        [next(Every::Week, 2), next(Every::Month, 1), next(Every::Quarter, -1)],
        ["2026-W49", "2026-12", "2026-Q4"]
    );
}

#[test]
fn a_pause_misses_nothing() {
    let paused = programme(terms(), false).pause().unwrap();
    assert_eq!(
        (paused.status(), step(&paused, "05.11.2026 09:00")),
        (ProgrammeState::Paused, ProgrammeStep::Wait(None))
    );
    assert_eq!(paused.clone().pause(), Ok(paused.clone()));
    let resumed = paused.resume(moment("05.11.2026 09:01")).unwrap();
    assert_eq!(resumed.next(&calendar(), moscow()), Some(due("2026-12", "05.12.2026 09:00")));
    assert_eq!(resumed.clone().resume(moment("09.11.2026 00:00")), Ok(resumed));
}

#[test]
fn another_person_approves_in_time() {
    let waiting = programme(terms(), true);
    assert_eq!(waiting.status(), ProgrammeState::WaitingApproval);
    let end = "04.11.2026 12:00";
    assert_eq!(step(&waiting, "01.11.2026 12:00"), ProgrammeStep::Wait(Some(moment(end))));
    assert_eq!(step(&waiting, end), ProgrammeStep::Expire);
    let now = moment("04.11.2026 11:59");
    assert_eq!(waiting.clone().approve(&user(1), now), Err(ProgrammeStateError::Forbidden));
    assert_eq!(waiting.clone().refuse(&user(1), now), Err(ProgrammeStateError::Forbidden));
    let approved = waiting.clone().approve(&user(2), now).unwrap();
    assert_eq!((approved.status(), approved.since()), (ProgrammeState::Active, now));
    assert_eq!(approved.clone().approve(&user(1), now), Err(ProgrammeStateError::State));
    assert_eq!(waiting.clone().refuse(&user(2), now).unwrap().status(), ProgrammeState::Ended);
    assert_eq!(waiting.clone().approve(&user(2), moment(end)), Err(ProgrammeStateError::State));
    assert_eq!(waiting.clone().expire(now), waiting);
    assert_eq!(waiting.expire(moment(end)).status(), ProgrammeState::Ended);
}

/// Until then the former terms go on.
#[test]
fn a_change_waits_for_neither_its_creator_nor_its_author() {
    let other = Terms::new(TermsFields { day: 6, ..fields() }).unwrap();
    let now = moment("02.11.2026 12:00");
    let changed = programme(terms(), false).change(other.clone(), user(3).actor, true, now);
    assert_eq!((changed.status(), changed.terms()), (ProgrammeState::WaitingApproval, &terms()));
    assert_eq!(step(&changed, "05.11.2026 09:00"), ProgrammeStep::Pay(due("2026-11", "05.11.2026 09:00")));
    for author in [1, 3] {
        assert_eq!(changed.clone().approve(&user(author), now), Err(ProgrammeStateError::Forbidden));
    }
    let refused = changed.clone().refuse(&user(2), now).unwrap();
    assert_eq!((refused.status(), refused.terms()), (ProgrammeState::Active, &terms()));
    let approved = changed.approve(&user(2), now).unwrap();
    assert_eq!((approved.status(), approved.terms()), (ProgrammeState::Active, &other));
    assert_eq!(approved.since(), moment("01.11.2026 12:00"));
}

#[test]
fn terms_that_do_not_hold_together_name_their_fields() {
    let faults = |fields: TermsFields| {
        let faults = Terms::new(fields).unwrap_err();
        faults.into_iter().map(|fault| fault.field).collect::<Vec<_>>()
    };
    let leavers = vec![EmployeeStatus::DontWork];
    assert_eq!(
        faults(TermsFields {
            every: Every::Year,
            day: 29,
            audience: Audience::Employees(Vec::new()),
            statuses: leavers.clone(),
            from: Some(day("02.11.2026")),
            until: Some(day("01.11.2026")),
            ..fields()
        }),
        ["day", "month", "for", "statuses", "until"]
    );
    assert_eq!(faults(TermsFields { statuses: Vec::new(), ..fields() }), ["statuses"]);
    let takes_back = TermsFields { statuses: leavers, grant: Grant::DownTo(Kopecks::ZERO), ..fields() };
    assert!(Terms::new(takes_back).unwrap().go_by_balances());
    for text in
        ["meal", "meal-{period}-{", " {period}", &"x".repeat(60), &format!("{}{{period}}", "x".repeat(57))]
    {
        assert!(ReferenceTemplate::parse(text).is_err(), "{text}");
    }
    let template = ReferenceTemplate::parse("обед {period}").unwrap();
    assert_eq!(template.of("2026-Q4".parse().unwrap()).unwrap().as_str(), "обед 2026-Q4");
}

#[test]
fn a_short_run_is_tried_at_noon_and_at_six_of_three_days() {
    let made = moment("05.11.2026 09:00");
    let mut tries = Vec::new();
    let mut now = made;
    while let Some(next) = next_try(made, now, moscow()) {
        tries.push(moscow().moment_text(next));
        now = next;
    }
    assert_eq!(
        tries,
        [
            "05.11.2026 12:00",
            "05.11.2026 18:00",
            "06.11.2026 12:00",
            "06.11.2026 18:00",
            "07.11.2026 12:00",
            "07.11.2026 18:00"
        ]
    );
    assert_eq!(next_try(made, moment("06.11.2026 13:00"), moscow()), Some(moment("06.11.2026 18:00")));
}

proptest! {
    /// However the clock jumps: each period has one run, in time or too late, as the schedule has it.
    #[test]
    fn each_period_has_one_run(
        (schedule, start) in (schedules(), days()),
        steps in prop::collection::vec(1..60_000_i64, 1..12),
    ) {
        let nth = match schedule.day() {
            PeriodDay::Nth(day) => i64::from(day),
            PeriodDay::Last => -1,
        };
        let terms = TermsFields {
            every: schedule.every(), day: nth, month: schedule.month().map(|month| i64::from(u8::from(month))),
            time: schedule.time(), shift: schedule.shift(), ..fields()
        };
        let mut now = moscow().start_of(start);
        let id = ProgrammeId::new(Uuid::from_u128(1));
        let mut programme = Programme::new(id, Terms::new(terms).unwrap(), Actor::Login, false, now);
        let (mut runs, workdays) = (Vec::new(), calendar());
        for minutes in steps {
            now += Duration::minutes(minutes);
            loop {
                programme = match programme.step(&workdays, moscow(), now) {
                    ProgrammeStep::Wait(at) => {
                        prop_assert!(at.is_some_and(|at| at > now));
                        break;
                    }
                    ProgrammeStep::Notice(due) => {
                        prop_assert!(due.at > now && due.at - NOTICE <= now);
                        let is_of_the_day = moscow().day(now) >= moscow().day(due.at);
                        programme.told(Notice { period: due.period, is_of_the_day, told_short: false })
                    }
                    ProgrammeStep::Pay(due) | ProgrammeStep::Miss(due) => {
                        prop_assert!(due.at <= now);
                        runs.push(due.period);
                        programme.paid(due.period)
                    }
                    other => panic!("{other:?}"),
                };
            }
        }
        prop_assert_eq!(runs, oracle::due(&schedule, programme.validity(), &workdays, moscow(), now));
    }
}
