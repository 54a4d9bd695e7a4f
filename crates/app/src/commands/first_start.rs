//! The first start of a sandbox: a demo partner, its secrets, and a request to paste.

mod company;
mod history;
mod history_clock;

use std::io::IsTerminal as _;
use std::path::Path;

use kopeck_adapter_system::DataFolder;
use kopeck_domain::Kopecks;
use kopeck_domain::access::Role;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::partner::{Partner, SealingPolicy};
use kopeck_domain::user::UserLogin;
use kopeck_port_store::{Access, UnitOfWork, transact};
use kopeck_service::partners::{self, NewPartner, PartnerError, PartnerSecrets};
use kopeck_service::users::{NewUser, UserService};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

pub(super) use self::history::Past;
use super::audited;
use super::partner::{sealing_key_text, store_partner};
use crate::compose::Application;

/// A million roubles to play with.
const OPENING_BALANCE: Kopecks = Kopecks::new(100_000_000);

/// What a first start shows and makes.
pub(super) struct FirstStart<'a> {
    pub(super) application: &'a Application,
    pub(super) folder: &'a DataFolder,
    /// The address of the service.
    pub(super) url: &'a str,
    /// With the console the partner has an owner, and the service an operator.
    pub(super) has_console: bool,
    /// With what the partner's past is made, if it is to have one.
    pub(super) past: Option<Past<'a>>,
}

impl FirstStart<'_> {
    /// Creates a demo partner if there is no partner at all, and returns what is to be shown. It may send plaintext, so that a
    /// first request needs only curl.
    ///
    /// A private file of the data folder has the credentials for `kopeck call login --stdin`. A terminal also shows them,
    /// with first requests to paste; a pipe may end in a log that others read, so there only the path is printed. The file
    /// is written before the partner is committed: if that fails, the next start tries again.
    ///
    /// A past is played afterwards, before the service works. A start that is killed meanwhile leaves a part of it.
    pub(super) fn demo_partner(&self) -> anyhow::Result<Option<String>> {
        let store = self.application.store();
        let any =
            transact(&*store, Access::Read, |unit| -> Result<_, PartnerError> { partners::list(unit) })?;
        if !any.is_empty() {
            return Ok(None);
        }
        let (partner, shown) = match self.store() {
            Ok(stored) => stored,
            // Another process on the same database started at the same moment, and has made it.
            Err(error) if matches!(error.downcast_ref(), Some(PartnerError::LoginTaken)) => return Ok(None),
            Err(error) => return Err(error),
        };
        if let Some(past) = &self.past {
            let clock = &*self.application.env.clock;
            audited::append(&*store, audited::entry(clock, "sandbox.seed", Some(partner)))?;
            if let Err(error) = history::play(past, partner) {
                log::warn!(error:% = error; "the demo partner has only a part of its past");
            }
        }
        Ok(Some(shown))
    }

    fn store(&self) -> anyhow::Result<(PartnerId, String)> {
        let new = NewPartner {
            name: "Demo".to_owned(),
            login: Some("demo".to_owned()),
            password: None,
            sealing: SealingPolicy::Optional,
        };
        let (folder, url, users) = (self.folder.clone(), self.url.to_owned(), self.application.users.clone());
        let has_console = self.has_console;
        // A past begins with this deposit.
        let deposit = self.past.is_none().then_some(OPENING_BALANCE);
        store_partner(self.application, new, deposit, move |unit, partner, secrets| {
            let sealing_key = sealing_key_text(&secrets.sealing_key)?;
            let people = if has_console { demo_users(&users, unit, &partner)? } else { Vec::new() };
            let as_json = |(login, password): &(String, SecretString)| json!({"login": login, "password": password.expose_secret()});
            let credentials = json!({
                "baseUrl": url,
                "partnerId": partner.id.to_string(),
                "apiKey": secrets.api_key.expose_secret(),
                "login": partner.login,
                "password": secrets.password.expose_secret(),
                "sealingKey": sealing_key,
                "console": people.iter().map(as_json).collect::<Vec<_>>(),
            });
            let file = folder.write_demo_secrets(&format!("{credentials}\n"))?;
            let shown = if std::io::stdout().is_terminal() {
                welcome(&partner, &secrets, &sealing_key, &url, &file) + &console_text(&people, &url)
            } else {
                let path = file.display();
                format!(
                    "This is the first start. The demo partner's secrets are in {path}\nTo log in: {}\n",
                    login_command(&file)
                )
            };
            Ok((partner.id, shown))
        })
    }
}

/// An owner of the demo partner and an operator, each with its first password.
fn demo_users(
    users: &UserService,
    unit: &mut dyn UnitOfWork,
    partner: &Partner,
) -> anyhow::Result<Vec<(String, SecretString)>> {
    let people =
        [(Some(partner), Role::Owner, "owner@demo.example"), (None, Role::Operator, "operator@demo.example")];
    let create = |(partner, role, login): (Option<&Partner>, Role, &str)| {
        let login = UserLogin::parse(login)?;
        let draft = users.prepare(NewUser { partner: partner.cloned(), role, login, password: None })?;
        let (user, password) = users.create(unit, &draft)?;
        Ok((user.login.as_str().to_owned(), password))
    };
    people.into_iter().map(create).collect()
}

/// The first logins to the console, for a terminal.
fn console_text(people: &[(String, SecretString)], url: &str) -> String {
    if people.is_empty() {
        return String::new();
    }
    let line =
        |(login, password): &(String, SecretString)| format!("  {login:<24}{}\n", password.expose_secret());
    let lines: String = people.iter().map(line).collect();
    format!(
        "Or in a browser: {url}/console. The first login sets up an authenticator app, and replaces the password. These are the \
         demo\npartner's owner and an operator of the service:\n\n{lines}\n"
    )
}

/// The text for a newcomer at a terminal. `file` has the credentials.
fn welcome(partner: &Partner, secrets: &PartnerSecrets, sealing_key: &str, url: &str, file: &Path) -> String {
    let (api_key, password) = (secrets.api_key.expose_secret(), secrets.password.expose_secret());
    let (id, login) = (partner.id, &partner.login);
    let (binary, login_command) = (binary(), login_command(file));
    format!(
        r#"
This is the first start: here is a demo partner with {OPENING_BALANCE} roubles. Its secrets are not shown again.

  partnerId   {id}
  apiKey      {api_key}
  login       {login}
  password    {password}
  sealingKey  {sealing_key}

To call it from the command line, paste this into another terminal; it keeps the demo partner as a profile. The file has
mode 0600; delete it when you have done so.

  {login_command}

`{binary} call --help` shows what can be called then, and docs/COMMAND-LINE.md tells more.

Or with curl alone: paste this into another terminal. It logs in and asks for the balance.

  nonce() {{ head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n'; }}
  TOKEN=$(curl -s {url}/v1/get_access_token -H 'x-api-key: {api_key}' \
    -H "x-nonce: $(nonce)" -H 'content-type: application/json' \
    -d '{{"login":"{login}","password":"{password}"}}' | sed 's/.*"accessToken":"\([^"]*\)".*/\1/')
  curl -s {url}/v1/balance -H "authorization: Bearer $TOKEN" -H "x-nonce: $(nonce)"

"#
    )
}

/// The command that keeps the credentials of `file` as a profile.
fn login_command(file: &Path) -> String {
    format!("{} call login --profile demo --stdin < {}", binary(), in_shell(file))
}

/// This binary, as a shell finds it from any folder.
fn binary() -> String {
    std::env::current_exe().map_or_else(|_| "kopeck".to_owned(), |path| in_shell(&path))
}

/// A path, quoted for a shell.
fn in_shell(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
    if is_plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        for (path, word) in [
            ("/opt/kopeck/kopeck-data/x.json", "/opt/kopeck/kopeck-data/x.json"),
            ("/tmp/my data/$HOME", "'/tmp/my data/$HOME'"),
            ("/tmp/it's", r"'/tmp/it'\''s'"),
        ] {
            assert_eq!(in_shell(Path::new(path)), word);
        }
    }
}
