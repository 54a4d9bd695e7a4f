//! A digest of an instruction, to detect another one under its key.

use kopeck_domain::Kopecks;
use kopeck_domain::limit::{Limit, MerchantCategories};
use kopeck_port_bank::{Delivery, Instruction, OrderedCards};
use sha2::{Digest as _, Sha256};

/// SHA-256 over every field, each with its length or presence before it, so that no two instructions join to the
/// same bytes.
pub(crate) fn of(instruction: &Instruction) -> [u8; 32] {
    let mut digest = Writer(Sha256::new());
    match instruction {
        Instruction::IssueCards(lines) => {
            digest.number(0);
            digest.length(lines.len());
            lines.iter().for_each(|line| digest.line(line));
        }
        Instruction::TopUp { card, amount } => {
            digest.number(1);
            digest.number(card.get());
            digest.amount(*amount);
        }
        Instruction::SetLimit { card, limit } => {
            digest.number(2);
            digest.number(card.get());
            digest.limit(limit);
        }
        Instruction::SetBlock { card, blocked, change } => {
            digest.number(3);
            digest.number(card.get());
            digest.number(u64::from(*blocked));
            digest.number(u64::from(*change));
        }
        Instruction::CloseCard { card } => {
            digest.number(4);
            digest.number(card.get());
        }
        Instruction::Withdraw { card, amount } => {
            digest.number(5);
            digest.number(card.get());
            digest.number(u64::from(amount.is_some()));
            digest.amount(amount.unwrap_or_default());
        }
    }
    digest.0.finalize().into()
}

struct Writer(Sha256);

impl Writer {
    fn line(&mut self, line: &OrderedCards) {
        let OrderedCards { kind, count, first_top_up, delivery } = line;
        self.text(kind.as_str());
        self.number(u64::from(*count));
        self.number(u64::from(first_top_up.is_some()));
        if let Some(amount) = first_top_up {
            self.amount(*amount);
        }
        self.number(u64::from(delivery.is_some()));
        if let Some(Delivery { address, recipient, phone }) = delivery {
            [address, recipient, phone].into_iter().for_each(|text| self.text(text));
        }
    }

    fn limit(&mut self, limit: &Limit) {
        self.number(u64::from(limit.is_unlimited()));
        self.number(u64::from(limit.allowance().is_some()));
        if let Some(allowance) = limit.allowance() {
            self.amount(allowance.amount());
            self.text(allowance.period().as_str());
        }
        self.length(limit.days().numbers().count());
        limit.days().numbers().for_each(|day| self.number(u64::from(day)));
        self.length(limit.windows().len());
        limit.windows().iter().for_each(|window| self.text(&window.to_string()));
        // Absent categories add nothing, as in older digests.
        if let Some(categories) = limit.merchant_categories() {
            let (tag, list) = match categories {
                MerchantCategories::Only(list) => (0, list),
                MerchantCategories::Except(list) => (1, list),
            };
            self.number(tag);
            self.length(list.ranges().len());
            list.ranges().iter().for_each(|range| self.text(&range.to_string()));
        }
    }

    fn text(&mut self, text: &str) {
        self.length(text.len());
        self.0.update(text);
    }

    fn amount(&mut self, amount: Kopecks) {
        self.0.update(amount.get().to_le_bytes());
    }

    fn length(&mut self, length: usize) {
        self.number(length as u64);
    }

    fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use kopeck_domain::card::CardType;
    use kopeck_domain::card_number::CardNumber;
    use kopeck_domain::limit::LimitBuilder;

    use super::*;

    fn delivery(address: &str, recipient: &str, phone: &str) -> Option<Delivery> {
        Some(Delivery { address: address.into(), recipient: recipient.into(), phone: phone.into() })
    }

    fn line(kind: CardType, count: u32, amount: Option<i64>, delivery: Option<Delivery>) -> OrderedCards {
        OrderedCards { kind, count, first_top_up: amount.map(Kopecks::new), delivery }
    }

    fn top_up(card: u64, amount: i64) -> Instruction {
        Instruction::TopUp { card: CardNumber::from_u64(card).unwrap(), amount: Kopecks::new(amount) }
    }

    fn close(card: u64) -> Instruction {
        Instruction::CloseCard { card: CardNumber::from_u64(card).unwrap() }
    }

    fn withdraw(card: u64, amount: Option<i64>) -> Instruction {
        Instruction::Withdraw { card: CardNumber::from_u64(card).unwrap(), amount: amount.map(Kopecks::new) }
    }

    fn set_limit(card: u64, allowance: Option<(i64, &str)>, days: &[i64], windows: &[&str]) -> Instruction {
        Instruction::SetLimit {
            card: CardNumber::from_u64(card).unwrap(),
            limit: crate::limits::tests::limit(allowance, days, windows),
        }
    }

    fn set_categories(limit: LimitBuilder) -> Instruction {
        let card = CardNumber::from_u64(1_000_000_000).unwrap();
        Instruction::SetLimit { card, limit: limit.build().unwrap() }
    }

    #[test]
    fn every_field_counts() {
        let order = |lines: &[OrderedCards]| Instruction::IssueCards(lines.to_vec());
        let mlz = line(CardType::Mlz, 1, Some(5), None);
        let instructions = [
            top_up(1_000_000_000, 1),
            top_up(1_000_000_000, 2),
            top_up(1_000_000_001, 1),
            close(1_000_000_000),
            close(1_000_000_001),
            withdraw(1_000_000_000, None),
            withdraw(1_000_000_001, None),
            withdraw(1_000_000_000, Some(0)),
            withdraw(1_000_000_000, Some(1)),
            order(&[]),
            order(std::slice::from_ref(&mlz)),
            order(&[mlz.clone(), mlz]),
            order(&[line(CardType::Mlz, 2, Some(5), None)]),
            order(&[line(CardType::Mlz, 1, Some(6), None)]),
            order(&[line(CardType::Mlz, 1, None, None)]),
            order(&[line(CardType::Mp4, 1, None, None)]),
            order(&[line(CardType::Mp4, 1, None, delivery("a", "b", "c"))]),
            order(&[line(CardType::Mp4, 1, None, delivery("ab", "", "c"))]),
            order(&[line(CardType::Mp4, 1, None, delivery("", "ab", "c"))]),
            order(&[line(CardType::Mp4, 1, None, delivery("a", "b", "d"))]),
            set_limit(1_000_000_000, None, &[], &[]),
            set_limit(1_000_000_001, None, &[], &[]),
            set_limit(1_000_000_000, Some((1, "CDAY")), &[], &[]),
            set_limit(1_000_000_000, Some((2, "CDAY")), &[], &[]),
            set_limit(1_000_000_000, Some((1, "CWEEK")), &[], &[]),
            set_limit(1_000_000_000, None, &[1], &[]),
            set_limit(1_000_000_000, None, &[1, 2], &[]),
            set_limit(1_000_000_000, None, &[1], &["09:00-10:00"]),
            set_limit(1_000_000_000, None, &[], &["09:00-10:00"]),
            set_limit(1_000_000_000, None, &[], &["09:00-10:01"]),
            set_limit(1_000_000_000, None, &[], &["09:00-10:00", "11:00-12:00"]),
            set_categories(Limit::only_at(["5812"])),
            set_categories(Limit::except_at(["5812"])),
            set_categories(Limit::only_at(["5812", "5812"])),
            set_categories(Limit::only_at(["5812-5812"])),
        ];
        let marks: HashSet<_> = instructions.iter().map(of).collect();
        assert_eq!(marks.len(), instructions.len());
    }
}
