//! Days as `YYYY-MM-DD`, the full-date of RFC 3339.

time::serde::format_description!(full_date, Date, "[year]-[month]-[day]");

pub(crate) use full_date::{deserialize, option, serialize};
