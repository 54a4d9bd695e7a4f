//! Integration: webhooks with their deliveries, scoped credentials, the request log and the events.

mod credentials;
mod events;
mod requests;
mod webhooks;

use kopeck_api::operations::WEBHOOK_LIST;
use kopeck_api::{Page as ListPage, Webhook};

use crate::call::Problem;
use crate::texts::Text;
use crate::view::{Block, Cell, Page};
use crate::visit::{Outcome, Visit};

/// The pages of this part, and what their forms do.
pub(crate) async fn route(visit: &Visit<'_>, segments: &[&str]) -> Outcome {
    match (visit.request.is_post, segments) {
        (false, ["integration"]) => show(visit, None).await,
        (true, ["integration"]) => webhooks::create(visit).await,
        (false, ["integration", "requests"]) => requests::show(visit).await,
        (false, ["integration", "events"]) => events::show(visit).await,
        (false, ["integration", "event", seq]) => events::event(visit, seq).await,
        (false, ["integration", "credentials"]) => credentials::form(visit, None),
        (true, ["integration", "credentials"]) => credentials::create(visit).await,
        (false, ["credential", id]) => credentials::show(visit, id).await,
        (true, ["credential", id, "revoke"]) => credentials::revoke(visit, id).await,
        (false, ["webhook", id]) => webhooks::show(visit, id, None).await,
        (true, ["webhook", id, action]) => webhooks::act(visit, id, action).await,
        _ => Err(visit.nothing()),
    }
}

/// The first page.
async fn show(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    let mut page = Page::new(visit.t(Text::INTEGRATION), "integration");
    let mut links = vec![
        Cell::link(visit.t(Text::REQUEST_LOG), "/integration/requests"),
        Cell::link(visit.t(Text::EVENTS), "/integration/events"),
    ];
    if visit.parts.has_docs {
        links.push(Cell { link: Some("/docs".to_owned()), ..Cell::text(visit.t(Text::API_REFERENCE)) });
    }
    page.push(Block::Links(links));
    let hooks: ListPage<Webhook> = visit.get(&WEBHOOK_LIST, &[], &[]).await?;
    page.push(Block::Table(webhooks::table(visit, &hooks.data)));
    webhooks::offer(visit, &mut page);
    credentials::list(visit, &mut page).await?;
    visit.answer(page, problem)
}
