//! Secrets of programs, which a page shows once.

use kopeck_sealing::{KeyId, SealingKey};
use kopeck_service::partners::{NewSealingKey, PartnerSecrets};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use crate::texts::Text;
use crate::view::{Block, Cell, Page};
use crate::visit::{Reply, Visit};

/// What can be shown, in this order.
const LABELS: [(&str, Text); 6] = [
    ("id", Text::IDENTIFIER),
    ("apiKey", Text::API_KEY),
    ("login", Text::LOGIN),
    ("password", Text::PASSWORD),
    ("sealingKey", Text::SEALING_KEY),
    ("formerUntil", Text::FORMER_UNTIL),
];

/// The text of a sealing key as programs take it.
pub(crate) fn sealing_key_text(key: &NewSealingKey) -> String {
    let bytes = key.secret.expose_secret().try_into();
    bytes.map_or_else(
        |_| String::new(),
        |secret: [u8; 32]| SealingKey::new(KeyId::from_bytes(key.id), secret).to_text().to_string(),
    )
}

/// All secrets of a program with this login.
pub(crate) fn all(id: &str, login: &str, secrets: &PartnerSecrets) -> Value {
    json!({
        "id": id,
        "apiKey": secrets.api_key.expose_secret(),
        "login": login,
        "password": secrets.password.expose_secret(),
        "sealingKey": sealing_key_text(&secrets.sealing_key),
    })
}

/// A page with secrets, which leads to `next`.
pub(crate) fn page(
    visit: &Visit<'_>,
    title: &str,
    section: &'static str,
    shown: &Value,
    next: &str,
) -> Reply {
    let mut page = Page::new(title, section);
    page.push(Block::Text(visit.t(Text::KEEP_SECRETS).to_owned()));
    let given = LABELS.iter().filter_map(|(name, label)| Some((label, shown.get(name)?.as_str()?)));
    let facts = given.map(|(label, value)| (visit.t(*label).to_owned(), Cell::text(value)));
    page.push(Block::Facts(facts.collect()));
    page.push(Block::Links(vec![Cell::link(visit.t(Text::CONTINUE), next)]));
    Reply::Page(page)
}
