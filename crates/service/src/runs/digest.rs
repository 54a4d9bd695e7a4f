//! The digest of a run: what an approver agrees to.

use kopeck_domain::approval::Digest;
use kopeck_domain::run::row::CellValue;
use kopeck_domain::run::{RunItem, RunKind};
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;

/// The digest over kind, terms, and every item as it was found.
pub(crate) fn of(
    kind: RunKind,
    at: Option<OffsetDateTime>,
    creates_categories: bool,
    items: &[RunItem],
) -> Digest {
    let mut hash = Hash(Sha256::new());
    hash.text(kind.as_str());
    hash.text(&at.map_or_else(String::new, |at| at.unix_timestamp().to_string()));
    hash.text(if creates_categories { "creates categories" } else { "" });
    for item in items {
        hash.text(&item.line.to_string());
        hash.text(&item.employee.map_or_else(String::new, |id| id.to_string()));
        hash.text(&item.card.map_or_else(String::new, |id| id.to_string()));
        hash.text(&item.amount.map_or_else(String::new, |amount| amount.get().to_string()));
        hash.text(&item.limit.as_ref().map_or_else(String::new, |limit| format!("{limit:?}")));
        hash.text(item.fault.as_ref().map_or("", |fault| fault.code.as_str()));
        hash.text(&item.cells.len().to_string());
        for cell in &item.cells {
            hash.text(&cell.name);
            match &cell.value {
                CellValue::Blank => hash.text("blank"),
                CellValue::Formula => hash.text("formula"),
                CellValue::Text(text) => {
                    hash.text("text");
                    hash.text(text);
                }
            }
        }
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
}

#[cfg(test)]
mod tests {
    use kopeck_domain::Kopecks;
    use kopeck_domain::run::row::Cell;

    use super::*;
    use crate::testing::card_id;

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
            of(RunKind::TopUp, None, true, &[item()]),
            of(RunKind::TopUp, Some(OffsetDateTime::UNIX_EPOCH), false, &[item()]),
        ] {
            assert_ne!(one, other);
        }
    }
}
