//! Escapes texts from elsewhere, so that they can neither steer a terminal nor turn the direction of a line.
//!
//! All output goes through here. The escapes are those of JSON, so a JSON document keeps its values.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A text within a line.
pub(crate) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => clean.push_str("\\n"),
            '\r' => clean.push_str("\\r"),
            '\t' => clean.push_str("\\t"),
            c if steers(c) => {
                let _ = write!(clean, "\\u{:04x}", u32::from(c));
            }
            c => clean.push(c),
        }
    }
    clean
}

/// Lines of output.
pub(crate) fn clean_lines(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| c != '\n' && steers(c)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split('\n').map(clean).collect::<Vec<_>>().join("\n"))
}

/// Control characters, line and paragraph separators, and what sets the direction of a text.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_others_steers_a_terminal() {
        assert_eq!(clean("T-1,Petrova\r\nT-2\u{7}"), "T-1,Petrova\\r\\nT-2\\u0007");
        for steering in
            ["\u{1b}", "\u{9b}", "\u{85}", "\u{202e}", "\u{2066}", "\u{200f}", "\u{2028}", "\u{7f}"]
        {
            let line = format!("КАФЕ {steering}31m\n");
            let escaped = format!("КАФЕ \\u{:04x}31m\n", u32::from(steering.chars().next().unwrap()));
            assert_eq!(clean_lines(&line), escaped);
        }
        let fine = "│ Кафе «Ёж», 1 234.50 🏭 \u{a0} │\n";
        assert_eq!(clean_lines(fine), fine);
    }

    #[test]
    fn a_json_document_keeps_its_values() {
        let value = serde_json::json!({"place": "\u{9b}31m \u{202e}\u{1b}\u{85}\n\t"});
        let printed = clean_lines(&value.to_string()).into_owned();
        assert!(printed.is_ascii(), "{printed}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).unwrap(), value);
    }
}
