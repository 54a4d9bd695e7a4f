//! Commands and settings: a flag, else an environment variable, else the default.

mod amount;
mod audit;
mod bank;
mod bank_check;
mod calendar;
mod credential;
mod employee;
mod environment;
mod examples;
mod master_key;
mod operations;
mod partner;
mod reconcile;
mod requests;
mod statement;
mod store;
mod user;
mod webhooks;

use std::net::SocketAddr;
use std::num::NonZeroUsize;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use kopeck_adapter_store_diesel::StoreConfig;
use kopeck_adapter_system::LogFormat;
use kopeck_command_line::CallArgs;
use kopeck_domain::calendar::Zone;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::limit::TimeOfDay;
use kopeck_service::Settings;
use kopeck_service::tokens::Lifetimes;
use secrecy::SecretString;
use time::Duration;
use uuid::Uuid;

pub use amount::ConfirmArgs;
pub use audit::{AuditCommand, AuditListArgs, AuditPruneArgs, AuditVerifyArgs};
pub use bank::{BankArgs, BankConnectionArgs, BankSimulatorArgs};
pub use bank_check::BankCheckArgs;
pub use calendar::{CalendarCommand, CalendarImportArgs, CalendarListArgs};
pub use credential::{CredentialCommand, CredentialCreateArgs, CredentialRevokeArgs};
pub use employee::{EmployeeCommand, EmployeeEraseArgs};
pub use environment::{ExposedSecret, UnknownVariable, command, exposed_secrets, parse, unknown_variables};
pub use master_key::{MasterKeyCommand, RotateArgs};
pub use operations::{FrontArgs, OperationsArgs, WebhookArgs};
pub use partner::{
    CloseArgs, CreateArgs, DeleteArgs, DepositArgs, PartnerArgs, PartnerCommand, PartnerListArgs, PolicyArgs,
    RenameArgs, ReverseArgs, RotateKeyArgs, ShowArgs, SuspendArgs, ThresholdArgs, WithdrawArgs,
};
pub use reconcile::ReconcileArgs;
pub use requests::{OutcomeArg, RequestsCommand, SettleArgs, StuckArgs};
pub use statement::{MonthArgs, ReportArgs, ReportForm, StatementArgs, StatementForm};
pub use store::{StoreArgs, StoreKindArg};
pub use user::{
    UserArgs, UserCommand, UserCreateArgs, UserDeleteArgs, UserListArgs, UserResetArgs, UserRoleArgs,
};
pub use webhooks::{WebhookDisableArgs, WebhookListArgs, WebhooksCommand};

/// A payment-card programme for employees, as a service that partners call over HTTP.
#[derive(Debug, Parser)]
#[command(
    name = "kopeck",
    version,
    about = "A payment-card programme for employees, as a service that partners call over HTTP",
    propagate_version = true
)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
    /// Format of the log.
    #[arg(long, env = "KOPECK_LOG_FORMAT", global = true, value_enum, default_value_t)]
    pub log_format: LogFormatArg,
}

/// The format of a line.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub enum LogFormatArg {
    /// For people.
    #[default]
    Text,
    /// For programs: a JSON object a line.
    Json,
}

impl From<LogFormatArg> for LogFormat {
    fn from(format: LogFormatArg) -> Self {
        match format {
            LogFormatArg::Text => Self::Text,
            LogFormatArg::Json => Self::Json,
        }
    }
}

/// The commands of `kopeck`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve partners over HTTP, with the workers in the same process.
    #[command(after_help = examples::SERVE)]
    Serve(ServeArgs),
    /// Run only the workers of asynchronous requests, beside the processes that serve: for PostgreSQL.
    Worker(ServiceArgs),
    /// Partners: create, list, suspend, resume, deposit, rotate keys.
    #[command(subcommand)]
    Partner(PartnerCommand),
    /// Users: create, list, reset, disable, enable, change the role, delete.
    #[command(subcommand)]
    User(UserCommand),
    /// The calendar of holidays, by which programmes move: import, list.
    #[command(subcommand)]
    Calendar(CalendarCommand),
    /// Requests that no worker can finish: list them, settle them with the bank's outcome.
    #[command(subcommand)]
    Requests(RequestsCommand),
    /// Employees of partners: erase one.
    #[command(subcommand)]
    Employee(EmployeeCommand),
    /// Webhooks of partners: list them, disable one.
    #[command(subcommand)]
    Webhooks(WebhooksCommand),
    /// Master keys: generate, rotate, retire.
    #[command(subcommand)]
    MasterKey(MasterKeyCommand),
    /// List, verify or prune the audit log.
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Serve the bank simulator over HTTP, by the protocol of a bank connector.
    #[command(after_help = examples::BANK_SIMULATOR)]
    BankSimulator(BankSimulatorArgs),
    /// Check a bank connector under development against the rules of the protocol, on a test account; exit 1 where a rule is
    /// broken, 2 if nothing was checked.
    #[command(after_help = examples::BANK_CHECK)]
    BankCheck(BankCheckArgs),
    /// Apply the migrations that the database does not have yet.
    #[command(after_help = examples::MIGRATE)]
    Migrate(MigrateArgs),
    /// The statement of a partner's month: totals, or entries as a file.
    #[command(after_help = examples::STATEMENT)]
    Statement(StatementArgs),
    /// The report of a partner's month: what moved on the cards of each employee.
    #[command(after_help = examples::REPORT)]
    Report(ReportArgs),
    /// Send requests as a partner: employees, cards, orders, top-ups, limits.
    Call(CallArgs),
    /// Print the completion of this command line for a shell.
    #[command(after_help = examples::COMPLETION)]
    Completion {
        /// The shell.
        shell: Shell,
    },
    /// Recompute every balance and hold from the ledger and compare; exit 1 and a list of discrepancies.
    #[command(after_help = examples::CHECK)]
    Check(CheckArgs),
    /// Compare the bank's registry of each day with the books; exit 1 and a list of differences, 2 if they could not be
    /// compared.
    #[command(after_help = examples::RECONCILE)]
    Reconcile(ReconcileArgs),
}

/// `kopeck check`.
#[derive(Debug, Clone, Args)]
pub struct CheckArgs {
    /// The location of the data.
    #[command(flatten)]
    pub store: StoreArgs,
    /// Accept the history of the database as it is, after commits were found missing: processes accept changes again.
    #[arg(long)]
    pub accept_history: bool,
}

/// Options of `migrate`.
#[derive(Debug, Clone, Args)]
pub struct MigrateArgs {
    /// The location of the data.
    #[command(flatten)]
    pub store: StoreArgs,
    /// On PostgreSQL: the role that the other processes connect as. It is granted the privileges on tables that they
    /// need; all others are revoked.
    #[arg(long, env = "KOPECK_SERVICE_ROLE")]
    pub service_role: Option<String>,
    /// Make a new, empty database although other files show that there was one.
    #[arg(long)]
    pub new_database: bool,
}

/// Options of `serve`.
#[derive(Debug, Clone, Args)]
pub struct ServeArgs {
    /// Settings of every process of the service.
    #[command(flatten)]
    pub service: ServiceArgs,
    /// Address and port to listen on; port 0 takes a free one.
    #[arg(long, env = "KOPECK_LISTEN", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// Maximum size of a request body, in bytes.
    #[arg(long, env = "KOPECK_BODY_LIMIT", default_value_t = 2 * 1024 * 1024)]
    pub body_limit: usize,
    /// Whether to serve the OpenAPI document, the reference page and the book as Markdown, at `/openapi.json`, `/docs` and
    /// `/llms.txt`.
    #[arg(long, env = "KOPECK_DOCS", default_value = "true", action = clap::ArgAction::Set)]
    pub docs: bool,
    /// Whether to serve the console, the pages for people, at `/console`. On by default with the sandbox. Without a sandbox it
    /// needs TLS, of its own or of a trusted proxy.
    #[arg(long, env = "KOPECK_CONSOLE", action = clap::ArgAction::Set)]
    pub console: Option<bool>,
    /// Connections, limits, proxies.
    #[command(flatten)]
    pub front: FrontArgs,
    /// Leave asynchronous requests to `kopeck worker`.
    #[arg(long, env = "KOPECK_NO_WORKERS")]
    pub no_workers: bool,
    /// Whether requests share transactions.
    #[arg(long = "store", env = "KOPECK_STORE", value_enum, default_value_t)]
    pub store_kind: StoreKindArg,
}

/// Settings of every process of the service.
#[derive(Debug, Clone, Args)]
pub struct ServiceArgs {
    /// The location of the data.
    #[command(flatten)]
    pub store: StoreArgs,
    /// Connections to PostgreSQL for requests and jobs: half of them read, half write. SQLite has two that read and one that
    /// writes.
    #[arg(long, env = "KOPECK_DATABASE_CONNECTIONS", default_value_t = StoreConfig::CONNECTIONS, value_parser = clap::value_parser!(u16).range(2..=1_000))]
    pub database_connections: u16,
    /// Make a new, empty database although other files show that there was one.
    #[arg(long)]
    pub new_database: bool,
    /// Accept the history of the database as it is, once, after commits were found missing.
    #[arg(long)]
    pub accept_history: bool,
    /// The bank connector.
    #[command(flatten)]
    pub bank: BankArgs,
    /// The port for operators.
    #[command(flatten)]
    pub operations: OperationsArgs,
    /// Whether the sandbox operations and the demo partner exist (`true`, `false`). If absent, they exist only without a
    /// database URL, without a bank URL, and on a loopback address.
    #[arg(long, env = "KOPECK_SANDBOX", action = clap::ArgAction::Set)]
    pub sandbox: Option<bool>,
    /// Processing delay: how long a new request can be cancelled.
    #[arg(long, env = "KOPECK_PROCESSING_DELAY", default_value = "3s", value_parser = duration)]
    pub processing_delay: Duration,
    /// How long the service's copy of a card's bank data is fresh.
    #[arg(long, env = "KOPECK_CARD_CACHE", default_value = "10s", value_parser = duration)]
    pub card_cache: Duration,
    /// Lifetime of an access token.
    #[arg(long, env = "KOPECK_ACCESS_TTL", default_value = "15m", value_parser = duration_above_zero)]
    pub access_ttl: Duration,
    /// Lifetime of a refresh token.
    #[arg(long, env = "KOPECK_REFRESH_TTL", default_value = "720h", value_parser = duration_above_zero)]
    pub refresh_ttl: Duration,
    /// Maximum lifetime of a session, however often its tokens are refreshed.
    #[arg(long, env = "KOPECK_SESSION_TTL", default_value = "90d", value_parser = duration_above_zero)]
    pub session_ttl: Duration,
    /// How long the response to an idempotency key is kept.
    #[arg(long, env = "KOPECK_IDEMPOTENCY_TTL", default_value = "168h", value_parser = duration_above_zero)]
    pub idempotency_ttl: Duration,
    /// How long the events of the partners' feeds are kept.
    #[arg(long, env = "KOPECK_EVENT_TTL", default_value = "30d", value_parser = duration_above_zero)]
    pub event_ttl: Duration,
    /// Webhooks.
    #[command(flatten)]
    pub webhooks: WebhookArgs,
    /// The time of day, `HH:MM` in the service's zone, from which the day before is compared with the bank's registry,
    /// as `kopeck reconcile` does. It is not compared if absent. Set it for one process.
    #[arg(long, env = "KOPECK_RECONCILE", value_parser = TimeOfDay::parse)]
    pub reconcile: Option<TimeOfDay>,
    /// Worker threads; by default half as many as processors, at least one. With a slow bank set more.
    #[arg(long, env = "KOPECK_WORKERS", default_value_t = half_of_processors(), hide_default_value = true, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub workers: u8,
}

impl ServiceArgs {
    /// The rules' settings.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings {
            zone: self.store.utc_offset,
            processing_delay: self.processing_delay,
            card_cache: self.card_cache,
            lifetimes: Lifetimes {
                access: self.access_ttl,
                refresh: self.refresh_ttl,
                session: self.session_ttl,
            },
            idempotency_retention: self.idempotency_ttl,
            event_retention: self.event_ttl,
            key_overlap: Settings::DEFAULT.key_overlap,
        }
    }

    /// Whether the sandbox is on in a process that listens on `listen`; a worker listens nowhere.
    ///
    /// A login can deposit money in a sandbox, so it is on by default only where no other machine can log in.
    #[must_use]
    pub fn sandbox_is_on(&self, listen: Option<SocketAddr>) -> bool {
        let is_loopback = listen.is_none_or(|address| address.ip().is_loopback());
        self.sandbox.unwrap_or(self.is_embedded_default() && is_loopback)
    }

    /// Whether neither a database nor a bank is named.
    #[must_use]
    pub const fn is_embedded_default(&self) -> bool {
        self.store.database_url.is_none() && self.bank.bank_url.is_none()
    }
}

/// Leaves the other half to requests.
fn half_of_processors() -> u8 {
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    u8::try_from(processors / 2).unwrap_or(64).clamp(1, 64)
}

fn zone(text: &str) -> Result<Zone, kopeck_domain::Invalid> {
    Zone::parse(text)
}

fn partner_id(text: &str) -> Result<PartnerId, String> {
    Uuid::try_parse(text).map(PartnerId::new).map_err(|_| "must be a uuid".to_owned())
}

#[expect(clippy::unnecessary_wraps, reason = "the form of a value parser")]
fn secret(text: &str) -> Result<SecretString, String> {
    Ok(SecretString::from(text))
}

fn duration_above_zero(text: &str) -> Result<Duration, String> {
    let duration = duration(text)?;
    if duration.is_positive() { Ok(duration) } else { Err("must be above zero".to_owned()) }
}

/// Reads `0s`, `90s`, `15m`, `24h`, `90d`.
fn duration(text: &str) -> Result<Duration, String> {
    kopeck_command_line::seconds(text, TEN_YEARS).map(|seconds| Duration::seconds(seconds.cast_signed()))
}

/// Longer than any setting makes sense; keeps arithmetic with moments far from its edges.
const TEN_YEARS: u64 = 10 * 366 * 24 * 3_600;

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn durations_are_whole_seconds_minutes_hours_or_days() {
        for (text, seconds) in [("0s", 0), ("90s", 90), ("15m", 900), ("24h", 86_400), ("90d", 7_776_000)] {
            assert_eq!(duration(text), Ok(Duration::seconds(seconds)), "{text}");
        }
        for text in
            ["", "s", "5", "-1s", "+1s", "1.5s", "1w", "1 s", "99999999999999999999s", "9223372036854775807h"]
        {
            assert!(duration(text).is_err(), "{text:?}");
        }
        assert!(duration_above_zero("0s").is_err());
    }

    #[test]
    fn the_database_has_connections_to_read_and_to_write() {
        let connections = |extra: &[&str]| {
            let cli = Cli::try_parse_from([&["kopeck", "worker"], extra].concat()).ok()?;
            let Command::Worker(args) = cli.command else { panic!("{extra:?}") };
            Some(args.database_connections)
        };
        assert_eq!(connections(&[]), Some(StoreConfig::CONNECTIONS));
        for (text, expected) in
            [("2", Some(2)), ("1000", Some(1000)), ("1", None), ("1001", None), ("-6", None), ("six", None)]
        {
            assert_eq!(connections(&["--database-connections", text]), expected, "{text}");
        }
    }

    #[test]
    fn booleans_take_true_and_false_only() {
        for (text, good) in [("true", true), ("false", true), ("yes", false), ("1", false)] {
            assert_eq!(Cli::try_parse_from(["kopeck", "serve", "--sandbox", text]).is_ok(), good, "{text}");
        }
    }

    #[test]
    fn the_sandbox_is_on_by_default_only_on_the_embedded_default_on_loopback() {
        let bank = ["--bank-url", "https://bank.example", "--bank-secret", "s"];
        let default_database = ["--database-url", "sqlite://kopeck-data/kopeck.sqlite"];
        let everywhere = ["--listen", "0.0.0.0:8080"];
        let sandbox = |extra: &[&str]| {
            let cli = Cli::try_parse_from([&["kopeck", "serve"], extra].concat()).unwrap();
            let Command::Serve(args) = cli.command else { panic!("{extra:?}") };
            args.service.sandbox_is_on(Some(args.listen))
        };
        for local in [&[][..], &["--listen", "127.0.0.2:0"], &["--listen", "[::1]:8080"]] {
            assert!(sandbox(local), "{local:?}");
        }
        let unspecified_v6 = ["--listen", "[::]:8080"];
        let postgres = ["--database-url", "postgres://db/kopeck"];
        for elsewhere in [&bank[..], &default_database, &postgres, &everywhere, &unspecified_v6] {
            assert!(!sandbox(elsewhere), "{elsewhere:?}");
            assert!(sandbox(&[elsewhere, &["--sandbox", "true"]].concat()), "{elsewhere:?}");
        }
        assert!(!sandbox(&["--sandbox", "false"]));
        assert!(Cli::try_parse_from(["kopeck", "serve", "--bank-url", "https://bank.example"]).is_err());
    }

    #[test]
    fn the_sandbox_of_a_worker_is_the_one_of_its_database() {
        let sandbox = |extra: &[&str]| {
            let cli = Cli::try_parse_from([&["kopeck", "worker"], extra].concat()).unwrap();
            let Command::Worker(args) = cli.command else { panic!("{extra:?}") };
            args.sandbox_is_on(None)
        };
        assert!(sandbox(&[]));
        assert!(!sandbox(&["--database-url", "postgres://db/kopeck"]));
    }

    /// One in 64 random keys begins with a hyphen.
    #[test]
    fn secrets_may_begin_with_a_hyphen() {
        for option in ["--master-key", "--master-keys-accepted"] {
            assert!(Cli::try_parse_from(["kopeck", "check", option, "-wcHBwcH"]).is_ok(), "{option}");
        }
        let bank = ["kopeck", "serve", "--bank-url", "https://bank.example", "--bank-secret", "-wcHBwcH"];
        assert!(Cli::try_parse_from(bank).is_ok());
        assert!(Cli::try_parse_from(["kopeck", "bank-simulator", "--secret", "-wcHBwcH"]).is_ok());
        let partner = ["kopeck", "partner", "create", "--name", "A", "--password", "-wcHBwcH"];
        assert!(Cli::try_parse_from(partner).is_ok());
    }

    #[test]
    fn secrets_stay_out_of_debug_output() {
        let cli = Cli::try_parse_from(["kopeck", "check", "--master-key", "hunter2"]).unwrap();
        assert!(!format!("{cli:?}").contains("hunter2"));
    }
}
