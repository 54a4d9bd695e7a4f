//! The partner's balance.

use actix_web::http::StatusCode;
use kopeck_service::balance;

use crate::dto::BalanceDto;
use crate::error::ApiError;
use crate::handler_context::{HandlerContext, Response};
use crate::route::HandlerResult;

pub(crate) async fn get(ctx: HandlerContext) -> HandlerResult {
    let sheet = ctx.read(Ok(()), |unit, _env, partner, ()| balance::get(unit, partner)).await?;
    let shown = BalanceDto::new(&sheet, ctx.zone()).map_err(|error| ApiError::internal(error.to_string()))?;
    Response::json(StatusCode::OK, &shown)
}
