//! The partner's balance.

use serde::{Deserialize, Serialize};
use time::PrimitiveDateTime;

use crate::model::wire;

/// The partner's balance, in kopecks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Balance {
    /// What the partner has, in kopecks.
    pub balance: i64,
    /// What of it is held for requests in process, in kopecks.
    pub hold: i64,
    /// What is left to spend, in kopecks.
    pub available: i64,
    /// The last change, in the service's time zone.
    #[serde(alias = "updateAt", with = "wire::text")]
    pub updated_at: PrimitiveDateTime,
}
