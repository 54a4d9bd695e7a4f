//! Chain heads of the audit log.

mod heads;

pub use heads::{HeadDestination, HeadForwarder};
