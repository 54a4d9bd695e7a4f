//! Faulty values: the error of every parser.

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
            type Err = crate::invalid::Invalid;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = crate::invalid::Invalid;

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
