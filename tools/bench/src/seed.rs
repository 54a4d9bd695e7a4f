//! Partners with employees and cards, put straight into the tables: a million rows in seconds.
//!
//! All lies as the service would have left it, counters and ledger included, so that `kopeck check` finds nothing.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;
use diesel::connection::SimpleConnection as _;
use diesel::{Connection as _, SqliteConnection};
use kopeck_adapter_security::{JwtTokens, KeyRing, MasterKey, MasterKeyBox};
use kopeck_domain::ids::{PartnerId, SessionId, TokenPairId};
use kopeck_port_security::{SecretBinding, SecretBox as _, TokenClaims, TokenCodec as _, TokenKind};
use kopeck_sealing::{KeyId, SealingKey};
use secrecy::{ExposeSecret as _, SecretSlice, SecretString};
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::targets::{Target, Targets};
use crate::{machine, numbered};

/// Whose tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Database {
    /// Prints the statements, for `psql`.
    Postgres,
    /// Carries the statements out in the file.
    Sqlite,
}

/// What to make.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(long, value_enum)]
    database: Database,
    /// The file of the SQLite database.
    #[arg(long, required_if_eq("database", "sqlite"))]
    file: Option<PathBuf>,
    /// Where to write whom there is to call.
    #[arg(long)]
    targets: PathBuf,
    /// The first partner's number.
    #[arg(long, default_value_t = 1)]
    first: u64,
    /// Partners.
    #[arg(long, default_value_t = 8)]
    partners: u64,
    /// Employees of each partner.
    #[arg(long)]
    employees: u64,
    /// Cards of each employee.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(0..=2))]
    cards: u64,
    /// Payments of each partner in the present month, spread over its MAIN cards, and a user who is logged in.
    #[arg(long, default_value_t = 0)]
    payments: u64,
    /// The master key of the service.
    #[arg(long, env = "KOPECK_MASTER_KEY", hide_env_values = true)]
    master_key: SecretString,
}

/// Unix seconds that a token is good for.
const TOKEN_LIFE: i64 = 24 * 60 * 60;
/// Kopecks of each partner: more than it can spend.
const DEPOSIT: u64 = 1_000_000_000_000;
/// The beginning of a statement that adds employees.
const INSERT_EMPLOYEES: &str = "INSERT INTO employees (partner_id, id, seq, custom_id, surname, name, phone, status, \
    created_at, status_updated_at, search_text) VALUES ";
/// A number is issued once among all partners: the next rows continue after the greatest.
const NEXT_NUMBER: &str = "(SELECT COALESCE(MAX(number), 1000000000) FROM cards)";
/// A day far ahead on which cards expire, as a Julian day number.
const VALID_UNTIL: u32 = 2_500_000;
/// Seconds since the copy of a card was refreshed: few cards have a fresh copy.
const UNSEEN: i64 = 3_600;
/// Kopecks by which a card can be topped up.
const CAN_TOP_UP: u64 = 100_000_000;

/// Makes the rows and writes the file of targets.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let ring = KeyRing::of(&MasterKey::parse(args.master_key.expose_secret())?);
    let mut seeding = Seeding {
        database: args.database,
        secrets: MasterKeyBox::new(Arc::clone(&ring), machine::entropy()),
        tokens: JwtTokens::new(ring),
        now: i64::try_from(machine::unix_seconds())?,
        sql: String::from("BEGIN;\n"),
    };
    let mut partners = Vec::new();
    for number in args.first..args.first + args.partners {
        partners.push(seeding.partner(number)?);
        seeding.staff(number, args.employees, args.cards)?;
        seeding.payments(number, args.employees, args.payments);
    }
    seeding.sql.push_str("COMMIT;\n");
    Targets { partners, employees: args.employees, cards: args.cards }.write(&args.targets)?;
    match &args.file {
        Some(file) => {
            let mut connection = SqliteConnection::establish(&file.to_string_lossy())?;
            connection.batch_execute("PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON;")?;
            connection.batch_execute(&seeding.sql)?;
        }
        None => print!("{}VACUUM ANALYZE;\nCHECKPOINT;\n", seeding.sql),
    }
    Ok(())
}

/// The month of the payments, as the service writes it.
///
/// # Errors
/// If the machine's clock is out of all years.
pub(crate) fn month() -> anyhow::Result<String> {
    let now = OffsetDateTime::from_unix_timestamp(i64::try_from(machine::unix_seconds())?)?;
    Ok(format!("{:04}-{:02}", now.year(), u8::from(now.month())))
}

/// Statements in the making.
struct Seeding {
    database: Database,
    secrets: MasterKeyBox,
    tokens: JwtTokens,
    /// Unix seconds.
    now: i64,
    sql: String,
}

impl Seeding {
    /// A partner with key, session, accounts and counters.
    fn partner(&mut self, number: u64) -> anyhow::Result<Target> {
        let id = numbered::id(numbered::PARTNERS + number);
        let partner = PartnerId::new(id);
        let (key_id, secret) = (machine::random::<8>(), machine::random::<32>());
        let place = SecretBinding {
            table: "sealing_keys",
            column: "encrypted_secret",
            partner,
            row: key_id.to_vec(),
        };
        let encrypted = self.secrets.encrypt(&place, &SecretSlice::from(secret.to_vec()))?;
        let token = self.tokens.sign(&TokenClaims {
            kind: TokenKind::Access,
            partner,
            session: SessionId::new(id),
            pair: TokenPairId::new(id),
            issued_at: self.now,
            not_before: self.now,
            expires_at: self.now + TOKEN_LIFE,
            issued_up: None,
        })?;
        let (p, now) = (self.id(numbered::PARTNERS + number), self.time(self.now));
        let hash = self.bytes(&machine::random::<32>());
        let (key_id_text, encrypted) = (self.bytes(&key_id), self.bytes(&encrypted));
        let (end, money) = (self.time(self.now + 30 * TOKEN_LIFE), DEPOSIT);
        write!(
            self.sql,
            "INSERT INTO partners (id, name, login, api_key_hash, password_hash, status, sealing, created_at)
                VALUES ({p}, 'Bench {number}', 'bench-{number}', {hash}, '-', 'ACTIVE', 'optional', {now});
            INSERT INTO sealing_keys (partner_id, key_id, encrypted_secret, created_at, first_used_at)
                VALUES ({p}, {key_id_text}, {encrypted}, {now}, {now});
            INSERT INTO sessions (partner_id, id, created_at, expires_at, revoked)
                VALUES ({p}, {p}, {now}, {end}, FALSE);
            INSERT INTO token_pairs
                (partner_id, id, session_id, state, used, reissued, refresh_expires_at)
                VALUES ({p}, {p}, {p}, 'FRESH', TRUE, FALSE, {end});
            INSERT INTO balances
                (partner_id, deposited, available, held, spent, last_movement, updated_at)
                VALUES ({p}, -{money}, {money}, 0, 0, 1, {now});
            INSERT INTO movements
                (partner_id, number, kind, transfer_reference, available_after, held_after, created_at)
                VALUES ({p}, 1, 'DEPOSIT', 'bench', {money}, 0, {now});
            INSERT INTO entries (partner_id, movement, account, amount)
                VALUES ({p}, 1, 'DEPOSITED', -{money}), ({p}, 1, 'AVAILABLE', {money});\n"
        )?;
        let key = SealingKey::new(KeyId::from_bytes(key_id), secret);
        let mut target = Target::new(number, token, &key);
        target.console_session = self.user(number)?;
        Ok(target)
    }

    /// An owner with a session in the console; returns its token.
    fn user(&mut self, number: u64) -> anyhow::Result<String> {
        let (p, now) = (self.id(numbered::PARTNERS + number), self.time(self.now));
        let user = numbered::id(numbered::PARTNERS + number);
        let login = self.encrypted(number, "users", "login", user.as_bytes(), "owner@bench.example")?;
        let token = SecretString::from(Uuid::from_bytes(machine::random()).to_string());
        let digest = self.bytes(&Sha256::digest(token.expose_secret().as_bytes()));
        let (login_digest, end) = (self.bytes(&machine::random::<32>()), self.time(self.now + TOKEN_LIFE));
        write!(
            self.sql,
            "INSERT INTO users (partner_id, id, login, login_digest, role, status, password_hash, created_at)
                VALUES ({p}, {p}, {login}, {login_digest}, 'OWNER', 'ACTIVE', '-', {now});
            INSERT INTO user_sessions
                (partner_id, id, user_id, token_digest, stage, created_at, last_used_at, expires_at)
                VALUES ({p}, {p}, {p}, {digest}, 'OPEN', {now}, {now}, {end});\n"
        )?;
        Ok(token.expose_secret().to_owned())
    }

    /// Payments of this month, each on the card of another employee, so long as there are as many.
    fn payments(&mut self, number: u64, employees: u64, count: u64) {
        if count == 0 {
            return;
        }
        let (p, now) = (self.id(numbered::PARTNERS + number), self.time(self.now));
        let card = self.id_of(&format!("(1 + i % {employees})"), numbered::MAIN_CARDS);
        self.sql.push_str(&format!(
            "INSERT INTO transactions (partner_id, card_id, id, seq, executed_at, kind, amount, place, mcc, merchant_id)
                WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
                SELECT {p}, {card}, i, i, {now}, 'PAYMENT', 100 + i % 1000, 'Canteen', '5812', 'M-1' FROM n;
            INSERT INTO counters (partner_id, list, last) VALUES ({p}, 'transactions', {count});\n"
        ));
    }

    /// Employees, each with its cards, and one limit change of the first card.
    fn staff(&mut self, number: u64, employees: u64, cards: u64) -> anyhow::Result<()> {
        let (p, now) = (self.id(numbered::PARTNERS + number), self.time(self.now));
        let (order, all) = (self.id(numbered::REQUEST), employees * cards);
        let (unseen, valid_until) = (self.time(self.now - UNSEEN), self.day(VALID_UNTIL));
        let employee = self.id_of("i", numbered::EMPLOYEES);
        self.employees(number, employees)?;
        // Identifiers and numbers of the rows come from the series.
        let series = |up_to| {
            format!("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {up_to})")
        };
        let mut sql = String::new();
        if all > 0 {
            let line = [numbered::id(numbered::REQUEST).as_bytes().as_slice(), &0_i64.to_be_bytes()].concat();
            let address = self.encrypted(number, "order_lines", "address", &line, "Nevsky 1")?;
            let recipient = self.encrypted(number, "order_lines", "recipient", &line, "Ivan")?;
            let phone = self.encrypted(number, "order_lines", "phone", &line, "9031234567")?;
            sql.push_str(&format!(
                "INSERT INTO orders (partner_id, id, seq, kind, card_type, cards, cost, state, created_at, state_since)
                    VALUES ({p}, {order}, 1, 'PLASTIC', 'KKL', {all}, 0, 'CONFIRMED', {now}, {now});
                INSERT INTO order_lines (partner_id, order_id, position, card_type, cards, address, recipient, phone)
                    VALUES ({p}, {order}, 0, 'KKL', {all}, {address}, {recipient}, {phone});\n"
            ));
        }
        let kinds = [("MAIN", numbered::MAIN_CARDS), ("ADDITIONAL", numbered::ADDITIONAL_CARDS)];
        for (nth, (status, base)) in (0..cards).zip(kinds) {
            let card = self.id_of("i", base);
            // Employee i has the cards i and employees + i.
            let seq = format!("{} + i", nth * employees);
            sql.push_str(&format!(
                "INSERT INTO cards
                    (partner_id, id, seq, number, kind, order_id, ordinal, valid_until, employee_id, link_status,
                    balance, remaining_top_up, activated_at, standing, seen_at, account_value, account_updated_at,
                    spending_limit)
                    {} SELECT {p}, {card}, {seq}, {NEXT_NUMBER} + i, 'KKL', {order}, {seq} - 1, {valid_until},
                    {employee}, '{status}', 0, {CAN_TOP_UP}, {now}, 'OPEN', {unseen}, 0, {now}, 'UNLIMITED' FROM n;\n",
                series(employees)
            ));
        }
        let changes = u64::from(cards > 0);
        if changes > 0 {
            let card = self.id(numbered::MAIN_CARDS + 1);
            let cards = self.id_of("i", numbered::MAIN_CARDS);
            // Without a past the planner would take the table for a small one.
            sql.push_str(&format!(
                "INSERT INTO card_batches (partner_id, id, kind, seq, cards, amount, state, created_at, state_since)
                    VALUES ({p}, {card}, 'REPLENISHMENT', 1, {employees}, 100 * {employees}, 'DECLINE', {now}, {now});
                INSERT INTO card_batch_items
                    (partner_id, batch_id, ordinal, kind, card_id, number, amount, state, refusal, claimed, sent)
                    {} SELECT {p}, {card}, i - 1, 'REPLENISHMENT', {cards}, 1000000000 + i, 100, 'REFUSED',
                    'REFUSED_BY_BANK', FALSE, FALSE FROM n;\n",
                series(employees)
            ));
            sql.push_str(&format!(
                "INSERT INTO card_batches (partner_id, id, kind, seq, cards, spending_limit, state, created_at, state_since)
                    VALUES ({p}, {order}, 'LIMIT_CHANGE', 1, 1, 'UNLIMITED', 'SUCCESS', {now}, {now});
                INSERT INTO card_batch_items (partner_id, batch_id, ordinal, kind, card_id, number, state, claimed, sent)
                    VALUES ({p}, {order}, 0, 'LIMIT_CHANGE', {card}, 1000000001, 'DONE', FALSE, FALSE);\n"
            ));
        }
        self.sql.push_str(&sql);
        self.counters(&p, employees, all, changes);
        Ok(())
    }

    /// The numbers that were given out last.
    fn counters(&mut self, p: &str, employees: u64, cards: u64, requests: u64) {
        for (list, last) in [
            ("categories", 0),
            ("employees", employees),
            ("cards", cards),
            ("orders", requests),
            ("replenishments", requests),
            ("limit_changes", requests),
            ("closings", 0),
            ("withdrawals", 0),
            ("events", 0),
            ("expired_events", 0),
        ] {
            let row =
                format!("INSERT INTO counters (partner_id, list, last) VALUES ({p}, '{list}', {last});\n");
            self.sql.push_str(&row);
        }
    }

    /// Employees with a phone, which is encrypted for each.
    fn employees(&mut self, number: u64, count: u64) -> anyhow::Result<()> {
        let (p, now) = (self.id(numbered::PARTNERS + number), self.time(self.now));
        for i in 1..=count {
            // So many rows share a statement.
            let (before, after) = (
                if i % 500 == 1 { INSERT_EMPLOYEES } else { "" },
                if i % 500 == 0 || i == count { ";" } else { "," },
            );
            let id = numbered::id(numbered::EMPLOYEES + i);
            let phone = self.encrypted(number, "employees", "phone", id.as_bytes(), "9031234567")?;
            let id = self.uuid(id);
            writeln!(
                self.sql,
                "{before}({p}, {id}, {i}, 'T-{i}', 'Ёжиков', 'Иван', {phone}, 'WORK', {now}, {now}, 'ёжиков иван t-{i}'){after}"
            )?;
        }
        Ok(())
    }

    /// A value of an encrypted column, as SQL.
    fn encrypted(
        &self,
        number: u64,
        table: &'static str,
        column: &'static str,
        row: &[u8],
        text: &str,
    ) -> anyhow::Result<String> {
        let partner = PartnerId::new(numbered::id(numbered::PARTNERS + number));
        let place = SecretBinding { table, column, partner, row: row.to_vec() };
        let secret = SecretSlice::from(text.as_bytes().to_vec());
        Ok(self.bytes(&self.secrets.encrypt(&place, &secret)?))
    }

    /// The identifier that a number stands for.
    fn id(&self, number: u64) -> String {
        self.uuid(numbered::id(number))
    }

    fn uuid(&self, id: Uuid) -> String {
        match self.database {
            Database::Postgres => format!("'{id}'::uuid"),
            Database::Sqlite => self.bytes(id.as_bytes()),
        }
    }

    /// A timestamp, given in Unix seconds.
    fn time(&self, seconds: i64) -> String {
        match self.database {
            Database::Postgres => format!("to_timestamp({seconds})"),
            Database::Sqlite => (seconds * 1_000_000).to_string(),
        }
    }

    /// A Julian day.
    fn day(&self, julian: u32) -> String {
        match self.database {
            Database::Postgres => format!("DATE 'J{julian}'"),
            Database::Sqlite => julian.to_string(),
        }
    }

    /// The identifiers from `base` on, by an expression of SQL.
    fn id_of(&self, expression: &str, base: u64) -> String {
        match self.database {
            Database::Postgres => {
                format!("encode(convert_to(({base} + {expression})::text, 'UTF8'), 'hex')::uuid")
            }
            Database::Sqlite => format!("CAST(CAST({base} + {expression} AS TEXT) AS BLOB)"),
        }
    }

    fn bytes(&self, bytes: &[u8]) -> String {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        match self.database {
            Database::Postgres => format!("'\\x{digits}'"),
            Database::Sqlite => format!("X'{digits}'"),
        }
    }
}
