//! The texts of the pages: one table, each text in both languages.

mod account;
mod cards;
mod frame;
mod integration;
mod limits;
mod login;
mod operators;
mod orders;
mod people;
mod programmes;
mod refusals;
mod reports;
mod runs;
mod uploads;
mod users;

use kopeck_domain::access::Role;

pub(crate) use integration::scope_text;
pub(crate) use refusals::{SENT_BEFORE, code_text, field_name, field_text};

/// A language of the console.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Russian.
    Russian,
}

impl Language {
    /// Its tag in HTML.
    pub(crate) const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Russian => "ru",
        }
    }
}

/// A text of the pages. The tables of the parts of the console declare them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Text {
    english: &'static str,
    russian: &'static str,
}

/// Declares the texts of one part of the console.
macro_rules! texts {
    ($($name:ident = $english:literal, $russian:literal;)*) => {
        impl Text {
            $(pub(crate) const $name: Self = Self { english: $english, russian: $russian };)*
        }

        #[cfg(test)]
        pub(super) const ALL: &[Text] = &[$(Text::$name),*];
    };
}
use texts;

impl Text {
    /// The text in a language.
    pub(crate) const fn of(self, language: Language) -> &'static str {
        match language {
            Language::English => self.english,
            Language::Russian => self.russian,
        }
    }

    /// The message for a word in the query of a page. Other words say nothing.
    pub(crate) fn of_done(word: &str) -> Option<Self> {
        Some(match word {
            "ended" => Self::SESSION_ENDED,
            "expired" => Self::LOGIN_EXPIRED,
            "logged_out" => Self::LOGGED_OUT,
            "password" => Self::PASSWORD_CHANGED,
            "sessions" => Self::SESSIONS_ENDED,
            "saved" => Self::SAVED,
            "erased" => Self::ERASED,
            "frozen" => Self::CARD_FROZEN,
            "closing" => Self::CARD_CLOSING,
            "linked" => Self::CARD_LINKED,
            "corrected" => Self::RUN_CORRECTED,
            "submit" => Self::RUN_SUBMITTED,
            "approve" => Self::RUN_APPROVED,
            "refuse" => Self::RUN_REFUSED,
            "cancel" => Self::RUN_CANCELLED,
            "closed_month" => Self::MONTH_CLOSED,
            "deleted" => Self::DELETED,
            "entered" => Self::DEPOSIT_ENTERED,
            "deposited" => Self::DEPOSITED,
            "revoked" => Self::CREDENTIAL_REVOKED,
            "programme_approve" => Self::PROGRAMME_APPROVED,
            "programme_refuse" => Self::PROGRAMME_REFUSED,
            "programme_pause" => Self::PROGRAMME_IS_PAUSED,
            "programme_resume" => Self::PROGRAMME_RESUMED,
            "programme_end" => Self::PROGRAMME_IS_ENDED,
            "ordered" => Self::CARD_ORDERED,
            "queued" => Self::QUEUED,
            _ => return None,
        })
    }

    pub(crate) const fn of_role(role: Role) -> Self {
        match role {
            Role::Owner => Self::OWNER,
            Role::Hr => Self::HR,
            Role::Finance => Self::FINANCE,
            Role::Auditor => Self::AUDITOR,
            Role::Operator => Self::OPERATOR,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_cyrillic(letter: char) -> bool {
        ('\u{400}'..='\u{4ff}').contains(&letter)
    }

    #[test]
    fn no_text_is_missing_in_either_language() {
        for text in [
            account::ALL,
            cards::ALL,
            frame::ALL,
            integration::ALL,
            limits::ALL,
            login::ALL,
            operators::ALL,
            orders::ALL,
            people::ALL,
            programmes::ALL,
            reports::ALL,
            runs::ALL,
            uploads::ALL,
            users::ALL,
        ]
        .concat()
        {
            let [english, russian] = [Language::English, Language::Russian].map(|language| text.of(language));
            assert!(!english.is_empty() && !english.contains(is_cyrillic), "{text:?}");
            assert!(russian.contains(is_cyrillic), "{text:?}");
        }
    }
}
