//! The yardstick on SQLite: the service's own HTTP adapter with token check and sealing, over a store that keeps nothing.

mod seeded;
mod unit;

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

use actix_web::rt::System;
use anyhow::Context as _;
use kopeck_adapter_http::{HttpParts, HttpSettings, HttpState, NoopMetrics};
use kopeck_adapter_security::{Argon2Passwords, JwtTokens, KeyRing, MasterKey, MasterKeyBox};
use kopeck_port_store::Store;
use kopeck_port_system::Clock;
use kopeck_port_webhook::fake::FakeSender;
use kopeck_service::audit::{AuditQueue, NoopAuditObserver};
use kopeck_service::tokens::TokenService;
use kopeck_service::{Env, Settings};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::signal::unix::{SignalKind, signal};

use crate::machine::{self, MachineClock, TimeOrderedIds};
use crate::targets::Targets;
use seeded::SeededPartners;
use unit::{NoBank, Nothing};

/// What to serve.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file that `seed` made.
    #[arg(long)]
    targets: PathBuf,
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// The master key of the service.
    #[arg(long, env = "KOPECK_MASTER_KEY", hide_env_values = true)]
    master_key: SecretString,
}

/// Serves until it is stopped.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let ring = KeyRing::of(&MasterKey::parse(args.master_key.expose_secret())?);
    let targets = Targets::read(&args.targets)?;
    let secrets = Arc::new(MasterKeyBox::new(Arc::clone(&ring), machine::entropy()));
    let known = Arc::new(SeededPartners::new(&targets, &*secrets)?);
    let store: Arc<dyn Store> = Arc::new(Nothing(known));
    let clock: Arc<dyn Clock> = Arc::new(MachineClock);
    let env = Arc::new(Env {
        clock: Arc::clone(&clock),
        ids: Arc::new(TimeOrderedIds),
        entropy: machine::entropy(),
        settings: Settings::DEFAULT,
    });
    let passwords = Arc::new(Argon2Passwords::new(machine::entropy(), std::num::NonZeroUsize::MIN)?);
    let tokens = TokenService::new(Arc::clone(&env), passwords, Arc::new(JwtTokens::new(ring)), secrets);
    let state = HttpState::new(HttpParts {
        env,
        audit: AuditQueue::new(Arc::clone(&store), Arc::clone(&clock), Arc::new(NoopAuditObserver)),
        wall: clock,
        store,
        bank: Arc::new(NoBank),
        tokens: Arc::new(tokens),
        sandbox: None,
        metrics: Arc::new(NoopMetrics),
        feed_waiters: Arc::default(),
        webhooks: Arc::new(FakeSender),
        settings: HttpSettings::default(),
    });
    let listener = TcpListener::bind(args.listen)?;
    println!("kopeck-bench serves on http://{}", listener.local_addr()?);
    System::new().block_on(serve(listener, state))
}

async fn serve(listener: TcpListener, state: HttpState) -> anyhow::Result<()> {
    let server = kopeck_adapter_http::serve(listener, state)?;
    let handle = server.handle();
    let serving = actix_web::rt::spawn(server);
    signal(SignalKind::terminate())?.recv().await;
    handle.stop(true).await;
    serving.await.context("the server panicked")??;
    Ok(())
}
