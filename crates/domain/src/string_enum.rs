//! Enums whose variants are words.

/// Declares an enum whose variants are words, with `as_str`, `ALL`, `Display` and `FromStr`.
#[doc(hidden)] // For the crates of this workspace.
#[macro_export]
macro_rules! string_enum {
    ($(#[$attribute:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$vdoc])* $variant,)*
        }

        impl $name {
            /// All values.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl From<$name> for &'static str {
            fn from(word: $name) -> Self {
                word.as_str()
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::Invalid;

            /// Case-sensitive.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|word| word.as_str() == text).ok_or_else(|| {
                    let words: Vec<&str> = Self::ALL.iter().map(|word| word.as_str()).collect();
                    $crate::Invalid::new(format!("must be one of {}", words.join(", ")))
                })
            }
        }
    };
}

/// [`string_enum!`] with `serde` behind the feature: the value is its word. It may get further values.
macro_rules! serde_enum {
    ($(#[$attribute:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $crate::string_enum! {
            $(#[$attribute])*
            #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
            #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(into = "&'static str", try_from = "String"))]
            $name { $($(#[$vdoc])* $variant = $word,)* }
        }

        #[cfg(feature = "serde")]
        impl TryFrom<String> for $name {
            type Error = crate::invalid::Invalid;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }
    };
}

pub(crate) use serde_enum;
