//! Identifiers of a page and what they are in one play of it.

use std::collections::BTreeMap;

/// What stands in the place of an identifier of the page is taken for it from there on.
#[derive(Default)]
pub struct Names(BTreeMap<String, String>);

impl Names {
    /// From here on `page` is `play`, unless it is something else already.
    pub fn take(&mut self, page: &str, play: &str) {
        self.0.entry(page.to_owned()).or_insert_with(|| play.to_owned());
    }

    /// Notes which identifiers stand where the page has others.
    pub fn learn(&mut self, page: &str, play: &str) {
        let (page, play) = (words(page), words(play));
        if page.len() != play.len() {
            return;
        }
        for (page, play) in page.into_iter().zip(play) {
            if is_identifier(page) && is_identifier(play) {
                self.take(page, play);
            }
        }
    }

    pub fn in_this_play(&self, text: &str) -> String {
        replace_all(text, self.0.iter().map(|(page, play)| (page.as_str(), play.as_str())))
    }

    pub fn as_on_the_page(&self, text: &str) -> String {
        replace_all(text, self.0.iter().map(|(page, play)| (play.as_str(), page.as_str())))
    }
}

/// All at once, as one's new name may be another's old one.
fn replace_all<'a>(text: &str, pairs: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> String {
    let mark = |place: usize| format!("\u{1}{place}\u{2}");
    let marked = pairs.clone().enumerate();
    let text = marked.fold(text.to_owned(), |text, (place, (old, _))| text.replace(old, &mark(place)));
    pairs.enumerate().fold(text, |text, (place, (_, new))| text.replace(&mark(place), new))
}

fn words(text: &str) -> Vec<&str> {
    text.split([' ', '\n', '"', '\'', '│', '┆', ',', '.']).filter(|word| !word.is_empty()).collect()
}

/// Uuids, the numbers of cards, keys and passwords.
fn is_identifier(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (text.len() == 36 && text.split('-').count() == 5)
        || (matches!(text.len(), 10 | 13) && digits(text))
        || text.starts_with("ak_")
        || text.starts_with("sk_")
        || is_password(text)
}

/// 18 random bytes as base64url. No word of ours mixes capitals and small letters at that length.
fn is_password(text: &str) -> bool {
    text.len() == 24
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        && text.bytes().any(|byte| byte.is_ascii_uppercase())
        && text.bytes().any(|byte| byte.is_ascii_lowercase())
}

#[test]
fn identifiers_are_distinguished_from_other_words() {
    let text = "│ 01980000-0000-7000-0000-000000000001 ┆ 9031234567 │ \"x\": 1500.00 BeIXu3VQBg_mGBDJyxAALZdY \
                request_not_cancellable_";
    let identifiers: Vec<_> = words(text).into_iter().filter(|word| is_identifier(word)).collect();
    assert_eq!(
        identifiers,
        ["01980000-0000-7000-0000-000000000001", "9031234567", "BeIXu3VQBg_mGBDJyxAALZdY"]
    );
}

#[test]
fn two_names_may_change_places() {
    let mut names = Names::default();
    names.learn("9031234567 9031234568", "9031234568 9031234567");
    assert_eq!(names.in_this_play("9031234567, 9031234568"), "9031234568, 9031234567");
    assert_eq!(names.as_on_the_page("9031234568, 9031234567"), "9031234567, 9031234568");
}
