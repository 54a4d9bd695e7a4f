//! A bank in a temporary folder, with a clock that only the test moves.

use std::sync::Arc;

use diesel::connection::SimpleConnection as _;
use diesel::{Connection as _, SqliteConnection};
use kopeck_adapter_bank_simulator::Simulator;
use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_domain::card::CardType;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::limit::Limit;
use kopeck_port_bank::{
    BankCard, BankError, BankGateway as _, BankKey, Delivery, Instruction, IssuedCard, OrderedCards,
    Submission, Verdict,
};
use kopeck_port_system::fake::{FakeClock, SeededEntropy};
use tempfile::TempDir;
use time::{Duration, OffsetDateTime};

/// 21.11.2026 09:00 in the bank's zone.
pub(crate) const START: i64 = 1_795_240_800;

pub(crate) struct Bank {
    pub(crate) bank: Simulator,
    pub(crate) clock: Arc<FakeClock>,
    folder: TempDir,
}

impl Bank {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(FakeClock::starting_at(OffsetDateTime::from_unix_timestamp(START).unwrap()));
        let bank = open(&folder, "bank.db", &clock);
        Self { bank, clock, folder }
    }

    /// The same bank, with `sleep` for its latency.
    pub(crate) fn sleeping(self, sleep: impl Fn(std::time::Duration) + Send + Sync + 'static) -> Self {
        Self { bank: self.bank.with_sleep(sleep), ..self }
    }

    /// The process ends and another opens the same database.
    pub(crate) fn restarted(self) -> Self {
        let Self { bank, clock, folder } = self;
        drop(bank);
        let bank = open(&folder, "bank.db", &clock);
        Self { bank, clock, folder }
    }

    /// A second process with the same database.
    pub(crate) fn neighbour(&self) -> Simulator {
        open(&self.folder, "bank.db", &self.clock)
    }

    /// A second process with another database.
    pub(crate) fn neighbour_at(&self, file: &str) -> Simulator {
        open(&self.folder, file, &self.clock)
    }

    /// Writes to the database past the simulator.
    pub(crate) fn tamper(&self, sql: &str) {
        let path = self.folder.path().join("bank.db");
        let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
        connection.batch_execute(sql).unwrap();
    }

    /// Every byte that the bank has written.
    pub(crate) fn written(&self) -> Vec<u8> {
        let files = std::fs::read_dir(self.folder.path()).unwrap();
        files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
    }

    pub(crate) fn days_pass(&self, days: i64) {
        self.clock.advance(Duration::days(days));
    }

    pub(crate) fn submit_one(&self, submission: Submission) -> Result<Verdict, BankError> {
        self.bank.submit(&[submission]).into_iter().next().unwrap()
    }

    /// Issues cards under `key`.
    pub(crate) fn issue(&self, key: &str, lines: Vec<OrderedCards>) -> Vec<IssuedCard> {
        assert_eq!(self.submit_one(order(key, lines)), Ok(Verdict::Done));
        self.bank.issued_cards(&BankKey::new(key).unwrap(), 0, u32::MAX).unwrap()
    }

    /// A plastic card with `amount` on it.
    pub(crate) fn card_with(&self, key: &str, amount: i64) -> CardNumber {
        let card = self.issue(key, vec![plastic(1)]).into_iter().next().unwrap();
        if amount > 0 {
            let filled = self.submit_one(top_up(&format!("{key}-fill"), card.number, amount));
            assert_eq!(filled, Ok(Verdict::Done));
        }
        card.number
    }

    pub(crate) fn card(&self, number: CardNumber) -> BankCard {
        self.bank.card(number).unwrap().unwrap()
    }

    pub(crate) fn balance(&self, number: CardNumber) -> i64 {
        self.card(number).balance.get()
    }

    /// Whether every balance is what its transactions add up to, and the totals agree.
    pub(crate) fn assert_books_are_right(&self) {
        assert_eq!(self.bank.check().unwrap(), []);
        let books = self.bank.totals().unwrap();
        let into = Kopecks::sum([books.first_top_ups, books.top_ups, books.refunds]).unwrap();
        let out = books.payments.plus(books.reversals).unwrap();
        assert_eq!(into.minus(out).unwrap(), books.balances);
    }
}

fn open(folder: &TempDir, file: &str, clock: &Arc<FakeClock>) -> Simulator {
    let path = folder.path().join(file);
    let zone = Zone::parse("+03:00").unwrap();
    Simulator::open(&path, Arc::clone(clock) as _, Arc::new(SeededEntropy::new(7)), zone).unwrap()
}

pub(crate) fn plastic(count: u32) -> OrderedCards {
    delivered_to("1 Main Street", count)
}

pub(crate) fn delivered_to(address: &str, count: u32) -> OrderedCards {
    let delivery =
        Delivery { address: address.into(), recipient: "Anna Petrova".into(), phone: "9001234567".into() };
    OrderedCards { kind: CardType::Mp4, count, first_top_up: None, delivery: Some(delivery) }
}

pub(crate) fn virtual_cards(count: u32, amount: i64) -> OrderedCards {
    OrderedCards { kind: CardType::Mlz, count, first_top_up: Some(Kopecks::new(amount)), delivery: None }
}

pub(crate) fn order(key: &str, lines: Vec<OrderedCards>) -> Submission {
    Submission { key: BankKey::new(key).unwrap(), instruction: Instruction::IssueCards(lines) }
}

pub(crate) fn top_up(key: &str, card: CardNumber, amount: i64) -> Submission {
    Submission {
        key: BankKey::new(key).unwrap(),
        instruction: Instruction::TopUp { card, amount: Kopecks::new(amount) },
    }
}

pub(crate) fn set_limit(key: &str, card: CardNumber, limit: &Limit) -> Submission {
    Submission {
        key: BankKey::new(key).unwrap(),
        instruction: Instruction::SetLimit { card, limit: limit.clone() },
    }
}
