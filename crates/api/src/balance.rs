//! The partner's balance.

use time::PrimitiveDateTime;

use crate::shape::body;
use crate::wire;

body! {
    /// Your balance.
    pub struct Balance as "Balance" {
        /// All of your money, kopecks.
        balance: i64,
        /// Held for orders and replenishments that are not done.
        hold: i64,
        /// `balance - hold`, what you can spend; never negative.
        available: i64,
        /// The moment of the last movement.
        #[serde(alias = "updateAt", with = "wire::text")]
        updated_at: PrimitiveDateTime,
    }
}
