//! The rules, by their numbers in BANK.md.

mod blocks;
mod feed;
mod form;
mod keys;
mod limits;
mod orders;
mod registry;
mod returns;
mod top_ups;

use kopeck_port_bank::Capability;

use crate::session::{Checked, Session};

/// A rule of the protocol.
pub struct Rule {
    /// Its number, by which BANK.md explains it.
    pub number: u16,
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub title: &'static str,
    /// What a bank must be able to do for it.
    pub needs: &'static [Capability],
    pub(crate) check: fn(&mut Session<'_>) -> Checked,
}

/// The rule of this number.
#[must_use]
pub fn rule(number: u16) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.number == number)
}

macro_rules! rules {
    ($($number:literal $module:ident::$name:ident $([$($needs:ident),+])? $title:literal;)+) => {
        /// Every rule, in the order in which they are checked.
        pub static RULES: &[Rule] = &[$(Rule {
            number: $number,
            name: stringify!($name),
            title: $title,
            needs: &[$($(Capability::$needs),+)?],
            check: $module::$name,
        }),+];
    };
}

rules! {
    1 form::needs_the_secret "a request without the right secret gets 401 and has no effect";
    2 form::refuses_what_it_cannot_read "a malformed request gets 400 or 422, with a code and a message";
    3 form::refuses_a_batch_as_a_whole "an invalid instruction makes the whole batch fail, without any effect";
    4 form::refuses_unknown_fields "a request with an unknown field is refused";
    5 form::tells_the_time "timestamps have an offset and agree with the clock to five minutes";
    6 form::says_what_it_cannot_do "capabilities are readable, or the operation does not exist";
    10 keys::does_not_know_other_keys "a key that was never sent is NOT_SEEN, and a query does not change that";
    11 keys::acts_once [RepeatSafe] "the same key again has the same verdict and no second effect";
    12 keys::acts_once_at_the_same_time [RepeatSafe] "two copies at the same time have one effect";
    13 keys::keeps_a_key_for_one_instruction "another instruction under a used key is NOT_ACCEPTED";
    14 keys::keeps_a_verdict "a verdict never changes, whatever has changed since";
    15 keys::takes_any_key "a key is any 1 to 100 visible ASCII characters";
    16 keys::survives_a_lost_response [RepeatSafe] "an instruction whose response was lost can be queried, and sent again without effect";
    17 keys::survives_a_broken_request "half a request has no effect, whole or in part";
    18 keys::answers_for_every_key "a query has a result for each key";
    20 orders::issues_plastic_cards "plastic cards are of their line, empty and active";
    21 orders::issues_virtual_cards "virtual cards hold their money and wait for a code of their own";
    22 orders::pages_cards "cards come in pages of an order that never changes";
    23 orders::issues_once "an order again has the same cards";
    24 orders::has_no_cards_of_unknown_orders "an order that was never made has an empty list of cards";
    25 orders::decides_lines_together "an order has all of its cards or is declined";
    30 top_ups::puts_money_on_cards "a top-up shows at once in balance, room and transactions";
    31 top_ups::knows_its_cards "an unknown card gets 404 unknown_card, and its instructions are declined";
    32 top_ups::keeps_the_room "a card takes no kopeck more than its room";
    33 top_ups::decides_each_instruction "each instruction of a batch is decided by itself";
    34 top_ups::lists_transactions "transactions ascend, and are read on from an id";
    35 top_ups::takes_a_large_batch "the largest batch is answered whole and in time";
    40 limits::sets_limits "every form of limit that the bank supports is set, and no other";
    41 limits::refuses_invalid_limits "an invalid limit is refused and not half set";
    42 blocks::blocks_top_ups "a block declines top-ups, and lifting it allows them";
    43 blocks::ignores_late_changes "a change of a block that arrives late has no effect";
    50 returns::takes_money_back [Withdrawals] "a withdrawal takes what it says, and says what it took";
    51 returns::takes_no_more_than_there_is [Withdrawals] "more than there is on a card is NOT_ENOUGH_ON_CARD";
    52 returns::closes_cards [Closings] "a closed card is empty, CLOSED, and changes no more";
    53 returns::returns_once [Withdrawals] "what came back stays the same under its key";
    54 returns::returns_from_blocked_cards [Withdrawals] "a blocked or inactive card gives its money back";
    60 feed::has_every_transaction [Feed] "the feed has every transaction, with the one before it";
    61 feed::is_read_on [Feed] "the feed ascends, and is read on from a number";
    62 feed::stays_as_it_was [Feed] "an entry of the feed never changes";
    70 registry::has_every_movement [Registry] "the registry has every movement with the key that caused it";
    71 registry::is_of_a_period [Registry] "a period begins at from and ends before until";
    72 registry::is_sorted_and_read_on [Registry] "the registry is sorted, and is read on from card and id";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_unique_and_ascend() {
        assert!(RULES.is_sorted_by(|one, next| one.number < next.number));
        for one in RULES {
            assert_eq!(RULES.iter().filter(|other| other.name == one.name).count(), 1, "{}", one.name);
            assert!(rule(one.number).is_some());
        }
        assert!(rule(9).is_none());
    }

    #[test]
    fn the_page_explains_every_rule() {
        let page = include_str!("../../../docs/BANK.md");
        for Rule { number, title, .. } in RULES {
            let row = format!("| {number} | {title} |");
            assert!(page.contains(&row), "docs/BANK.md lacks {row}");
        }
    }
}
