//! `kopeck serve`.

use std::net::TcpListener;
use std::sync::Arc;

use anyhow::Context;
use kopeck_adapter_http::{HttpParts, HttpSettings, HttpState};
use kopeck_port_store::{Access, StoreError, transact};

use super::{first_start, until_told};
use crate::bank::Bank;
use crate::cli::ServeArgs;
use crate::compose::{Core, Machine, Vault};
use crate::workers::Workers;

/// Serves until told to stop; then answers what was accepted, and lets the workers settle what they told the bank.
pub(super) fn run(args: &ServeArgs) -> anyhow::Result<()> {
    let machine = Machine::real();
    let settings = args.settings();
    let vault = Vault::open(&args.store, &*machine.entropy)?;
    let _lock = vault.folder.lock()?;
    super::migrate::apply(&args.store.database_url)?;
    let (machine, clock) = machine.with_clock_of(&vault.folder)?;
    let core = Core::open(&args.store.database_url, &vault.master_key, &machine, settings)?;
    let bank = Bank::open(args, &vault.folder, &machine, clock, settings)?;
    let listener =
        TcpListener::bind(args.listen).with_context(|| format!("cannot listen on {}", args.listen))?;
    let address = listener.local_addr()?;

    // Only this process works on an embedded database, so a lease that is there was left by one that was killed.
    let store = core.store();
    transact(&*store, Access::Write, |unit| -> Result<(), StoreError> { unit.work().end_all_leases() })?;

    let state = HttpState::new(HttpParts {
        env: Arc::clone(&core.env),
        wall: Arc::clone(&machine.wall),
        store: Arc::clone(&store),
        bank: Arc::clone(&bank.gateway),
        tokens: Arc::clone(&core.tokens),
        sandbox: bank.power.clone(),
        settings: HttpSettings { body_limit: args.body_limit, ..HttpSettings::default() },
    });
    let (worker, refresher) =
        (core.worker(Arc::clone(&bank.gateway)), core.account_refresher(Arc::clone(&bank.gateway)));
    let workers = Workers::start(args.workers, &store, &core.env, &Arc::new(worker), refresher)?;

    println!("kopeck serves on http://{address}");
    if args.sandbox
        && let Some(demo) = first_start::demo_partner(&core)?
    {
        print!("{}", demo.welcome(address)?);
    }
    let served = actix_web::rt::System::new().block_on(serve_until_told(listener, state));

    workers.stop();
    core.store.close();
    log::info!("stopped");
    served
}

async fn serve_until_told(listener: TcpListener, state: HttpState) -> anyhow::Result<()> {
    until_told::serve(kopeck_adapter_http::serve(listener, state)?).await
}
