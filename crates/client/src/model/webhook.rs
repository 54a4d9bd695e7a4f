//! Webhooks, as they are created and changed.

use kopeck_api::EventType;
use serde::Serialize;
use uuid::Uuid;

use super::patch::Patch;

/// A webhook that is to be created.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct NewWebhook {
    /// The URL to which events are posted.
    pub url: String,
    /// Only events of these types; of all types if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub types: Option<Vec<EventType>>,
    /// The partner's own words, up to 256 characters.
    pub description: String,
    /// Whether the data of events are encrypted; by default if the partner's sealing policy is `required`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sealed: Option<bool>,
}

/// Changes of a webhook. What is left at its default stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct WebhookUpdate {
    /// The URL to which events are posted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Only events of these types; of all types if cleared.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub types: Patch<Vec<EventType>>,
    /// The partner's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether events are delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether the data of events are encrypted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sealed: Option<bool>,
}

/// Which events are delivered once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum RedeliveryOf {
    /// One event.
    #[serde(rename = "eventId")]
    Event(Uuid),
    /// Undelivered events after this number of the feed, at most 10,000.
    #[serde(rename = "after")]
    After(i64),
}
