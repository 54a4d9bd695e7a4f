//! What happens to the cards of people who leave, and the form that says so.

use kopeck_api::operations::{SETTINGS_GET, SETTINGS_UPDATE};
use kopeck_api::{LeaverSettings, PartnerSettings};
use kopeck_domain::access::Scope;
use serde_json::{Value, json};

use crate::call::Problem;
use crate::texts::Text;
use crate::view::{Block, Field, FieldKind, Page};
use crate::visit::{Outcome, Reply, Visit};

async fn settings(visit: &Visit<'_>) -> Result<LeaverSettings, Problem> {
    let settings: PartnerSettings = visit.get(&SETTINGS_GET, &[], &[]).await?;
    Ok(settings.leavers)
}

/// What the settings do, as a sentence.
pub(crate) async fn rule(visit: &Visit<'_>) -> Result<String, Problem> {
    Ok(told(visit, &settings(visit).await?))
}

fn told(visit: &Visit<'_>, rules: &LeaverSettings) -> String {
    let now = visit.t(if rules.freeze { Text::LEAVERS_ARE_FROZEN } else { Text::LEAVERS_KEEP_CARDS });
    match rules.take_back_after_days {
        Some(days) => {
            let text = visit.t(if rules.close { Text::TAKEN_BACK_AND_CLOSED } else { Text::TAKEN_BACK_THEN });
            format!("{now} {text} {days}.")
        }
        None => format!("{now} {}", visit.t(Text::NEVER_TAKEN_BACK)),
    }
}

/// The page: what holds, and the form for who may change it.
pub(super) async fn show(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    let rules = settings(visit).await?;
    let mut page = Page::new(visit.t(Text::WHO_LEAVES), "programmes");
    page.push(Block::Text(told(visit, &rules)));
    if visit.may(Scope::ProgrammesWrite) {
        let yes = || FieldKind::Many(vec![("yes".to_owned(), visit.t(Text::YES).to_owned())]);
        let check = |name, label, is_on| {
            Field::new(name, visit.t(label), yes()).value(if is_on { "yes" } else { "" })
        };
        let days = rules.take_back_after_days.map(|days| days.to_string()).unwrap_or_default();
        let days = if problem.is_some() { visit.form.get("days").to_owned() } else { days };
        let days = Field::new("days", visit.t(Text::TAKE_BACK_AFTER), FieldKind::Text).value(days).max(5);
        let form = visit
            .post("/programmes/leavers", Text::SAVE)
            .field(check("freeze", Text::FREEZE_AT_ONCE, rules.freeze))
            .field(days.hint(visit.t(Text::TAKE_BACK_AFTER_HINT)))
            .field(check("close", Text::CLOSE_THEN, rules.close));
        page.push(Block::Form(form));
    }
    visit.answer(page, problem)
}

/// Saves what the form says.
pub(super) async fn save(visit: &Visit<'_>) -> Outcome {
    let form = &visit.form;
    let days = form
        .given("days")
        .map_or(Value::Null, |days| days.parse::<i64>().map_or_else(|_| json!(days), Value::from));
    let leavers = json!({"freeze": form.get("freeze") == "yes", "takeBackAfterDays": days,
        "close": form.get("close") == "yes"});
    match visit.change(&SETTINGS_UPDATE, &[], Some(json!({"leavers": leavers}))).await {
        Ok(_) => Ok(Reply::SeeOther("/programmes/leavers?done=saved".to_owned())),
        Err(problem) if problem.status == 403 => Err(visit.hidden_alike(problem)),
        Err(problem) => show(visit, Some(&problem)).await,
    }
}
