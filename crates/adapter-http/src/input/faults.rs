//! Faulty fields of a request, gathered so that a response names all of them.

use kopeck_domain::Invalid;

/// A faulty field of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The field as the caller spelt it: `phone`, `cards[3].idCard`.
    pub(crate) field: String,
    /// The fault of its value.
    pub(crate) detail: String,
}

/// All faulty fields of one request, in the order in which they were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    /// No fault yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// One faulty field.
    pub(crate) fn of(field: impl Into<String>, detail: impl Into<String>) -> Self {
        let mut faults = Self::new();
        faults.push(field, detail);
        faults
    }

    /// Adds a faulty field.
    pub(crate) fn push(&mut self, field: impl Into<String>, detail: impl Into<String>) {
        self.0.push(Fault { field: field.into(), detail: detail.into() });
    }

    /// The value of a parsed field, or a fault under its name.
    pub(crate) fn take<T>(&mut self, field: &str, parsed: Result<T, Invalid>) -> Option<T> {
        parsed.map_err(|invalid| self.push(field, invalid.detail())).ok()
    }

    /// Whether no field is faulty.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The faulty fields.
    pub(crate) fn as_slice(&self) -> &[Fault] {
        &self.0
    }

    /// `Ok` if no field is faulty.
    ///
    /// # Errors
    /// The faults themselves, if there are any.
    pub(crate) fn check(self) -> Result<(), Self> {
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
