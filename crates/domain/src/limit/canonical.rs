//! The one text of a limit, for people and for comparisons; it is stored, and digests are made of it.

use std::fmt;

use super::{Limit, MerchantCategories};

/// `UNLIMITED`, or those of its parts that are set, in this order:
/// `500000 CMONTH; days 1,2,5; times 08:00-12:00,22:00-06:00; only 5812,5411-5499`. The last part are merchant categories, `only`
/// or `except`, as they were written. Limits that differ have texts that differ.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let allowance =
            self.allowance().map(|allowance| format!("{} {}", allowance.amount().get(), allowance.period()));
        let days = (!self.days().is_any()).then(|| format!("days {}", joined(self.days().numbers())));
        let times = (!self.windows().is_empty()).then(|| format!("times {}", joined(self.windows())));
        let categories = self.merchant_categories().map(|categories| match categories {
            MerchantCategories::Only(list) => format!("only {}", joined(list.ranges())),
            MerchantCategories::Except(list) => format!("except {}", joined(list.ranges())),
        });
        let parts: Vec<String> = [allowance, days, times, categories].into_iter().flatten().collect();
        // A limit with no part set is no limit.
        f.write_str(if parts.is_empty() { "UNLIMITED" } else { "" })?;
        f.write_str(&parts.join("; "))
    }
}

fn joined(items: impl IntoIterator<Item: ToString>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(",")
}
