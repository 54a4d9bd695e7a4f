//! The first start of a sandbox: a demo partner, its secrets, and a request to paste.

use std::io::IsTerminal as _;
use std::path::Path;

use kopeck_adapter_system::{DataFolder, announce};
use kopeck_domain::Kopecks;
use kopeck_domain::partner::{Partner, SealingPolicy};
use kopeck_port_store::{Access, transact};
use kopeck_service::partners::{self, NewPartner, PartnerError, PartnerSecrets};
use secrecy::ExposeSecret;
use serde_json::json;

use super::partner::{sealing_key_text, store_partner};
use crate::compose::Application;

/// A million roubles to play with.
const OPENING_BALANCE: Kopecks = Kopecks::new(100_000_000);

/// Creates a demo partner if there is no partner at all. It may send plaintext, so that a first request needs only curl.
///
/// A private file of the data folder has the credentials for `kopeck call login --stdin`. A terminal also shows them,
/// with first requests to paste; a pipe may end in a log that others read, so there only the path is printed. The file
/// is written before the partner is committed: if that fails, the next start tries again.
pub(super) fn demo_partner(application: &Application, folder: &DataFolder, url: &str) -> anyhow::Result<()> {
    let any = transact(&*application.store(), Access::Read, |unit| -> Result<_, PartnerError> {
        partners::list(unit)
    })?;
    if !any.is_empty() {
        return Ok(());
    }
    let new = NewPartner {
        name: "Demo".to_owned(),
        login: Some("demo".to_owned()),
        password: None,
        sealing: SealingPolicy::Optional,
    };
    let (folder, url) = (folder.clone(), url.to_owned());
    let shown = store_partner(application, new, Some(OPENING_BALANCE), move |partner, secrets| {
        let sealing_key = sealing_key_text(&secrets.sealing_key)?;
        let credentials = json!({
            "baseUrl": url,
            "partnerId": partner.id.to_string(),
            "apiKey": secrets.api_key.expose_secret(),
            "login": partner.login,
            "password": secrets.password.expose_secret(),
            "sealingKey": sealing_key,
        });
        let file = folder.write_demo_secrets(&format!("{credentials}\n"))?;
        Ok(if std::io::stdout().is_terminal() {
            welcome(&partner, &secrets, &sealing_key, &url, &file)
        } else {
            let path = file.display();
            format!(
                "This is the first start. The demo partner's secrets are in {path}\nTo log in: {}\n",
                login_command(&file)
            )
        })
    });
    match shown {
        Ok(shown) => announce(&shown),
        // Another process on the same database started at the same moment, and has made it.
        Err(error) if matches!(error.downcast_ref(), Some(PartnerError::LoginTaken)) => {}
        Err(error) => return Err(error),
    }
    Ok(())
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
