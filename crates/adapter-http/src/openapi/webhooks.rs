//! Requests to webhooks: one for each type of event.

use kopeck_api::{EVENT_DESCRIPTIONS, Event, EventDescription, HasShape as _};

use crate::json::{Json, object};
use crate::schema::{Components, of_shape};

/// All types of events, by their names.
pub(super) fn webhooks(components: &mut Components) -> Json {
    let described = |event: &EventDescription| (event.event_type.to_owned(), describe(event, components));
    Json::Object(EVENT_DESCRIPTIONS.iter().map(described).collect())
}

fn describe(event: &EventDescription, components: &mut Components) -> Json {
    let body = object! {"allOf": vec![
        of_shape(&Event::SHAPE, components),
        object! {"type": "object", "properties": object! {
            "type": object! {"const": event.event_type},
            "data": of_shape(&event.data, components),
        }},
    ]};
    let about = "Verify the signature before you read the body. A webhook with `sealed` gets a text `sealed` in the place of `data`.";
    object! {"post": object! {
        "operationId": format!("on.{}", event.event_type),
        "summary": event.about,
        "description": about,
        "security": Json::list([object! {}]),
        "parameters": vec![
            header("webhook-id", "The `id` of the event, the same at each attempt."),
            header("webhook-timestamp", "When the attempt was made, seconds since 1970."),
            header("webhook-signature", "`v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`; two with a blank between \
                while a secret is rotated."),
        ],
        "requestBody": object! {"required": true, "content": object! {"application/json": object! {"schema": body}}},
        "responses": object! {
            "2XX": object! {"description": "You have it. Anything else is tried again, for some two days."},
            "410": object! {"description": "You want no more: the webhook is disabled."},
        },
    }}
}

fn header(name: &str, about: &str) -> Json {
    object! {"name": name, "in": "header", "required": true, "description": about, "schema": object! {"type": "string"}}
}
