//! The digest of a run: what an approver agrees to.

use kopeck_domain::Kopecks;
use kopeck_domain::approval::Digest;
use kopeck_domain::run::row::CellValue;
use kopeck_domain::run::{RunItem, RunKind};
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;

/// What the digest is of, in this form.
const FORM: &str = "kopeck run 1";

/// The digest over kind, terms, and every item as it was found: the SHA-256 of these texts, each behind its length. An item
/// begins with its line, an empty text stands for what is absent, and the number of cells before the cells, so that no two runs
/// that differ have the same texts.
pub(crate) fn of(
    kind: RunKind,
    at: Option<OffsetDateTime>,
    creates_categories: bool,
    items: &[RunItem],
) -> Digest {
    let mut hash = Hash(Sha256::new());
    hash.text(FORM);
    hash.text(kind.as_str());
    hash.optional(at.map(OffsetDateTime::unix_timestamp));
    hash.text(if creates_categories { "creates categories" } else { "" });
    for item in items {
        hash.item(item);
    }
    Digest::from_bytes(hash.0.finalize().into())
}

struct Hash(Sha256);

impl Hash {
    /// Adds a text behind its length, so that no two lists of texts look alike.
    fn text(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_be_bytes());
        self.0.update(text.as_bytes());
    }

    fn optional(&mut self, value: Option<impl ToString>) {
        self.text(&value.map_or_else(String::new, |value| value.to_string()));
    }

    fn item(&mut self, item: &RunItem) {
        let RunItem { line, cells, limit, employee, card, is_main, amount, fault, .. } = item;
        self.text(&line.to_string());
        self.optional(*employee);
        self.optional(*card);
        self.text(if *is_main { "main" } else { "" });
        self.optional(amount.map(Kopecks::get));
        self.optional(limit.as_ref());
        self.text(fault.as_ref().map_or("", |fault| &fault.field));
        self.text(fault.as_ref().map_or("", |fault| fault.code.as_str()));
        self.text(&cells.len().to_string());
        for cell in cells {
            self.text(&cell.name);
            match &cell.value {
                CellValue::Blank => self.text("blank"),
                CellValue::Formula => self.text("formula"),
                CellValue::Text(text) => {
                    self.text("text");
                    self.text(text);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kopeck_domain::limit::{Days, Limit, Period};
    use kopeck_domain::run::row::Cell;
    use kopeck_domain::run::{Fault, FaultCode};
    use time::macros::datetime;

    use super::*;
    use crate::testing::{card_id, employee_id};

    fn item() -> RunItem {
        let cell = |name: &str, text: &str| Cell { name: name.into(), value: CellValue::Text(text.into()) };
        RunItem {
            ordinal: 0,
            line: 1,
            cells: vec![cell("customId", "T-1"), cell("amount", "500")],
            limit: None,
            employee: None,
            custom_id: None,
            card: Some(card_id(1)),
            is_main: true,
            amount: Some(Kopecks::new(500)),
            balance_seen: None,
            fault: None,
            outcome: None,
            reason: None,
        }
    }

    #[test]
    fn whatever_differs_has_another_digest() {
        let digest = |kind, items: &[RunItem]| of(kind, None, false, items);
        let one = digest(RunKind::TopUp, &[item()]);
        assert_eq!(one, digest(RunKind::TopUp, &[item()]));
        let mut shifted = item();
        shifted.cells[0].name = "customIdT".into();
        shifted.cells[0].value = CellValue::Text("-1".into());
        for other in [
            digest(RunKind::Withdraw, &[item()]),
            digest(RunKind::TopUp, &[item(), item()]),
            digest(RunKind::TopUp, &[RunItem { amount: Some(Kopecks::new(501)), ..item() }]),
            digest(RunKind::TopUp, &[RunItem { card: Some(card_id(2)), ..item() }]),
            digest(RunKind::TopUp, &[shifted]),
            digest(RunKind::TopUp, &[RunItem { is_main: false, ..item() }]),
            digest(RunKind::TopUp, &[RunItem { employee: Some(employee_id(1)), ..item() }]),
            of(RunKind::TopUp, None, true, &[item()]),
            of(RunKind::TopUp, Some(OffsetDateTime::UNIX_EPOCH), false, &[item()]),
        ] {
            assert_ne!(one, other);
        }
    }

    /// An approver may agree tomorrow, and by another version, to what was shown today.
    #[test]
    fn the_form_of_a_digest_stays() {
        let limit = Limit::per(Period::Month, Kopecks::new(500)).on(Days::parse(&[1, 2]).unwrap());
        let items = [
            RunItem { employee: Some(employee_id(2)), limit: Some(limit.build().unwrap()), ..item() },
            RunItem {
                line: 7,
                cells: vec![
                    Cell { name: "a".into(), value: CellValue::Blank },
                    Cell { name: "b".into(), value: CellValue::Formula },
                ],
                is_main: false,
                amount: None,
                fault: Some(Fault::new("b", FaultCode::Formula, "is a formula")),
                ..item()
            },
        ];
        let digest = of(RunKind::Limit, Some(datetime!(2026-12-01 06:00 UTC)), true, &items);
        let form = "974c04280675efeced4b2b7f0c54bb99782ffc1c0fbda0371fc926c803ce396b";
        assert_eq!(digest.to_string(), form);
    }
}
