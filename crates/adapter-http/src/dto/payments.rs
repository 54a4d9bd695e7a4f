//! Whether a card would pay.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_service::payments::Forecast;
use serde::Serialize;

/// The answer to the question whether a card would pay.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ForecastDto {
    allowed: bool,
    reason: Option<String>,
    remaining: Option<Kopecks>,
    resets_at: Option<String>,
}

impl ForecastDto {
    pub(crate) fn new(forecast: &Forecast, zone: Zone) -> Self {
        let Forecast { refusal, remaining, resets_at } = forecast;
        Self {
            allowed: refusal.is_none(),
            reason: refusal.map(|refusal| refusal.to_string()),
            remaining: *remaining,
            resets_at: resets_at.map(|at| zone.moment_text(at)),
        }
    }
}
