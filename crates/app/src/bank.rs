//! Which bank the service deals with: the simulator within, or one across the network.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use kopeck_adapter_bank_http::{
    BankAddress, BankTls, ClientCertificate, HttpBank, HttpBankSettings, ResilienceSettings,
    SimulatorControl, SynchronisedClock,
};
use kopeck_adapter_security::read_private;
use kopeck_adapter_system::{DataFolder, ServiceClock};
use kopeck_port_bank::BankGateway;
use kopeck_port_bank::sandbox::{Sandbox, SandboxError};
use kopeck_service::Settings;
use secrecy::{ExposeSecret as _, SecretSlice};

use crate::cli::{BankArgs, BankConnectionArgs, ServiceArgs};
use crate::compose::{SystemAdapters, simulator};

/// The bank of a service.
pub struct Bank {
    /// The way to it.
    pub gateway: Arc<dyn BankGateway>,
    /// Control of the simulator and the clock, if there is a sandbox.
    pub sandbox: Option<Sandbox>,
}

impl Bank {
    /// The bank that `args` name, with its sandbox powers if `sandbox` is on.
    ///
    /// # Errors
    /// If the simulator's database cannot be opened, the bank settings are invalid, or a sandbox is requested over a real
    /// bank.
    pub fn open(
        args: &ServiceArgs,
        sandbox: bool,
        folder: &DataFolder,
        adapters: &SystemAdapters,
        clock: Arc<ServiceClock>,
        settings: Settings,
    ) -> anyhow::Result<Self> {
        match &args.bank.bank_url {
            Some(url) => Self::across_the_network(url, &args.bank, sandbox, adapters, clock),
            None => Self::within(args.bank.bank_repeat_safe, sandbox, folder, adapters, clock, settings),
        }
    }

    fn within(
        repeat_is_safe: bool,
        sandbox: bool,
        folder: &DataFolder,
        adapters: &SystemAdapters,
        clock: Arc<ServiceClock>,
        settings: Settings,
    ) -> anyhow::Result<Self> {
        let bank = simulator(folder, adapters, settings, repeat_is_safe)?;
        if !sandbox {
            log::warn!(
                "there is no bank: a simulator stands for it, so no card and no payment is real; set KOPECK_BANK_URL, or \
                 KOPECK_SANDBOX=true for a sandbox"
            );
        }
        let sandbox = sandbox.then(|| Sandbox { bank: Arc::clone(&bank) as _, clock });
        Ok(Self { gateway: bank, sandbox })
    }

    fn across_the_network(
        url: &str,
        args: &BankArgs,
        sandbox: bool,
        adapters: &SystemAdapters,
        clock: Arc<ServiceClock>,
    ) -> anyhow::Result<Self> {
        let address = address(url, &args.connection)?;
        let gateway = http_bank(address.clone(), args, adapters)?;
        let mut bank = Self { gateway: Arc::new(gateway), sandbox: None };
        if sandbox {
            let control = Arc::new(SimulatorControl::new(address)?);
            let clock = synchronised(&control, clock)?;
            bank.sandbox = Some(Sandbox { bank: control, clock: Arc::new(clock) });
        }
        Ok(bank)
    }
}

/// The way to the bank alone, for commands.
///
/// # Errors
/// If the simulator's database cannot be opened, or the settings are invalid.
pub fn gateway(
    args: &BankArgs,
    folder: &DataFolder,
    adapters: &SystemAdapters,
    settings: Settings,
) -> anyhow::Result<Arc<dyn BankGateway>> {
    match &args.bank_url {
        Some(url) => Ok(Arc::new(http_bank(address(url, &args.connection)?, args, adapters)?)),
        None => {
            // A new simulator would have no books.
            anyhow::ensure!(folder.bank_file().exists(), "there is no bank: set KOPECK_BANK_URL");
            Ok(simulator(folder, adapters, settings, args.bank_repeat_safe)?)
        }
    }
}

/// The address of the bank at `url`, with its credentials.
///
/// # Errors
/// If the settings are invalid.
pub fn address(url: &str, args: &BankConnectionArgs) -> anyhow::Result<BankAddress> {
    let secret = match (&args.bank_secret, &args.bank_secret_file) {
        (Some(secret), _) => secret.clone(),
        (None, Some(file)) => read_private(file)?.trim().into(),
        (None, None) => bail!("KOPECK_BANK_SECRET is missing"),
    };
    ensure!(!secret.expose_secret().is_empty(), "the bank's secret is empty");
    let timeout = Duration::try_from(args.bank_timeout).context("KOPECK_BANK_TIMEOUT")?;
    let address = BankAddress::new(url, secret, timeout)?.with_tls(tls(args)?);
    Ok(if args.bank_allow_http { address.allow_http() } else { address })
}

fn http_bank(address: BankAddress, args: &BankArgs, adapters: &SystemAdapters) -> anyhow::Result<HttpBank> {
    let settings =
        HttpBankSettings { repeat_is_safe: args.bank_repeat_safe, resilience: ResilienceSettings::default() };
    // The machine's clock: a sandbox that moves the service's must not close the circuit breaker.
    Ok(HttpBank::new(address, &settings, Arc::clone(&adapters.wall))?)
}

/// Reads the files that the settings name.
fn tls(args: &BankConnectionArgs) -> anyhow::Result<BankTls> {
    let read =
        |path: &PathBuf| std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let client = match (&args.bank_client_cert, &args.bank_client_key) {
        (Some(chain), Some(key)) => {
            Some(ClientCertificate { chain: read(chain)?, key: SecretSlice::from(read(key)?) })
        }
        _ => None,
    };
    let authorities = args.bank_ca.as_ref().map(read).transpose()?;
    Ok(BankTls { authorities, client, pins: args.bank_pin.clone() })
}

/// The service's clock in step with the simulator's, before the service accepts requests.
fn synchronised(
    control: &Arc<SimulatorControl>,
    clock: Arc<ServiceClock>,
) -> anyhow::Result<SynchronisedClock> {
    SynchronisedClock::start(Arc::clone(control), clock).map_err(|error| match error {
        SandboxError::NotASimulator(reason) => anyhow::anyhow!(
            "the bank at the URL does not let itself be ruled as a simulator ({reason}): check the secret, or serve with \
             --sandbox false"
        ),
        error => error.into(),
    })
}
