//! A real process is killed while runs are created, submitted and carried out: a file has one effect, whole, whatever
//! happens to the process.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use kopeck_adapter_bank_simulator::Simulator;
use kopeck_adapter_system::{OsEntropy, SystemClock};
use kopeck_client::{
    Client, EmployeeFilter, Error, ErrorCode, IdempotencyKey, NewRun, Run, RunKind, RunOutcome, RunState,
    Uuid,
};
use kopeck_domain::calendar::Zone;
use kopeck_test_support::Random;
use tokio::task::JoinSet;

use crate::kill::{CARDS, FIRST_TOP_UP, SERVE, set_up};
use crate::process::Installation;

const KILLS: u64 = 8;
const CALLERS: u64 = 3;
const DEPOSIT: i64 = 1_000_000_000;
/// More than are carried out in one unit of work.
const STAFF: usize = 120;
const PATIENCE: Duration = Duration::from_secs(90);

/// A file that was sent, perhaps.
#[derive(Clone)]
struct Sent {
    key: IdempotencyKey,
    file: NewRun,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_while_runs_are_made_and_carried_out_each_file_has_one_effect() {
    let seed = Random::any_seed();
    println!("seed {seed}");
    let random = Random::new(seed);
    let installation = Installation::new();
    let partner = installation.create_partner(&["--deposit", "10000000.00", "--yes"]);
    set_up(&installation, &partner).await;

    let mut sent = Vec::new();
    for round in 0..KILLS {
        let mut running = installation.serve(SERVE);
        let client = running.client(&partner);
        let mut load = JoinSet::new();
        for caller in 0..CALLERS {
            let number = round * CALLERS + caller;
            load.spawn(send_until_refused(client.clone(), number, random.part(number)));
        }
        tokio::time::sleep(Duration::from_millis(50 + random.below(400))).await;
        running.kill();
        while let Some(made) = load.join_next().await {
            sent.extend(made.unwrap());
        }
        assert!(installation.succeed(&["check"]).contains("no discrepancies"), "after kill {round}");
    }

    let running = installation.serve(SERVE);
    let client = running.client(&partner);
    let (mut spent, mut staff) = (0, HashSet::new());
    for one in &sent {
        let made = begin(&client, one).await.unwrap();
        let ended = end_of(&client, made.id_run).await;
        let done = done_of(&client, &ended).await;
        match ended.kind {
            RunKind::TopUp => {
                assert!(done <= ended.amount, "never more than was shown: {ended:?}");
                assert!(ended.requests.len() <= 1, "{ended:?}");
                spent += done;
            }
            _ => {
                assert_eq!(ended.state, RunState::Success, "{ended:?}");
                staff.extend((0..STAFF).map(|place| name(&one.file, place)));
            }
        }
        // The same file under another key is the same run.
        let again = client.runs().create(&one.file).await.unwrap_err();
        assert_eq!(again.code(), Some(&ErrorCode::ReferenceTaken), "{again:?}");
    }
    println!("{} files, {spent} kopecks, {} employees", sent.len(), staff.len());
    let everybody = client.employees().all(&EmployeeFilter::default()).per_page(500).collect().await.unwrap();
    assert_eq!(everybody.len(), CARDS + staff.len(), "everybody was added once");
    assert!(staff.iter().all(|name| everybody.iter().any(|employee| employee.custom_id == *name)));
    let (first_order, balance) =
        (i64::try_from(CARDS).unwrap() * FIRST_TOP_UP, client.balance().await.unwrap());
    assert_eq!((balance.hold, balance.available), (0, DEPOSIT - first_order - spent));

    let (_, good) = running.stop("TERM");
    assert!(good, "{}", installation.log());
    assert!(installation.succeed(&["check"]).contains("no discrepancies"));
    let (books, zone) = (installation.path().join("bank.sqlite"), Zone::parse("+03:00").unwrap());
    let bank = Simulator::open(&books, Arc::new(SystemClock::default()), Arc::new(OsEntropy), zone).unwrap();
    assert!(bank.check().unwrap().is_empty());
    assert_eq!(bank.totals().unwrap().top_ups.get(), spent);
}

/// A file of its own, under a reference of its own: amounts for some people, or new employees.
fn file(reference: &str, random: &Random) -> NewRun {
    let (kind, text) = if random.below(4) == 0 {
        let rows: String = (0..STAFF).map(|place| format!("{reference}-{place},\n")).collect();
        (RunKind::Employees, format!("customId,phone\n{rows}"))
    } else {
        let first = usize::try_from(random.below(CARDS as u64)).unwrap();
        let row = |place: usize| format!("T-{};1,{:02}\n", (first + place) % CARDS, random.below(90) + 10);
        (RunKind::TopUp, format!("Табельный номер;Сумма\n{}", (0..5).map(row).collect::<String>()))
    };
    NewRun { reference: Some(reference.to_owned()), ..NewRun::of_file(kind, text) }
}

fn name(file: &NewRun, place: usize) -> String {
    format!("{}-{place}", file.reference.as_deref().unwrap())
}

/// Creates runs and submits them until the server does not answer any more.
async fn send_until_refused(client: Client, caller: u64, random: Random) -> Vec<Sent> {
    let mut sent = Vec::new();
    for number in 0.. {
        let file = file(&format!("F{caller}-{number}"), &random);
        sent.push(Sent { key: IdempotencyKey::fresh(), file });
        match begin(&client, &sent[number]).await {
            Ok(_) => {}
            Err(Error::Api { status: 400..500, .. } | Error::Invalid { .. }) => panic!("a wrong call"),
            Err(_) => break,
        }
    }
    sent
}

/// Creates a run under its key and submits it, however often that was done before.
async fn begin(client: &Client, sent: &Sent) -> Result<Run, Error> {
    let made = client.runs().create(&sent.file).idempotency_key(sent.key.clone()).await?;
    client.runs().submit(made.id_run, &made.digest, true).await
}

async fn end_of(client: &Client, run: Uuid) -> Run {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let shown = client.runs().get(run).await.unwrap();
        if shown.state.is_final() {
            return shown;
        }
        assert!(tokio::time::Instant::now() < deadline, "{shown:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The kopecks of the items that were carried out. Each item has an outcome.
async fn done_of(client: &Client, run: &Run) -> i64 {
    let items = client.runs().result(run.id_run).await.unwrap();
    assert_eq!(items.len() as u64, run.number);
    assert!(items.iter().all(|item| item.outcome.is_some()), "{items:?}");
    let done = items.iter().filter(|item| item.outcome == Some(RunOutcome::Done));
    done.map(|item| item.amount.unwrap_or(0)).sum()
}
