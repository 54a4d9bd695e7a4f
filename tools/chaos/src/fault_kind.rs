//! Which faults there are.

use std::fmt;

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FaultKind {
    /// An API process is killed, and started again.
    KillApi,
    /// A worker is killed, and started again.
    KillWorker,
    /// The bank's process is killed, and started again; its injected faults end.
    KillBank,
    /// An API process is stopped for some seconds.
    StopApi,
    /// A worker is stopped for longer than a lease, and then goes on as if nothing had happened.
    StopWorker,
    /// PostgreSQL ends at once, and is started again.
    CrashDatabase,
    /// Every connection to the database ends.
    CutDatabase,
    /// Nothing passes to or from the database for some seconds.
    BlockDatabase,
    /// Every connection to the bank ends.
    CutBank,
    /// Nothing passes to or from the bank for some seconds.
    BlockBank,
    /// Every connection of the partners ends.
    CutPartners,
    /// The bank answers no request.
    BankDown,
    /// The bank is slow.
    BankSlow,
    /// The bank fails before it does anything.
    BankFails,
    /// The bank carries instructions out, and its responses get lost.
    BankMute,
    /// The bank does twice what it is sent twice, and does not always say so.
    BankDoubles,
    /// The receiver of webhooks ends every connection.
    ReceiverDown,
    /// The receiver of webhooks responds late, also after the service has given up.
    ReceiverSlow,
    /// The receiver of webhooks takes deliveries, and its responses get lost.
    ReceiverMute,
}

impl FaultKind {
    /// All kinds.
    pub(crate) const ALL: [Self; 19] = [
        Self::KillApi,
        Self::KillWorker,
        Self::KillBank,
        Self::StopApi,
        Self::StopWorker,
        Self::CrashDatabase,
        Self::CutDatabase,
        Self::BlockDatabase,
        Self::CutBank,
        Self::BlockBank,
        Self::CutPartners,
        Self::BankDown,
        Self::BankSlow,
        Self::BankFails,
        Self::BankMute,
        Self::BankDoubles,
        Self::ReceiverDown,
        Self::ReceiverSlow,
        Self::ReceiverMute,
    ];
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KillApi => "SIGKILL of an API process",
            Self::KillWorker => "SIGKILL of a worker",
            Self::KillBank => "SIGKILL of the bank",
            Self::StopApi => "SIGSTOP of an API process",
            Self::StopWorker => "SIGSTOP of a worker beyond its lease",
            Self::CrashDatabase => "PostgreSQL stopped at once",
            Self::CutDatabase => "connections to PostgreSQL cut",
            Self::BlockDatabase => "nothing passes to PostgreSQL",
            Self::CutBank => "connections to the bank cut",
            Self::BlockBank => "nothing passes to the bank",
            Self::CutPartners => "connections of the partners cut",
            Self::BankDown => "bank down",
            Self::BankSlow => "bank slow",
            Self::BankFails => "bank fails some calls",
            Self::BankMute => "bank loses some answers",
            Self::BankDoubles => "bank doubles what is repeated",
            Self::ReceiverDown => "receiver of webhooks down",
            Self::ReceiverSlow => "receiver of webhooks slow",
            Self::ReceiverMute => "receiver of webhooks loses responses",
        })
    }
}
