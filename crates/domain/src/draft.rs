//! Faulty values: what a parser returns, and how faults of a whole body are gathered.

/// Why a value was refused, in words a partner's engineer can act on. Never holds the value itself, which may be
/// personal data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Invalid {
    detail: String,
}

impl Invalid {
    /// A refusal explained by `detail`.
    #[must_use]
    pub fn new(detail: impl Into<String>) -> Self {
        Self { detail: detail.into() }
    }

    /// The explanation.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

/// `FromStr`, `TryFrom<&str>` and, behind the feature, `serde` by the type's `parse` and the method that gives its text.
macro_rules! from_text {
    ($text:ident: $($name:ty),+) => {$(
        impl std::str::FromStr for $name {
            type Err = crate::draft::Invalid;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = crate::draft::Invalid;

            fn try_from(text: &str) -> Result<Self, Self::Error> {
                Self::parse(text)
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.$text())
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    )+};
}

pub(crate) use from_text;

/// So that a value which needs no parsing passes where a text does.
impl From<std::convert::Infallible> for Invalid {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

/// A faulty field of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The field as the caller spelt it: `phone`, `cards[3].idCard`.
    pub field: String,
    /// What is wrong with its value.
    pub detail: String,
}

/// All faulty fields of one request, in the order in which they were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One faulty field.
    #[must_use]
    pub fn of(field: impl Into<String>, detail: impl Into<String>) -> Self {
        let mut faults = Self::new();
        faults.push(field, detail);
        faults
    }

    /// Adds a faulty field.
    pub fn push(&mut self, field: impl Into<String>, detail: impl Into<String>) {
        self.0.push(Fault { field: field.into(), detail: detail.into() });
    }

    /// The value of a parsed field, or a fault under its name.
    pub fn take<T>(&mut self, field: &str, parsed: Result<T, Invalid>) -> Option<T> {
        parsed.map_err(|invalid| self.push(field, invalid.detail)).ok()
    }

    /// Whether no field is faulty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The faulty fields.
    #[must_use]
    pub fn as_slice(&self) -> &[Fault] {
        &self.0
    }

    /// `Ok` if no field is faulty.
    ///
    /// # Errors
    /// The faults themselves, if there are any.
    pub fn check(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parsed_field_is_taken_and_a_faulty_one_is_noted() {
        let mut faults = Faults::new();
        assert_eq!(faults.take("first", Ok(7)), Some(7));
        assert_eq!(faults.clone().check(), Ok(()));
        assert_eq!(faults.take::<u8>("second", Err(Invalid::new("must be less"))), None);
        assert_eq!(faults, Faults::of("second", "must be less"));
        assert_eq!(faults.clone().check(), Err(faults));
    }
}
