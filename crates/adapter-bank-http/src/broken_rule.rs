//! Responses that break a rule of the protocol, as an operator sees them.

use kopeck_port_bank::BankError;

/// A broken rule: logs one line, by which an operator can tell the bank what is wrong, and leaves the outcome unknown.
///
/// `rule` is a number of docs/BANK.md. `subject` is the key of an instruction or the name of a read: no card number, and
/// nothing else of a response.
pub(crate) fn broken_rule(rule: u16, subject: &str, what: &str) -> BankError {
    log::warn!(rule = rule, subject = subject, reason = what; "bank broke a rule of the protocol");
    BankError::Unknown(format!("{what} (rule {rule})"))
}
