//! Languages of files for people.

use crate::open_enum::open_enum;

open_enum! {
    /// The language of a file for people.
    pub enum Language as "Language", "A language of files for people." {
        /// English.
        English = "en",
        /// Russian.
        Russian = "ru",
    }
}
