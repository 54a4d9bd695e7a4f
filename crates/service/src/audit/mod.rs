//! The audit log: notes of what changed nothing, and the check of all that is written.
//!
//! What changes something has its entry in its own unit of work. What was refused has none; it is [noted](Notes) and
//! written a moment later.

mod budgets;
mod notes;
mod verify;

pub use notes::{NoObserver, Notes, NotesObserver};
pub use verify::{Breach, Verified, VerifyError, verify};
