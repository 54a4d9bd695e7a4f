//! What a receiver says of a failure, as a partner may see it.

use kopeck_domain::text;

/// Characters of a response that are kept.
const LENGTH: usize = 200;

/// A word of this length may be a key or a token.
const SECRET_LENGTH: usize = 32;

/// Stands for what is left out.
const OMITTED: &str = "[...]";

/// The first 200 characters of a response's body, of which the caller gives some more. Invisible characters and those that
/// turn a text are left out, and so is what looks like a key, a token or a signature. `None` if nothing is left.
#[must_use]
pub fn excerpt(body: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(body);
    let is_gap = |c: char| text::is_excluded(c) || c.is_whitespace() || c == char::REPLACEMENT_CHARACTER;
    let words: Vec<String> =
        text.split(is_gap).filter(|word| !word.is_empty()).map(without_secrets).collect();
    let kept: String = words.join(" ").chars().take(LENGTH).collect();
    let kept = kept.trim_end();
    (!kept.is_empty()).then(|| kept.to_owned())
}

fn without_secrets(word: &str) -> String {
    let is_of_token = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '_' | '-');
    let mut kept = String::with_capacity(word.len());
    let mut rest = word;
    while !rest.is_empty() {
        let token = rest.find(|c| !is_of_token(c)).unwrap_or(rest.len());
        let (token, others) = rest.split_at(token);
        kept.push_str(if may_be_secret(token) { OMITTED } else { token });
        let others_end = others.find(is_of_token).unwrap_or(others.len());
        let (others, next) = others.split_at(others_end);
        kept.push_str(others);
        rest = next;
    }
    kept
}

/// Whether a token is one of the service's secrets: they are long, and base64 or base64url of random bytes. A UUID, a hash in
/// hexadecimal digits, a path and a long name are none.
fn may_be_secret(token: &str) -> bool {
    let has = |test: fn(&u8) -> bool| token.as_bytes().iter().any(test);
    let has_others = has(|byte| !byte.is_ascii_alphabetic());
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has_others;
    token.contains("whsec_") || (token.len() >= SECRET_LENGTH && is_mixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<String> {
        excerpt(text.as_bytes())
    }

    #[test]
    fn a_response_is_shown_as_one_line() {
        for (body, shown) in [
            (
                "the event is sealed, and there is no sealing key",
                "the event is sealed, and there is no sealing key",
            ),
            ("{\r\n  \"error\":\t\"неизвестный тип\"\n}\n", "{ \"error\": \"неизвестный тип\" }"),
            ("a\u{1b}[31mb\u{202e}c\u{200b}d\0e", "a [31mb c d e"),
        ] {
            assert_eq!(of(body).as_deref(), Some(shown));
        }
        for nothing in ["", " \n", "\u{200b}\0"] {
            assert_eq!(of(nothing), None);
        }
        assert_eq!(excerpt(b"cut in \xd0\xb0 \xd0").as_deref(), Some("cut in а"));
        assert_eq!(excerpt(&[0xff; 300]), None);
    }

    #[test]
    fn it_has_two_hundred_characters_at_most() {
        assert_eq!(of(&"я".repeat(201)), Some("я".repeat(200)));
        assert_eq!(of(&"ab ".repeat(100)).unwrap().chars().count(), 200);
        assert_eq!(of(&format!("{} b", "a".repeat(199))).unwrap(), "a".repeat(199));
    }

    #[test]
    fn possible_secrets_are_left_out() {
        let base64 = "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA";
        for (body, shown) in [
            (format!("expected v1,{base64}= got nothing"), "expected v1,[...] got nothing".to_owned()),
            (format!("secret=whsec_{base64}="), "[...]".to_owned()),
            ("whsec_short".to_owned(), "[...]".to_owned()),
            (format!("key \"sk_{base64}\""), "key \"[...]\"".to_owned()),
            (format!("Bearer {base64}.{base64}.{base64}"), "Bearer [...].[...].[...]".to_owned()),
        ] {
            assert_eq!(of(&body), Some(shown));
        }
        // Half a secret at the end is not shown either.
        assert_eq!(of(&format!("{} {base64}", "a".repeat(190))), Some(format!("{} [...]", "a".repeat(190))));
        for harmless in [
            "order 01980000-0000-7000-0000-0000000000b6 is unknown",
            "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "/usr/lib/python3/dist-packages/flask/app.py",
            "InvalidDataAccessResourceUsageException",
        ] {
            assert_eq!(of(harmless).as_deref(), Some(harmless));
        }
    }
}
