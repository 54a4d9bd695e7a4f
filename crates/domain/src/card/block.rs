//! Blocks of cards by the partner, and whether a card can pay.

use super::{CardStatus, Standing};
use crate::string_enum::serde_enum;

/// A block that the partner sets by [`CardStatus::TemporarilyBlocked`]. The service acts by it at once; the bank is notified
/// until it has confirmed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PartnerBlock {
    /// What it is.
    pub state: BlockState,
    /// Counts the blocks and unblocks of the card, from 1; 0 if there was none. The bank keeps the greatest that it saw, so
    /// that an older instruction which arrives late changes nothing.
    pub change: u32,
}

serde_enum! {
    /// Whether the partner blocks a card, and whether the bank knows.
    #[derive(Default)]
    BlockState {
        /// Not blocked, and the bank knows.
        #[default]
        Open = "OPEN",
        /// To be blocked: the bank has not confirmed.
        Blocking = "BLOCKING",
        /// Blocked, and the bank knows.
        Blocked = "BLOCKED",
        /// To be unblocked: the bank has not confirmed.
        Unblocking = "UNBLOCKING",
    }
}

impl PartnerBlock {
    /// The block after the status of the card changed.
    pub(super) fn follow(self, status: CardStatus) -> Self {
        let wanted = status == CardStatus::TemporarilyBlocked;
        let state = match (wanted, self.state) {
            (true, BlockState::Open | BlockState::Unblocking) => BlockState::Blocking,
            (false, BlockState::Blocked | BlockState::Blocking) => BlockState::Unblocking,
            (true, BlockState::Blocked | BlockState::Blocking)
            | (false, BlockState::Open | BlockState::Unblocking) => return self,
        };
        Self { state, change: self.change.saturating_add(1) }
    }

    /// The block of a card without a holder: none.
    pub(super) fn lifted(self) -> Self {
        self.follow(CardStatus::Additional)
    }

    /// Whether the partner blocks the card, whatever the bank knows.
    #[must_use]
    pub const fn is_set(self) -> bool {
        match self.state {
            BlockState::Blocking | BlockState::Blocked => true,
            BlockState::Open | BlockState::Unblocking => false,
        }
    }

    /// The block that the bank has to know of: whether to block; `None` if it knows.
    #[must_use]
    pub const fn unconfirmed(self) -> Option<bool> {
        match self.state {
            BlockState::Blocking => Some(true),
            BlockState::Unblocking => Some(false),
            BlockState::Open | BlockState::Blocked => None,
        }
    }

    /// The block once the bank knows.
    #[must_use]
    pub const fn confirmed(self) -> Self {
        let state = match self.state {
            BlockState::Open | BlockState::Unblocking => BlockState::Open,
            BlockState::Blocking | BlockState::Blocked => BlockState::Blocked,
        };
        Self { state, ..self }
    }
}

serde_enum! {
    /// Whether a card can pay, by the bank and by the partner.
    BankStatus {
        /// It can.
        Open = "OPEN",
        /// Blocked by the partner; the bank has not confirmed.
        Blocking = "BLOCKING",
        /// Blocked by the partner.
        Blocked = "BLOCKED",
        /// Not blocked by the partner any more; the bank has not confirmed.
        Unblocking = "UNBLOCKING",
        /// Blocked by the bank, whatever the partner sets.
        BlockedByBank = "BLOCKED_BY_BANK",
        /// Closed for good.
        Closed = "CLOSED",
    }
}

impl BankStatus {
    /// The status of a card that stands so at the bank, with this block of the partner.
    #[must_use]
    pub const fn of(standing: Standing, block: BlockState) -> Self {
        match (standing, block) {
            (Standing::Closed, _) => Self::Closed,
            (Standing::Blocked, _) => Self::BlockedByBank,
            (Standing::Open, BlockState::Open) => Self::Open,
            (Standing::Open, BlockState::Blocking) => Self::Blocking,
            (Standing::Open, BlockState::Blocked) => Self::Blocked,
            (Standing::Open, BlockState::Unblocking) => Self::Unblocking,
        }
    }

    /// How a card of this status stands at the bank, and its block, which matters only while it stands open there.
    #[must_use]
    pub const fn parts(self) -> (Standing, Option<BlockState>) {
        match self {
            Self::Closed => (Standing::Closed, None),
            Self::BlockedByBank => (Standing::Blocked, None),
            Self::Open => (Standing::Open, Some(BlockState::Open)),
            Self::Blocking => (Standing::Open, Some(BlockState::Blocking)),
            Self::Blocked => (Standing::Open, Some(BlockState::Blocked)),
            Self::Unblocking => (Standing::Open, Some(BlockState::Unblocking)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The states of a block: each change of the status and each word of the bank, from each state.
    #[test]
    fn a_block_follows_the_status_and_the_bank() {
        use BlockState::{Blocked, Blocking, Open, Unblocking};
        let steps = [
            // state, blocked by the partner, unblocked by it, confirmed by the bank
            (Open, Blocking, Open, None),
            (Blocking, Blocking, Unblocking, Some(Blocked)),
            (Blocked, Blocked, Unblocking, None),
            (Unblocking, Blocking, Unblocking, Some(Open)),
        ];
        for (state, blocked, unblocked, confirmed) in steps {
            let block = PartnerBlock { state, change: 4 };
            for (status, after) in [
                (CardStatus::TemporarilyBlocked, blocked),
                (CardStatus::Main, unblocked),
                (CardStatus::Additional, unblocked),
            ] {
                let followed = block.follow(status);
                let change = if after == state { 4 } else { 5 };
                assert_eq!(followed, PartnerBlock { state: after, change }, "{state} {status}");
            }
            assert_eq!(block.unconfirmed().is_some(), confirmed.is_some());
            assert_eq!(block.is_set(), block.follow(CardStatus::TemporarilyBlocked) == block);
            assert_eq!(block.confirmed(), PartnerBlock { state: confirmed.unwrap_or(state), change: 4 });
        }
    }

    #[test]
    fn the_status_at_the_bank_overrides_the_partners() {
        for &block in BlockState::ALL {
            assert_eq!(BankStatus::of(Standing::Closed, block), BankStatus::Closed);
            assert_eq!(BankStatus::of(Standing::Blocked, block), BankStatus::BlockedByBank);
            assert_eq!(BankStatus::of(Standing::Open, block).as_str(), block.as_str());
        }
    }

    #[test]
    fn a_status_is_its_parts() {
        for &standing in Standing::ALL {
            for &block in BlockState::ALL {
                let (of_standing, of_block) = BankStatus::of(standing, block).parts();
                assert_eq!((of_standing, of_block.unwrap_or(block)), (standing, block));
                assert_eq!(of_block.is_some(), standing == Standing::Open);
            }
        }
    }
}
