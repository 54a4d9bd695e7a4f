//! Cards that need looking after: those of people who have left, with money on them, and those that expire.

use kopeck_api::operations::{CARD_INFO, CARD_LIST, EMPLOYEE_LIST, EVENT_FEED};
use kopeck_api::{BankStatus, Card, Data, Employee, EventData, Feed, Page as ListPage};
use time::Duration;

use crate::call::Problem;
use crate::pages::people::full_name;
use crate::pages::programmes::leavers;
use crate::texts::Text;
use crate::view::{Block, Cell, Page, Table};
use crate::visit::Visit;

/// How far ahead cards that expire are named.
const AHEAD: Duration = Duration::days(30);

/// Of how many people who have left the cards are looked at.
const MOST_LEAVERS: &str = "100";

/// The cards with money of people who have left.
pub(super) async fn push_leavers(visit: &Visit<'_>, page: &mut Page) -> Result<(), Problem> {
    let query = [("status", "DONT_WORK"), ("per_page", MOST_LEAVERS)];
    let left: ListPage<Employee> = visit.get(&EMPLOYEE_LIST, &[], &query).await?;
    let columns =
        [(Text::NAME, false), (Text::SINCE_WHEN, false), (Text::CARD, false), (Text::BALANCE, true)];
    let mut table = Table::new(visit.t(Text::LEAVERS_WITH_MONEY), visit.columns(&columns), "");
    for person in &left.data {
        let id = person.id_employee.to_string();
        let cards: ListPage<Card> = visit.get(&CARD_LIST, &[], &[("idEmployee", &id)]).await?;
        for card in cards.data.iter().filter(|card| card.balance > 0) {
            let name = format!("{} {}", person.custom_id, full_name(person));
            table.rows.push(vec![
                Cell::link(name.trim(), &format!("/person/{id}")),
                Cell::text(visit.date(person.status_updated_at)),
                Cell::text(card.custom_card_id.to_string()),
                Cell::number(visit.money(card.balance)),
            ]);
        }
    }
    if table.rows.is_empty() {
        return Ok(());
    }
    page.push(Block::Heading(visit.t(Text::LEAVERS_WITH_MONEY).to_owned()));
    page.push(Block::Text(leavers::rule(visit).await?));
    page.push(Block::Table(table));
    if left.meta.last_page > 1 {
        page.push(Block::Text(visit.t(Text::SOME_LEAVERS).to_owned()));
    }
    Ok(())
}

/// The cards of people that expire, from the list of all cards.
pub(super) async fn push_expiring(visit: &Visit<'_>, page: &mut Page) -> Result<(), Problem> {
    let before = kopeck_domain::calendar::date_text(visit.today() + AHEAD);
    let query = [("linked", "true"), ("expiresBefore", before.as_str()), ("per_page", "50")];
    let found: ListPage<Card> = visit.get(&CARD_LIST, &[], &query).await?;
    push_table(visit, page, &found.data);
    Ok(())
}

/// The cards that were told to expire, those that do so first above: for a partner with so many cards that a filter of all takes
/// long. The feed is kept as long as a card is told ahead.
pub(super) async fn push_told(visit: &Visit<'_>, page: &mut Page) -> Result<(), Problem> {
    let feed: Feed = visit.get(&EVENT_FEED, &[], &[("types", "card.expiring"), ("limit", "20")]).await?;
    let mut cards = Vec::new();
    for event in &feed.data {
        if let EventData::CardExpiring(told) = &event.data {
            let card: Data<Card> = visit.get(&CARD_INFO, &[&told.id_card.to_string()], &[]).await?;
            cards.push(card.data);
        }
    }
    push_table(visit, page, &cards);
    Ok(())
}

fn push_table(visit: &Visit<'_>, page: &mut Page, cards: &[Card]) {
    let columns = [(Text::CARD, false), (Text::VALID_UNTIL, false), (Text::BALANCE, true)];
    let mut table = Table::new(visit.t(Text::CARDS_EXPIRE), visit.columns(&columns), "");
    for card in cards.iter().filter(|card| card.bank_status != BankStatus::Closed) {
        let Some(person) = card.id_employee else { continue };
        table.rows.push(vec![
            Cell::link(card.custom_card_id.to_string(), &format!("/person/{person}")),
            Cell::text(visit.date(card.date_until)),
            Cell::number(visit.money(card.balance)),
        ]);
    }
    if !table.rows.is_empty() {
        page.push(Block::Heading(visit.t(Text::CARDS_EXPIRE).to_owned()));
        page.push(Block::Table(table));
    }
}
