//! The report of what moved on the cards of each employee in a month, and the closing of a month.

mod close;
mod employees;

use crate::operation::Operation;

/// The operations of this group.
pub(super) static OPERATIONS: [&Operation; 2] = [&employees::OPERATION, &close::OPERATION];
