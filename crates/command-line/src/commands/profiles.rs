//! `kopeck call profiles …`.

use clap::Subcommand;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::Output;
use crate::private_file;
use crate::profile::{self, Profile, Profiles};
use crate::table::{self, Column, flag, text};
use crate::token;

/// Commands for profiles.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ProfilesCommand {
    /// List all profiles, without their secrets.
    List,
    /// Make a profile the current one.
    Use {
        /// Its name.
        #[arg(value_parser = profile::parse_name)]
        name: String,
    },
    /// Forget a profile with its secrets.
    Remove {
        /// Its name.
        #[arg(value_parser = profile::parse_name)]
        name: String,
    },
    /// Show where the profiles are.
    Path,
}

const COLUMNS: [Column; 5] = [
    text("profile", "/profile"),
    flag("current", "/current"),
    text("base URL", "/baseUrl"),
    text("login", "/login"),
    flag("sealing", "/sealing"),
];

pub(super) fn run(command: &ProfilesCommand) -> Result<Output, Failure> {
    let path = profile::path()?;
    if matches!(command, ProfilesCommand::Path) {
        let path = path.display().to_string();
        return Ok(Output::new(json!({ "path": path }), path));
    }
    let mut profiles = Profiles::load(&path)?;
    match command {
        ProfilesCommand::List | ProfilesCommand::Path => Ok(list(&profiles)),
        ProfilesCommand::Use { name } => {
            profiles.choose(Some(name))?;
            profiles.current = Some(name.clone());
            profiles.save(&path)?;
            let text = format!("{name} is the current profile");
            Ok(Output::new(json!({ "profile": name, "current": true }), text))
        }
        ProfilesCommand::Remove { name } => {
            profiles.choose(Some(name))?;
            profiles.profiles.remove(name);
            profiles.current = profiles.current.filter(|current| current != name);
            private_file::remove(&token::path(&path, name))?;
            profiles.save(&path)?;
            Ok(Output::new(json!({ "profile": name, "removed": true }), format!("{name} is forgotten")))
        }
    }
}

fn list(profiles: &Profiles) -> Output {
    let shown = |(name, profile): (&String, &Profile)| {
        json!({
            "profile": name,
            "current": profiles.current.as_ref() == Some(name),
            "baseUrl": profile.base_url,
            "login": profile.login,
            "sealing": profile.sealing_key.is_some(),
        })
    };
    let shown: Vec<Value> = profiles.profiles.iter().map(shown).collect();
    let text = table::list(&shown, &COLUMNS);
    Output::new(json!({ "data": shown }), text)
}
