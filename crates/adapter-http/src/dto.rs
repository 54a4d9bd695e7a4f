//! Response bodies, in the spelling of the interface.

mod balance;
mod cards;
mod categories;
mod employees;
mod limits;
mod orders;
mod page;
mod payments;
mod replenishments;
mod sandbox;
mod tokens;
mod transactions;

pub(crate) use balance::BalanceDto;
pub(crate) use cards::{CardBalanceDto, CardDto, LinkDto, UnassignedCardDto};
pub(crate) use categories::{CategoryDto, CategoryUseDto};
pub(crate) use employees::{EmployeeDto, EmployeeWithCardsDto, PhoneAs};
pub(crate) use limits::{
    LimitChangeAcceptedDto, LimitChangeItemDto, LimitChangeListDto, LimitChangeStateDto, LimitDto,
};
pub(crate) use orders::{OrderIdDto, OrderListDto, OrderResultDto, OrderResultItemDto, OrderStateDto};
pub(crate) use page::PageDto;
pub(crate) use payments::ForecastDto;
pub(crate) use replenishments::{
    ReplenishmentAcceptedDto, ReplenishmentItemDto, ReplenishmentListDto, ReplenishmentStateDto,
};
pub(crate) use sandbox::{PurchaseDto, RefundDto};
pub(crate) use tokens::TokensDto;
pub(crate) use transactions::TransactionDto;

use kopeck_domain::calendar::{Zone, date_text};
use serde::Serialize;
use time::{Date, OffsetDateTime};

use crate::openapi::json::Json;
use crate::openapi::schema::{Components, HasSchema, Property, api_type, component_name, object_of};

/// The message of an accepted request.
const ACCEPTED: &str = "the request is accepted and awaits execution";

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
