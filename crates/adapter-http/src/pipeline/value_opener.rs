//! Opens the sealed values of one call, and keeps what went wrong.

use kopeck_domain::Faults;
use kopeck_sealing::{Clear, KeyId, RequestContext, SealingKey, Slot, key_id_of, open_request};
use zeroize::Zeroizing;

use crate::metrics::{HttpMetrics, RefusalKind};
use crate::route::Route;

/// What the caller is told of any value that does not open; the reason stands in the log.
pub(crate) const REFUSED: &str = "the sealed value was refused";

/// What opening needs to know of the call.
#[derive(Clone, Copy)]
pub(crate) struct OpeningContext<'a> {
    /// The keys of whoever calls.
    pub(crate) keys: &'a [SealingKey],
    /// Used in vain where the key is not known.
    pub(crate) dummy: &'a SealingKey,
    /// The method as called.
    pub(crate) method: &'a str,
    /// The path as it is bound.
    pub(crate) path: &'a str,
    /// The call's nonce.
    pub(crate) nonce: &'a str,
    /// The present moment in Unix seconds.
    pub(crate) now_unix: u64,
    /// The operation, whose own names the log may have.
    pub(crate) route: &'a Route,
    /// Counts what is refused.
    pub(crate) metrics: &'a dyn HttpMetrics,
}

/// The sealed values of a request that were refused: what its one log line says of them, however many they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RefusedSeals {
    /// How many.
    pub(crate) count: usize,
    /// The field of the first. `-` if the operation has no such field: the name is the caller's own, and may be anything.
    pub(crate) field: &'static str,
    /// Why the first did not open.
    pub(crate) reason: kopeck_sealing::Refusal,
}

/// Opens the values of one call.
pub(crate) struct ValueOpener<'a> {
    context: OpeningContext<'a>,
    /// What is wrong with the call so far.
    pub(crate) faults: Faults,
    /// The key of the first value that opened.
    pub(crate) used: Option<KeyId>,
    /// The values that did not open.
    pub(crate) refused: Option<RefusedSeals>,
}

impl<'a> ValueOpener<'a> {
    pub(crate) fn new(context: OpeningContext<'a>) -> Self {
        Self { context, faults: Faults::new(), used: None, refused: None }
    }

    /// Opens a value. One that does not open is a fault of `field`, whatever the reason.
    pub(crate) fn open(
        &mut self,
        slot: Slot<'_>,
        field: &str,
        clear: &Clear<'_>,
        text: &str,
    ) -> Option<Zeroizing<String>> {
        let OpeningContext { keys, dummy, method, path, nonce, now_unix, route, metrics: _ } = self.context;
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
                    Slot::Path(_) | Slot::QueryParameter(_) | Slot::Field(_) => route.own_name(field),
                };
                self.refused.get_or_insert(RefusedSeals { count: 0, field: own_name, reason }).count += 1;
                self.refuse(field);
                None
            }
        }
    }

    /// Refuses a value that is no sealed value though it has to be one.
    pub(crate) fn refuse(&mut self, field: &str) {
        self.context.metrics.record_refusal(RefusalKind::Sealing);
        self.faults.push(field, REFUSED);
    }

    /// Adds faults that were found elsewhere.
    pub(crate) fn fault_all(&mut self, faults: &Faults) {
        for fault in faults.as_slice() {
            self.faults.push(&fault.field, &fault.detail);
        }
    }
}
