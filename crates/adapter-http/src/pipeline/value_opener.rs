//! Opens the sealed values of a request, and collects failures.

use crate::input::faults::Faults;
use kopeck_sealing::{Clear, KeyId, RequestContext, SealingKey, Slot, key_id_of, open_request};
use zeroize::Zeroizing;

use crate::error::SEAL_REFUSED;
use crate::metrics::{HttpMetrics, RefusalKind};
use crate::operation::Operation;

/// Keys and request data for opening values.
#[derive(Clone, Copy)]
pub(crate) struct OpeningContext<'a> {
    /// The sender's keys.
    pub(crate) keys: &'a [SealingKey],
    /// Used if the key is unknown, so that the time is the same.
    pub(crate) dummy: &'a SealingKey,
    pub(crate) method: &'a str,
    /// The path that values are bound to.
    pub(crate) path: &'a str,
    pub(crate) nonce: &'a str,
    /// Now, in Unix seconds.
    pub(crate) now_unix: u64,
    /// The operation: the log may contain its field names.
    pub(crate) operation: &'a Operation,
    /// The metrics recorder.
    pub(crate) metrics: &'a dyn HttpMetrics,
}

/// The refused sealed values of a request, for its access log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RefusedSeals {
    /// How many.
    pub(crate) count: usize,
    /// The field of the first; `-` if the operation has no such field, because the name is client text.
    pub(crate) field: &'static str,
    /// Why the first did not open.
    pub(crate) reason: kopeck_sealing::Refusal,
}

/// Opens the values of a request.
pub(crate) struct ValueOpener<'a> {
    context: OpeningContext<'a>,
    /// The faults so far.
    pub(crate) faults: Faults,
    /// The key of the first opened value.
    pub(crate) used: Option<KeyId>,
    /// The values that did not open.
    pub(crate) refused: Option<RefusedSeals>,
}

impl<'a> ValueOpener<'a> {
    pub(crate) fn new(context: OpeningContext<'a>) -> Self {
        Self { context, faults: Faults::new(), used: None, refused: None }
    }

    /// Opens a value. A failure is a fault of `field`, whatever the reason.
    pub(crate) fn open(
        &mut self,
        slot: Slot<'_>,
        field: &str,
        clear: &Clear<'_>,
        text: &str,
    ) -> Option<Zeroizing<String>> {
        let OpeningContext { keys, dummy, method, path, nonce, now_unix, operation, metrics: _ } =
            self.context;
        let named = key_id_of(text).ok().and_then(|id| keys.iter().find(|key| key.id() == id));
        let key = named.unwrap_or(dummy);
        let request = RequestContext { method, path, nonce, slot, clear };
        match open_request(key, &request, now_unix, text) {
            Ok(plain) => {
                self.used.get_or_insert(key.id());
                Some(plain)
            }
            Err(reason) => {
                let own_name = match slot {
                    Slot::Query => "query",
                    Slot::Body => "body",
                    Slot::Path(_) | Slot::QueryParameter(_) | Slot::Field(_) => operation.own_name(field),
                };
                self.refused.get_or_insert(RefusedSeals { count: 0, field: own_name, reason }).count += 1;
                self.refuse(field);
                None
            }
        }
    }

    /// Refuses a plaintext value that has to be sealed.
    pub(crate) fn refuse(&mut self, field: &str) {
        self.context.metrics.record_refusal(RefusalKind::Sealing);
        self.faults.push(field, SEAL_REFUSED);
    }

    /// Adds faults found elsewhere.
    pub(crate) fn fault_all(&mut self, faults: &Faults) {
        for fault in faults.as_slice() {
            self.faults.push(&fault.field, &fault.detail);
        }
    }
}
