//! The context of a command: the client of a profile, and idempotency keys.

use std::fs;
use std::future::IntoFuture as _;
use std::path::PathBuf;

use clap::Args;
use kopeck_client::{Client, ClientBuilder, ExposeSecret as _, IdempotencyKey, SealingKey, Write};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::failure::Failure;
use crate::profile::{self, Profile, Profiles};
use crate::system;
use crate::token::TokenFile;

/// The client of a profile, with the token of an earlier command.
pub(crate) struct Session {
    pub(crate) client: Client,
    kept: TokenFile,
    /// When the token expires that an earlier command left.
    found: Option<u64>,
}

impl Session {
    /// Of the profile of this name, or of the current one.
    pub(crate) fn open(name: Option<&str>) -> Result<Self, Failure> {
        let path = profile::path()?;
        let profiles = Profiles::load(&path)?;
        let (name, profile) = profiles.choose(name)?;
        let kept = TokenFile::new(&path, name, profile);
        let token = kept.load();
        let found = token.as_ref().map(|token| token.expires_at);
        let mut builder = builder(profile)?;
        if let Some(token) = token {
            builder = builder.access_token(token);
        }
        Ok(Self { client: builder.build()?, kept, found })
    }

    /// Keeps the token for the next command, if it is another one than before.
    pub(crate) async fn close(self) {
        if let Some(token) = self.client.access_token().await
            && self.found != Some(token.expires_at)
        {
            self.kept.save(&token);
        }
    }
}

/// A client as a profile has it. With a sealing key everything is sealed, identifiers and query parameters too.
pub(crate) fn builder(profile: &Profile) -> Result<ClientBuilder, Failure> {
    let mut builder = Client::builder(&profile.base_url)
        .api_key(profile.api_key.clone())
        .login(&profile.login)
        .password(profile.password.clone());
    if let Some(key) = sealing_key(profile)? {
        builder = builder.sealing_key(key).seal_parameters(true);
    }
    if let Some(path) = &profile.certificate_authority {
        builder = builder.certificate_authority(certificates(path)?);
    }
    Ok(builder)
}

pub(crate) fn sealing_key(profile: &Profile) -> Result<Option<SealingKey>, Failure> {
    let parsed = profile.sealing_key.as_ref().map(|key| SealingKey::parse(key.expose_secret()));
    parsed.transpose().map_err(|error| Failure::local(format!("the sealing key: {error}")))
}

fn certificates(path: &PathBuf) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::local(format!("{}: {error}", path.display())))
}

/// The idempotency key of a mutation.
#[derive(Debug, Clone, Args)]
pub(crate) struct IdempotencyArgs {
    /// Repeat a call under its key, or choose the key of a new one: 1 to 255 visible ASCII characters. A call is done
    /// once under its key, however often it is sent.
    #[arg(long, value_name = "KEY", value_parser = parse_key)]
    idempotency_key: Option<IdempotencyKey>,
}

impl IdempotencyArgs {
    /// Sends the request. If its response is lost, the error shows the key.
    pub(crate) async fn send<T: DeserializeOwned + 'static>(&self, call: Write<T>) -> Result<T, Failure> {
        let key = self.idempotency_key.clone().unwrap_or_else(IdempotencyKey::fresh);
        let call = call.idempotency_key(key.clone()).into_future();
        tokio::select! {
            answer = call => answer.map_err(|error| Failure::of_write(error, &key)),
            // Otherwise the key would be lost with the process.
            Ok(()) = tokio::signal::ctrl_c() => Err(Failure::interrupted().repeatable(&key)),
        }
    }
}

/// A key that tells the same content by the same text.
pub(crate) fn key_of_content(what: &str, content: &impl Serialize) -> Result<IdempotencyKey, Failure> {
    let content =
        serde_json::to_vec(content).map_err(|error| Failure::local(format!("no JSON form: {error}")))?;
    Ok(IdempotencyKey::parse(format!("{what}-{}", system::hex(&Sha256::digest(content))))?)
}

fn parse_key(text: &str) -> Result<IdempotencyKey, String> {
    IdempotencyKey::parse(text).map_err(|_| "must be 1 to 255 visible ASCII characters".to_owned())
}
