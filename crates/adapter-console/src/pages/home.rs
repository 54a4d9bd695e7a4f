//! The month: what is to do, and what is short.

use kopeck_api::operations::{BALANCE, CARD_LIST, RUN_LIST};
use kopeck_api::{Balance, Card, Page as ListPage, Run, RunState};
use time::Duration;

use super::runs;
use crate::texts::Text;
use crate::view::{Block, Cell, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// How far ahead cards that expire are named.
const AHEAD: Duration = Duration::days(30);

/// The first page.
pub(crate) async fn show(visit: &Visit<'_>) -> Outcome {
    if visit.session.user.partner.is_none() {
        return Ok(Reply::SeeOther("/partners".to_owned()));
    }
    let balance: Balance = visit.get(&BALANCE, &[], &[]).await?;
    let mut page = Page::new(visit.t(Text::THIS_MONTH), "");
    page.push(Block::Facts(vec![
        (visit.t(Text::AVAILABLE).to_owned(), Cell::text(visit.money(balance.available))),
        (visit.t(Text::HELD).to_owned(), Cell::text(visit.money(balance.hold))),
    ]));
    for (state, caption) in [
        (RunState::WaitingApproval, Text::WAITS_FOR_APPROVAL),
        (RunState::Draft, Text::DRAFTS_TO_MEND),
        (RunState::Scheduled, Text::SCHEDULED),
        (RunState::InProcess, Text::IN_PROCESS),
    ] {
        let query = [("status", state.as_str()), ("per_page", "10")];
        let found: ListPage<Run> = visit.get(&RUN_LIST, &[], &query).await?;
        page.push(Block::Heading(visit.t(caption).to_owned()));
        page.push(Block::Table(runs::table(visit, caption, &found.data)));
    }
    page.push(Block::Heading(visit.t(Text::CARDS_EXPIRE).to_owned()));
    page.push(Block::Table(expiring(visit).await?));
    Ok(Reply::Page(page))
}

async fn expiring(visit: &Visit<'_>) -> Result<Table, crate::call::Problem> {
    let day = visit.parts.env.settings.zone.day(visit.parts.env.now() + AHEAD);
    let before = kopeck_domain::calendar::date_text(day);
    let query = [("linked", "true"), ("expiresBefore", before.as_str()), ("per_page", "20")];
    let found: ListPage<Card> = visit.get(&CARD_LIST, &[], &query).await?;
    let columns = [(Text::CARD, false), (Text::VALID_UNTIL, false), (Text::BALANCE, true)];
    let mut table =
        Table::new(visit.t(Text::CARDS_EXPIRE), visit.columns(&columns), visit.t(Text::NONE_EXPIRES));
    for card in &found.data {
        let number = card.custom_card_id.to_string();
        let number = match card.id_employee {
            Some(person) => Cell::link(number, &format!("/person/{person}")),
            None => Cell::text(number),
        };
        table.rows.push(vec![
            number,
            Cell::text(visit.date(card.date_until)),
            Cell::number(visit.money(card.balance)),
        ]);
    }
    Ok(table)
}
