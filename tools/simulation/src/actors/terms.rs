//! Terms of programmes, most of them due soon.

use kopeck_domain::Kopecks;
use kopeck_domain::employee::EmployeeStatus;
use kopeck_domain::ids::EmployeeId;
use kopeck_domain::limit::TimeOfDay;
use kopeck_domain::programme::{
    Audience, Every, Grant, OnShortage, ProgrammeName, ReferenceTemplate, Shift, Terms, TermsFields,
};
use time::Duration;

use crate::world::World;

/// Terms for some of `employees`, or for whoever is there; `None` if the dice make none of them.
pub(super) fn any(world: &World, employees: &[EmployeeId]) -> Option<Terms> {
    let (dice, mark) = (&world.dice, world.mark());
    let some: Vec<EmployeeId> = employees.iter().copied().filter(|_| dice.chance(600)).collect();
    let is_for_all = some.is_empty() || dice.chance(600);
    // In a few minutes, or at any time of the days that follow.
    let soon = Duration::minutes(dice.between(1, 3));
    let later = Duration::minutes(dice.between(1, 4 * 24 * 60));
    let at = world.env.now() + if dice.chance(650) { soon } else { later };
    let every = if dice.chance(600) { Every::Week } else { Every::Month };
    let day = match every {
        Every::Week => i64::from(at.weekday().number_from_monday()),
        Every::Month | Every::Quarter | Every::Year if at.day() > 28 => -1,
        Every::Month | Every::Quarter | Every::Year => i64::from(at.day()),
    };
    let amount = |most: i64| Kopecks::new(dice.between(1, most) * 1_000 + mark);
    let grant = match dice.below(12) {
        0..=4 => Grant::Fixed { amount: amount(6), cap: None },
        5..=6 => Grant::Fixed { amount: amount(6), cap: Some(amount(12)) },
        7..=9 => Grant::UpTo(amount(12)),
        _ => Grant::DownTo(Kopecks::new(dice.between(0, 4) * 1_000)),
    };
    let shift = dice.weighted(&[(4, Shift::None), (1, Shift::Before), (1, Shift::After)])?;
    Terms::new(TermsFields {
        name: ProgrammeName::parse(&format!("programme {mark}")).ok()?,
        audience: if is_for_all { Audience::All } else { Audience::Employees(some) },
        statuses: vec![EmployeeStatus::Work],
        grant,
        every,
        day,
        month: None,
        time: TimeOfDay::parse(&format!("{:02}:{:02}", at.hour(), at.minute())).ok()?,
        shift,
        pro_rata: dice.chance(300),
        on_shortage: if dice.chance(500) { OnShortage::Nothing } else { OnShortage::Part },
        from: None,
        until: dice.chance(100).then(|| at.date() + Duration::days(dice.between(0, 20))),
        reference: Some(ReferenceTemplate::parse(&format!("pay {mark} {{period}}")).ok()?),
    })
    .ok()
}
