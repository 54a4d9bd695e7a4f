//! Gauges that are read at each scrape.

use kopeck_adapter_store_diesel::OpenStore;
use kopeck_port_store::{Access, Outage};
use prometheus::{IntGauge, Opts};
use time::OffsetDateTime;

use super::Registrar;
use super::process::ProcessMetrics;
use crate::operations::{Health, StoreSnapshot};

/// Gauges of this moment.
pub(super) struct Gauges {
    reads: AccessGauges,
    writes: AccessGauges,
    database_up: IntGauge,
    rewound: IntGauge,
    disk_free: IntGauge,
    disk_needed: IntGauge,
    stored: StoredGauges,
    workers: IntGauge,
    workers_ended: IntGauge,
    silence: IntGauge,
    sandbox: IntGauge,
    process: Option<ProcessMetrics>,
}

/// Gauges of the store's queue and connections of one access.
struct AccessGauges {
    waiting: IntGauge,
    open: IntGauge,
    idle: IntGauge,
}

/// Gauges of what stands in the database. While it does not answer they stay as they were.
struct StoredGauges {
    requests: IntGauge,
    due: IntGauge,
    oldest_due: IntGauge,
    failing: IntGauge,
    stuck: IntGauge,
    deliveries: IntGauge,
    oldest_delivery: IntGauge,
    failing_webhooks: IntGauge,
    webhook_failing_since: IntGauge,
    held: IntGauge,
}

impl Gauges {
    pub(super) fn new(registrar: &Registrar<'_>) -> prometheus::Result<Self> {
        let build = Opts::new("kopeck_build_info", "Always 1, with the version as its label.")
            .const_label("version", env!("CARGO_PKG_VERSION"));
        let build = IntGauge::with_opts(build)?;
        build.set(1);
        registrar.0.register(Box::new(build))?;
        Ok(Self {
            reads: AccessGauges::new(registrar, "read")?,
            writes: AccessGauges::new(registrar, "write")?,
            database_up: registrar.gauge(
                "kopeck_database_up",
                "1 if the database accepts changes and responded to the latest scrape.",
            )?,
            rewound: registrar.gauge(
                "kopeck_database_rewound",
                "1 if commits are missing in the database that were there before, so that changes are refused.",
            )?,
            disk_free: registrar.gauge(
                "kopeck_database_disk_free_bytes",
                "Free space on the volume of an embedded database, its log included; 0 with a database on a server.",
            )?,
            disk_needed: registrar.gauge(
                "kopeck_database_disk_needed_bytes",
                "Free space that an embedded database needs; 0 with a database on a server.",
            )?,
            stored: StoredGauges::new(registrar)?,
            workers: registrar
                .gauge("kopeck_worker_threads", "Worker threads of this process.")?,
            workers_ended: registrar
                .gauge("kopeck_worker_threads_ended", "Worker threads that exited unexpectedly.")?,
            silence: registrar.gauge(
                "kopeck_worker_silence_seconds",
                "The longest time since the heartbeat of a worker thread.",
            )?,
            sandbox: registrar.gauge("kopeck_sandbox", "1 if the sandbox is on in this process, else 0.")?,
            process: ProcessMetrics::new(registrar)?,
        })
    }

    /// Sets all gauges.
    pub(super) fn show(&self, health: &Health, snapshot: Option<StoreSnapshot>) {
        if let Some(store) = health.store() {
            self.reads.show(&**store, Access::Read);
            self.writes.show(&**store, Access::Write);
        }
        let outage = health.store().map(|store| store.outage());
        self.database_up.set(i64::from(snapshot.is_some() && outage == Some(None)));
        self.rewound.set(i64::from(outage == Some(Some(Outage::Rewound))));
        if let Some(space) = health.store().and_then(|store| store.disk_space()) {
            self.disk_free.set(whole(space.free));
            self.disk_needed.set(whole(space.needed));
        }
        self.sandbox.set(i64::from(health.is_sandbox()));
        if let Some(process) = &self.process {
            process.show();
        }
        if let Some(snapshot) = snapshot {
            self.stored.show(snapshot);
        }
        if let Some(report) = health.workers().map(|liveness| liveness.report()) {
            self.workers.set(whole(report.threads));
            self.workers_ended.set(whole(report.ended));
            self.silence.set(whole(report.longest_silence.as_secs()));
        }
    }
}

impl AccessGauges {
    fn new(registrar: &Registrar<'_>, access: &str) -> prometheus::Result<Self> {
        let gauge = |name: &str, help: &str| {
            let gauge = IntGauge::with_opts(Opts::new(name, help).const_label("access", access))?;
            registrar.0.register(Box::new(gauge.clone()))?;
            prometheus::Result::Ok(gauge)
        };
        Ok(Self {
            waiting: gauge("kopeck_database_queue", "Units of work in the queue.")?,
            open: gauge("kopeck_database_pool_open", "Open connections of the pool.")?,
            idle: gauge("kopeck_database_pool_idle", "Idle connections of the pool.")?,
        })
    }

    fn show(&self, store: &dyn OpenStore, access: Access) {
        let connections = store.connections(access);
        self.waiting.set(whole(store.waiting(access)));
        self.open.set(whole(connections.open));
        self.idle.set(whole(connections.idle));
    }
}

impl StoredGauges {
    fn new(registrar: &Registrar<'_>) -> prometheus::Result<Self> {
        Ok(Self {
            requests: registrar
                .gauge("kopeck_work_requests", "Asynchronous requests that are not finished.")?,
            due: registrar.gauge("kopeck_work_due", "Due requests that no worker has claimed.")?,
            oldest_due: registrar
                .gauge("kopeck_work_oldest_due_seconds", "The age of the oldest due request.")?,
            failing: registrar.gauge(
                "kopeck_work_failing",
                "Unfinished requests whose latest attempt got no response from the bank.",
            )?,
            stuck: registrar.gauge("kopeck_work_stuck", "Unfinished requests that need an operator.")?,
            deliveries: registrar.gauge(
                "kopeck_webhook_deliveries_pending",
                "Queued deliveries to webhooks that have not ended.",
            )?,
            oldest_delivery: registrar.gauge(
                "kopeck_webhook_oldest_pending_timestamp_seconds",
                "When the oldest of them was queued, Unix time; 0 if there is none.",
            )?,
            failing_webhooks: registrar
                .gauge("kopeck_webhooks_failing", "Enabled webhooks whose latest attempt failed.")?,
            webhook_failing_since: registrar.gauge(
                "kopeck_webhook_failing_since_timestamp_seconds",
                "The first failure of the longest series without success of an enabled webhook, Unix time; 0 if there is none.",
            )?,
            held: registrar.gauge("kopeck_money_held_kopecks", "Money on hold, of all partners.")?,
        })
    }

    fn show(&self, StoreSnapshot { backlog, deliveries, held }: StoreSnapshot) {
        self.requests.set(whole(backlog.all));
        self.due.set(whole(backlog.due));
        self.oldest_due.set(backlog.oldest_due.whole_seconds());
        self.failing.set(whole(backlog.failing));
        self.stuck.set(whole(backlog.stuck));
        self.deliveries.set(whole(deliveries.pending));
        self.oldest_delivery.set(deliveries.oldest.map_or(0, OffsetDateTime::unix_timestamp));
        self.failing_webhooks.set(whole(deliveries.failing));
        self.webhook_failing_since.set(deliveries.failing_since.map_or(0, OffsetDateTime::unix_timestamp));
        self.held.set(held.get());
    }
}

fn whole(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}
