#![doc = include_str!("../README.md")]

mod lookups;
mod networks;
mod sender;
mod target;

pub use sender::{HttpWebhooks, WebhookConfigError, WebhookSettings};
