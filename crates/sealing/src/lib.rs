#![doc = include_str!("../README.md")]

mod context;
mod key;
mod padding;
mod pae;
mod refusal;
mod seal;
mod stream;
#[cfg(test)]
mod vectors;
mod webhook;

pub use context::{
    Clear, EventContext, MAX_PARAMETER_CHARS, MAX_QUERY_CHARS, RequestContext, ResponseContext, Slot,
    bound_path, valid_nonce,
};
pub use key::{KeyError, KeyId, SealingKey};
pub use refusal::Refusal;
pub use seal::{
    WINDOW_SECONDS, key_id_of, looks_sealed, open_event, open_request, open_response, seal_event,
    seal_request, seal_response,
};
pub use stream::ResponseSealer;
pub use webhook::SigningSecret;
