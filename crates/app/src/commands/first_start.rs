//! The first start of a sandbox: a demo partner, its secrets, and a call to paste.

use std::io::IsTerminal as _;

use kopeck_domain::Kopecks;
use kopeck_domain::partner::{Partner, SealingPolicy};
use kopeck_port_store::{Access, transact};
use kopeck_service::partners::{self, NewPartner, PartnerError, PartnerSecrets};
use secrecy::ExposeSecret;

use super::partner::{sealing_key_text, store_partner};
use crate::compose::Core;
use crate::folder::DataFolder;
use crate::output;

/// A million roubles to play with.
const OPENING_BALANCE: Kopecks = Kopecks::new(100_000_000);

/// Makes a demo partner if there is no partner at all. Its bodies may travel clear, so that a first call needs
/// nothing but curl.
///
/// Prints the secrets and a first call to a terminal. A pipe may end in a log that others read, so there the text goes
/// into a file of the data folder, and the path of the file is printed. The file is written before the partner is
/// committed: if it cannot be written, the next start tries again.
pub(super) fn demo_partner(core: &Core, folder: &DataFolder, url: &str) -> anyhow::Result<()> {
    let any =
        transact(&*core.store(), Access::Read, |unit| -> Result<_, PartnerError> { partners::list(unit) })?;
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
    let shown = store_partner(core, new, Some(OPENING_BALANCE), move |partner, secrets| {
        let welcome = welcome(&partner, &secrets, &url)?;
        if std::io::stdout().is_terminal() {
            return Ok(welcome);
        }
        let path = folder.write_demo_secrets(&welcome)?;
        Ok(format!(
            "This is the first start. The demo partner's secrets and a first call are in {}\n",
            path.display()
        ))
    });
    match shown {
        Ok(shown) => output::announce(&shown),
        // Another process on the same database started at the same moment, and has made it.
        Err(error) if matches!(error.downcast_ref(), Some(PartnerError::LoginTaken)) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// What a newcomer needs.
fn welcome(partner: &Partner, secrets: &PartnerSecrets, url: &str) -> anyhow::Result<String> {
    let (api_key, password) = (secrets.api_key.expose_secret(), secrets.password.expose_secret());
    let (id, login) = (partner.id, &partner.login);
    let sealing_key = sealing_key_text(&secrets.sealing_key)?;
    let binary = binary();
    Ok(format!(
        r#"
This is the first start: here is a demo partner with {OPENING_BALANCE} roubles. Its secrets are not shown again.

  partnerId   {id}
  apiKey      {api_key}
  login       {login}
  password    {password}
  sealingKey  {sealing_key}

To call it from the command line, paste this into another terminal; it keeps the demo partner as a profile.

  echo '{{"baseUrl":"{url}","apiKey":"{api_key}","login":"{login}","password":"{password}","sealingKey":"{sealing_key}"}}' | {binary} call login --profile demo --stdin

`{binary} call --help` shows what can be called then, and docs/COMMAND-LINE.md tells more.

Or with curl alone: paste this into another terminal. It logs in and asks for the balance.

  nonce() {{ head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n'; }}
  TOKEN=$(curl -s {url}/v1/get_access_token -H 'x-api-key: {api_key}' \
    -H "x-nonce: $(nonce)" -H 'content-type: application/json' \
    -d '{{"login":"{login}","password":"{password}"}}' | sed 's/.*"accessToken":"\([^"]*\)".*/\1/')
  curl -s {url}/v1/balance -H "authorization: Bearer $TOKEN" -H "x-nonce: $(nonce)"

"#
    ))
}

/// This binary, as a shell finds it from any folder.
fn binary() -> String {
    let path = std::env::current_exe().ok().and_then(|path| path.into_os_string().into_string().ok());
    let plain =
        |path: &String| path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
    path.filter(plain).unwrap_or_else(|| "kopeck".to_owned())
}
