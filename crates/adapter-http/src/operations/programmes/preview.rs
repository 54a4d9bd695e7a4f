//! Shows what programmes would do if some terms were in force.

use kopeck_domain::calendar::parse_date;
use kopeck_domain::ids::ProgrammeId;
use kopeck_domain::programme::Terms;
use kopeck_service::programmes;
use time::{Date, Duration};

use super::{body, forecast, terms};
use crate::input::field_types::{id, text};
use crate::operations::prelude::*;

/// How many days ahead a preview goes by default.
const DAYS: i64 = 92;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::PROGRAMME_PREVIEW, Needs::One(Scope::ProgrammesRead), handler!(preview))
        .reads(reads!(read))
        .reads_body()
        .responds::<api::Data<Vec<api::ProgrammeForecast>>>(200)
        .refuses(&[Code::ProgrammeNotFound]);

struct Preview {
    terms: Terms,
    instead_of: Option<ProgrammeId>,
    until: Option<Date>,
}

fn read(r: &mut Reader<'_>) -> Option<Preview> {
    let mut body = r.body();
    let terms = terms::of(&mut body);
    let about = "The programme whose terms these are to replace; absent: they are those of a new one.";
    let instead_of = body.optional("idProgramme", id::<ProgrammeId>().about(about));
    let about = "The last day of the forecast; at most 366 days ahead, 92 by default.";
    let until = body.optional("forecastUntil", text(parse_date).about(about));
    Some(Preview { terms: terms?, instead_of, until })
}

async fn preview(mut ctx: HandlerContext) -> HandlerResult {
    let (zone, preview) = (ctx.zone(), ctx.values(read));
    let rows = ctx
        .read(preview, |unit, env, partner, Preview { terms, instead_of, until }| {
            let until = until.unwrap_or_else(|| env.today().saturating_add(Duration::days(DAYS)));
            forecast::check("forecastUntil", env, until)?;
            Ok::<_, ApiError>(programmes::preview(unit, env, partner, terms, *instead_of, until)?)
        })
        .await?;
    let data: Vec<_> = rows.iter().map(|row| body::of_forecast(row, zone)).collect();
    ctx.respond(&api::Data { data })
}
