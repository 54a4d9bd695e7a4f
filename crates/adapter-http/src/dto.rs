//! What several response bodies share.

pub(crate) mod entry;
pub(crate) mod event;
mod page;
pub(crate) mod transaction;

pub(crate) use page::page;

use kopeck_api::Data;
use kopeck_domain::calendar::Zone;
use time::{OffsetDateTime, PrimitiveDateTime};

use crate::json::Json;
use crate::schema::{Components, HasSchema, Property, api_type, component_name, object_of};

impl<T: HasSchema> HasSchema for Data<T> {
    fn schema(components: &mut Components) -> Json {
        let schema = T::schema(components);
        components.named(&format!("{}Data", component_name(&schema)), |_| {
            object_of(vec![Property { name: "data".to_owned(), required: true, schema: schema.clone() }])
        })
    }
}

api_type! {
    /// Confirms that the request was carried out.
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

/// The date and time of the zone.
pub(crate) fn local(moment: OffsetDateTime, zone: Zone) -> PrimitiveDateTime {
    let local = moment.to_offset(zone.offset());
    PrimitiveDateTime::new(local.date(), local.time())
}
