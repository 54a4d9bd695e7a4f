//! Replaces the settings.

use kopeck_domain::Invalid;
use kopeck_domain::leaver::{LeaverRules, MAX_DAYS};
use kopeck_port_store::StoreError;
use kopeck_service::leavers;

use super::body;
use crate::input::faults::Faults;
use crate::input::field_types::{InputValue, boolean, integer_from};
use crate::input::object::Object;
use crate::json::{Json, object};
use crate::operations::prelude::*;
use crate::schema::{Components, integer};

pub(super) static OPERATION: Operation =
    Operation::of(&operations::SETTINGS_UPDATE, Needs::One(Scope::ProgrammesWrite), handler!(update))
        .reads(reads!(read))
        .responds::<api::PartnerSettings>(200);

fn read(r: &mut Reader<'_>) -> Option<LeaverRules> {
    r.body().object("leavers", schema, leavers)
}

fn schema(components: &mut Components) -> Json {
    let days = object! {
        "type": ["integer", "null"], "minimum": 0, "maximum": integer(MAX_DAYS),
        "description": "After how many days of 24 hours what is left on their cards is taken back; `null`: never.",
    };
    components.named("LeaverSettingsRequest", |_| {
        object! {
            "type": "object",
            "required": Json::list(["freeze", "close"]),
            "properties": object! {
                "freeze": object! {"type": "boolean", "description": "Whether their cards are frozen at once."},
                "takeBackAfterDays": days,
                "close": object! {
                    "type": "boolean",
                    "description": "Whether their cards are closed then; needs `takeBackAfterDays`.",
                },
            },
            "description": "What happens to the cards of employees who become `DONT_WORK`.",
        }
    })
}

fn leavers(given: &Object<'_>, faults: &mut Faults) -> Option<LeaverRules> {
    let freeze = flag(given, faults, "freeze");
    let days = match given.get("takeBackAfterDays").filter(|value| !value.is_null()) {
        Some(value) => {
            let days = (integer_from(0, MAX_DAYS.into()).read)(InputValue::Json(value));
            let days = days.and_then(|days| u16::try_from(days).map_err(|_| Invalid::new("is too great")));
            faults.take("leavers.takeBackAfterDays", days).map(Some)
        }
        None => Some(None),
    };
    let close = flag(given, faults, "close");
    let rules = LeaverRules::new(freeze?, days?, close?);
    faults.take("leavers.close", rules)
}

fn flag(given: &Object<'_>, faults: &mut Faults, name: &str) -> Option<bool> {
    let flag = match given.get(name).filter(|value| !value.is_null()) {
        Some(value) => (boolean().read)(InputValue::Json(value)),
        None => Err(Invalid::new("is required")),
    };
    faults.take(&format!("leavers.{name}"), flag)
}

async fn update(mut ctx: HandlerContext) -> HandlerResult {
    let rules = ctx.values(read);
    ctx.mutate(rules, |unit, _env, partner, rules| {
        Ok::<_, StoreError>(body(leavers::set_rules(unit, partner, *rules)?))
    })
    .await
}
