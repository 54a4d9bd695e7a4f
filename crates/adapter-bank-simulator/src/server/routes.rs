//! Every operation of the server, in one table.

use actix_web::http::Method;

use super::request::{BankRequest, ErrorResponse, JsonResponse};
use super::{Context, control, protocol};

/// An operation that the server has.
pub struct BankOperation {
    /// `GET`, `POST` or `PUT`.
    pub method: &'static str,
    /// The path, with `{number}` for the number of a card.
    pub path: &'static str,
    pub(super) handler: fn(&Context, &BankRequest) -> Result<JsonResponse, ErrorResponse>,
}

impl BankOperation {
    pub(super) fn method(&self) -> Method {
        match self.method {
            "POST" => Method::POST,
            "PUT" => Method::PUT,
            _ => Method::GET,
        }
    }
}

macro_rules! operations {
    ($($method:literal $path:literal => $handler:path,)*) => {
        /// Every operation: those of the protocol, `/bank/v1/…`, and those of a sandbox, `/simulator/v1/…`.
        pub const OPERATIONS: &[BankOperation] =
            &[$(BankOperation { method: $method, path: $path, handler: $handler }),*];
    };
}

operations! {
    "GET" "/bank/v1/capabilities" => protocol::capabilities,
    "POST" "/bank/v1/instructions" => protocol::submit,
    "POST" "/bank/v1/instructions/query" => protocol::query,
    "GET" "/bank/v1/issued-cards" => protocol::issued_cards,
    "GET" "/bank/v1/cards/{number}" => protocol::card,
    "GET" "/bank/v1/cards/{number}/transactions" => protocol::transactions,
    "GET" "/bank/v1/feed" => protocol::feed,
    "GET" "/bank/v1/registry" => protocol::registry,
    "POST" "/simulator/v1/cards/{number}/purchase" => control::purchase,
    "POST" "/simulator/v1/cards/{number}/refund" => control::refund,
    "POST" "/simulator/v1/cards/{number}/activate" => control::activate,
    "POST" "/simulator/v1/cards/{number}/block" => control::block,
    "POST" "/simulator/v1/cards/{number}/unblock" => control::unblock,
    "POST" "/simulator/v1/cards/{number}/expire" => control::expire,
    "PUT" "/simulator/v1/behaviour" => control::set_behaviour,
    "GET" "/simulator/v1/clock" => control::clock,
    "POST" "/simulator/v1/clock/advance" => control::advance,
}

/// Each path once.
pub(super) fn paths() -> Vec<&'static str> {
    let mut paths: Vec<&'static str> = OPERATIONS.iter().map(|operation| operation.path).collect();
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_that_of_the_protocol() {
        use kopeck_bank_protocol as wire;
        for path in [
            wire::CAPABILITIES,
            wire::INSTRUCTIONS,
            wire::QUERY,
            wire::ISSUED_CARDS,
            wire::FEED,
            wire::REGISTRY,
            &format!("{}/{{number}}", wire::CARDS),
            &format!("{}/{{number}}/transactions", wire::CARDS),
            &format!("{}/{{number}}/purchase", wire::simulator::CARDS),
            wire::simulator::BEHAVIOUR,
            wire::simulator::CLOCK,
            wire::simulator::ADVANCE,
        ] {
            assert!(paths().contains(&path), "{path}");
        }
        assert_eq!(paths().len(), OPERATIONS.len(), "operations of one path would have to stand together");
    }
}
