//! Limits of cards, and their changes.

mod cancel;
mod list;
mod result;
mod set;
mod status;

use kopeck_domain::limit::{CategoryList, Limit, MerchantCategories, Window};
use kopeck_domain::limit_change::LimitChange;
use kopeck_domain::request::RequestState;
use time::Weekday;

use crate::operations::prelude::*;
use crate::operations::requests::shown;

pub(super) static OPERATIONS: [&Operation; 5] =
    [&set::OPERATION, &status::OPERATION, &cancel::OPERATION, &result::OPERATION, &list::OPERATION];

/// The name of the identifier in paths and bodies.
const ID: &str = "setLimitsCardsId";

/// The name of a body with that identifier alone.
const BODY: &str = "LimitChangeIdentifier";

/// The body of a limit.
pub(super) fn body(limit: &Limit) -> api::CardLimit {
    let allowance = limit.allowance();
    let window = |window: &Window| api::TimeWindow::new(window.from().to_string(), window.to().to_string());
    api::CardLimit {
        unlimited: limit.is_unlimited(),
        amount: allowance.map(|allowance| allowance.amount().get()),
        period: allowance.map(|allowance| allowance.period().as_str().into()),
        days: limit.days().numbers().map(|number| Weekday::Monday.nth_next(number - 1)).collect(),
        times: limit.windows().iter().map(window).collect(),
        merchant_categories: limit.merchant_categories().map(categories),
    }
}

fn categories(categories: &MerchantCategories) -> api::MerchantCategories {
    let texts = |list: &CategoryList| list.ranges().iter().map(ToString::to_string).collect::<Vec<_>>();
    match categories {
        MerchantCategories::Only(list) => api::MerchantCategories::only(texts(list)),
        MerchantCategories::Except(list) => api::MerchantCategories::except(texts(list)),
    }
}

/// The body of the state.
fn state(request: LimitChange) -> api::LimitChangeState {
    api::LimitChangeState {
        message: RequestState::from(request.state()).as_str().into(),
        set_limits_cards_id: request.id().uuid(),
        reference: shown(request.reference()),
    }
}

#[cfg(test)]
mod tests {
    use kopeck_domain::Kopecks;
    use kopeck_domain::limit::Period;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_limit_has_five_fields_and_merchant_categories_where_they_are_set() {
        let shown = |limit: &Limit| serde_json::to_value(body(limit)).unwrap();
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
        let nothing_else =
            json!({"unlimited": false, "amount": null, "period": null, "days": [], "times": []});
        for (limit, categories) in [
            (Limit::only_at(["5812", "5411-5499", "5812"]), json!({"only": ["5812", "5411-5499", "5812"]})),
            (Limit::except_at(["5812-5812"]), json!({"except": ["5812-5812"]})),
        ] {
            let mut expected = nothing_else.clone();
            expected["merchantCategories"] = categories;
            assert_eq!(shown(&limit.build().unwrap()), expected);
        }
    }
}
