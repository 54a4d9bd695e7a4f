//! Shows what programmes will do.

use kopeck_domain::calendar::parse_date;
use kopeck_service::Env;
use kopeck_service::programmes::{self, FORECAST_DAYS};
use time::{Date, Duration};

use super::body;
use crate::input::field_types::text;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::PROGRAMME_FORECAST, Needs::One(Scope::ProgrammesRead), handler!(forecast))
        .reads(reads!(read))
        .responds::<api::Data<Vec<api::ProgrammeForecast>>>(200);

fn read(r: &mut Reader<'_>) -> Option<Date> {
    r.needed("until", text(parse_date).about("The last day; at most 366 days ahead."))
}

/// Refuses a day that is over, or too far ahead.
pub(super) fn check(field: &'static str, env: &Env, until: Date) -> Result<(), ApiError> {
    let today = env.today();
    if (today..=today.saturating_add(Duration::days(FORECAST_DAYS))).contains(&until) {
        return Ok(());
    }
    Err(ApiError::field(field, format!("must be today or later, by {FORECAST_DAYS} days at most")))
}

async fn forecast(mut ctx: HandlerContext) -> HandlerResult {
    let (zone, until) = (ctx.zone(), ctx.values(read));
    let rows = ctx
        .read(until, |unit, env, partner, until| {
            check("until", env, *until)?;
            Ok::<_, ApiError>(programmes::forecast(unit, env, partner, *until)?)
        })
        .await?;
    let data: Vec<_> = rows.iter().map(|row| body::of_forecast(row, zone)).collect();
    ctx.respond(&api::Data { data })
}
