//! Enums that a newer service may extend.

/// Declares an open string enum: a value that is added later breaks no older client. The OpenAPI document has it under
/// this title, with this description of its values.
macro_rules! open_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident as $title:literal, $about:literal {
            $( $(#[$variant_meta:meta])* $variant:ident = $text:literal, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )+
            /// An enum value that this version does not know.
            Unknown(String),
        }

        impl $name {
            /// The value as the service writes it.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $text, )+
                    Self::Unknown(text) => text,
                }
            }

            fn known(text: &str) -> Option<Self> {
                match text {
                    $( $text => Some(Self::$variant), )+
                    _ => None,
                }
            }
        }

        impl $crate::HasShape for $name {
            const SHAPE: $crate::Shape =
                $crate::Shape::Enum { name: $title, about: $about, values: &[$($text),+] };
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self::known(&text).unwrap_or(Self::Unknown(text))
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::known(text).unwrap_or_else(|| Self::Unknown(text.to_owned()))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(deserializer).map(Self::from)
            }
        }
    };
}

pub(crate) use open_enum;

#[cfg(test)]
mod tests {
    use crate::ErrorCode;

    #[test]
    fn known_and_unknown_values_are_preserved() {
        for (word, code) in
            [("card_expired", ErrorCode::CardExpired), ("frozen", ErrorCode::Unknown("frozen".to_owned()))]
        {
            let json = format!("\"{word}\"");
            assert_eq!(serde_json::from_str::<ErrorCode>(&json).unwrap(), code);
            assert_eq!(serde_json::to_string(&code).unwrap(), json);
            assert_eq!(code.to_string(), word);
            assert_eq!(ErrorCode::from(word), code);
        }
    }
}
