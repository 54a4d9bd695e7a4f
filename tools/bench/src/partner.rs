//! Clients of the partners that take part.

use std::env;

use anyhow::Context as _;
use kopeck_client::{Client, SealingKey};
use serde::Deserialize;

/// A new partner's secrets. Not `Debug`, so that they are never shown.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Secrets {
    api_key: String,
    login: String,
    password: String,
    sealing_key: String,
}

/// A client, which seals everything, of the partner whose secrets the variable holds.
pub(crate) fn client(variable: &str) -> anyhow::Result<Client> {
    let text = |name: &str| env::var(name).with_context(|| format!("the environment variable {name}"));
    let Secrets { api_key, login, password, sealing_key } = serde_json::from_str(&text(variable)?)
        .with_context(|| format!("{variable} is not what `kopeck partner create --json` prints"))?;
    Ok(Client::builder(text("KOPECK_BENCH_URL")?)
        .api_key(api_key)
        .login(login)
        .password(password)
        .sealing_key(SealingKey::parse(&sealing_key).context("the sealing key")?)
        .build()?)
}
