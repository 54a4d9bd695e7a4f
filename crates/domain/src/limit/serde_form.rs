//! A limit as `serde` has it: its settings, of which an unlimited one has none.

use serde::{Deserialize, Serialize};

use super::{Days, Limit, LimitBuilder, MerchantCategories, Period, Window};
use crate::Kopecks;
use crate::invalid::Invalid;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitForm {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    per: Option<(Period, Kopecks)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    days: Vec<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    windows: Vec<Window>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    categories: Option<MerchantCategories>,
}

impl From<Limit> for LimitForm {
    fn from(limit: Limit) -> Self {
        Self {
            per: limit.allowance().map(|allowance| (allowance.period(), allowance.amount())),
            days: limit.days().numbers().map(i64::from).collect(),
            windows: limit.windows().to_vec(),
            categories: limit.merchant_categories().cloned(),
        }
    }
}

impl TryFrom<LimitForm> for Limit {
    type Error = Invalid;

    fn try_from(form: LimitForm) -> Result<Self, Invalid> {
        let LimitForm { per, days, windows, categories } = form;
        if per.is_none() && days.is_empty() && windows.is_empty() && categories.is_none() {
            return Ok(Self::unlimited());
        }
        let mut limit = LimitBuilder::default().on(Days::parse(&days)?).within(windows);
        if let Some((period, amount)) = per {
            limit = limit.per(period, amount);
        }
        if let Some(categories) = categories {
            limit = limit.at_merchants(categories);
        }
        limit.build()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::limit::samples::{any_limits, limit};

    #[test]
    fn a_limit_is_its_settings() {
        let json = |limit: &Limit| serde_json::to_string(limit).unwrap();
        assert_eq!(json(&Limit::unlimited()), "{}");
        let limit = limit(Some((500, "CMONTH")), &[7, 1], &["22:00-06:00"]);
        assert_eq!(json(&limit), r#"{"per":["CMONTH",500],"days":[1,7],"windows":["22:00-06:00"]}"#);
        let limit = Limit::except_at(["5812", "5411-5499"]).build().unwrap();
        assert_eq!(json(&limit), r#"{"categories":{"except":["5812","5411-5499"]}}"#);
        for faulty in [
            r#"{"per":["CMONTH",0]}"#,
            r#"{"days":[8]}"#,
            r#"{"windows":["9-10"]}"#,
            r#"{"day":[1]}"#,
            r#"{"categories":{"only":[]}}"#,
            r#"{"categories":{"only":["58"]}}"#,
            r#"{"categories":{"neither":["5812"]}}"#,
        ] {
            assert!(serde_json::from_str::<Limit>(faulty).is_err(), "{faulty}");
        }
    }

    proptest! {
        #[test]
        fn a_limit_survives_the_round_trip(limit in any_limits()) {
            let json = serde_json::to_string(&limit).unwrap();
            prop_assert_eq!(serde_json::from_str::<Limit>(&json).unwrap(), limit);
        }
    }
}
