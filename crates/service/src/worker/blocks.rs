//! Which cards of a batch are not sent because the partner blocks them.
//!
//! The service's own block counts from the response on, but the bank learns of it a moment later. So it is read just before
//! cards are sent. A card that no earlier claim can have sent is refused without the bank. Of a card that one may have sent,
//! the bank alone knows the verdict: it is sent again once the bank knows of the block, and refuses it by itself.

use std::collections::HashMap;

use kopeck_domain::card::BlockState;
use kopeck_domain::card_batch::BatchItem;
use kopeck_domain::ids::CardId;
use kopeck_port_bank::{DeclineReason, Submission, Verdict};
use kopeck_port_store::StoreError;

use super::card_batch::{NoVerdict, Strategy};
use crate::card_batches::ProcessedKind;

/// Cards that are sent after one look at their blocks: those of one request to the bank.
pub(super) const AT_A_TIME: usize = 200;

/// Reads which of these cards the partner blocks.
pub(super) type ReadBlocks<'a> = &'a dyn Fn(Vec<CardId>) -> Result<Vec<(CardId, BlockState)>, StoreError>;

/// A card with its verdict, or why it has none.
pub(super) type DecidedItem<K> = (BatchItem<K>, Result<Verdict, NoVerdict>);

/// Cards that are to be sent.
pub(super) type UnsentItems<K> = Vec<(BatchItem<K>, Submission)>;

/// The cards that may be sent now, and the others with what became of them.
pub(super) fn divide<K: ProcessedKind>(
    read: ReadBlocks<'_>,
    strategy: Strategy,
    unsent: UnsentItems<K>,
) -> (UnsentItems<K>, Vec<DecidedItem<K>>) {
    if !K::HEEDS_BLOCKS {
        return (unsent, Vec::new());
    }
    let blocks: HashMap<CardId, BlockState> = match read(unsent.iter().map(|(item, _)| item.card).collect()) {
        Ok(blocks) => blocks.into_iter().collect(),
        Err(error) => {
            let not_sent = NoVerdict::NotSent(format!("blocks of cards cannot be read: {error}"));
            let kept_back = unsent.into_iter().map(|(item, _)| (item, Err(not_sent.clone())));
            return (Vec::new(), kept_back.collect());
        }
    };
    let (mut sent, mut kept_back) = (Vec::new(), Vec::new());
    for (item, submission) in unsent {
        match blocks.get(&item.card).and_then(|state| instead_of_sending(strategy, *state)) {
            Some(verdict) => kept_back.push((item, verdict)),
            None => sent.push((item, submission)),
        }
    }
    (sent, kept_back)
}

/// What becomes of a blocked card in place of sending it; `None` if it is sent.
fn instead_of_sending(strategy: Strategy, state: BlockState) -> Option<Result<Verdict, NoVerdict>> {
    match strategy {
        Strategy::Send | Strategy::SendOnce => Some(Ok(Verdict::Declined(DeclineReason::BlockedByPartner))),
        Strategy::QueryThenSend | Strategy::Query => {
            (state != BlockState::Blocked).then_some(Err(NoVerdict::BlockUnconfirmed))
        }
    }
}
