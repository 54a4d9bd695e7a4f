//! From the unchecked parts of a limit to a valid limit, and back.

use super::{Allowance, Days, Limit, MAX_WINDOWS, Period, Restrictions, TimeOfDay, Window};
use crate::Kopecks;
use crate::draft::{Faults, Invalid};

/// A part of a draft: missing (`None`), of a type that cannot be read (`Some(Err)`), or given.
pub type Part<T> = Option<Result<T, Invalid>>;

/// A limit as it was written down, nothing of it checked. The names of the fields are those of the interface.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LimitDraft {
    /// Whether no limit applies; not if missing.
    pub unlimited: Part<bool>,
    /// Kopecks to spend in each period.
    pub amount: Part<i64>,
    /// The word of a [`Period`].
    pub period: Part<String>,
    /// Numbers of weekdays; an empty list is no setting.
    pub days: Part<Vec<i64>>,
    /// Windows, each with its own faults; an empty list is no setting.
    pub times: Part<Vec<Result<WindowDraft, Invalid>>>,
}

/// A window as it was written down.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WindowDraft {
    /// `HH:MM`, the first minute.
    pub from: Part<String>,
    /// `HH:MM`, the minute after the last.
    pub to: Part<String>,
}

/// `unlimited` stands beside another setting. A 409 of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unlimited is true beside another setting of the limit")]
pub struct LimitConflict;

/// Why a draft is no limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// Values are faulty.
    #[error("values of the limit are faulty")]
    Faulty(Faults),
    /// The values are sound and contradict each other.
    #[error(transparent)]
    Conflict(#[from] LimitConflict),
}

impl Limit {
    /// Reads a draft. `field` is the name of the limit in the call: faults are named `limit.amount` or
    /// `limit.times[2].from`.
    ///
    /// # Errors
    /// [`LimitError`]; faulty values come before a conflict.
    pub fn parse(draft: &LimitDraft, field: &str) -> Result<Self, LimitError> {
        let mut faults = Faults::new();
        let read = Self::read(draft, field, &mut faults);
        faults.check().map_err(LimitError::Faulty)?;
        // A reader that gives nothing has said why.
        Ok(read.ok_or_else(|| LimitError::Faulty(Faults::of(field, "is faulty")))??)
    }

    /// Reads a draft that is part of a greater body, and gathers its faults with those of the rest: `None` if there
    /// are any of its own. A conflict is for later, when all values are known to be sound.
    pub fn read(draft: &LimitDraft, field: &str, faults: &mut Faults) -> Option<Result<Self, LimitConflict>> {
        let before = faults.as_slice().len();
        let mut reader = Reader { field, faults };
        let unlimited = reader.take("unlimited", draft.unlimited.as_ref(), |unlimited| Ok(*unlimited));
        let amount = reader.take("amount", draft.amount.as_ref(), |amount| amount_of(*amount));
        let period = reader.take("period", draft.period.as_ref(), |period| period.parse::<Period>());
        let days = reader.take("days", draft.days.as_ref(), |days| Days::parse(days)).unwrap_or_default();
        let windows = reader.windows(draft.times.as_ref());
        if unlimited == Some(true) {
            let set = amount.is_some() || period.is_some() || !days.is_any() || !windows.is_empty();
            let sound = faults.as_slice().len() == before;
            return sound.then_some(if set { Err(LimitConflict) } else { Ok(Self::Unlimited) });
        }
        match (&draft.amount, &draft.period) {
            (Some(_), None) => reader.fault("period", "is required beside amount"),
            (None, Some(_)) => reader.fault("amount", "is required beside period"),
            (Some(_), Some(_)) | (None, None) => {}
        }
        let allowance = amount.zip(period).map(|(amount, period)| Allowance { amount, period });
        if faults.as_slice().len() > before {
            return None;
        }
        if allowance.is_none() && days.is_any() && windows.is_empty() {
            faults.push(field, "must be unlimited or have an amount with its period, days or times");
            return None;
        }
        Some(Ok(Self::Limited(Restrictions { allowance, days, windows })))
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

    fn window(&mut self, name: &str, draft: &Result<WindowDraft, Invalid>) -> Option<Window> {
        let draft = self.take(name, Some(draft), |draft| Ok(draft.clone()))?;
        let (from, to) = (format!("{name}.from"), format!("{name}.to"));
        let start = self.require(&from, draft.from.as_ref(), |text| TimeOfDay::parse(text));
        let end = self.require(&to, draft.to.as_ref(), |text| TimeOfDay::parse_end(text));
        Window::new(start?, end?).map_err(|invalid| self.fault(&to, invalid.detail())).ok()
    }
}

/// The parts of a limit: what can be shown or stored, and read again.
impl From<&Limit> for LimitDraft {
    fn from(limit: &Limit) -> Self {
        let times = limit.windows().iter().map(|window| {
            Ok(WindowDraft {
                from: Some(Ok(window.from().to_string())),
                to: Some(Ok(window.to().to_string())),
            })
        });
        Self {
            unlimited: Some(Ok(limit.is_unlimited())),
            amount: limit.allowance().map(|allowance| Ok(allowance.amount().get())),
            period: limit.allowance().map(|allowance| Ok(allowance.period().to_string())),
            days: Some(Ok(limit.days().numbers().map(i64::from).collect())),
            times: Some(Ok(times.collect())),
        }
    }
}

#[cfg(test)]
mod tests;
