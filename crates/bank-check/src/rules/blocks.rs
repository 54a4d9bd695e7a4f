//! Blocks of the partner.

use kopeck_domain::card::Standing;
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::{DeclineReason, Instruction};

use crate::session::{Checked, DONE, Session, declined, hold};

fn set(session: &mut Session<'_>, card: CardNumber, blocked: bool, change: u32) -> Checked {
    let block = session.submission(Instruction::SetBlock { card, blocked, change });
    session.expect(&block, DONE, &format!("a block with blocked {blocked} and change {change}"))
}

pub(super) fn blocks_top_ups(session: &mut Session<'_>) -> Checked {
    let card = session.card_with(100)?;
    set(session, card, true, 1)?;
    let top_up = session.top_up(card, 200);
    let refused = declined(DeclineReason::BlockedByPartner);
    session.expect(&top_up, refused, "a top-up of a card that the partner blocks")?;
    let standing = session.known_card(card)?.standing;
    hold!(standing == Standing::Open, "the standing shows the partner's block as {standing}, expected OPEN");
    session.expect_balance(card, 100, "of a blocked card")?;
    set(session, card, false, 2)?;
    let top_up = session.top_up(card, 300);
    session.expect(&top_up, DONE, "a top-up after the block was lifted")?;
    session.expect_balance(card, 400, "after the block was lifted")
}

pub(super) fn ignores_late_changes(session: &mut Session<'_>) -> Checked {
    let card = session.new_card()?;
    set(session, card, true, 2)?;
    set(session, card, false, 1)?;
    let top_up = session.top_up(card, 100);
    let refused = declined(DeclineReason::BlockedByPartner);
    session.expect(&top_up, refused, "a top-up after change 1 arrived behind change 2")?;
    set(session, card, false, 3)?;
    let top_up = session.top_up(card, 100);
    session.expect(&top_up, DONE, "a top-up after change 3 has lifted the block")
}
