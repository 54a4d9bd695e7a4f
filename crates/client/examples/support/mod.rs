//! The client of all examples, set up from the environment.

use std::env;
use std::error::Error;

use kopeck_client::{Client, SealingKey};

/// Reads `KOPECK_URL`, `KOPECK_API_KEY`, `KOPECK_LOGIN`, `KOPECK_PASSWORD` and `KOPECK_SEALING_KEY`.
pub(crate) fn client() -> Result<Client, Box<dyn Error>> {
    Ok(Client::builder(env::var("KOPECK_URL")?)
        .api_key(env::var("KOPECK_API_KEY")?)
        .login(env::var("KOPECK_LOGIN")?)
        .password(env::var("KOPECK_PASSWORD")?)
        .sealing_key(SealingKey::parse(&env::var("KOPECK_SEALING_KEY")?)?)
        .build()?)
}
