//! From the unchecked parts of a limit to a limit, with a fault for each faulty part.

use kopeck_domain::Invalid;
use kopeck_domain::Kopecks;
use kopeck_domain::limit::{
    CategoryList, CategoryRange, Days, Limit, MAX_CATEGORIES, MAX_WINDOWS, MerchantCategories, Period,
    TimeOfDay, Window,
};

use crate::input::faults::Faults;

/// The limit is unlimited and has another setting too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LimitConflict;

/// A part of a draft: missing (`None`), of a type that cannot be read (`Some(Err)`), or given.
pub(crate) type Part<T> = Option<Result<T, Invalid>>;

/// A limit as it was written down, nothing of it checked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LimitDraft {
    /// Whether no limit applies; not if missing.
    pub(crate) unlimited: Part<bool>,
    /// Kopecks to spend in each period.
    pub(crate) amount: Part<i64>,
    /// The word of a [`Period`].
    pub(crate) period: Part<String>,
    /// Numbers of weekdays; an empty list is no setting.
    pub(crate) days: Part<Vec<i64>>,
    /// Windows, each with its own faults; an empty list is no setting.
    pub(crate) times: Part<Vec<Result<WindowDraft, Invalid>>>,
    /// Merchant categories; neither list of them is no setting.
    pub(crate) categories: Part<CategoriesDraft>,
}

/// Merchant categories as they were written down.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CategoriesDraft {
    /// Merchant categories at which the card pays.
    pub(crate) only: Part<Vec<Result<String, Invalid>>>,
    /// Merchant categories at which it does not pay.
    pub(crate) except: Part<Vec<Result<String, Invalid>>>,
}

/// A window as it was written down.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct WindowDraft {
    /// `HH:MM`, the first minute.
    pub(crate) from: Part<String>,
    /// `HH:MM`, the minute after the last.
    pub(crate) to: Part<String>,
}

impl LimitDraft {
    /// Reads a draft that is part of a body, and adds its faults to those of the rest. `None` if it has faults. The
    /// caller reports a conflict later, once all values are valid.
    pub(crate) fn read(&self, field: &str, faults: &mut Faults) -> Option<Result<Limit, LimitConflict>> {
        let before = faults.as_slice().len();
        let mut reader = Reader { field, faults };
        let unlimited = reader.take("unlimited", self.unlimited.as_ref(), |unlimited| Ok(*unlimited));
        let amount = reader.take("amount", self.amount.as_ref(), |amount| amount_of(*amount));
        let period = reader.take("period", self.period.as_ref(), |period| period.parse::<Period>());
        let days = reader.take("days", self.days.as_ref(), |days| Days::parse(days)).unwrap_or_default();
        let windows = reader.windows(self.times.as_ref());
        let categories = reader.categories(self.categories.as_ref());
        if unlimited == Some(true) {
            let set = amount.is_some()
                || period.is_some()
                || !days.is_any()
                || !windows.is_empty()
                || categories.is_some();
            let sound = faults.as_slice().len() == before;
            return sound.then_some(if set { Err(LimitConflict) } else { Ok(Limit::unlimited()) });
        }
        match (&self.amount, &self.period) {
            (Some(_), None) => reader.fault("period", "is required beside amount"),
            (None, Some(_)) => reader.fault("amount", "is required beside period"),
            (Some(_), Some(_)) | (None, None) => {}
        }
        if faults.as_slice().len() > before {
            return None;
        }
        let mut builder = Limit::on(days).within(windows);
        if let Some((amount, period)) = amount.zip(period) {
            builder = builder.per(period, amount);
        }
        if let Some(categories) = categories {
            builder = builder.at_merchants(categories);
        }
        // The parts are valid here, so the only fault left is that there is no part.
        let limit = builder.build().map_err(|_| {
            faults.push(
                field,
                "must be unlimited or have an amount with its period, days, times or merchantCategories",
            );
        });
        limit.ok().map(Ok)
    }
}

fn amount_of(kopecks: i64) -> Result<Kopecks, Invalid> {
    Some(Kopecks::new(kopecks))
        .filter(|amount| amount.is_positive())
        .ok_or_else(|| Invalid::new("must be an integer of 1 kopeck or more"))
}

/// Reads parts and names their faults.
struct Reader<'a> {
    field: &'a str,
    faults: &'a mut Faults,
}

impl Reader<'_> {
    fn fault(&mut self, name: &str, detail: &str) {
        self.faults.push(format!("{}.{name}", self.field), detail);
    }

    /// The value of a part that may be missing.
    fn take<T, V>(
        &mut self,
        name: &str,
        part: Option<&Result<T, Invalid>>,
        parse: impl Fn(&T) -> Result<V, Invalid>,
    ) -> Option<V> {
        let parsed = match part? {
            Ok(value) => parse(value),
            Err(invalid) => Err(invalid.clone()),
        };
        parsed.map_err(|invalid| self.fault(name, invalid.detail())).ok()
    }

    /// The value of a part that must be there.
    fn require<T, V>(
        &mut self,
        name: &str,
        part: Option<&Result<T, Invalid>>,
        parse: impl Fn(&T) -> Result<V, Invalid>,
    ) -> Option<V> {
        if part.is_none() {
            self.fault(name, "is required");
        }
        self.take(name, part, parse)
    }

    /// The sound ones of the windows, in their order.
    fn windows(&mut self, part: Option<&Result<Vec<Result<WindowDraft, Invalid>>, Invalid>>) -> Vec<Window> {
        let few = |drafts: &Vec<_>| {
            let too_many = || Invalid::new(format!("must have at most {MAX_WINDOWS} windows"));
            (drafts.len() <= MAX_WINDOWS).then_some(()).ok_or_else(too_many)
        };
        let (Some(()), Some(Ok(drafts))) = (self.take("times", part, few), part) else {
            return Vec::new();
        };
        let mut windows: Vec<Window> = Vec::with_capacity(drafts.len());
        for (index, draft) in drafts.iter().enumerate() {
            let name = format!("times[{index}]");
            let Some(window) = self.window(&name, draft) else { continue };
            if windows.iter().any(|earlier| earlier.overlaps(window)) {
                self.fault(&name, "overlaps another window");
            } else {
                windows.push(window);
            }
        }
        windows
    }

    /// The setting, if there is one and it is sound.
    fn categories(&mut self, part: Option<&Result<CategoriesDraft, Invalid>>) -> Option<MerchantCategories> {
        let draft = self.take("merchantCategories", part, |draft| Ok(draft.clone()))?;
        if draft.only.is_some() && draft.except.is_some() {
            self.fault("merchantCategories", "must have only or except, not both");
            return None;
        }
        let only = self.category_list("merchantCategories.only", draft.only.as_ref());
        let except = self.category_list("merchantCategories.except", draft.except.as_ref());
        only.map(MerchantCategories::Only).or(except.map(MerchantCategories::Except))
    }

    fn category_list(
        &mut self,
        name: &str,
        part: Option<&Result<Vec<Result<String, Invalid>>, Invalid>>,
    ) -> Option<CategoryList> {
        let few = |drafts: &Vec<_>| {
            let wrong = || Invalid::new(format!("must have 1 to {MAX_CATEGORIES} codes or ranges"));
            (1..=MAX_CATEGORIES).contains(&drafts.len()).then_some(()).ok_or_else(wrong)
        };
        let (Some(()), Some(Ok(drafts))) = (self.take(name, part, few), part) else { return None };
        let mut ranges = Vec::with_capacity(drafts.len());
        for (index, draft) in drafts.iter().enumerate() {
            let name = format!("{name}[{index}]");
            ranges.extend(self.take(&name, Some(draft), |text| CategoryRange::parse(text)));
        }
        // Shorter only if a fault was named.
        CategoryList::try_from(ranges).ok()
    }

    fn window(&mut self, name: &str, draft: &Result<WindowDraft, Invalid>) -> Option<Window> {
        let draft = self.take(name, Some(draft), |draft| Ok(draft.clone()))?;
        let (from, to) = (format!("{name}.from"), format!("{name}.to"));
        let start = self.require(&from, draft.from.as_ref(), |text| TimeOfDay::parse(text));
        let end = self.require(&to, draft.to.as_ref(), |text| TimeOfDay::parse_end(text));
        Window::new(start?, end?).map_err(|invalid| self.fault(&to, invalid.detail())).ok()
    }
}

#[cfg(test)]
mod tests;
