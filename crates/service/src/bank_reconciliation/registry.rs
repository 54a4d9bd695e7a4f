//! Reads the bank's registry page by page.

use std::collections::VecDeque;
use std::ops::Range;

use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::{BankGateway, RegistryEntry, RegistryError, RegistryPosition};
use time::OffsetDateTime;

/// Entries of a page.
const PAGE: u32 = 1_000;
/// Entries of a page where one card is looked up.
const CARD_PAGE: u32 = 20;

/// A place in the registry of a period.
pub(super) struct RegistryReader<'a> {
    bank: &'a dyn BankGateway,
    period: Range<OffsetDateTime>,
    /// The last entry that was read.
    after: Option<RegistryPosition>,
    /// Entries that were read and not taken.
    ahead: VecDeque<RegistryEntry>,
    is_at_end: bool,
    page: u32,
}

impl<'a> RegistryReader<'a> {
    /// At the beginning.
    pub(super) fn new(bank: &'a dyn BankGateway, period: Range<OffsetDateTime>) -> Self {
        Self { bank, period, after: None, ahead: VecDeque::new(), is_at_end: false, page: PAGE }
    }

    /// At the first entry of a card.
    pub(super) fn at_card(
        bank: &'a dyn BankGateway,
        period: Range<OffsetDateTime>,
        card: CardNumber,
    ) -> Self {
        Self { after: Some(RegistryPosition { card, id: 0 }), page: CARD_PAGE, ..Self::new(bank, period) }
    }

    /// The next entries, of cards up to this number; all that are left, if there is none.
    pub(super) fn up_to(&mut self, card: Option<CardNumber>) -> Result<Vec<RegistryEntry>, RegistryError> {
        let mut taken = Vec::new();
        loop {
            let is_wanted = |entry: &mut RegistryEntry| card.is_none_or(|card| entry.card <= card);
            while let Some(entry) = self.ahead.pop_front_if(is_wanted) {
                taken.push(entry);
            }
            if !self.ahead.is_empty() || self.is_at_end {
                return Ok(taken);
            }
            let page = self.bank.registry(&self.period, self.after, self.page)?;
            // An empty page is an end whatever the size of the bank's pages.
            self.is_at_end = page.is_empty();
            self.after = page.last().map(RegistryEntry::position).or(self.after);
            self.ahead.extend(page);
        }
    }
}

#[cfg(test)]
mod tests {
    use kopeck_domain::Kopecks;
    use kopeck_domain::transaction::{Transaction, TransactionType};
    use kopeck_port_bank::MockBankGateway;

    use super::*;
    use crate::testing::START;

    fn entry(card: u64, id: i64) -> RegistryEntry {
        let transaction = Transaction {
            id,
            executed_at: START,
            kind: TransactionType::Payment,
            amount: Kopecks::new(1),
            place: None,
            mcc: None,
            merchant_id: None,
        };
        RegistryEntry { card: number(card), transaction, key: None }
    }

    fn number(card: u64) -> CardNumber {
        CardNumber::from_u64(1_000_000_000 + card).unwrap()
    }

    #[test]
    fn each_entry_is_taken_once_whatever_the_pages() {
        for size in [1, 2, 3, 10] {
            let all = [entry(1, 1), entry(1, 2), entry(3, 1), entry(4, 7), entry(9, 9)];
            let mut bank = MockBankGateway::new();
            let listed = all.clone();
            bank.expect_registry().returning(move |_, after, _| {
                let behind = listed.iter().filter(|entry| after.is_none_or(|after| entry.position() > after));
                Ok(behind.take(size).cloned().collect())
            });
            let mut reader = RegistryReader::new(&bank, START..START);
            let takes = [Some(2), Some(3), Some(3), Some(5), None]
                .map(|card| reader.up_to(card.map(number)).unwrap());
            assert_eq!(takes.each_ref().map(Vec::len), [2, 1, 0, 1, 1], "{size}");
            assert_eq!(takes.concat(), all);
            assert_eq!(reader.up_to(None), Ok(vec![]));
            let mut of_card = RegistryReader::at_card(&bank, START..START, number(3));
            assert_eq!(of_card.up_to(Some(number(3))), Ok(vec![entry(3, 1)]));
        }
    }
}
