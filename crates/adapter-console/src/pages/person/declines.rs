//! Purchases of a person that the bank declined, with the reasons.

use kopeck_api::operations::EVENT_FEED;
use kopeck_api::{CardDeclinedEvent, EventData, Feed};

use crate::call::Problem;
use crate::texts::{Text, code_text};
use crate::view::{Block, Cell, Page, Table};
use crate::visit::Visit;

/// How far back in the partner's feed is looked, in events: there is no list of declines alone.
const EVENTS: i64 = 20_000;

/// The most pages of the feed, of 500 declines each.
const PAGES: usize = 4;

/// The most that are shown.
const SHOWN: usize = 20;

/// Pushes the latest declines, newest first; nothing if there are none.
pub(super) async fn push(visit: &Visit<'_>, page: &mut Page, person: &str) -> Result<(), Problem> {
    let end: Feed = visit.get(&EVENT_FEED, &[], &[("after", "newest"), ("limit", "1")]).await?;
    let newest = end.newest.unwrap_or_default();
    let mut after = (newest - EVENTS).max(end.oldest - 1).max(0);
    let mut found = Vec::new();
    for _ in 0..PAGES {
        let from = after.to_string();
        let query = [("types", "card.declined"), ("after", &*from), ("limit", "500")];
        let feed: Feed = visit.get(&EVENT_FEED, &[], &query).await?;
        let is_last = feed.data.len() < 500;
        after = feed.next;
        found.extend(feed.data.into_iter().filter_map(|event| match event.data {
            EventData::CardDeclined(declined) => Some(declined),
            _ => None,
        }));
        if is_last {
            break;
        }
    }
    found.retain(|one: &CardDeclinedEvent| one.id_employee.is_some_and(|id| id.to_string() == person));
    let columns = [
        (Text::DATE, false),
        (Text::REASON, false),
        (Text::PLACE, false),
        (Text::CATEGORY_CODE, false),
        (Text::AMOUNT, true),
    ];
    let mut table = Table::new(visit.t(Text::DECLINED_PURCHASES), visit.columns(&columns), "");
    for one in found.iter().rev().take(SHOWN) {
        let code = one.code.as_deref().unwrap_or_default();
        table.rows.push(vec![
            Cell::text(visit.moment(one.date)),
            Cell::text(code_text(visit.language, code, &one.reason)),
            Cell::text(one.place.clone().unwrap_or_default()),
            Cell::text(one.mcc.clone().unwrap_or_default()),
            Cell::number(visit.money(one.amount)),
        ]);
    }
    if !table.rows.is_empty() {
        page.push(Block::Heading(visit.t(Text::DECLINED_PURCHASES).to_owned()));
        page.push(Block::Table(table));
    }
    Ok(())
}
