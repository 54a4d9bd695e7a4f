//! Settings of a partner.

use crate::shape::body;

body! {
    /// The settings of a partner.
    pub struct PartnerSettings as "PartnerSettings" {
        /// What happens to the cards of employees who become `DONT_WORK`.
        leavers: LeaverSettings,
    }
}

body! {
    /// What happens to the cards of employees who become `DONT_WORK`. By default nothing does.
    pub struct LeaverSettings as "LeaverSettings" {
        /// Whether their cards are frozen with the response.
        freeze: bool,
        /// After how many days of 24 hours what is left on their cards is taken back; `null`: never.
        take_back_after_days: Option<i64>,
        /// Whether their cards are closed then.
        close: bool,
    }
}
