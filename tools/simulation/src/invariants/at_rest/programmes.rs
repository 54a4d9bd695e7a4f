//! Every programme has a run for each period that came due, and its partner has the programmes that it made.

use std::collections::{BTreeMap, BTreeSet};

use kopeck_domain::programme::{Programme, ProgrammeState, Terms};

use super::holdings::Holdings;
use crate::actors::{Client, ClientView, Command};
use crate::invariants::paydays::oracle;
use crate::violation::Violation;
use crate::world::World;

const RULE: &str = "each period that came due has one run";

/// Checks the programmes of a partner, and the runs that they made.
pub(super) fn check(world: &World, client: &Client, has: &Holdings) -> Result<(), Violation> {
    let wrong = |what: String| Err(Violation { rule: RULE, what });
    let given = given(client, has)?;
    let mut periods = BTreeSet::new();
    for (run, ..) in &has.runs {
        let Some(origin) = run.programme() else { continue };
        if !periods.insert((origin.id.to_string(), origin.period.to_string())) {
            return wrong(format!("{} has two runs of {}", origin.id, origin.period));
        }
        if given.get(&origin.id.to_string()).is_none_or(|given| !given.contains(&&origin.terms)) {
            return wrong(format!("run {} goes by terms that {} never had", run.id(), origin.id));
        }
        let is_active = |programme: &&Programme| programme.state() == ProgrammeState::Active;
        let programme = has.programmes.iter().find(|programme| programme.id() == origin.id);
        let is_late = origin.retry_at.is_some_and(|at| at <= world.env.now());
        if is_late && programme.as_ref().is_some_and(is_active) {
            return wrong(format!("run {} was not tried again", run.id()));
        }
    }
    for programme in has.programmes.iter().filter(|one| one.state() == ProgrammeState::Active) {
        let (id, terms) = (programme.id(), programme.terms().fields());
        let others = has.runs.iter().filter_map(|(run, ..)| run.programme());
        // Periods of another length that it had once may have taken their days.
        if others.into_iter().any(|origin| origin.id == id && origin.period.every() != terms.every) {
            continue;
        }
        for due in oracle::due(terms, programme.since(), world.env.now()) {
            if !periods.contains(&(id.to_string(), due.name.clone())) {
                return wrong(format!("{id} has no run of {due:?}"));
            }
        }
    }
    Ok(())
}

/// The terms that the partner gave each programme. Those that it did not delete are there, and no others.
fn given<'a>(client: &'a Client, has: &Holdings) -> Result<BTreeMap<String, Vec<&'a Terms>>, Violation> {
    let mut given: BTreeMap<String, Vec<&Terms>> = BTreeMap::new();
    let mut deleted = BTreeSet::new();
    for call in &client.calls {
        let ClientView::Answered(answer) = &call.known else { continue };
        let id = String::from_utf8_lossy(&answer.body).into_owned();
        match &call.command {
            Command::MakeProgramme(terms) | Command::ChangeProgramme { terms, .. } => {
                given.entry(id).or_default().push(terms);
            }
            Command::DeleteProgramme(_) => {
                deleted.insert(id);
            }
            _ => {}
        }
    }
    let there: BTreeSet<String> = has.programmes.iter().map(|programme| programme.id().to_string()).collect();
    let expected: BTreeSet<String> = given.keys().filter(|id| !deleted.contains(*id)).cloned().collect();
    if there == expected {
        return Ok(given);
    }
    Err(Violation { rule: RULE, what: format!("there are the programmes {there:?}, expected {expected:?}") })
}
