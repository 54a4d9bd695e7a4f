//! The merchants at which a card may pay, by their category codes.

use std::fmt;

use crate::calendar::digits;
use crate::invalid::{Invalid, from_text};

/// The greatest number of codes and ranges in one limit.
pub const MAX_CATEGORIES: usize = 100;

/// The category code of a merchant (ISO 18245): four digits, 0000 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MerchantCategory(u16);

impl MerchantCategory {
    /// Reads four digits.
    ///
    /// # Errors
    /// [`Invalid`] for anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let code = digits(text, 4).and_then(|code| u16::try_from(code).ok());
        code.map(Self).ok_or_else(|| Invalid::new("must be a merchant category code of four digits"))
    }

    /// The number, 0..=9999.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

/// Four digits.
impl fmt::Display for MerchantCategory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}", self.0)
    }
}

/// One code, `5812`, or all from one to another, both included: `5411-5499`. Shown as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CategoryRange {
    first: MerchantCategory,
    /// `None`: the first alone.
    last: Option<MerchantCategory>,
}

impl CategoryRange {
    /// All codes from one to another, both included.
    ///
    /// # Errors
    /// [`Invalid`] if the last is lower than the first.
    pub fn new(first: MerchantCategory, last: MerchantCategory) -> Result<Self, Invalid> {
        if last < first {
            return Err(Invalid::new("must be a range from a lower code to a higher one"));
        }
        Ok(Self { first, last: Some(last) })
    }

    /// Reads `NNNN` or `NNNN-NNNN`.
    ///
    /// # Errors
    /// [`Invalid`] for anything else, and as [`Self::new`] has it.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let read = |code: &str| {
            MerchantCategory::parse(code)
                .map_err(|_| Invalid::new("must be a merchant category code NNNN or a range NNNN-NNNN"))
        };
        match text.split_once('-') {
            Some((first, last)) => Self::new(read(first)?, read(last)?),
            None => Ok(read(text)?.into()),
        }
    }

    /// The lowest code.
    #[must_use]
    pub const fn first(self) -> MerchantCategory {
        self.first
    }

    /// The highest code: the lowest itself, if there is but one.
    #[must_use]
    pub fn last(self) -> MerchantCategory {
        self.last.unwrap_or(self.first)
    }

    /// Whether `category` is among the codes.
    #[must_use]
    pub fn contains(self, category: MerchantCategory) -> bool {
        (self.first..=self.last()).contains(&category)
    }
}

impl From<MerchantCategory> for CategoryRange {
    fn from(category: MerchantCategory) -> Self {
        Self { first: category, last: None }
    }
}

/// `NNNN` or `NNNN-NNNN`.
impl fmt::Display for CategoryRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last {
            Some(last) => write!(f, "{}-{last}", self.first),
            None => self.first.fmt(f),
        }
    }
}

from_text!(to_string: MerchantCategory, CategoryRange);

/// Codes and ranges as they were written, 1 to [`MAX_CATEGORIES`]. They may repeat and overlap.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<CategoryRange>", into = "Vec<CategoryRange>"))]
pub struct CategoryList(Vec<CategoryRange>);

impl CategoryList {
    /// The list of these, each `"5812"`, `"5411-5499"` or a [`CategoryRange`].
    ///
    /// # Errors
    /// [`Invalid`] if one is faulty, or there are none or more than [`MAX_CATEGORIES`] of them.
    pub fn new<R: TryInto<CategoryRange, Error: Into<Invalid>>>(
        ranges: impl IntoIterator<Item = R>,
    ) -> Result<Self, Invalid> {
        let ranges = ranges.into_iter().map(|range| range.try_into().map_err(Into::into));
        ranges.collect::<Result<Vec<_>, Invalid>>()?.try_into()
    }

    /// The codes and ranges in the order in which they were given.
    #[must_use]
    pub fn ranges(&self) -> &[CategoryRange] {
        &self.0
    }

    /// Whether `category` is in any of them.
    #[must_use]
    pub fn contains(&self, category: MerchantCategory) -> bool {
        self.0.iter().any(|range| range.contains(category))
    }
}

impl TryFrom<Vec<CategoryRange>> for CategoryList {
    type Error = Invalid;

    fn try_from(ranges: Vec<CategoryRange>) -> Result<Self, Invalid> {
        if (1..=MAX_CATEGORIES).contains(&ranges.len()) {
            Ok(Self(ranges))
        } else {
            Err(Invalid::new(format!("must have 1 to {MAX_CATEGORIES} codes or ranges")))
        }
    }
}

impl From<CategoryList> for Vec<CategoryRange> {
    fn from(list: CategoryList) -> Self {
        list.0
    }
}

/// At which merchants a card may pay.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum MerchantCategories {
    /// Only at those in the list.
    Only(CategoryList),
    /// At all but those in the list.
    Except(CategoryList),
}

impl MerchantCategories {
    /// Whether a payment at a merchant of this category may be made. A merchant without a category is in no list.
    #[must_use]
    pub fn allow(&self, category: Option<MerchantCategory>) -> bool {
        let is_in = |list: &CategoryList| category.is_some_and(|category| list.contains(category));
        match self {
            Self::Only(list) => is_in(list),
            Self::Except(list) => !is_in(list),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::limit::samples::category_ranges;

    fn category(code: &str) -> MerchantCategory {
        code.parse().unwrap()
    }

    #[test]
    fn codes_have_four_digits() {
        for code in ["0000", "0742", "5812", "9999"] {
            assert_eq!(category(code).to_string(), code);
        }
        assert_eq!(category("0742").get(), 742);
        for faulty in ["", "581", "58120", "58l2", "+581", "-581", " 5812", "5812 ", "٥٨١٢"] {
            assert!(MerchantCategory::parse(faulty).is_err(), "{faulty}");
        }
    }

    #[test]
    fn a_range_holds_its_ends_and_is_shown_as_it_was_written() {
        for text in ["5812", "5812-5812", "5411-5499", "0000-9999"] {
            assert_eq!(CategoryRange::parse(text).unwrap().to_string(), text);
        }
        let food = CategoryRange::parse("5411-5499").unwrap();
        for (code, holds) in
            [("5410", false), ("5411", true), ("5450", true), ("5499", true), ("5500", false)]
        {
            assert_eq!(food.contains(category(code)), holds, "{code}");
        }
        let one = CategoryRange::from(category("5812"));
        assert_eq!((one.first(), one.last()), (category("5812"), category("5812")));
        assert!(one.contains(category("5812")) && !one.contains(category("5813")));
    }

    #[test]
    fn malformed_ranges_say_why() {
        let detail = |text: &str| CategoryRange::parse(text).unwrap_err().to_string();
        assert_eq!(detail("5499-5411"), "must be a range from a lower code to a higher one");
        for faulty in ["", "-", "5411-", "-5499", "5411-549", "5411 - 5499", "5411-5499-5500", "food"] {
            assert_eq!(
                detail(faulty),
                "must be a merchant category code NNNN or a range NNNN-NNNN",
                "{faulty}"
            );
        }
    }

    #[test]
    fn a_list_has_one_to_a_hundred_entries_which_may_repeat() {
        let list = |number| CategoryList::new(std::iter::repeat_n("5812", number));
        assert_eq!(list(100).unwrap().ranges().len(), 100);
        for number in [0, 101] {
            assert_eq!(list(number).unwrap_err().detail(), "must have 1 to 100 codes or ranges", "{number}");
        }
        assert!(CategoryList::new(["5812", "x"]).is_err());
    }

    #[test]
    fn a_merchant_without_a_category_is_in_no_list() {
        let list = || CategoryList::new(["5812", "5411-5499"]).unwrap();
        let (only, except) = (MerchantCategories::Only(list()), MerchantCategories::Except(list()));
        for (code, is_in) in
            [(Some("5812"), true), (Some("5499"), true), (Some("5813"), false), (None, false)]
        {
            let code = code.map(category);
            assert_eq!((only.allow(code), except.allow(code)), (is_in, !is_in), "{code:?}");
        }
    }

    proptest! {
        #[test]
        fn only_and_except_are_opposites_and_a_list_is_a_set(
            ranges in prop::collection::vec(category_ranges(), 1..5), code in 0_u16..10_000,
        ) {
            let code = MerchantCategory(code);
            let is_in = ranges.iter().any(|range| (range.first().get()..=range.last().get()).contains(&code.get()));
            let list = CategoryList::try_from(ranges.clone()).unwrap();
            prop_assert_eq!(MerchantCategories::Only(list.clone()).allow(Some(code)), is_in);
            prop_assert_eq!(MerchantCategories::Except(list).allow(Some(code)), !is_in);
            let reversed = CategoryList::new(ranges.into_iter().rev()).unwrap();
            prop_assert_eq!(MerchantCategories::Only(reversed).allow(Some(code)), is_in);
        }

        #[test]
        fn a_range_survives_the_round_trip(range in category_ranges()) {
            prop_assert_eq!(CategoryRange::parse(&range.to_string()), Ok(range));
        }
    }
}
