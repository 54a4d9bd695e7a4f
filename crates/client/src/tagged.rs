//! A value with its version.

/// A value, and the version of it that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tagged<T> {
    /// The value.
    pub value: T,
    /// Its entity tag, with its quotes; `None` from a service that has none.
    pub etag: Option<String>,
}
