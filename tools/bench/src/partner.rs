//! Clients of the partners that take part.

use std::env;

use anyhow::Context as _;
use kopeck_client::{Client, SealingKey};
use secrecy::ExposeSecret as _;
use serde::Deserialize;

use crate::targets::Target;

/// A new partner's secrets. Not `Debug`, so that they are never shown.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Secrets {
    pub(crate) api_key: String,
    pub(crate) login: String,
    pub(crate) password: String,
    sealing_key: String,
}

/// A client, which seals everything, of the partner whose secrets the variable holds.
pub(crate) fn client(variable: &str) -> anyhow::Result<Client> {
    let Secrets { api_key, login, password, sealing_key } = secrets(variable)?;
    Ok(Client::builder(text("KOPECK_BENCH_URL")?)
        .api_key(api_key)
        .login(login)
        .password(password)
        .sealing_key(SealingKey::parse(&sealing_key).context("the sealing key")?)
        .build()?)
}

/// The secrets that the variable holds.
pub(crate) fn secrets(variable: &str) -> anyhow::Result<Secrets> {
    serde_json::from_str(&text(variable)?)
        .with_context(|| format!("{variable} is not what `kopeck partner create --json` prints"))
}

/// The same partner for requests that are made by hand.
pub(crate) async fn target(variable: &str, client: &Client, number: u64) -> anyhow::Result<Target> {
    let key = SealingKey::parse(&secrets(variable)?.sealing_key).context("the sealing key")?;
    Ok(Target::new(number, client.login().await?.access_token.expose_secret().to_owned(), &key))
}

fn text(variable: &str) -> anyhow::Result<String> {
    env::var(variable).with_context(|| format!("the environment variable {variable}"))
}
