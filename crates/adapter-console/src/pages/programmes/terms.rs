//! The terms of a programme as people read them.

use kopeck_api::{
    CategoryWithCount, OnShortage, ProgrammeAmount, ProgrammePeriod, ProgrammeShift, ProgrammeTerms,
};

use crate::pages::people::status_text;
use crate::texts::Text;
use crate::view::Cell;
use crate::visit::Visit;

/// The periods, in the order in which forms offer them.
pub(super) const PERIODS: [(ProgrammePeriod, Text); 4] = [
    (ProgrammePeriod::Month, Text::EVERY_MONTH),
    (ProgrammePeriod::Week, Text::EVERY_WEEK),
    (ProgrammePeriod::Quarter, Text::EVERY_QUARTER),
    (ProgrammePeriod::Year, Text::EVERY_YEAR),
];

pub(super) const SHIFTS: [(ProgrammeShift, Text); 3] = [
    (ProgrammeShift::None, Text::SHIFT_NONE),
    (ProgrammeShift::Before, Text::SHIFT_BEFORE),
    (ProgrammeShift::After, Text::SHIFT_AFTER),
];

pub(super) const SHORTAGES: [(OnShortage, Text); 2] =
    [(OnShortage::Nothing, Text::SHORTAGE_NOTHING), (OnShortage::Part, Text::SHORTAGE_PART)];

/// The days of a week, from Monday.
pub(crate) const WEEKDAYS: [Text; 7] = [
    Text::MONDAY,
    Text::TUESDAY,
    Text::WEDNESDAY,
    Text::THURSDAY,
    Text::FRIDAY,
    Text::SATURDAY,
    Text::SUNDAY,
];

/// The facts of the terms.
pub(super) fn facts(
    visit: &Visit<'_>,
    terms: &ProgrammeTerms,
    categories: &[CategoryWithCount],
) -> Vec<(String, Cell)> {
    let date = |day: Option<time::Date>| day.map(|day| visit.date(day)).unwrap_or_default();
    let statuses: Vec<&str> = terms.statuses.iter().map(|status| status_text(visit, status)).collect();
    let facts = [
        (Text::PAYS_WHOM, audience(visit, terms, categories)),
        (Text::ONLY_WHO, statuses.join(", ")),
        (Text::DOES_WHAT, amount(visit, &terms.amount)),
        (Text::PAYS_WHEN, when(visit, terms)),
        (Text::ON_DAY_OFF, known(visit, &SHIFTS, &terms.shift, terms.shift.as_str())),
        (
            Text::ADDED_WITHIN,
            visit.t(if terms.pro_rata { Text::GET_SHARE } else { Text::GET_WHOLE }).to_owned(),
        ),
        (Text::IF_SHORT, known(visit, &SHORTAGES, &terms.on_shortage, terms.on_shortage.as_str())),
        (Text::FROM_DAY, date(terms.from)),
        (Text::UNTIL_DAY, date(terms.until)),
        (Text::RUNS_ARE_CALLED, terms.reference.clone().unwrap_or_default()),
    ];
    let given = facts.into_iter().filter(|(_, value)| !value.is_empty());
    visit.facts(given)
}

fn known<T: PartialEq>(visit: &Visit<'_>, all: &[(T, Text)], one: &T, word: &str) -> String {
    let found = all.iter().find(|(each, _)| each == one);
    found.map_or(word, |(_, text)| visit.t(*text)).to_owned()
}

fn audience(visit: &Visit<'_>, terms: &ProgrammeTerms, categories: &[CategoryWithCount]) -> String {
    if let Some(ids) = &terms.audience.id_category {
        let name = |category: &&CategoryWithCount| ids.contains(&category.id_category);
        let names: Vec<&str> = categories.iter().filter(name).map(|one| &*one.name_category).collect();
        return names.join(", ");
    }
    match &terms.audience.id_employee {
        Some(people) => format!("{}: {}", visit.t(Text::NAMED_PEOPLE), people.len()),
        None => visit.t(Text::EVERYBODY).to_owned(),
    }
}

/// What it does with each main card.
pub(super) fn amount(visit: &Visit<'_>, amount: &ProgrammeAmount) -> String {
    let money = |kopecks: Option<i64>| visit.money(kopecks.unwrap_or_default());
    if amount.up_to.is_some() {
        return format!("{} {}", visit.t(Text::FILLS_UP_TO), money(amount.up_to));
    }
    if amount.down_to.is_some() {
        return format!("{} {}", visit.t(Text::TAKES_DOWN_TO), money(amount.down_to));
    }
    let adds = format!("{} {}", visit.t(Text::ADDS), money(amount.fixed));
    match amount.cap {
        Some(_) => format!("{adds}, {} {}", visit.t(Text::NOT_ABOVE), money(amount.cap)),
        None => adds,
    }
}

fn when(visit: &Visit<'_>, terms: &ProgrammeTerms) -> String {
    let every = known(visit, &PERIODS, &terms.every, terms.every.as_str());
    let weekday = usize::try_from(terms.day - 1).ok().and_then(|at| WEEKDAYS.get(at));
    let day = match (&terms.every, weekday) {
        (ProgrammePeriod::Week, Some(day)) => visit.t(*day).to_owned(),
        _ if terms.day < 0 => visit.t(Text::LAST_DAY).to_owned(),
        _ => format!("{} {}", visit.t(Text::ON_DAY), terms.day),
    };
    let month = terms.month.map(|month| format!(", {} {month}", visit.t(Text::OF_MONTH))).unwrap_or_default();
    format!("{every}, {day}{month}, {}", terms.time)
}
