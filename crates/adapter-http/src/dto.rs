//! What several response bodies share, in the spelling of the interface.

mod page;

pub(crate) use page::PageDto;

use kopeck_domain::calendar::{Zone, date_text};
use kopeck_domain::limit::Window;
use serde::Serialize;
use time::{Date, OffsetDateTime};

use crate::json::Json;
use crate::schema::{Components, HasSchema, Property, api_type, component_name, object_of};

/// A response with all fields in `data`.
#[derive(Serialize)]
pub(crate) struct Data<T> {
    pub(crate) data: T,
}

impl<T: HasSchema> HasSchema for Data<T> {
    fn schema(components: &mut Components) -> Json {
        let schema = T::schema(components);
        components.named(&format!("{}Data", component_name(&schema)), |_| {
            object_of(vec![Property { name: "data".to_owned(), required: true, schema: schema.clone() }])
        })
    }
}

api_type! {
    /// An answer that says nothing but that it came.
    #[derive(Clone, Copy)]
    pub(crate) struct SuccessDto as "Done" {
        /// `true`.
        success: bool,
    }
}

impl SuccessDto {
    pub(crate) const fn new() -> Self {
        Self { success: true }
    }
}

api_type! {
    /// A part of the day. From a later time to an earlier one it runs over midnight.
    pub(crate) struct WindowDto as "Window" {
        /// The first minute, `HH:MM`.
        from: String,
        /// The minute after the last one, up to `24:00`.
        to: String,
    }
}

impl From<&Window> for WindowDto {
    fn from(window: &Window) -> Self {
        Self { from: window.from().to_string(), to: window.to().to_string() }
    }
}

/// A date in the format `DD.MM.YYYY`.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct DateText(String);

impl DateText {
    pub(crate) fn new(day: Date) -> Self {
        Self(date_text(day))
    }

    /// The date of a timestamp.
    pub(crate) fn of(moment: OffsetDateTime, zone: Zone) -> Self {
        Self(zone.date_text(moment))
    }
}

impl HasSchema for DateText {
    fn schema(components: &mut Components) -> Json {
        Date::schema(components)
    }
}

/// A timestamp in the format `DD.MM.YYYY HH:MM`.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct TimestampText(String);

impl TimestampText {
    pub(crate) fn new(moment: OffsetDateTime, zone: Zone) -> Self {
        Self(zone.moment_text(moment))
    }
}

impl HasSchema for TimestampText {
    fn schema(components: &mut Components) -> Json {
        OffsetDateTime::schema(components)
    }
}
