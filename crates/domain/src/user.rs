//! Users: the people who work with a partner's programme, and operators.

use std::fmt;

use time::OffsetDateTime;

use crate::access::Role;
use crate::ids::{PartnerId, UserId};
use crate::invalid::{Invalid, from_text};
use crate::person::Email;
use crate::string_enum::serde_enum;
use crate::text;

/// What a user logs in by: an e-mail address in lower case. Personal data: `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UserLogin(String);

impl UserLogin {
    /// Reads an e-mail address, in whatever letter case.
    ///
    /// # Errors
    /// [`Invalid`] unless it has the form of [`Email`].
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        Email::parse(&text::folded(text)).map(|email| Self(email.as_str().to_owned()))
    }

    /// The address in lower case.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for UserLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UserLogin(..)")
    }
}

from_text!(as_str: UserLogin);

serde_enum! {
    /// Whether a user may log in.
    UserStatus {
        /// Yes.
        Active = "ACTIVE",
        /// No, and none of the user's sessions is accepted.
        Disabled = "DISABLED",
    }
}

/// A user, without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The service's identifier.
    pub id: UserId,
    /// The partner whose programme the user works with; `None` for an operator.
    pub partner: Option<PartnerId>,
    /// What the user logs in by.
    pub login: UserLogin,
    /// What the user may do.
    pub role: Role,
    /// Whether the user may log in.
    pub status: UserStatus,
    /// The time of its creation.
    pub created_at: OffsetDateTime,
}

/// Checks that operators, and nobody else, are users without a partner.
///
/// # Errors
/// [`Invalid`] with the rule that is broken.
pub fn check_role(role: Role, partner: Option<PartnerId>) -> Result<(), Invalid> {
    match (role, partner) {
        (Role::Operator, Some(_)) => Err(Invalid::new("OPERATOR is a role without a partner")),
        (Role::Operator, None) | (_, Some(_)) => Ok(()),
        (_, None) => Err(Invalid::new("only OPERATOR is a role without a partner")),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_login_is_an_address_in_lower_case() {
        assert_eq!(UserLogin::parse("Anna.Ivanova@Example.RU").unwrap().as_str(), "anna.ivanova@example.ru");
        assert_eq!(UserLogin::parse("ПОЧТА@пример.рф").unwrap().as_str(), "почта@пример.рф");
        for text in ["", "anna", "anna@", " anna@example.ru", "an\u{200b}na@example.ru"] {
            assert!(UserLogin::parse(text).is_err(), "{text:?}");
        }
        assert_eq!(format!("{:?}", UserLogin::parse("anna@example.ru").unwrap()), "UserLogin(..)");
    }

    #[test]
    fn operators_alone_have_no_partner() {
        let partner = Some(PartnerId::new(Uuid::from_u128(1)));
        for role in Role::ALL {
            assert_eq!(check_role(*role, None).is_ok(), *role == Role::Operator, "{role}");
            assert_eq!(check_role(*role, partner).is_ok(), *role != Role::Operator, "{role}");
        }
    }
}
