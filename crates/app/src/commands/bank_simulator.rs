//! `kopeck bank-simulator`.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, ensure};
use kopeck_adapter_bank_simulator::Simulator;
use kopeck_adapter_bank_simulator::server::ServerParts;
use kopeck_adapter_system::{BoundPort, FolderLock, ServiceClock, announce, make_private, open_private};
use kopeck_port_bank::Capabilities;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use secrecy::ExposeSecret as _;

use super::shutdown::{self, IgnoredSignals, TerminationSignals};
use crate::cli::BankSimulatorArgs;
use crate::compose::SystemAdapters;

/// Threads that take calls; the simulator itself does one thing after the other.
const THREADS: usize = 1;

/// Serves the simulator until a stop signal.
pub(super) fn run(args: &BankSimulatorArgs) -> anyhow::Result<()> {
    ensure!(!args.secret.expose_secret().is_empty(), "KOPECK_BANK_SECRET must not be empty");
    // Before anything is written: a start that finds its port in use leaves nothing behind.
    let port = BoundPort::bind(args.listen)?;
    let tls = tls(args)?;
    let folder = &args.data_dir;
    make_private(folder)?;
    // The clock's offset is the process's own, so two of them on one folder would tell two times.
    let lock = FolderLock::take(folder)?;
    let _lock =
        lock.with_context(|| format!("another process serves from the data folder {}", folder.display()))?;
    let adapters = SystemAdapters::real();
    let clock = Arc::new(ServiceClock::open(adapters.wall, folder.join("clock"))?);
    let books = folder.join("bank.sqlite");
    open_private(&books)?;
    let capabilities = Capabilities::without(args.without.iter().copied());
    let bank = Simulator::open(&books, Arc::clone(&clock) as _, adapters.entropy, args.utc_offset)?
        .with_capabilities(capabilities.with_largest_batch(args.largest_batch));
    let listener = port.listen()?;
    let address = listener.local_addr()?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let parts =
        ServerParts { bank: Arc::new(bank), clock, secret: args.secret.clone(), threads: THREADS, tls };

    let system = actix_web::rt::System::new();
    let mut signals = system.block_on(async { TerminationSignals::listen() })?;
    announce(&format!("the bank simulator serves on {scheme}://{address}\n"));
    system.block_on(async {
        IgnoredSignals::listen()?.handle(|| log::info!("SIGHUP: ignored"));
        let server = kopeck_adapter_bank_simulator::server::serve(listener, parts)?;
        shutdown::serve(server, signals.recv()).await
    })?;
    log::info!("stopped");
    Ok(())
}

/// How to serve by HTTPS, if the settings name a certificate.
fn tls(args: &BankSimulatorArgs) -> anyhow::Result<Option<ServerConfig>> {
    let (Some(chain), Some(key)) = (&args.tls_cert, &args.tls_key) else { return Ok(None) };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    let builder = match &args.tls_client_ca {
        None => builder.with_no_client_auth(),
        Some(file) => {
            let mut roots = RootCertStore::empty();
            for certificate in certificates(file)? {
                roots.add(certificate).context("KOPECK_BANK_TLS_CLIENT_CA")?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.context("KOPECK_BANK_TLS_CLIENT_CA")?)
        }
    };
    // The reason is left out: it could quote the key.
    let key = PrivateKeyDer::from_pem_file(key)
        .map_err(|_| anyhow::anyhow!("KOPECK_BANK_TLS_KEY holds no private key in PEM"))?;
    let config = builder.with_single_cert(certificates(chain)?, key);
    Ok(Some(config.context("KOPECK_BANK_TLS_CERT and KOPECK_BANK_TLS_KEY do not fit")?))
}

fn certificates(file: &Path) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let all = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    all.with_context(|| format!("{} holds no certificate in PEM", file.display()))
}
