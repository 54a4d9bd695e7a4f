//! The partner's settings.

use kopeck_api::{LeaverSettings, PartnerSettings, operations};

use crate::client::Client;
use crate::error::Error;
use crate::request::Request;
use crate::write::Write;

/// Operations on the partner's settings; see [`Client::settings`].
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    client: &'a Client,
}

impl<'a> Settings<'a> {
    pub(crate) const fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// The settings.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn get(&self) -> Result<PartnerSettings, Error> {
        self.client.read(Request::of(&operations::SETTINGS_GET)).await
    }

    /// Replaces the settings: what happens to the cards of employees who become `DONT_WORK` from then on.
    pub fn update(&self, leavers: &LeaverSettings) -> Write<PartnerSettings> {
        let settings = PartnerSettings { leavers: leavers.clone() };
        self.client.write(Request::of(&operations::SETTINGS_UPDATE).body(&settings))
    }
}
