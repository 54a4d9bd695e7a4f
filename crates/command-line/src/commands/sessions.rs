//! `kopeck call sessions …` and `kopeck call password …`.

use clap::Subcommand;
use kopeck_client::{Client, ExposeSecret as _, SecretString, Uuid};

use super::shown;
use crate::context::{self, IdempotencyArgs};
use crate::failure::Failure;
use crate::output::{Output, json_of};
use crate::profile::{self, Profile, Profiles};
use crate::prompt;
use crate::table::{self, Column, flag, number, text};
use crate::token::TokenFile;

/// Commands for the sessions of one's own login.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the active sessions, the oldest first.
    List,
    /// End a session with all of its tokens.
    End {
        /// The session.
        session: Uuid,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
}

/// Commands for the password of one's own login.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum PasswordCommand {
    /// Change the password, keep the new one in the profile, and end all other sessions. At a terminal it asks for the new
    /// password twice, else it reads one line of standard input.
    Change,
}

const COLUMNS: [Column; 5] = [
    text("idSession", "/idSession"),
    text("created", "/createdAt"),
    text("last used", "/lastUsedAt"),
    text("address", "/address"),
    flag("current", "/current"),
];

const ENDED: [Column; 1] = [text("idSession", "/idSession")];

const CHANGED: [Column; 1] = [number("ended sessions", "/endedSessions")];

pub(super) async fn run(client: &Client, command: SessionsCommand) -> Result<Output, Failure> {
    match command {
        SessionsCommand::List => {
            let json = json_of(&client.sessions().list().await?)?;
            let rows = json.as_array().map(Vec::as_slice).unwrap_or_default();
            let text = table::list(rows, &COLUMNS);
            Ok(Output::new(json, text))
        }
        SessionsCommand::End { session, repeat } => {
            shown(&repeat.send(client.sessions().end(session)).await?, &ENDED)
        }
    }
}

/// Changes the password of a profile, at the service and then in the file.
pub(super) async fn change_password(command: PasswordCommand, name: Option<&str>) -> Result<Output, Failure> {
    let PasswordCommand::Change = command;
    let path = profile::path()?;
    let mut profiles = Profiles::load(&path)?;
    let (name, profile) = profiles.choose(name)?;
    let (name, profile) = (name.to_owned(), profile.clone());
    let new = new_password()?;
    let client = context::builder(&profile)?.build()?;
    let changed = client.change_password(&profile.password, &new).await?;
    let profile = Profile { password: new, ..profile };
    profiles.profiles.insert(name.clone(), profile.clone());
    profiles.save(&path)?;
    if let Some(token) = client.access_token().await {
        TokenFile::new(&path, &name, &profile).save(&token);
    }
    shown(&changed, &CHANGED)
}

/// By asking twice, else one line of standard input.
fn new_password() -> Result<SecretString, Failure> {
    let Some(first) = prompt::unseen("New password (not shown): ")? else {
        let text = prompt::standard_input()?;
        return Ok(SecretString::from(text.lines().next().unwrap_or_default()));
    };
    let second = prompt::unseen("The same once more: ")?;
    if second.is_some_and(|second| second.expose_secret() == first.expose_secret()) {
        Ok(first)
    } else {
        Err(Failure::usage("the two passwords differ"))
    }
}
