//! Fields of an update.

use serde::{Serialize, Serializer};

/// The update of a field that can be empty.
///
/// ```
/// use kopeck_client::{EmployeeUpdate, Patch};
///
/// let update = EmployeeUpdate {
///     phone: Patch::Clear,
///     surname: "Petrova".to_owned().into(),
///     ..EmployeeUpdate::default()
/// };
/// assert_eq!(update.surname, Patch::Set("Petrova".to_owned()));
/// assert!(update.email.is_keep());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Patch<T> {
    /// Leaves the value as it is.
    #[default]
    Keep,
    /// Makes the field empty.
    Clear,
    /// Puts another value in.
    Set(T),
}

impl<T> Patch<T> {
    /// Whether the field is left out of the update.
    #[must_use]
    pub const fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }
}

impl<T> From<T> for Patch<T> {
    fn from(value: T) -> Self {
        Self::Set(value)
    }
}

/// `Clear` is `null`. `Keep` has no JSON form: its field has to be skipped.
impl<T: Serialize> Serialize for Patch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Keep | Self::Clear => serializer.serialize_none(),
            Self::Set(value) => value.serialize(serializer),
        }
    }
}
