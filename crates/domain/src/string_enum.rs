//! One macro for the closed word lists of the interface: an enum, its words, and the way back.

/// Declares an enum whose variants are words of the interface, with `as_str`, `ALL`, `Display` and `FromStr`.
macro_rules! string_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum $name {
            $($(#[$vdoc])* #[cfg_attr(feature = "serde", serde(rename = $word))] $variant,)*
        }

        impl $name {
            /// Every word, in the order of the interface.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word of the interface.
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
            type Err = crate::draft::Invalid;

            /// Case-sensitive, as the interface gives the words.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|word| word.as_str() == text).ok_or_else(|| {
                    let words: Vec<&str> = Self::ALL.iter().map(|word| word.as_str()).collect();
                    crate::draft::Invalid::new(format!("must be one of {}", words.join(", ")))
                })
            }
        }
    };
}

pub(crate) use string_enum;
