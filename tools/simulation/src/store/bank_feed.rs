//! The place in the bank's feed.

use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{BankFeedRepository, BankFeedState, StoreError};

use super::Unit;

impl BankFeedRepository for Unit {
    fn state(&mut self) -> Result<BankFeedState, StoreError> {
        Ok(self.state.bank_feed)
    }

    fn set_state(&mut self, state: &BankFeedState) -> Result<(), StoreError> {
        self.writing()?.bank_feed = *state;
        Ok(())
    }

    fn record_decline(&mut self, partner: PartnerId, seq: i64) -> Result<bool, StoreError> {
        let state = self.writing()?;
        state.known_partner(partner)?;
        let is_new = !state.bank_declines.contains(&(partner, seq));
        if is_new {
            state.bank_declines.push((partner, seq));
        }
        Ok(is_new)
    }

    fn forget_declines(&mut self, seq: i64) -> Result<(), StoreError> {
        self.writing()?.bank_declines.retain(|(_, recorded)| *recorded > seq);
        Ok(())
    }
}
