//! Shows what became of each item of a run: as JSON, or as a file with the columns that the run was made of.

use std::sync::Arc;

use kopeck_fair_queue::Rank;
use kopeck_port_store::UnitOfWork;
use kopeck_service::runs;

use super::file::{FORMS, ItemReader};
use super::{NO_RUN, body, read_id};
use crate::list_stream::{self, ListSource, NoFields, PAGE};
use crate::operations::prelude::*;
use crate::operations::statement::send_file;
use crate::request_source::RequestSource;
use crate::response::{Response, ResponseBody, ResponseFile};

pub(super) static OPERATION: Operation =
    Operation::of(&operations::RUN_RESULT, Needs::One(Scope::RunsRead), handler!(result))
        .reads(reads!(read_id))
        .responds::<api::Data<Vec<api::RunItem>>>(200)
        .or_files(&FORMS)
        .refuses(NO_RUN);

async fn result(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id)?;
    let (view, first) = ctx
        .read(Ok(id), |unit, _env, partner, id| {
            let view = runs::get(unit, partner, *id)?;
            Ok::<_, ApiError>((view, runs::items(unit, partner, *id, 0, PAGE)?))
        })
        .await?;
    if let Some(form) = ctx.input.file {
        // It is read in pieces, each with a wait before it.
        ctx.pause();
        let (shared, partner) = (Arc::clone(&ctx.shared), ctx.partner());
        let make = move || ItemReader { store: &*shared.parts.store, partner, run: id }.file(form);
        let made = ctx.shared.spreadsheets.run(RequestSource::Partner(partner), Rank::First, make).await??;
        let name = format!("run-{id}.{}", form.extension());
        let file = Some(ResponseFile { media_type: form.content_type(), name });
        return Ok(Response { file, ..ctx.respond_with(ResponseBody::Stream(send_file(made))) });
    }
    let listing = ListSource {
        read: move |unit: &mut dyn UnitOfWork, partner, from| unit.runs().items(partner, id, from, PAGE),
        show: |item, out| serde_json::to_writer(out, &body::of_item(item)),
    };
    list_stream::response(&ctx, &NoFields {}, view.run.totals().number, &first, listing)
}
