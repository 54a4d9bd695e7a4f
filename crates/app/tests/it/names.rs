//! Identifiers of a page and what they are in one play of it.

use std::collections::BTreeMap;

use uuid::Uuid;

/// Maps identifiers of the page to those of the run: a value in the place of one stands for it from there on.
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

    /// Names what a response has that `page` does not show yet. A uuid that stands for another thing there gets the next
    /// one that is free.
    pub fn add(&mut self, page: &str, play: &str) {
        for uuid in words(play).into_iter().filter_map(|word| Uuid::try_parse(word).ok()) {
            if self.0.values().any(|known| *known == uuid.to_string()) {
                continue;
            }
            let mut name = uuid;
            while page.contains(&name.to_string()) || self.0.contains_key(&name.to_string()) {
                name = Uuid::from_u128(name.as_u128() + 1);
            }
            self.take(&name.to_string(), &uuid.to_string());
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

/// Uuids, the numbers of cards, keys, passwords, abbreviated tokens, activation codes and digests.
fn is_identifier(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (text.len() == 36 && text.split('-').count() == 5)
        || (matches!(text.len(), 10 | 13) && digits(text))
        || text.starts_with("ak_")
        || text.starts_with("sk_")
        || text.starts_with("eyJ…")
        || (text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
        || is_password(text)
        || is_activation_code(text)
}

/// 18 random bytes as base64url. No word of ours mixes capitals and small letters at that length.
fn is_password(text: &str) -> bool {
    text.len() == 24
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        && text.bytes().any(|byte| byte.is_ascii_uppercase())
        && text.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// 8 capitals and digits. Words of ours have no digits.
fn is_activation_code(text: &str) -> bool {
    text.len() == 8
        && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        && text.bytes().any(|byte| byte.is_ascii_uppercase())
        && text.bytes().any(|byte| byte.is_ascii_digit())
}

#[test]
fn identifiers_are_distinguished_from_other_words() {
    let text = "│ 01980000-0000-7000-0000-000000000001 ┆ 9031234567 │ \"x\": 1500.00 BeIXu3VQBg_mGBDJyxAALZdY \
                request_not_cancellable_ JTK8PZKH REJECTED 20260302";
    let identifiers: Vec<_> = words(text).into_iter().filter(|word| is_identifier(word)).collect();
    assert_eq!(
        identifiers,
        ["01980000-0000-7000-0000-000000000001", "9031234567", "BeIXu3VQBg_mGBDJyxAALZdY", "JTK8PZKH"]
    );
}

#[test]
fn two_names_may_change_places() {
    let mut names = Names::default();
    names.learn("9031234567 9031234568", "9031234568 9031234567");
    assert_eq!(names.in_this_play("9031234567, 9031234568"), "9031234568, 9031234567");
    assert_eq!(names.as_on_the_page("9031234568, 9031234567"), "9031234567, 9031234568");
}

#[test]
fn a_new_identifier_takes_no_name_of_the_page() {
    let [one, two, three] = [1, 2, 3].map(|number| Uuid::from_u128(number).to_string());
    let mut names = Names::default();
    let page = format!("{one} {two}");
    names.learn(&one, &one);
    names.add(&page, &format!("{one} {two}"));
    assert_eq!(names.as_on_the_page(&format!("{one} {two}")), format!("{one} {three}"));
    names.learn(&two, &three);
    assert_eq!(names.as_on_the_page(&three), two);
}
