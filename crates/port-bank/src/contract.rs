//! The suite that every gateway must pass, with a bank in good order behind it.
//!
//! A case is a function of a gateway to a new bank that carries instructions out at once.
//! [`contract_tests!`](crate::contract_tests) makes a test of each:
//!
//! ```ignore
//! fn bench() -> impl std::ops::Deref<Target: kopeck_port_bank::BankGateway> { /* a fresh bank */ }
//!
//! kopeck_port_bank::contract_tests!(bench);
//! ```
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the module is test code: a case fails by panicking"
)]

pub mod feed;
pub mod keys;
pub mod orders;
pub mod registry;
pub mod returns;
pub mod top_ups;

use kopeck_domain::Kopecks;
use kopeck_domain::card::CardType;
use kopeck_domain::card_number::CardNumber;

use crate::{
    BankError, BankGateway, BankKey, Delivery, Instruction, IssuedCard, OrderedCards, Submission, Verdict,
};

/// Makes one test of each case of the contract. The argument is a function that makes a gateway to a new bank.
#[macro_export]
macro_rules! contract_tests {
    ($make:ident) => {
        $crate::contract_tests! { @module $make, keys:
            an_unsent_instruction_is_not_known
            an_empty_query_has_an_empty_result
            a_key_is_done_once
            a_verdict_stays_whatever_has_changed
            a_key_never_names_two_instructions
            verdicts_come_in_the_order_of_the_instructions
            a_key_may_have_any_visible_character
            a_large_batch_is_answered_whole
        }
        $crate::contract_tests! { @module $make, orders:
            plastic_cards_start_empty_and_active
            virtual_cards_hold_their_money_and_wait_for_their_code
            cards_come_in_pages_of_one_order
            a_large_order_is_read_whole
            an_order_that_was_never_made_has_no_cards
            any_text_can_be_delivered_to
        }
        $crate::contract_tests! { @module $make, top_ups:
            money_arrives_on_the_card
            a_card_that_is_not_there_takes_no_money_and_no_limit
            a_card_takes_no_more_than_it_has_room_for
            transactions_are_read_from_an_id_on
            every_form_of_limit_is_taken
            a_blocked_card_takes_no_money_until_the_block_is_lifted
        }
        $crate::contract_tests! { @module $make, returns:
            money_comes_back_from_a_card
            a_withdrawal_returns_no_more_than_the_card_has
            a_closed_card_is_empty_and_changes_no_more
            money_comes_back_once
            a_card_that_is_blocked_or_inactive_gives_its_money_back
        }
        $crate::contract_tests! { @module $make, feed:
            a_feed_begins_empty
            the_feed_has_every_transaction
            the_feed_is_read_in_pages
        }
        $crate::contract_tests! { @module $make, registry:
            a_registry_begins_empty
            the_registry_has_every_movement_with_its_key
            the_registry_is_read_in_pages
        }
    };
    (@module $make:ident, $module:ident: $($case:ident)*) => {
        mod $module {
            $(
                #[test]
                fn $case() {
                    $crate::contract::$module::$case(&*super::$make());
                }
            )*
        }
    };
}

fn key(text: &str) -> BankKey {
    BankKey::new(text).unwrap()
}

fn order(text: &str, lines: &[OrderedCards]) -> Submission {
    Submission { key: key(text), instruction: Instruction::IssueCards(lines.to_vec()) }
}

fn top_up(text: &str, card: CardNumber, amount: i64) -> Submission {
    Submission { key: key(text), instruction: Instruction::TopUp { card, amount: Kopecks::new(amount) } }
}

fn plastic(count: u32) -> OrderedCards {
    let delivery = Delivery {
        address: "1 Main Street".into(),
        recipient: "A. Petrova".into(),
        phone: "9001234567".into(),
    };
    OrderedCards { kind: CardType::Mp4, count, first_top_up: None, delivery: Some(delivery) }
}

fn virtual_cards(count: u32, amount: i64) -> OrderedCards {
    OrderedCards { kind: CardType::Mlz, count, first_top_up: Some(Kopecks::new(amount)), delivery: None }
}

fn unknown_card() -> CardNumber {
    CardNumber::parse("9999999999").unwrap()
}

fn submit_one(bank: &dyn BankGateway, submission: &Submission) -> Result<Verdict, BankError> {
    let mut answers = bank.submit(std::slice::from_ref(submission));
    assert_eq!(answers.len(), 1);
    answers.remove(0)
}

/// Issues cards under a key.
fn issue(bank: &dyn BankGateway, text: &str, lines: &[OrderedCards]) -> Vec<IssuedCard> {
    assert_eq!(submit_one(bank, &order(text, lines)), Ok(Verdict::Done));
    bank.issued_cards(&key(text), 0, u32::MAX).unwrap()
}

/// A plastic card.
fn a_card(bank: &dyn BankGateway) -> CardNumber {
    issue(bank, "a-card", &[plastic(1)])[0].number
}

fn balance(bank: &dyn BankGateway, card: CardNumber) -> i64 {
    bank.card(card).unwrap().unwrap().balance.get()
}
