#![doc = include_str!("../README.md")]

mod audit_heads;
mod bound_port;
mod certificate;
mod data_folder;
mod logging;
mod open_files;
mod operator;
mod random;
mod service_clock;
mod service_output;
mod system_clock;

pub use audit_heads::{HeadDestination, HeadForwarder};
pub use bound_port::BoundPort;
pub use certificate::{Certificate, CertificateFiles, CertificateRefresh};
pub use data_folder::{DataFolder, FolderLock, make_private, open_private};
pub use logging::{LogFormat, Timestamp, start_log_of_command, start_log_of_service};
pub use open_files::raise_open_files;
pub use operator::Operator;
pub use random::{OsEntropy, TimeOrderedIds};
pub use service_clock::{MoveError, ServiceClock};
pub use service_output::{announce, dropped_lines, flush, report};
pub use system_clock::{ClockReading, SystemClock};
