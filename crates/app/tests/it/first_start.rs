//! The past that the first start of an embedded sandbox gives its demo partner.

use std::path::Path;
use std::process::Command;

use kopeck_domain::employee::EmployeeStatus;
use kopeck_domain::event::EventType;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::run::RunState;
use kopeck_port_store::page::Page;
use kopeck_port_store::{Access, RunFilter, StoreError, UnitOfWork, transact};
use kopeck_service::events::{self, FeedQuery};
use kopeck_service::{balance, cards, employees, programmes, reconciliation, runs};
use time::Duration;

use crate::process::Installation;

const DATABASE: &str = "sqlite://kopeck-data/kopeck.sqlite";

/// A command in an empty folder, without settings.
fn bare(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Installation::embedded().command(arguments);
    command.current_dir(folder).env_remove("KOPECK_DATABASE_URL").env_remove("KOPECK_SANDBOX");
    command
}

/// Starts the service and stops it again; what it prints behind its address.
fn start(folder: &Path) -> Vec<String> {
    let installation = Installation::embedded();
    let running = installation.start_command(bare(folder, &["serve", "--listen", "127.0.0.1:0"]));
    let (shown, good) = running.stop("TERM");
    let log = installation.log();
    assert!(good && !log.contains("only a part of its past"), "{log}");
    shown
}

/// What there is of the partner, in numbers.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    employees: u64,
    runs: u64,
    entries: i64,
}

fn counts(unit: &mut dyn UnitOfWork, partner: PartnerId) -> Result<Counts, StoreError> {
    let page = Page::new(1, 1).unwrap();
    let query = FeedQuery { after: None, types: vec![], limit: 1 };
    Ok(Counts {
        employees: employees::list(unit, partner, &Default::default(), page)?.total,
        runs: runs::list(unit, partner, &RunFilter::default(), page)?.total,
        entries: events::feed(unit, partner, &query).unwrap().newest,
    })
}

#[test]
fn the_first_start_of_an_embedded_sandbox_seeds_three_months_once() {
    let folder = tempfile::tempdir().unwrap();
    let shown = start(folder.path());
    assert!(shown.iter().any(|line| line.contains("console on http://")), "{shown:?}");
    let data = folder.path().join("kopeck-data");
    let open = || {
        let url = format!("sqlite://{}", data.join("kopeck.sqlite").display());
        Installation::application_at(&url, &data)
    };
    let secrets: serde_json::Value =
        serde_json::from_slice(&std::fs::read(data.join("demo-partner.json")).unwrap()).unwrap();
    let partner = PartnerId::new(secrets["partnerId"].as_str().unwrap().parse().unwrap());
    let application = open();
    let env = std::sync::Arc::clone(&application.env);
    let before = transact(&*application.store, Access::Read, move |unit| {
        let page = Page::new(1, 100).unwrap();
        let now = env.now();
        assert_eq!(balance::get(unit, partner).unwrap().balances.available.get(), 100_000_000);
        let people = employees::list(unit, partner, &Default::default(), page)?.items;
        let left: Vec<_> = people.iter().filter(|one| one.status() == EmployeeStatus::DontWork).collect();
        assert_eq!((people.len(), left.len()), (40, 1));
        assert!(people.iter().all(|one| one.category().is_some()));
        let found = cards::list(unit, partner, &Default::default(), page)?.items;
        let of_leaver =
            found.iter().find(|one| one.card.link().is_some_and(|link| link.employee == left[0].id()));
        assert!(of_leaver.unwrap().bank.balance.is_positive());
        let soon = env.today() + Duration::days(32);
        assert_eq!(found.iter().filter(|one| one.card.valid_until() <= soon).count(), 2);

        let programmes = programmes::list(unit, &env, partner, page)?.items;
        let next = programmes[0].next_at.unwrap() - now;
        assert!((Duration::days(1)..Duration::days(5)).contains(&next), "{next}");
        let states = runs::list(unit, partner, &RunFilter::default(), page)?.items;
        let states: Vec<RunState> = states.iter().map(|view| view.run.state()).collect();
        assert_eq!(states[0], RunState::WaitingApproval);
        assert_eq!(states[1..], [RunState::Success; 3]);
        let query = FeedQuery { after: Some(0), types: vec![EventType::CardDeclined], limit: 500 };
        assert_eq!(events::feed(unit, partner, &query).unwrap().events.len(), 2);
        assert_eq!(reconciliation::check(unit, partner).unwrap(), vec![]);
        counts(unit, partner)
    })
    .unwrap();
    for command in [&["check"][..], &["audit", "verify"]] {
        let mut command = bare(folder.path(), command);
        assert!(command.args(["--database-url", DATABASE]).status().unwrap().success());
    }

    drop(application);
    let shown = start(folder.path());
    assert!(!shown.iter().any(|line| line.contains("first start")), "{shown:?}");
    let after = transact(&*open().store, Access::Read, move |unit| counts(unit, partner)).unwrap();
    assert_eq!(after, before);
}
