//! Operations of a sandbox.

use kopeck_api::{Balance, Operation, PurchaseResult, RefundResult, operations};
use serde::Serialize;
use uuid::Uuid;

use crate::client::Client;
use crate::model::done::Done;
use crate::model::order::ActivationCode;
use crate::model::sandbox::{BankBehaviour, Purchase};
use crate::request::Request;
use crate::write::Write;

/// Calls that only a sandbox has, where a simulator stands for the bank; see [`Client::sandbox`]. Elsewhere they
/// fail with 404.
#[derive(Debug, Clone, Copy)]
pub struct Sandbox<'a> {
    client: &'a Client,
}

impl<'a> Sandbox<'a> {
    pub(crate) const fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// Lets `amount` kopecks arrive on the partner's balance, and returns it.
    pub fn deposit(&self, amount: i64) -> Write<Balance> {
        #[derive(Serialize)]
        struct Body {
            amount: i64,
        }
        self.client.write(Request::of(&operations::SANDBOX_DEPOSIT).body(&Body { amount }))
    }

    /// Buys something with a card, as far as its limits, balance, expiry and block allow.
    pub fn purchase(&self, id_card: Uuid, purchase: &Purchase) -> Write<PurchaseResult> {
        self.client.write(on_card(&operations::SANDBOX_PURCHASE, id_card).body(purchase))
    }

    /// Refunds `amount` kopecks of a purchase, up to its refundable rest.
    pub fn refund(&self, id_card: Uuid, transaction_id: i64, amount: i64) -> Write<RefundResult> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Body {
            transaction_id: i64,
            amount: i64,
        }
        let request = on_card(&operations::SANDBOX_REFUND, id_card);
        self.client.write(request.body(&Body { transaction_id, amount }))
    }

    /// Activates a card by its code; without one the bank activates it.
    pub fn activate(&self, id_card: Uuid, code: Option<&ActivationCode>) -> Write<Done> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Body<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            activation_code: Option<&'a ActivationCode>,
        }
        let request = on_card(&operations::SANDBOX_ACTIVATE, id_card);
        self.client.write(request.body(&Body { activation_code: code }))
    }

    /// Blocks a card at the bank.
    pub fn block(&self, id_card: Uuid) -> Write<Done> {
        self.client.write(on_card(&operations::SANDBOX_BLOCK, id_card).body(&Nothing {}))
    }

    /// Ends the block of a card at the bank.
    pub fn unblock(&self, id_card: Uuid) -> Write<Done> {
        self.client.write(on_card(&operations::SANDBOX_UNBLOCK, id_card).body(&Nothing {}))
    }

    /// Lets a card expire.
    pub fn expire(&self, id_card: Uuid) -> Write<Done> {
        self.client.write(on_card(&operations::SANDBOX_EXPIRE, id_card).body(&Nothing {}))
    }

    /// Sets the bank faults from now on, for all partners of the sandbox.
    pub fn bank(&self, behaviour: &BankBehaviour) -> Write<Done> {
        self.client.write(Request::of(&operations::SANDBOX_BANK).body(behaviour))
    }

    /// Moves the service's clock forward, for all partners: tokens and cards expire, periods reset. It never goes
    /// back. Sealing keeps using the machine's time.
    pub fn advance_clock(&self, seconds: u64) -> Write<Done> {
        #[derive(Serialize)]
        struct Body {
            seconds: u64,
        }
        self.client.write(Request::of(&operations::SANDBOX_CLOCK).body(&Body { seconds }))
    }
}

fn on_card(operation: &Operation, id_card: Uuid) -> Request {
    Request::of(operation).id(id_card)
}

/// An empty body: the service takes a POST with a JSON object only.
#[derive(Serialize)]
struct Nothing {}
