#![doc = include_str!("../README.md")]

mod networks;
mod sender;
mod target;

pub use sender::{HttpWebhooks, WebhookConfigError, WebhookSettings};
