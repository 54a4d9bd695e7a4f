//! What a run of a programme does other than the one before it.

use std::collections::{HashMap, HashSet};

use kopeck_api::operations::{RUN_LIST, RUN_RESULT};
use kopeck_api::{Data, Page as ListPage, Run, RunItem, RunState};
use uuid::Uuid;

use crate::call::Problem;
use crate::texts::Text;
use crate::view::{Block, Cell, Page, Table};
use crate::visit::Visit;

/// How many changes are shown one by one.
const SHOWN: usize = 200;

/// What is other in a run than in an earlier one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// The earlier run: its identifier, its period, and what it moved.
    earlier: (Uuid, String, i64),
    /// The sum of both.
    change: i64,
    /// The people who are only in the later one, only in the earlier one, or in both with other amounts.
    new: Vec<Change>,
    gone: Vec<Change>,
    changed: Vec<Change>,
}

/// A person with the amounts of both runs.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Change {
    person: Option<Uuid>,
    name: String,
    before: Option<i64>,
    now: Option<i64>,
}

/// What the run does other than the last one of its programme that was carried out; `None` if it is the first, or no programme's.
pub(super) async fn of(visit: &Visit<'_>, run: &Run) -> Result<Option<Difference>, Problem> {
    let Some(programme) = run.id_programme.map(|id| id.to_string()) else { return Ok(None) };
    let query = [("idProgramme", &*programme), ("per_page", "50")];
    let runs: ListPage<Run> = visit.get(&RUN_LIST, &[], &query).await?;
    let is_done =
        |run: &Run| matches!(run.state, RunState::Success | RunState::PartSuccess | RunState::InProcess);
    // The newest come first.
    let mut earlier = runs.data.into_iter().skip_while(|other| other.id_run != run.id_run).skip(1);
    let Some(earlier) = earlier.find(is_done) else { return Ok(None) };
    let items = |id: Uuid| async move {
        let found: Data<Vec<RunItem>> = visit.get(&RUN_RESULT, &[&id.to_string()], &[]).await?;
        Ok(found.data)
    };
    let (before, now) = (items(earlier.id_run).await?, items(run.id_run).await?);
    let period = earlier.period.clone().unwrap_or_default();
    let earlier = (earlier.id_run, period, earlier.amount);
    Ok(Some(between(earlier, run.amount, &before, &now)))
}

/// Compares the people who get something.
fn between(earlier: (Uuid, String, i64), amount: i64, before: &[RunItem], now: &[RunItem]) -> Difference {
    let paid = |item: &&RunItem| item.fault.is_none();
    let amounts: HashMap<Option<Uuid>, Option<i64>> =
        before.iter().filter(paid).map(|item| (item.id_employee, item.amount)).collect();
    let present: HashSet<Option<Uuid>> = now.iter().filter(paid).map(|item| item.id_employee).collect();
    let change = |item: &RunItem, before, now| Change {
        person: item.id_employee,
        name: item.custom_id.clone().unwrap_or_default(),
        before,
        now,
    };
    let (mut new, mut changed) = (Vec::new(), Vec::new());
    for item in now.iter().filter(paid) {
        match amounts.get(&item.id_employee) {
            None => new.push(change(item, None, item.amount)),
            Some(before) if *before != item.amount => changed.push(change(item, *before, item.amount)),
            Some(_) => {}
        }
    }
    let is_gone = |item: &&RunItem| !present.contains(&item.id_employee);
    let gone = before.iter().filter(paid).filter(is_gone).map(|item| change(item, item.amount, None));
    Difference { change: amount - earlier.2, gone: gone.collect(), earlier, new, changed }
}

impl Difference {
    /// In a few words.
    pub(super) fn summary(&self, visit: &Visit<'_>) -> String {
        let Self { earlier: (_, period, _), change, new, gone, changed } = self;
        let sign = if *change > 0 { "+" } else { "" };
        let counts = [(Text::NEW_PEOPLE, new), (Text::GONE_PEOPLE, gone), (Text::CHANGED_AMOUNTS, changed)]
            .map(|(text, people)| format!("{} {}", visit.t(text), people.len()));
        format!("{} {period}: {sign}{}; {}", visit.t(Text::AGAINST), visit.money(*change), counts.join(", "))
    }

    /// Puts it on a page: the earlier run, and each person for whom something is other.
    pub(super) fn push(&self, visit: &Visit<'_>, page: &mut Page) {
        page.push(Block::Heading(visit.t(Text::DIFFERENCE).to_owned()));
        let (earlier, period, _) = &self.earlier;
        let label = format!("{} {period}", visit.t(Text::EARLIER_RUN));
        page.push(Block::Text(self.summary(visit)));
        page.push(Block::Links(vec![Cell::link(label, &format!("/run/{earlier}"))]));
        let columns = [
            (Text::PERSONNEL_NUMBER, false),
            (Text::WHAT_CHANGED, false),
            (Text::BEFORE, true),
            (Text::NOW, true),
        ];
        let mut table =
            Table::new(visit.t(Text::DIFFERENCE), visit.columns(&columns), visit.t(Text::NOTHING_CHANGED));
        let each = [(Text::IS_NEW, &self.new), (Text::IS_GONE, &self.gone), (Text::IS_OTHER, &self.changed)];
        let rows =
            each.into_iter().flat_map(|(text, changes)| changes.iter().map(move |change| (text, change)));
        let money =
            |amount: Option<i64>| Cell::number(amount.map(|amount| visit.money(amount)).unwrap_or_default());
        table.rows.extend(rows.take(SHOWN).map(|(text, change)| {
            let person = match change.person {
                Some(id) => Cell::link(change.name.clone(), &format!("/person/{id}")),
                None => Cell::text(change.name.clone()),
            };
            vec![person, Cell::text(visit.t(text)), money(change.before), money(change.now)]
        }));
        page.push(Block::Table(table));
    }
}

#[cfg(test)]
mod tests {
    use kopeck_api::RunFault;

    use super::*;

    fn item(person: u128, amount: i64) -> RunItem {
        RunItem {
            line: 1,
            custom_id: Some(format!("T-{person}")),
            id_employee: Some(Uuid::from_u128(person)),
            id_card: None,
            amount: Some(amount),
            balance_seen: None,
            fault: None,
            outcome: None,
            reason: None,
        }
    }

    #[test]
    fn people_come_go_and_get_other_amounts() {
        let fault =
            RunFault { field: "customId".to_owned(), code: "invalid".to_owned(), detail: String::new() };
        let faulty = |person| RunItem { fault: Some(fault.clone()), ..item(person, 9) };
        let before = [item(1, 100), item(2, 200), item(3, 300), faulty(4)];
        let now = [item(1, 100), item(2, 250), item(4, 400), faulty(3)];
        let earlier = (Uuid::nil(), "2026-10".to_owned(), 600);
        let found = between(earlier.clone(), 750, &before, &now);
        let change = |person, before, now| Change {
            person: Some(Uuid::from_u128(person)),
            name: format!("T-{person}"),
            before,
            now,
        };
        let expected = Difference {
            earlier,
            change: 150,
            new: vec![change(4, None, Some(400))],
            gone: vec![change(3, Some(300), None)],
            changed: vec![change(2, Some(200), Some(250))],
        };
        assert_eq!(found, expected);
    }
}
