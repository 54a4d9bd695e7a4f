//! Texts that a spreadsheet program could take for a formula.

use std::borrow::Cow;

/// The text with an apostrophe before it, if it could be a formula.
#[must_use]
pub fn no_formula(text: &str) -> Cow<'_, str> {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_no_formulas() {
        for text in ["=1", "+1", "-1", "@a", "\ta", "\ra"] {
            assert!(no_formula(text).starts_with('\''), "{text:?}");
        }
        for text in ["", "1", "a=1", " =1", "Счёт"] {
            assert_eq!(no_formula(text), text);
        }
    }
}
