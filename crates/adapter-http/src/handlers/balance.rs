//! The partner's balance.

use actix_web::http::StatusCode;
use kopeck_service::balance;

use crate::dto::BalanceDto;
use crate::error::ApiError;
use crate::exchange::{Answer, Exchange};
use crate::route::Outcome;

pub(crate) async fn get(x: Exchange) -> Outcome {
    let sheet = x.read(Ok(()), |unit, _env, partner, ()| balance::get(unit, partner)).await?;
    let shown = BalanceDto::new(&sheet, x.zone()).map_err(|error| ApiError::internal(error.to_string()))?;
    Answer::json(StatusCode::OK, &shown)
}
