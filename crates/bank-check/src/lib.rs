#![doc = include_str!("../README.md")]

mod display;
mod random;
mod relay;
mod report;
mod rules;
mod session;
mod storm;

use std::sync::Arc;
use std::time::Duration;

use kopeck_adapter_bank_http::{BankAddress, ConfigError};
use kopeck_port_system::Clock;
use uuid::Uuid;

pub use report::{Exchange, Outcome, Report, RuleReport};
pub use rules::{RULES, Rule, rule};
pub use storm::{StormReport, StormSettings, storm};

use session::Session;

/// What is checked.
pub struct CheckSettings {
    /// The connector, with a test account behind it.
    pub address: BankAddress,
    /// Names this run: it is part of every key, so that none was used before.
    pub run: Uuid,
    /// How long an instruction may be pending.
    pub patience: Duration,
    /// Times requests.
    pub clock: Arc<dyn Clock>,
    /// Gets each rule before it is checked: a connector that does not respond keeps it waiting.
    pub progress: fn(&Rule),
}

/// Why nothing was checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The address or the credentials are invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The connector cannot be used at all.
    #[error("{0}")]
    Unusable(String),
}

/// Checks these rules, then closes or empties the cards that it issued.
///
/// # Errors
/// [`CheckError`] if the connector cannot be reached or refuses the secret.
pub fn check(settings: &CheckSettings, rules: &[&'static Rule]) -> Result<Report, CheckError> {
    let mut session = Session::start(settings)?;
    let run = |rule: &&'static Rule| {
        (settings.progress)(rule);
        session.run(rule)
    };
    let reports = rules.iter().map(run).collect();
    let left = session.clean_up();
    Ok(Report { rules: reports, cards: session.cards().len(), left })
}

/// What a run does on the account, for people to read before it begins.
#[must_use]
pub fn plan() -> Vec<String> {
    vec![
        format!(
            "issues up to {} cards of the types MLZ and MP4; the delivery is \"{}\"",
            session::MOST_CARDS,
            session::ADDRESS
        ),
        format!(
            "tops cards up by 1.00 to 50.00 roubles each, and one card by up to {}.00 roubles in a large batch",
            kopeck_port_bank::Capabilities::LARGEST_BATCH
        ),
        "sets limits, blocks, withdraws from and closes these cards, and touches no others".to_owned(),
        "closes the cards at the end, or withdraws what is on them".to_owned(),
    ]
}
