//! `kopeck call login`.

use std::env;
use std::path::PathBuf;

use clap::Args;
use kopeck_client::{AccessToken, ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer};
use serde_json::json;

use crate::context;
use crate::failure::Failure;
use crate::output::Output;
use crate::profile::{self, DEFAULT_NAME, Profile, Profiles};
use crate::prompt;
use crate::token::TokenFile;

/// The public part of the credentials. The secrets come by the environment, standard input or a prompt: every user of the
/// machine can see a command line.
#[derive(Debug, Clone, Args)]
pub(crate) struct LoginArgs {
    /// The URL of the service, such as `https://api.example.com`.
    #[arg(long, env = "KOPECK_URL")]
    base_url: Option<String>,
    /// A file with the certificates, in PEM, that alone may vouch for the service.
    #[arg(long, value_name = "FILE")]
    certificate_authority: Option<PathBuf>,
    /// Take the secrets from standard input: the JSON that `kopeck partner create --json` prints.
    #[arg(long)]
    stdin: bool,
    /// Make it the current profile, also if there is one already.
    #[arg(long = "use")]
    make_current: bool,
}

/// Credentials as `kopeck partner create --json` prints them, with or without the address of the service.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoginInput {
    base_url: Option<String>,
    #[serde(default, deserialize_with = "secret")]
    api_key: Option<SecretString>,
    login: Option<String>,
    #[serde(default, deserialize_with = "secret")]
    password: Option<SecretString>,
    #[serde(default, deserialize_with = "secret")]
    sealing_key: Option<SecretString>,
}

/// Checks the credentials, and stores them if they work.
pub(super) async fn run(args: LoginArgs, name: Option<&str>) -> Result<Output, Failure> {
    let name = name.unwrap_or(DEFAULT_NAME);
    let path = profile::path()?;
    // First, so that no secrets are typed in vain.
    let mut profiles = Profiles::load(&path)?;
    let make_current = args.make_current;
    let profile = gather(args)?;
    let client = context::builder(&profile)?.build()?;
    let tokens = client.login().await?;

    profiles.profiles.insert(name.to_owned(), profile.clone());
    if make_current || profiles.current.is_none() {
        profiles.current = Some(name.to_owned());
    }
    profiles.save(&path)?;
    TokenFile::new(&path, name, &profile).save(&AccessToken::from(&tokens));

    let current = profiles.current.as_deref() == Some(name);
    let Profile { base_url, login, .. } = &profile;
    let how =
        if current { "the current profile" } else { "a profile; `--profile` or `profiles use` chooses it" };
    let text = format!("{login} at {base_url} is kept as {name}, {how}\n");
    let sealing = profile.sealing_key.is_some();
    let json =
        json!({"profile": name, "baseUrl": base_url, "login": login, "sealing": sealing, "current": current});
    Ok(Output::new(json, text))
}

/// From standard input, else from the environment, else by asking.
fn gather(args: LoginArgs) -> Result<Profile, Failure> {
    let given = if args.stdin { from_standard_input()? } else { LoginInput::from_environment()? };
    // If no other value needs a prompt, there is no sealing key.
    let asks = given.password.is_none();
    let profile = Profile {
        base_url: told(args.base_url.or(given.base_url), "the base URL", || prompt::visible("Base URL: "))?
            .trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
            .to_owned(),
        api_key: told(given.api_key, "the API key", || prompt::unseen("API key (not shown): "))?,
        login: told(given.login, "the login", || prompt::visible("Login: "))?,
        password: told(given.password, "the password", || prompt::unseen("Password (not shown): "))?,
        sealing_key: match given.sealing_key {
            None if asks => prompt::unseen("Sealing key (not shown; empty to call in clear): ")?,
            known => known,
        }
        .filter(|key| !key.expose_secret().is_empty()),
        certificate_authority: args.certificate_authority.map(absolute).transpose()?,
    };
    if profile.base_url.contains('@') {
        return Err(Failure::usage("the base URL must not hold credentials"));
    }
    Ok(profile)
}

fn told<T>(
    given: Option<T>,
    what: &str,
    ask: impl FnOnce() -> Result<Option<T>, Failure>,
) -> Result<T, Failure> {
    let missing = || {
        Failure::usage(format!(
            "{what} is missing: set KOPECK_URL, KOPECK_API_KEY, KOPECK_LOGIN, KOPECK_PASSWORD and \
             KOPECK_SEALING_KEY, or give them by --stdin, or call this on a terminal"
        ))
    };
    match given {
        Some(given) => Ok(given),
        None => ask()?.ok_or_else(missing),
    }
}

/// A profile is used from any folder.
fn absolute(path: PathBuf) -> Result<PathBuf, Failure> {
    std::path::absolute(&path).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

fn from_standard_input() -> Result<LoginInput, Failure> {
    // The reader of JSON may quote what it cannot read.
    serde_json::from_str(&prompt::standard_input()?)
        .map_err(|_| Failure::usage("standard input is not what `kopeck partner create --json` prints"))
}

impl LoginInput {
    fn from_environment() -> Result<Self, Failure> {
        let variable = |name| match env::var(name).ok().filter(|value| !value.is_empty()) {
            Some(value) => check_typed(name, &value).map(|()| Some(value)),
            None => Ok(None),
        };
        let secret = |name| Ok::<_, Failure>(variable(name)?.map(SecretString::from));
        Ok(Self {
            base_url: None,
            api_key: secret("KOPECK_API_KEY")?,
            login: variable("KOPECK_LOGIN")?,
            password: secret("KOPECK_PASSWORD")?,
            sealing_key: secret("KOPECK_SEALING_KEY")?,
        })
    }
}

/// Refuses line ends of pasted credentials and of Windows files: they would count as failed logins.
fn check_typed(variable: &str, value: &str) -> Result<(), Failure> {
    let what = if value.starts_with('\u{feff}') {
        "begins with a byte-order mark"
    } else if value.starts_with(char::is_control) || value.ends_with(char::is_control) {
        "begins or ends with a control character, such as the end of a line"
    } else {
        return Ok(());
    };
    Err(Failure::usage(format!("{variable} {what}")))
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SecretString>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(SecretString::from))
}
