//! A limit as `serde` has it: its settings, of which an unlimited one has none.

use serde::{Deserialize, Serialize};

use super::{Days, Limit, LimitBuilder, Period, Window};
use crate::Kopecks;
use crate::draft::Invalid;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitForm {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    per: Option<(Period, Kopecks)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    days: Vec<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    windows: Vec<Window>,
}

impl From<Limit> for LimitForm {
    fn from(limit: Limit) -> Self {
        Self {
            per: limit.allowance().map(|allowance| (allowance.period(), allowance.amount())),
            days: limit.days().numbers().map(i64::from).collect(),
            windows: limit.windows().to_vec(),
        }
    }
}

impl TryFrom<LimitForm> for Limit {
    type Error = Invalid;

    fn try_from(form: LimitForm) -> Result<Self, Invalid> {
        let LimitForm { per, days, windows } = form;
        if per.is_none() && days.is_empty() && windows.is_empty() {
            return Ok(Self::unlimited());
        }
        let limit = LimitBuilder::default().on(Days::parse(&days)?).within(windows);
        match per {
            Some((period, amount)) => limit.per(period, amount).build(),
            None => limit.build(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::limit::samples::{limit, limits};

    #[test]
    fn a_limit_is_its_settings() {
        let json = |limit: &Limit| serde_json::to_string(limit).unwrap();
        assert_eq!(json(&Limit::unlimited()), "{}");
        let limit = limit(Some((500, "CMONTH")), &[7, 1], &["22:00-06:00"]);
        assert_eq!(json(&limit), r#"{"per":["CMONTH",500],"days":[1,7],"windows":["22:00-06:00"]}"#);
        for faulty in
            [r#"{"per":["CMONTH",0]}"#, r#"{"days":[8]}"#, r#"{"windows":["9-10"]}"#, r#"{"day":[1]}"#]
        {
            assert!(serde_json::from_str::<Limit>(faulty).is_err(), "{faulty}");
        }
    }

    proptest! {
        #[test]
        fn a_limit_survives_the_round_trip(limit in limits()) {
            let json = serde_json::to_string(&limit).unwrap();
            prop_assert_eq!(serde_json::from_str::<Limit>(&json).unwrap(), limit);
        }
    }
}
