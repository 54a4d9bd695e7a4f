//! The terms of a programme in a body.

use kopeck_domain::calendar::parse_date;
use kopeck_domain::employee::EmployeeStatus;
use kopeck_domain::ids::{CategoryId, EmployeeId};
use kopeck_domain::limit::TimeOfDay;
use kopeck_domain::programme::{
    Audience, Every, Grant, MAX_NAMED, OnShortage, ProgrammeName, ReferenceTemplate, Shift, Terms,
    TermsFields,
};
use kopeck_domain::replenishment::{MAX_AMOUNT, top_up_amount};
use kopeck_domain::{Invalid, Kopecks};
use uuid::Uuid;

use crate::input::faults::Faults;
use crate::input::field_types::{InputValue, boolean, id, integer, string_enum, text, texts};
use crate::input::object::Object;
use crate::input::reader::{Fields, Reader};
use crate::json::{Json, object};
use crate::schema::{Components, HasSchema, integer as number_of};

impl HasSchema for ReferenceTemplate {
    fn schema(_: &mut Components) -> Json {
        let form = "a reference with {period} in it, in the place of which stands the period";
        object! {
            "type": "string", "minLength": 8, "maxLength": 64, "pattern": "\\{period\\}", "x-form": form,
        }
    }
}

/// Reads the terms of a programme: the whole body.
pub(super) fn read(r: &mut Reader<'_>) -> Option<Terms> {
    of(&mut r.body())
}

/// Reads the terms of a programme, among other fields.
pub(super) fn of(body: &mut Fields<'_>) -> Option<Terms> {
    let name = body.required("name", text(ProgrammeName::parse).about("What you call it."));
    let audience = body.object("for", audience_schema, audience);
    let about = "Only people with these statuses; WORK, VACATION and MEDICAL by default.";
    let statuses = body.optional("statuses", texts(str::parse::<EmployeeStatus>).about(about));
    let grant = body.object("amount", grant_schema, grant);
    let every = body.required("every", string_enum::<Every>().about("How often."));
    let about = "1 to 28, or -1 for the last day; of WEEK 1 (Monday) to 7. Of QUARTER 1 to 28 is a day of its first month.";
    let day = body.required("day", integer(Ok).between(-1, 28).about(about));
    let month = body.optional("month", integer(Ok).between(1, 12).about("Of YEAR: the month."));
    let time = body.optional("time", text(TimeOfDay::parse).about("`09:00` by default."));
    let about = "Where a day goes that is a Saturday, a Sunday or a holiday; NONE by default.";
    let shift = body.optional("shift", string_enum::<Shift>().about(about));
    let about =
        "Whether a person who was added within a period gets the share of its days; `false` by default.";
    let pro_rata = body.optional("proRata", boolean().about(about));
    let about = "What happens if the balance does not cover a period; NOTHING by default.";
    let on_shortage = body.optional("onShortage", string_enum::<OnShortage>().about(about));
    let from = body.optional("from", text(parse_date).about("Nothing before this day."));
    let until = body.optional("until", text(parse_date).about("Nothing after this day."));
    let about = "What its runs are called: `meal-{period}`.";
    let reference = body.optional("reference", text(ReferenceTemplate::parse).about(about));
    let fields = TermsFields {
        name: name?,
        audience: audience?,
        statuses: statuses
            .unwrap_or_else(|| vec![EmployeeStatus::Work, EmployeeStatus::Vacation, EmployeeStatus::Medical]),
        grant: grant?,
        every: every?,
        day: day?,
        month,
        time: time.or_else(|| TimeOfDay::parse("09:00").ok())?,
        shift: shift.unwrap_or(Shift::None),
        pro_rata: pro_rata.unwrap_or(false),
        on_shortage: on_shortage.unwrap_or(OnShortage::Nothing),
        from,
        until,
        reference,
    };
    match Terms::new(fields) {
        Ok(terms) => Some(terms),
        Err(faults) => {
            for fault in faults {
                body.fault(fault.field, fault.detail);
            }
            None
        }
    }
}

/// Whom a programme pays.
fn audience(given: &Object<'_>, faults: &mut Faults) -> Option<Audience> {
    let has = |name| given.get(name).is_some_and(|value| !value.is_null());
    let named = ["all", "idCategory", "idEmployee"].into_iter().filter(|name| has(name)).count();
    if named != 1 {
        faults.push("for", "must have exactly one of all, idCategory and idEmployee");
        return None;
    }
    if has("all") {
        let all = faults.take("for.all", part(given, "all", boolean().read)?)?;
        if !all {
            faults.push("for.all", "must be true");
        }
        return all.then_some(Audience::All);
    }
    if has("idCategory") {
        let ids = part(given, "idCategory", ids::<CategoryId>)?;
        return faults.take("for.idCategory", ids).map(Audience::Categories);
    }
    let ids = part(given, "idEmployee", ids::<EmployeeId>)?;
    faults.take("for.idEmployee", ids).map(Audience::Employees)
}

/// What a programme does with a card.
fn grant(given: &Object<'_>, faults: &mut Faults) -> Option<Grant> {
    let has = |name| given.get(name).is_some_and(|value| !value.is_null());
    let named = ["fixed", "upTo", "downTo"].into_iter().filter(|name| has(name)).count();
    if named != 1 {
        faults.push("amount", "must have exactly one of fixed, upTo and downTo");
        return None;
    }
    if has("cap") && !has("fixed") {
        faults.push("amount.cap", "goes with fixed alone");
        return None;
    }
    if has("fixed") {
        let amount = faults.take("amount.fixed", part(given, "fixed", integer(top_up_amount).read)?);
        let cap = match part(given, "cap", integer(top_up_amount).read) {
            Some(cap) => Some(faults.take("amount.cap", cap)?),
            None => None,
        };
        return Some(Grant::Fixed { amount: amount?, cap });
    }
    if has("upTo") {
        let amount = part(given, "upTo", integer(top_up_amount).read)?;
        return faults.take("amount.upTo", amount).map(Grant::UpTo);
    }
    let amount = part(given, "downTo", integer(rest).read)?;
    faults.take("amount.downTo", amount).map(Grant::DownTo)
}

/// What a card keeps: nothing, or an amount.
fn rest(kopecks: i64) -> Result<Kopecks, Invalid> {
    if kopecks == 0 { Ok(Kopecks::ZERO) } else { top_up_amount(kopecks) }
}

fn part<T>(
    given: &Object<'_>,
    name: &str,
    read: impl Fn(InputValue<'_>) -> Result<T, Invalid>,
) -> Option<Result<T, Invalid>> {
    let value = given.get(name).filter(|value| !value.is_null())?;
    Some(read(InputValue::Json(value)))
}

/// Identifiers, each once.
fn ids<T: HasSchema + From<Uuid> + Ord + Copy>(given: InputValue<'_>) -> Result<Vec<T>, Invalid> {
    let wrong = || Invalid::new(format!("must be a list of 1 to {MAX_NAMED} uuids"));
    let InputValue::Json(list) = given else { return Err(wrong()) };
    let list = list.list(MAX_NAMED).filter(|list| (1..=MAX_NAMED).contains(&list.len())).ok_or_else(wrong)?;
    let read = id::<T>().read;
    let mut ids = list.into_iter().map(|one| read(InputValue::Json(one))).collect::<Result<Vec<T>, _>>()?;
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

fn audience_schema(components: &mut Components) -> Json {
    components.named("ProgrammeForRequest", |components| {
        let list = |item: Json, about: &str| {
            object! {
                "type": ["array", "null"], "items": item, "minItems": 1, "maxItems": number_of(MAX_NAMED),
                "description": about,
            }
        };
        let categories = list(CategoryId::schema(components), "Those in these categories on the day.");
        let employees = list(EmployeeId::schema(components), "These employees.");
        object! {
            "type": "object",
            "properties": object! {
                "all": object! {"type": ["boolean", "null"], "description": "`true`: everybody."},
                "idCategory": categories,
                "idEmployee": employees,
            },
            "description": "Whom it pays: exactly one of these.",
        }
    })
}

fn grant_schema(components: &mut Components) -> Json {
    components.named("ProgrammeAmountRequest", |_| {
        let kopecks = |least: i64, about: &str| {
            object! {
                "type": ["integer", "null"], "format": "int64", "minimum": least, "maximum": MAX_AMOUNT,
                "description": about,
            }
        };
        object! {
            "type": "object",
            "properties": object! {
                "fixed": kopecks(1, "Adds so much to each card."),
                "cap": kopecks(1, "Of `fixed`: no card is filled above it."),
                "upTo": kopecks(1, "Fills each card up to it."),
                "downTo": kopecks(0, "Takes back all above it."),
            },
            "description": "What it does with each MAIN card, kopecks: exactly one of `fixed`, `upTo` and `downTo`.",
        }
    })
}
