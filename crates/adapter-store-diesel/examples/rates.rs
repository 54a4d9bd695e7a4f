#![allow(warnings)]
use kopeck_adapter_store_diesel::*;
use kopeck_port_store::*;
use kopeck_domain::{*, employee::*, person::*, partner::*, ids::*, page::*, ledger::*};
use std::sync::{*, atomic::*};
use std::time::Instant;
use uuid::Uuid;
use time::OffsetDateTime;
const P: PartnerId = PartnerId::new(Uuid::from_u128(1));
const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;
fn eid(n: u64) -> EmployeeId { Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000u128 + ((n as u128) << 64)).into() }
fn employee(n: u64) -> Employee {
    Employee { id: eid(n), custom_id: CustomId::parse(&format!("E-{n}")).unwrap(),
        surname: Some(PersonName::parse("Иванов").unwrap()), name: Some(PersonName::parse("Пётр").unwrap()), patronymic: None,
        phone: Some(Phone::parse("9031234567").unwrap()), email: Some(Email::parse("p@example.ru").unwrap()), category: None,
        status: EmployeeStatus::Work, created_at: NOW, status_updated_at: NOW }
}
fn pipe<T: Send + 'static>(name: &str, s: &DieselStore, a: Access, clients: usize, total: u64, f: impl Fn(u64) -> Box<dyn FnMut(&mut dyn UnitOfWork) -> Result<T, StoreError> + Send>) {
    let (tx, rx) = mpsc::channel(); let (mut sent, mut got) = (0, 0); let t = Instant::now();
    while got < total { while sent < total && sent - got < clients as u64 { let tx = tx.clone(); let mut w = f(sent); submit::<_, StoreError>(s, a, move |u| w(u), move |r| { r.map(drop).unwrap(); tx.send(()).unwrap() }); sent += 1; } rx.recv().unwrap(); got += 1; }
    println!("{name} c={clients}: {:.0}/s", total as f64 / t.elapsed().as_secs_f64());
}
fn main() {
    let d = std::env::args().nth(1).unwrap();
    let _ = std::fs::remove_dir_all(&d); std::fs::create_dir_all(&d).unwrap();
    let url = format!("sqlite://{d}/k.db"); migrate(&url).unwrap();
    let s = DieselStore::open(StoreConfig::new(url)).unwrap();
    transact::<_, StoreError>(&s, Access::Write, |u| u.partners().insert(&Credentials { partner: Partner { id: P, name: "p".into(), login: "l".into(), status: PartnerStatus::Active, sealing: SealingPolicy::Optional, created_at: NOW }, api_key_hash: [0;32], password_hash: "".into() })).unwrap();
    let base = AtomicU64::new(0);
    for (c, total) in [(1, 3000), (32, 40000), (64, 60000)] { let b = base.fetch_add(total, Ordering::Relaxed);
        pipe("create employee, 7 statements", &s, Access::Write, c, total, |n| { let e = employee(b + n); Box::new(move |u| {
            let k = format!("key-{}", e.custom_id.as_str()); u.idempotency().find(P, &k)?; u.employees().id_by_custom_id(P, &e.custom_id)?; u.employees().insert(P, &e)?;
            u.idempotency().record(P, &k, &RecordedAnswer { fingerprint: [0;32], status: 201, body: vec![b'x'; 200], recorded_at: NOW }, NOW) }) }); }
    let have = base.load(Ordering::Relaxed);
    for c in [1, 32, 64] {
        pipe("get employee with cards", &s, Access::Read, c, 100000, |n| { let id = eid(n.wrapping_mul(7919) % have); Box::new(move |u| { u.employees().get(P, id)?.unwrap(); u.cards().of_employee(P, id) }) });
        pipe("page of 15", &s, Access::Read, c, 20000, |n| { let p = Page::new((n as u32 * 31) % 6000 + 1, 15).unwrap(); Box::new(move |u| u.employees().list(P, &EmployeeFilter::default(), p)) });
    }
    pipe("deposit", &s, Access::Write, 32, 30000, |n| Box::new(move |u| { let m = Movement::new(MovementKind::Deposit, Reference::Deposit(DepositReference::parse(&format!("R{n}")).unwrap()), Kopecks::new(1)).unwrap(); let b = u.ledger().sheet(P)?.unwrap(); u.ledger().book(P, &m, b.balances.after(&m).unwrap(), NOW) }));
    pipe("update employee", &s, Access::Write, 32, 30000, |n| { let e = employee(n.wrapping_mul(7919) % have); Box::new(move |u| u.employees().update(P, &e)) });
}
