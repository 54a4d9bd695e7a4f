//! The bank: its injected faults and its ledger.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use kopeck_adapter_bank_http::{BankAddress, SimulatorControl};
use kopeck_adapter_bank_simulator::Simulator;
use kopeck_domain::calendar::Zone;
use kopeck_port_bank::sandbox::{BankFaults, SandboxControl as _};
use kopeck_port_system::fake::{FakeClock, SeededEntropy};
use secrecy::SecretString;
use time::OffsetDateTime;

use crate::fleet::Fleet;
use crate::installation::{BANK_SECRET, Installation};

/// How long a request that rules the simulator may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Decides how the bank behaves from now on.
pub(crate) async fn behave(fleet: &Fleet, faults: BankFaults) -> anyhow::Result<()> {
    let url = format!("http://{}", fleet.bank_address()?);
    let told = tokio::task::spawn_blocking(move || -> anyhow::Result<()> {
        let address = BankAddress::new(&url, SecretString::from(BANK_SECRET), PATIENCE)?;
        Ok(SimulatorControl::new(address)?.inject_faults(faults)?)
    });
    told.await?.context("the bank does not let itself be ruled")
}

/// The books of the bank, which its process may have open too. They are read only, so no time and no chance is needed.
pub(crate) fn books(installation: &Installation) -> anyhow::Result<Simulator> {
    let clock = Arc::new(FakeClock::starting_at(OffsetDateTime::UNIX_EPOCH));
    let zone = Zone::parse("+03:00").context("the zone")?;
    Simulator::open(&installation.bank_books(), clock, Arc::new(SeededEntropy::new(0)), zone)
        .context("the books of the bank")
}
