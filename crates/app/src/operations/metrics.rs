//! Prometheus metrics. Counters on the request path are found without a lock or a formatted label: labels are made once, at
//! the start or at first use.

mod bank_calls;
mod clocks;
mod gauges;
mod process;
mod reconciliation;

use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::Duration;

use kopeck_adapter_http::{HttpMetrics, RefusalKind, operations};
use kopeck_adapter_system::dropped_lines;
use kopeck_adapter_workers::DeliveryObserver;
use kopeck_port_store::webhook::AttemptOutcome;
use kopeck_port_store::{Access, Outage, StoreObserver};
use kopeck_service::audit::AuditQueueObserver;
use kopeck_service::logins::{LoginKind, LoginObserver, LoginOutcome};
use kopeck_service::request_log::RequestLogObserver;
use prometheus::{
    Encoder as _, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, Opts,
    Registry, TextEncoder,
};

use super::Health;
use super::snapshot::{SnapshotCache, StoreSnapshot};
use bank_calls::Bank;
pub(super) use bank_calls::{BankCalls, BankOutcome};
pub use clocks::ClockLabel;
use clocks::Clocks;
use gauges::Gauges;
use reconciliation::Reconciliation;

/// The status codes of the service; all others share one counter.
const STATUSES: [u16; 18] =
    [200, 201, 202, 400, 401, 402, 404, 405, 408, 409, 410, 413, 414, 415, 422, 429, 500, 503];

/// Upper bounds of latency buckets, in seconds.
const CALL_BUCKETS: [f64; 13] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];
/// Of waits for the database and of its use, in seconds.
const STORE_BUCKETS: [f64; 12] =
    [0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0];

/// All metrics of the process.
pub struct Metrics {
    registry: Registry,
    routes: HashMap<&'static str, Route>,
    requests: IntCounterVec,
    refused_seals: IntCounter,
    logins: IntCounterVec,
    throttled_logins: IntCounter,
    throttled_refreshes: IntCounter,
    rate_limited: IntCounter,
    refused_bodies: IntCounter,
    refused_connections: IntCounter,
    audit_notes: [IntCounter; 3],
    request_log: [IntCounter; 2],
    audit_heads: [IntCounter; 2],
    deliveries: [IntCounter; 2],
    outages: IntCounterVec,
    reads: Thread,
    writes: Thread,
    bank: Bank,
    reloads: [IntCounter; 2],
    clocks: Clocks,
    reconciliation: Reconciliation,
    gauges: Gauges,
    snapshots: SnapshotCache,
}

/// The requests of one operation.
struct Route {
    labels: [&'static str; 2],
    seconds: Histogram,
    /// One per status code and one for all others, from the first use on.
    answers: [OnceLock<IntCounter>; STATUSES.len() + 1],
}

/// The store's threads of one kind.
struct Thread {
    waited: Histogram,
    used: Histogram,
}

/// Creates and registers metrics.
struct Registrar<'a>(&'a Registry);

impl Registrar<'_> {
    fn counter(&self, name: &str, help: &str) -> prometheus::Result<IntCounter> {
        let counter = IntCounter::new(name, help)?;
        self.0.register(Box::new(counter.clone()))?;
        Ok(counter)
    }

    fn counters(&self, name: &str, help: &str, labels: &[&str]) -> prometheus::Result<IntCounterVec> {
        let counters = IntCounterVec::new(Opts::new(name, help), labels)?;
        self.0.register(Box::new(counters.clone()))?;
        Ok(counters)
    }

    fn histograms(
        &self,
        name: &str,
        help: &str,
        labels: &[&str],
        buckets: &[f64],
    ) -> prometheus::Result<HistogramVec> {
        let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
        let histograms = HistogramVec::new(options, labels)?;
        self.0.register(Box::new(histograms.clone()))?;
        Ok(histograms)
    }

    fn gauge(&self, name: &str, help: &str) -> prometheus::Result<IntGauge> {
        let gauge = IntGauge::new(name, help)?;
        self.0.register(Box::new(gauge.clone()))?;
        Ok(gauge)
    }
}

impl Metrics {
    /// All counters at zero.
    ///
    /// # Errors
    /// If two metrics have one name.
    pub fn new() -> prometheus::Result<Self> {
        let registry = Registry::new();
        registry.register(Box::new(dropped_lines()))?;
        let registrar = Registrar(&registry);
        let requests = registrar.counters(
            "kopeck_http_requests_total",
            "HTTP responses by route and status code.",
            &["method", "route", "status"],
        )?;
        let seconds = registrar.histograms(
            "kopeck_http_request_seconds",
            "Time from a request's head to its response, by route.",
            &["method", "route"],
            &CALL_BUCKETS,
        )?;
        let reloads = registrar.counters(
            "kopeck_certificate_reloads_total",
            "Reloads of changed certificates by outcome.",
            &["outcome"],
        )?;
        let heads = registrar.counters(
            "kopeck_audit_heads_total",
            "Attempts to send the chain heads of the audit log by outcome.",
            &["outcome"],
        )?;
        let deliveries = registrar.counters(
            "kopeck_webhook_attempts_total",
            "Attempts to deliver an event to a webhook by outcome.",
            &["outcome"],
        )?;
        Ok(Self {
            routes: routes(&seconds)?,
            requests,
            refused_seals: registrar
                .counter("kopeck_refused_seals_total", "Sealed values that failed to open.")?,
            logins: logins(&registrar)?,
            throttled_logins: registrar
                .counter("kopeck_throttled_logins_total", "Logins throttled after too many failures.")?,
            throttled_refreshes: registrar.counter(
                "kopeck_throttled_refreshes_total",
                "Refreshes throttled after too many failures of their address.",
            )?,
            rate_limited: registrar.counter(
                "kopeck_rate_limited_total",
                "Requests refused over the rate limit of their partner.",
            )?,
            refused_bodies: registrar.counter(
                "kopeck_refused_bodies_total",
                "Requests refused because the memory for request bodies was used up.",
            )?,
            refused_connections: registrar.counter(
                "kopeck_refused_connections_total",
                "Connections refused because their network had its share.",
            )?,
            audit_notes: audit_notes(&registrar)?,
            request_log: request_log(&registrar)?,
            audit_heads: both(&heads, ["sent", "failed"])?,
            deliveries: both(&deliveries, ["delivered", "failed"])?,
            outages: outages(&registrar)?,
            reads: Thread::new(&registrar, "read")?,
            writes: Thread::new(&registrar, "write")?,
            bank: Bank::new(&registrar)?,
            reloads: both(&reloads, ["taken", "refused"])?,
            clocks: Clocks::new(&registrar)?,
            reconciliation: Reconciliation::new(&registrar)?,
            gauges: Gauges::new(&registrar)?,
            snapshots: SnapshotCache::default(),
            registry,
        })
    }

    pub(super) fn bank(&self) -> &Bank {
        &self.bank
    }

    /// Counts a certificate reload.
    pub fn certificate_changed(&self, taken: bool) {
        let [good, bad] = &self.reloads;
        if taken { good.inc() } else { bad.inc() }
    }

    /// Counts an attempt to send audit chain heads.
    pub fn audit_heads_sent(&self, sent: bool) {
        let [good, bad] = &self.audit_heads;
        if sent { good.inc() } else { bad.inc() }
    }

    /// Records how far `clock` is ahead, and its step since the last reading. A step is logged.
    pub fn clock_seen(&self, clock: ClockLabel, ahead: time::Duration, step: Option<time::Duration>) {
        self.clocks.stands(clock, ahead);
        if let Some(by) = step {
            self.clocks.stepped(clock, by);
        }
    }

    /// The counts of the database, at most some seconds old; `None` while it is away.
    pub(super) async fn snapshot(&self, health: &Health) -> Option<StoreSnapshot> {
        self.snapshots.get(&**health.store()?).await
    }

    /// All metrics in the text format of Prometheus.
    pub(super) async fn text(&self, health: &Health) -> prometheus::Result<Vec<u8>> {
        let snapshot = match health.store() {
            Some(store) => self.snapshots.get(&**store).await,
            None => None,
        };
        self.gauges.show(health, snapshot);
        let mut text = Vec::with_capacity(64 * 1024);
        TextEncoder::new().encode(&self.registry.gather(), &mut text)?;
        Ok(text)
    }
}

/// Counters of written, summarised and dropped entries.
fn audit_notes(registrar: &Registrar<'_>) -> prometheus::Result<[IntCounter; 3]> {
    let notes = registrar.counters(
        "kopeck_audit_notes_total",
        "Audit entries of requests that changed nothing, by outcome.",
        &["outcome"],
    )?;
    Ok([
        notes.get_metric_with_label_values(&["written"])?,
        notes.get_metric_with_label_values(&["summarised"])?,
        notes.get_metric_with_label_values(&["dropped"])?,
    ])
}

fn request_log(registrar: &Registrar<'_>) -> prometheus::Result<[IntCounter; 2]> {
    let name = "kopeck_request_log_rows_total";
    let rows = registrar.counters(name, "Rows of the partners' request logs by outcome.", &["outcome"])?;
    both(&rows, ["written", "dropped"])
}

/// The outages of the database. Each begins at 0, so that the first of its kind is an increase.
fn outages(registrar: &Registrar<'_>) -> prometheus::Result<IntCounterVec> {
    let outages = registrar.counters(
        "kopeck_database_failures_total",
        "Units of work that failed by a database outage, by reason.",
        &["reason"],
    )?;
    for outage in Outage::ALL {
        outages.get_metric_with_label_values(&[outage.as_str()])?;
    }
    Ok(outages)
}

/// Logins. Each kind and outcome begins at 0, so that the first of its kind is an increase.
fn logins(registrar: &Registrar<'_>) -> prometheus::Result<IntCounterVec> {
    let (name, help) = ("kopeck_logins_total", "Logins by kind of actor and outcome.");
    let logins = registrar.counters(name, help, &["actor", "outcome"])?;
    for kind in LoginKind::ALL {
        for outcome in LoginOutcome::ALL {
            logins.get_metric_with_label_values(&[kind.as_str(), outcome.as_str()])?;
        }
    }
    Ok(logins)
}

/// The counters of two outcomes.
fn both(counters: &IntCounterVec, [first, second]: [&str; 2]) -> prometheus::Result<[IntCounter; 2]> {
    Ok([counters.get_metric_with_label_values(&[first])?, counters.get_metric_with_label_values(&[second])?])
}

/// Every operation with its counters, and one for unknown paths.
fn routes(seconds: &HistogramVec) -> prometheus::Result<HashMap<&'static str, Route>> {
    let none = ("-", "-", "-");
    operations()
        .map(|operation| (operation.name, operation.method, operation.path))
        .chain([none])
        .map(|(name, method, path)| {
            let labels = [method, path];
            let seconds = seconds.get_metric_with_label_values(&labels)?;
            Ok((name, Route { labels, seconds, answers: [const { OnceLock::new() }; STATUSES.len() + 1] }))
        })
        .collect()
}

impl Thread {
    fn new(registrar: &Registrar<'_>, access: &str) -> prometheus::Result<Self> {
        let histogram = |name: &str, help: &str| {
            let options =
                HistogramOpts::new(name, help).const_label("access", access).buckets(STORE_BUCKETS.to_vec());
            let histogram = Histogram::with_opts(options)?;
            registrar.0.register(Box::new(histogram.clone()))?;
            prometheus::Result::Ok(histogram)
        };
        Ok(Self {
            waited: histogram(
                "kopeck_database_wait_seconds",
                "Time that a unit of work waited for a database connection.",
            )?,
            used: histogram(
                "kopeck_database_use_seconds",
                "Time that a batch of units of work used a database connection.",
            )?,
        })
    }
}

impl HttpMetrics for Metrics {
    fn record_response(&self, operation: &'static str, status: u16, took: Duration) {
        let Some(route) = self.routes.get(operation) else { return };
        route.seconds.observe(took.as_secs_f64());
        let known = STATUSES.iter().position(|known| *known == status);
        let Some(answers) = route.answers.get(known.unwrap_or(STATUSES.len())) else { return };
        let first = || {
            let [method, path] = route.labels;
            let status = known.map_or_else(|| "other".to_owned(), |_| status.to_string());
            self.requests.with_label_values(&[method, path, status.as_str()])
        };
        answers.get_or_init(first).inc();
    }

    fn record_refusal(&self, what: RefusalKind) {
        match what {
            RefusalKind::Sealing => self.refused_seals.inc(),
            RefusalKind::Login => self.throttled_logins.inc(),
            RefusalKind::Refresh => self.throttled_refreshes.inc(),
            RefusalKind::Rate => self.rate_limited.inc(),
            RefusalKind::Memory => self.refused_bodies.inc(),
            RefusalKind::Connection => self.refused_connections.inc(),
        }
    }
}

impl LoginObserver for Metrics {
    fn record_login(&self, kind: LoginKind, outcome: LoginOutcome) {
        self.logins.with_label_values(&[kind.as_str(), outcome.as_str()]).inc();
    }
}

impl AuditQueueObserver for Metrics {
    fn written(&self, entries: u64) {
        let [written, ..] = &self.audit_notes;
        written.inc_by(entries);
    }

    fn summarised(&self, entries: u64) {
        let [_, summarised, _] = &self.audit_notes;
        summarised.inc_by(entries);
    }

    fn dropped(&self, entries: u64) {
        let [_, _, dropped] = &self.audit_notes;
        dropped.inc_by(entries);
    }
}

impl RequestLogObserver for Metrics {
    fn written(&self, rows: u64) {
        let [written, _] = &self.request_log;
        written.inc_by(rows);
    }

    fn dropped(&self, rows: u64) {
        let [_, dropped] = &self.request_log;
        dropped.inc_by(rows);
    }
}

impl DeliveryObserver for Metrics {
    fn attempted(&self, outcome: AttemptOutcome) {
        let [delivered, failed] = &self.deliveries;
        if outcome == AttemptOutcome::Delivered { delivered.inc() } else { failed.inc() }
    }
}

impl StoreObserver for Metrics {
    fn began(&self, access: Access, waited: Duration) {
        self.thread(access).waited.observe(waited.as_secs_f64());
    }

    fn ended(&self, access: Access, used: Duration) {
        self.thread(access).used.observe(used.as_secs_f64());
    }

    fn failed(&self, _access: Access, outage: Outage) {
        self.outages.with_label_values(&[outage.as_str()]).inc();
    }
}

impl Metrics {
    fn thread(&self, access: Access) -> &Thread {
        match access {
            Access::Read => &self.reads,
            Access::Write => &self.writes,
        }
    }
}

#[cfg(test)]
mod tests;
