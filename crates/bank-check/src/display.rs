//! Bodies as a report shows them.

use serde_json::Value;

/// The characters of a body that are shown.
const SHOWN_CHARS: usize = 1_500;

/// A body without activation codes: a secret of the card's holder.
pub(crate) fn masked(body: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(body) else { return body.to_owned() };
    let cards = value.get_mut("cards").and_then(Value::as_array_mut);
    for card in cards.into_iter().flatten() {
        if let Some(code) = card.get_mut("activationCode") {
            *code = Value::from("***");
        }
    }
    value.to_string()
}

/// The beginning of a long text.
pub(crate) fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activation_codes_are_not_shown() {
        let body = r#"{"cards":[{"number":"1","activationCode":"SECRET"},{"number":"2"}]}"#;
        assert_eq!(masked(body), r#"{"cards":[{"activationCode":"***","number":"1"},{"number":"2"}]}"#);
        assert_eq!(masked("no json"), "no json");
        assert_eq!(shortened(&"x".repeat(SHOWN_CHARS + 1)).chars().count(), SHOWN_CHARS + 1);
    }
}
