//! Signatures of the audit log, its marks, and the chain that operators' commands share.

use std::sync::{Arc, Mutex};

use kopeck_adapter_store_diesel::{AuditChain, AuditSettings, BatchedStore, StoreConfig};
use kopeck_audit::{Digest, Entry, Head, Mark, MarkKind, Record, Signature, Statement};
use kopeck_port_store::mock::FakeSigner;
use kopeck_port_store::{AuditSigner, HeadObserver, SignatureCheck, Store};
use kopeck_port_system::Clock;
use kopeck_port_system::fake::FakeClock;
use time::{Duration, OffsetDateTime};

use crate::audit::refusal;
use crate::support::{Kind, NOW, config, on_every_database, read, tamper, write};

on_every_database! {
    entries_are_signed_and_the_checkpoint_moves_once_a_minute
    commands_at_once_share_one_chain
    a_chain_of_commands_that_was_cut_does_not_go_on
    entries_are_deleted_up_to_the_mark_and_no_others
}

/// The machine's own time, moved by the test; a sandbox moves none of it.
pub(crate) struct Wall(pub(crate) FakeClock);

impl Clock for Wall {
    fn now(&self) -> OffsetDateTime {
        self.0.now()
    }

    fn steady(&self) -> Duration {
        self.0.steady()
    }
}

#[derive(Default)]
struct Heads(Mutex<Vec<Head>>);

impl HeadObserver for Heads {
    fn committed(&self, head: &Head) {
        self.0.lock().unwrap().push(head.clone());
    }
}

fn signer() -> Arc<dyn AuditSigner> {
    Arc::new(FakeSigner(vec![1]))
}

pub(crate) fn wall() -> Arc<Wall> {
    Arc::new(Wall(FakeClock::starting_at(NOW)))
}

/// A second store on the database, which signs.
fn signing(url: &str, clock: &Arc<Wall>, chain: AuditChain, heads: Option<&Arc<Heads>>) -> BatchedStore {
    let heads = heads.map(|heads| Arc::clone(heads) as Arc<dyn HeadObserver>);
    let audit = AuditSettings { signer: Some(signer()), heads, chain };
    let clock = Arc::clone(clock) as Arc<dyn Clock>;
    let config = StoreConfig { connections: 2, audit, ..config(url, clock) };
    BatchedStore::open(config).unwrap()
}

fn append(store: &dyn Store, action: &str) {
    let entry = Entry::new(NOW, "127.0.0.1", action.to_owned());
    write(store, move |unit| unit.audit().append(&entry)).unwrap();
}

/// The entries of a chain, after it was made sure that each follows the one before and is signed.
fn records(store: &dyn Store, chain: u64) -> Vec<Record> {
    let openings = read(store, |unit| unit.audit().openings(0, 100)).unwrap();
    let mut head = openings.iter().find(|opening| opening.chain == chain).unwrap().head();
    let records = read(store, move |unit| unit.audit().records(chain, 0, 1_000)).unwrap();
    for record in &records {
        assert!(record.follows(&head), "{record:?}");
        head = record.head.clone();
        let message = head.signed_bytes(Statement::Entry);
        assert_eq!(signer().check(&message, &record.signature.unwrap()), SignatureCheck::Valid);
    }
    records
}

/// Where the checkpoint of a chain stands, which is its only mark.
fn checkpoint(store: &dyn Store, chain: u64) -> Head {
    let mut marks = read(store, move |unit| unit.audit().marks(chain)).unwrap();
    assert!(marks.len() == 1 && marks[0].kind == MarkKind::Checkpoint, "{marks:?}");
    let mark = marks.remove(0);
    assert_eq!(signer().check(&mark.signed_bytes(), &mark.signature), SignatureCheck::Valid);
    mark.head
}

fn chains(store: &dyn Store) -> usize {
    read(store, |unit| unit.audit().openings(0, 100)).unwrap().len()
}

fn entries_are_signed_and_the_checkpoint_moves_once_a_minute(kind: Kind) {
    let (test, clock, heads) = (kind.empty_store(), wall(), Arc::<Heads>::default());
    let store = signing(&test.url, &clock, AuditChain::OfConnection, Some(&heads));
    for _ in 0..3 {
        append(&store, "one");
    }
    assert_eq!(checkpoint(&store, 1).number, 1);
    clock.0.advance(Duration::seconds(59));
    append(&store, "two");
    assert_eq!(checkpoint(&store, 1).number, 1);
    clock.0.advance(Duration::SECOND);
    append(&store, "three");
    let records = records(&store, 1);
    assert_eq!(checkpoint(&store, 1), records[4].head);
    let expected: Vec<Head> = records.into_iter().map(|record| record.head).collect();
    assert_eq!(*heads.0.lock().unwrap(), expected, "each was told after its commit");
}

fn commands_at_once_share_one_chain(kind: Kind) {
    let (test, clock) = (kind.empty_store(), wall());
    let server = signing(&test.url, &clock, AuditChain::OfConnection, None);
    append(&server, "of a server");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    append(&signing(&test.url, &clock, AuditChain::OfCommands, None), "of a command");
                }
            });
        }
    });
    append(&server, "of a server");
    assert_eq!(chains(&server), 2);
    let of_commands = records(&server, 2);
    assert_eq!(of_commands.len(), 20);
    assert!(of_commands.iter().all(|record| record.entry.action == "of a command"));
    assert_eq!(checkpoint(&server, 2), of_commands[19].head);
    assert_eq!(records(&server, 1).len(), 2);
}

/// It would look complete.
fn a_chain_of_commands_that_was_cut_does_not_go_on(kind: Kind) {
    let (test, clock) = (kind.empty_store(), wall());
    let command = || signing(&test.url, &clock, AuditChain::OfCommands, None);
    append(&command(), "one");
    append(&command(), "two");
    let drop_trigger = match kind {
        Kind::Sqlite | Kind::PlainSqlite => "DROP TRIGGER audit_entries_no_delete;",
        Kind::Postgres | Kind::PlainPostgres => "DROP TRIGGER audit_entries_pruned ON audit_entries;",
    };
    tamper(&test, &format!("{drop_trigger} DELETE FROM audit_entries WHERE number = 2;"));
    append(&command(), "three");
    append(&command(), "four");
    let store = command();
    assert_eq!(chains(&store), 2);
    assert_eq!((records(&store, 1).len(), checkpoint(&store, 1).number), (1, 2));
    assert_eq!((records(&store, 2).len(), checkpoint(&store, 2).number), (2, 2));
}

fn entries_are_deleted_up_to_the_mark_and_no_others(kind: Kind) {
    let test = kind.empty_store();
    let store = signing(&test.url, &wall(), AuditChain::OfConnection, None);
    for _ in 0..3 {
        append(&store, "one");
    }
    let mark = |kind, number| Mark {
        kind,
        head: Head { chain: 1, number, hash: Digest::from_bytes([7; 32]) },
        signature: Signature { key: [1; 8], code: [2; 32] },
    };
    let checkpoint = mark(MarkKind::Checkpoint, 3);
    write(&test, move |unit| unit.audit().put_mark(&checkpoint)).unwrap();
    assert!(refusal(&test, "DELETE FROM audit_entries WHERE number = 1").contains("append-only"));
    let beginning = mark(MarkKind::Beginning, 1);
    assert_eq!(write(&test, move |unit| unit.audit().prune(&beginning)), Ok(1));
    let mut statements = vec![
        "DELETE FROM audit_entries",
        "DELETE FROM audit_entries WHERE number = 2",
        "DELETE FROM audit_checkpoints",
        "UPDATE audit_checkpoints SET number = number - 1 WHERE number = 3",
        "UPDATE audit_checkpoints SET chain = 2",
    ];
    match kind {
        Kind::Sqlite | Kind::PlainSqlite => statements.push(
            "INSERT OR REPLACE INTO audit_checkpoints
             SELECT chain, kind, number - 1, hash, signature FROM audit_checkpoints WHERE number = 3",
        ),
        Kind::Postgres | Kind::PlainPostgres => statements.push("TRUNCATE audit_checkpoints"),
    }
    for statement in statements {
        assert!(refusal(&test, statement).contains("append-only"), "{statement}");
    }
    let left = read(&test, |unit| unit.audit().records(1, 0, 9)).unwrap();
    assert_eq!(left.iter().map(|record| record.head.number).collect::<Vec<_>>(), [2, 3]);
}
