//! The objects of a request: our own identifiers, and no other data.

use std::fmt;

use kopeck_domain::calendar::CalendarMonth;
use serde::Deserialize;
use uuid::Uuid;

use crate::input::RequestInput;
use crate::input::json_text::JsonText;

/// The names of identifiers in paths and bodies, and in the log.
const NAMES: [(&str, &str); 13] = [
    ("idEmployee", "employee"),
    ("idCard", "card"),
    ("idCategory", "category"),
    ("order_id", "order"),
    ("orderId", "order"),
    ("replenishmentId", "replenishment"),
    ("idReplenishment", "replenishment"),
    ("setLimitsCardsId", "limit_change"),
    ("closingId", "closing"),
    ("withdrawalId", "withdrawal"),
    ("idRun", "run"),
    ("idProgramme", "programme"),
    ("partnerId", "partner"),
];

/// The identifiers of a response; other fields are skipped.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ResponseIds<'a> {
    #[serde(borrow)]
    id_employee: Option<&'a str>,
    #[serde(borrow)]
    id_card: Option<&'a str>,
    #[serde(borrow)]
    id_category: Option<&'a str>,
    #[serde(borrow)]
    order_id: Option<&'a str>,
    #[serde(borrow)]
    replenishment_id: Option<&'a str>,
    #[serde(borrow)]
    set_limits_cards_id: Option<&'a str>,
    #[serde(borrow)]
    closing_id: Option<&'a str>,
    #[serde(borrow)]
    withdrawal_id: Option<&'a str>,
    #[serde(borrow)]
    id_run: Option<&'a str>,
    #[serde(borrow)]
    id_programme: Option<&'a str>,
    /// Of the file of a month that was closed.
    #[serde(borrow)]
    sha256: Option<&'a str>,
    #[serde(borrow)]
    month: Option<&'a str>,
}

/// Identifiers by their kind, without duplicates; and a month that was closed, with the SHA-256 of its file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Subject(Vec<(&'static str, Uuid)>, Option<String>);

impl Subject {
    /// The identifiers of a request. The category among the fields of an employee is a property, not an object of the
    /// request.
    pub(crate) fn of(input: &RequestInput) -> Self {
        let mut subject = Self::default();
        for (name, text) in &input.ids {
            subject.add(name, text);
        }
        for (name, _) in NAMES.into_iter().filter(|(name, _)| *name != "idCategory") {
            if let Some(text) = input.field(name).and_then(JsonText::string) {
                subject.add(name, &text);
            }
        }
        subject
    }

    /// Adds the identifiers of the response.
    pub(crate) fn with_response(mut self, body: &[u8]) -> Self {
        // A body without them, or with fields of another type, adds nothing.
        let found: ResponseIds<'_> = serde_json::from_slice(body).unwrap_or_default();
        let closed = closed_month(&found);
        let found = [
            ("idEmployee", found.id_employee),
            ("idCard", found.id_card),
            ("orderId", found.order_id),
            ("replenishmentId", found.replenishment_id),
            ("setLimitsCardsId", found.set_limits_cards_id),
            ("closingId", found.closing_id),
            ("withdrawalId", found.withdrawal_id),
            ("idRun", found.id_run),
            ("idProgramme", found.id_programme),
        ]
        .into_iter()
        .chain(found.id_employee.is_none().then_some(("idCategory", found.id_category)));
        for (name, text) in found {
            self.add(name, text.unwrap_or_default());
        }
        self.1 = closed;
        self
    }

    /// Adds an identifier. Other text may be anything, and is left out.
    fn add(&mut self, name: &str, text: &str) {
        let Some((_, kind)) = NAMES.into_iter().find(|(known, _)| *known == name) else { return };
        let Ok(id) = Uuid::try_parse(text) else { return };
        if !self.0.contains(&(kind, id)) {
            self.0.push((kind, id));
        }
    }
}

/// The month and the SHA-256 of a response to its closing.
fn closed_month(found: &ResponseIds<'_>) -> Option<String> {
    let month = CalendarMonth::parse(found.month?).ok()?;
    let sum =
        found.sha256.filter(|sum| sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    Some(format!("month:{} sha256:{sum}", month.text()))
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (kind, id)) in self.0.iter().enumerate() {
            let gap = if place == 0 { "" } else { " " };
            write!(f, "{gap}{kind}:{id}")?;
        }
        if let Some(closed) = &self.1 {
            let gap = if self.0.is_empty() { "" } else { " " };
            write!(f, "{gap}{closed}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ONE: &str = "00000000-0000-0000-0000-000000000001";
    const TWO: &str = "00000000-0000-0000-0000-000000000002";

    fn input(ids: &[(&'static str, &str)], body: Value) -> RequestInput {
        let ids = ids.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
        let Value::Object(body) = body else { panic!("an object") };
        let body = body.into_iter().map(|(name, value)| (name, value.into())).collect();
        RequestInput { ids, body, ..RequestInput::default() }
    }

    #[test]
    fn the_subject_comes_from_request_and_response() {
        let link = input(&[("idEmployee", ONE)], json!({"customIdCard": "4006381333931"}));
        let answer = json!({"success": true, "idEmployee": ONE, "idCard": TWO, "statusCard": "MAIN"});
        let subject = Subject::of(&link).with_response(answer.to_string().as_bytes());
        assert_eq!(subject.to_string(), format!("employee:{ONE} card:{TWO}"));
        let closing = json!({"message": "accepted", "closingId": TWO}).to_string();
        assert_eq!(
            Subject::default().with_response(closing.as_bytes()).to_string(),
            format!("closing:{TWO}")
        );
        let withdrawal = input(&[("withdrawalId", ONE)], json!({}));
        assert_eq!(Subject::of(&withdrawal).to_string(), format!("withdrawal:{ONE}"));
        let cancel = input(&[], json!({"orderId": ONE}));
        assert_eq!(Subject::of(&cancel).to_string(), format!("order:{ONE}"));
    }

    #[test]
    fn a_closed_month_has_the_sum_of_its_file() {
        let subject = |sum: &str| {
            let body = json!({"month": "2026-01", "sha256": sum}).to_string();
            Subject::default().with_response(body.as_bytes()).to_string()
        };
        let sum = "0f".repeat(32);
        assert_eq!(subject(&sum), format!("month:2026-01 sha256:{sum}"));
        assert_eq!(subject("Ёжиков"), "");
    }

    #[test]
    fn the_category_of_an_employee_is_no_subject() {
        let add = input(&[], json!({"customId": "T-1", "idCategory": TWO}));
        let answer = json!({"idEmployee": ONE, "idCategory": TWO}).to_string();
        assert_eq!(Subject::of(&add).with_response(answer.as_bytes()).to_string(), format!("employee:{ONE}"));
        let create = json!({"idCategory": TWO, "nameCategory": "Повара"}).to_string();
        assert_eq!(
            Subject::default().with_response(create.as_bytes()).to_string(),
            format!("category:{TWO}")
        );
    }

    #[test]
    fn other_text_is_no_subject() {
        let odd =
            input(&[("idEmployee", "Ёжиков"), ("idCard", "9031234567")], json!({"orderId": "9031234567"}));
        for body in ["[]", "", "{\"idEmployee\":7}", "{\"idEmployee\":\"Ёжиков\"}"] {
            assert_eq!(Subject::of(&odd).with_response(body.as_bytes()), Subject::default(), "{body}");
        }
    }
}
