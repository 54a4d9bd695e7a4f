//! Limits of cards, and their changes.

mod cancel;
mod list;
mod result;
mod set;
mod status;

use kopeck_domain::Kopecks;
use kopeck_domain::ids::LimitChangeId;
use kopeck_domain::limit::{Limit, Period};
use kopeck_domain::limit_change::LimitChange;
use kopeck_domain::request::RequestState;

use crate::dto::WindowDto;
use crate::operations::prelude::*;

pub(super) static OPERATIONS: [&Operation; 5] =
    [&set::OPERATION, &status::OPERATION, &cancel::OPERATION, &result::OPERATION, &list::OPERATION];

/// The name of the identifier in paths and bodies.
const ID: &str = "setLimitsCardsId";

api_type! {
    /// What a card may be spent on.
    pub(super) struct LimitDto as "Limit" {
        /// `true`: any time, any day, as far as the card's balance goes.
        unlimited: bool,
        /// Kopecks to spend in each period; `null` if the amount is not limited.
        amount: Option<Kopecks>,
        /// The period of the amount.
        period: Option<Period>,
        /// Weekdays on which it pays, 1 (Monday) to 7 (Sunday); empty: any day.
        days: Vec<u8>,
        /// Windows in which it pays; empty: any time.
        times: Vec<WindowDto>,
    }
}

impl From<&Limit> for LimitDto {
    fn from(limit: &Limit) -> Self {
        let allowance = limit.allowance();
        Self {
            unlimited: limit.is_unlimited(),
            amount: allowance.map(|allowance| allowance.amount()),
            period: allowance.map(|allowance| allowance.period()),
            days: limit.days().numbers().collect(),
            times: limit.windows().iter().map(WindowDto::from).collect(),
        }
    }
}

api_type! {
    /// Where a limit change stands.
    struct LimitChangeStateDto as "LimitChangeState" {
        /// Its state.
        message: RequestState,
        /// The change.
        set_limits_cards_id: LimitChangeId,
    }
}

impl From<LimitChange> for LimitChangeStateDto {
    fn from(request: LimitChange) -> Self {
        Self { message: request.state.into(), set_limits_cards_id: request.id }
    }
}

#[cfg(test)]
mod tests {
    use kopeck_domain::Kopecks;
    use kopeck_domain::limit::Period;
    use serde_json::json;
    use time::Weekday;

    use super::*;

    #[test]
    fn a_limit_has_all_five_fields() {
        let shown = |limit: &Limit| serde_json::to_value(LimitDto::from(limit)).unwrap();
        assert_eq!(
            shown(&Limit::Unlimited),
            json!({"unlimited": true, "amount": null, "period": null, "days": [], "times": []})
        );
        let limit = Limit::per(Period::Quarter, Kopecks::new(500_000))
            .on([Weekday::Sunday, Weekday::Monday])
            .within(["22:00-06:00"])
            .build()
            .unwrap();
        assert_eq!(
            shown(&limit),
            json!({"unlimited": false, "amount": 500_000, "period": "CQUARTET", "days": [1, 7],
                "times": [{"from": "22:00", "to": "06:00"}]})
        );
    }
}
