//! The settings of the demo. Secrets come from the environment, never by the command line, which others can read.
//!
//! | variable | what it is |
//! |---|---|
//! | `KOPECK_DEMO_URL` | the service, such as `http://127.0.0.1:8080` |
//! | `KOPECK_DEMO_PARTNER` | what `kopeck partner create --json` printed |
//! | `KOPECK_DEMO_DEPOSIT` | the kopecks that the partner was created with |
//! | `KOPECK_DEMO_EMPLOYEES` | the file with the employees of the first day |
//! | `KOPECK_DEMO_CARDS` | the number of cards of the month |

use std::env;
use std::path::PathBuf;

use anyhow::Context as _;
use kopeck_client::{Client, SealingKey};
use serde::Deserialize;

/// All settings of the demo.
pub(crate) struct Settings {
    url: String,
    partner: Partner,
    pub(crate) deposit: i64,
}

/// A new partner's secrets. Not `Debug`, so that they are never shown.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Partner {
    api_key: String,
    login: String,
    password: String,
    sealing_key: String,
}

impl Settings {
    pub(crate) fn from_env() -> anyhow::Result<Self> {
        let partner = serde_json::from_str(&variable("KOPECK_DEMO_PARTNER")?)
            .context("KOPECK_DEMO_PARTNER is not what `kopeck partner create --json` prints")?;
        let deposit = variable("KOPECK_DEMO_DEPOSIT")?;
        Ok(Self {
            url: variable("KOPECK_DEMO_URL")?,
            partner,
            deposit: deposit.parse().context("KOPECK_DEMO_DEPOSIT is not a number of kopecks")?,
        })
    }

    /// A client that seals everything: bodies, answers, identifiers in paths and query parameters.
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        let Partner { api_key, login, password, sealing_key } = &self.partner;
        Ok(Client::builder(&self.url)
            .api_key(api_key.as_str())
            .login(login.as_str())
            .password(password.as_str())
            .sealing_key(SealingKey::parse(sealing_key).context("the sealing key")?)
            .seal_parameters(true)
            .build()?)
    }
}

/// The file with the employees of the first day.
pub(crate) fn staff_file() -> anyhow::Result<PathBuf> {
    Ok(variable("KOPECK_DEMO_EMPLOYEES")?.into())
}

/// The number of cards of the month.
pub(crate) fn cards() -> anyhow::Result<usize> {
    variable("KOPECK_DEMO_CARDS")?.parse().context("KOPECK_DEMO_CARDS is not a number of cards")
}

fn variable(name: &str) -> anyhow::Result<String> {
    env::var(name).with_context(|| format!("the environment variable {name}"))
}
