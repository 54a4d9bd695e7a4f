//! Whether a card would pay.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_service::payments::Forecast;

use super::TimestampText;
use crate::openapi::schema::api_type;

api_type! {
    /// Whether a card would pay.
    pub(crate) struct ForecastDto as "Forecast" {
        /// Whether it would pay.
        allowed: bool,
        /// Why not: the first reason that applies.
        reason: Option<String>,
        /// What the limit leaves in the period of the payment, before it, kopecks; `null` if the limit has no `amount`.
        remaining: Option<Kopecks>,
        /// The start of the next period, when the whole `amount` is there again; `null` if the limit has no `amount`.
        resets_at: Option<TimestampText>,
    }
}

impl ForecastDto {
    pub(crate) fn new(forecast: &Forecast, zone: Zone) -> Self {
        let Forecast { refusal, remaining, resets_at } = forecast;
        Self {
            allowed: refusal.is_none(),
            reason: refusal.map(|refusal| refusal.to_string()),
            remaining: *remaining,
            resets_at: resets_at.map(|at| TimestampText::new(at, zone)),
        }
    }
}
