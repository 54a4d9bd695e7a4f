//! Tables of the results.

use std::collections::BTreeMap;

use comfy_table::{Cell, CellAlignment, Table, presets};
use kopeck_client::{Balance, CardType};

use crate::books::Check;
use crate::money;
use crate::outcome::CardOutcome;
use crate::steps::links::Wallet;
use crate::steps::orders::RefusedOrder;
use crate::steps::staff::Staff;
use crate::steps::top_ups::TopUps;

/// The most characters of a customId that are shown.
const SHOWN_CHARS: usize = 24;

/// A new part of the day.
pub(crate) fn heading(words: &str) {
    println!("\n== {words}");
}

/// How many employees there are now, and which rows are faulty.
pub(crate) fn staff(staff: &Staff) {
    let Staff { categories, employees, faulty } = staff;
    println!("{} employees in {categories} categories; {} faulty rows:", employees.len(), faulty.len());
    let mut table = table(&["line", "customId", "field", "reason"], &[0]);
    for row in faulty {
        for fault in &row.faults {
            let reason = fault.detail.as_ref().unwrap_or(&fault.message);
            table.add_row([&row.line.to_string(), &shortened(&row.custom_id), &fault.field, reason]);
        }
    }
    println!("{table}");
}

/// How many cards there are, and the order that was refused.
pub(crate) fn cards(wallet: &Wallet, refused: &RefusedOrder) {
    let mut kinds: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    let linked = wallet.linked.iter().map(|card| (&card.issued, 0));
    let free = wallet.free.iter().map(|card| (card, 1));
    for (card, column) in linked.chain(free) {
        let kind = card.type_card.as_ref().map_or("?", CardType::as_str);
        if let Some(count) = kinds.entry(kind).or_default().get_mut(column) {
            *count += 1;
        }
    }
    let mut table = table(&["type", "linked", "free"], &[1, 2]);
    for (kind, [linked, free]) in kinds {
        table.add_row([kind, &linked.to_string(), &free.to_string()]);
    }
    println!("{table}");
    println!("an order for {} more: {}", money::shown(refused.cost), refused.error);
}

/// How many cards ended how, and with how much money.
pub(crate) fn top_ups(top_ups: &TopUps) {
    let mut outcomes: BTreeMap<&CardOutcome, (usize, i64)> = BTreeMap::new();
    for card in &top_ups.cards {
        let (cards, amount) = outcomes.entry(&card.outcome).or_default();
        *cards += 1;
        *amount += card.answered;
    }
    let mut table = table(&["outcome", "cards", "amount"], &[1, 2]);
    for (outcome, (cards, amount)) in outcomes {
        table.add_row([outcome.to_string(), cards.to_string(), money::shown(amount)]);
    }
    println!("{}: {} cards", top_ups.state, top_ups.cards.len());
    println!("{table}");
    if top_ups.repeat_is_the_same {
        println!("repeated under its idempotency key, the call was answered as the first time");
    }
}

/// The partner's balance from moment to moment.
pub(crate) fn balances(moments: &[(&str, &Balance)]) {
    let mut table = table(&["partner", "balance", "hold", "available"], &[1, 2, 3]);
    for (moment, Balance { balance, hold, available, .. }) in moments {
        let [balance, hold, available] = [*balance, *hold, *available].map(money::shown);
        table.add_row([(*moment).to_owned(), balance, hold, available]);
    }
    println!("{table}");
}

/// Every comparison.
pub(crate) fn checks(checks: &[Check]) {
    let mut table = table(&["", "should be", "is", ""], &[1, 2]);
    for check in checks {
        let mark = if check.fits() { "✓" } else { "✗" };
        table.add_row([check.what.as_str(), &check.expected(), &check.found(), mark]);
    }
    println!("{table}");
}

/// A table with figures in some columns.
fn table(names: &[&str], figures: &[usize]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header(names.iter().map(Cell::new));
    for column in figures {
        if let Some(column) = table.column_mut(*column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn shortened(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(shortened("T-1"), "T-1");
        assert_eq!(shortened(&"Ю".repeat(SHOWN_CHARS)), "Ю".repeat(SHOWN_CHARS));
        assert_eq!(shortened(&"Ю".repeat(65)), format!("{}…", "Ю".repeat(SHOWN_CHARS)));
    }
}
