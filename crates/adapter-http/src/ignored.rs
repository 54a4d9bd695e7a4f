//! The names of fields and parameters that a request has and its operation does not: most of them are misspelt.

/// The response header that lists them.
pub(crate) const IGNORED: &str = "kopeck-ignored";

/// The most names of the header.
const MOST: usize = 16;

/// The most characters of a name.
const LONGEST: usize = 64;

/// Stands for names that are not listed: too many, too long, or of other characters.
const MORE: &str = "...";

/// Names of the caller, never values.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct IgnoredNames {
    listed: Vec<String>,
    is_cut: bool,
}

impl IgnoredNames {
    /// Adds a field of the body.
    pub(crate) fn add_field(&mut self, name: &str) {
        self.add("", name);
    }

    /// Adds a parameter of the query.
    pub(crate) fn add_parameter(&mut self, name: &str) {
        self.add("query:", name);
    }

    fn add(&mut self, location: &str, name: &str) {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        let is_shown = (1..=LONGEST).contains(&name.len()) && name.bytes().all(is_plain);
        if is_shown && self.listed.len() < MOST {
            self.listed.push(format!("{location}{name}"));
        } else {
            self.is_cut = true;
        }
    }

    /// The value of the header; `None` if nothing was ignored.
    pub(crate) fn header(&self) -> Option<String> {
        let names = self.listed.iter().map(String::as_str).chain(self.is_cut.then_some(MORE));
        let names: Vec<&str> = names.collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(names: &[&str]) -> Option<String> {
        let mut ignored = IgnoredNames::default();
        names.iter().for_each(|name| ignored.add_field(name));
        ignored.header()
    }

    #[test]
    fn names_are_listed_and_nothing_else() {
        assert_eq!(header(&[]), None);
        let mut ignored = IgnoredNames::default();
        ignored.add_field("surnam");
        ignored.add_parameter("statuss");
        assert_eq!(ignored.header().as_deref(), Some("surnam, query:statuss"));
    }

    #[test]
    fn the_header_is_short_and_plain() {
        let long = "x".repeat(65);
        for odd in ["", "a b", "a,b", "\u{401}", "a\r\nb", "a\u{7f}", long.as_str()] {
            assert_eq!(header(&["ok", odd]).as_deref(), Some("ok, ..."), "{odd:?}");
        }
        let many = vec!["a"; 17];
        assert_eq!(header(&many), Some(format!("{}, ...", vec!["a"; 16].join(", "))));
    }
}
