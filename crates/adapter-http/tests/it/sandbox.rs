//! The sandbox: commands and their keys.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix_web::http::Method;
use kopeck_adapter_http::{HttpParts, HttpState};
use kopeck_domain::Kopecks;
use kopeck_domain::card::{CardStatus, Standing};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::payment::PaymentRefusal;
use kopeck_port_bank::sandbox::{
    BankFaults, CommandKey, FaultRate, Purchase, PurchaseOutcome, Refund, Sandbox, SandboxClock,
    SandboxControl, SandboxError,
};
use serde_json::{Value, json};

use crate::cards::{CARD, api, one_card};
use crate::client::{TestResponse, call, post, send};
use crate::support::NOW;

/// Records commands and their keys.
#[derive(Default)]
struct Power {
    told: Mutex<Vec<String>>,
    keys: Mutex<Vec<CommandKey>>,
}

impl Power {
    fn note(&self, what: String) -> Result<(), SandboxError> {
        self.told.lock().unwrap().push(what);
        Ok(())
    }

    fn key(&self, key: &CommandKey) {
        self.keys.lock().unwrap().push(key.clone());
    }
}

impl SandboxControl for Power {
    fn purchase(&self, card: CardNumber, purchase: &Purchase) -> Result<PurchaseOutcome, SandboxError> {
        self.key(purchase.key.as_ref().unwrap());
        self.note(format!("purchase {card} {}", purchase.amount.get()))?;
        Ok(match purchase.amount.get() {
            1 => PurchaseOutcome::Declined(PaymentRefusal::InsufficientBalance),
            id => PurchaseOutcome::Approved(id),
        })
    }

    fn refund(&self, _card: CardNumber, refund: &Refund) -> Result<i64, SandboxError> {
        self.key(refund.key.as_ref().unwrap());
        match (refund.payment, refund.amount.get()) {
            (404, _) => Err(SandboxError::UnknownPayment),
            (_, 100..) => Err(SandboxError::OverPayment(Kopecks::new(99))),
            (id, _) => Ok(id + 1),
        }
    }

    fn block(&self, card: CardNumber) -> Result<(), SandboxError> {
        self.note(format!("block {card}"))
    }

    fn unblock(&self, _card: CardNumber) -> Result<(), SandboxError> {
        Err(SandboxError::Failed("secret".to_owned()))
    }

    fn expire(&self, _card: CardNumber) -> Result<(), SandboxError> {
        Err(SandboxError::UnknownCard)
    }

    fn activate(&self, _card: CardNumber, code: Option<&str>) -> Result<(), SandboxError> {
        code.map(|_| ()).ok_or(SandboxError::WrongCode)
    }

    fn inject_faults(&self, faults: BankFaults) -> Result<(), SandboxError> {
        if faults.down {
            return Err(SandboxError::Rate(FaultRate::Error));
        }
        self.note(format!("{faults:?}"))
    }
}

impl SandboxClock for Power {
    fn offset_micros(&self) -> Result<i64, SandboxError> {
        Ok(0)
    }

    fn advance(&self, by: Duration, key: &CommandKey) -> Result<i64, SandboxError> {
        self.key(key);
        if by.as_secs() > 1_000 {
            return Err(SandboxError::ClockTooFar);
        }
        self.note(format!("advance {}", by.as_secs()))?;
        self.offset_micros()
    }
}

fn sandbox() -> (HttpState, Arc<Power>) {
    let power = Arc::new(Power::default());
    let commanded = Sandbox { bank: Arc::clone(&power) as _, clock: Arc::clone(&power) as _ };
    let unit = one_card(Some(CardStatus::Additional));
    (HttpState::new(HttpParts { sandbox: Some(commanded), ..api(unit, Standing::Blocked) }), power)
}

/// Requests under a key.
async fn told(state: &HttpState, key: &str, path: &str, body: &Value) -> TestResponse {
    let path = path.replace("CARD", &CARD.to_string());
    send(state, post(&format!("/sandbox/v1/{path}"), body).insert_header(("idempotency-key", key))).await
}

#[actix_web::test]
async fn a_sandbox_command_runs_once_per_request() {
    let (state, power) = sandbox();
    for replayed in [None, Some("true")] {
        let got = send(&state, call(Method::POST, &format!("/sandbox/v1/card/{CARD}/block"))).await;
        assert_eq!((got.status, got.header("idempotent-replayed")), (200, replayed), "{}", got.text);
        let got = told(&state, "k1", "card/CARD/purchase", &json!({"amount": 5})).await;
        assert_eq!((got.status, got.header("idempotent-replayed")), (200, replayed), "{}", got.text);
        assert_eq!(got.json(), json!({"approved": true, "reason": null, "code": null, "transactionId": 5}));
        let got = told(&state, "k2", "clock/advance", &json!({"seconds": 60})).await;
        assert_eq!((got.status, got.header("idempotent-replayed")), (200, replayed), "{}", got.text);
    }
    let expected = ["block 4006381333931", "purchase 4006381333931 5", "advance 60"];
    assert_eq!(*power.told.lock().unwrap(), expected);
}

/// A refusal is not recorded, so a retry reaches the sandbox again.
#[actix_web::test]
async fn a_command_is_named_by_partner_key_and_call() {
    let (state, power) = sandbox();
    for (key, transaction) in [("k", 404), ("k", 404), ("other", 404), ("k", 405)] {
        told(&state, key, "card/CARD/refund", &json!({"transactionId": transaction, "amount": 100})).await;
    }
    let keys = power.keys.lock().unwrap();
    let texts: Vec<&str> = keys.iter().map(|key| key.text.as_str()).collect();
    assert_eq!(texts[0], texts[1]);
    assert!(texts[0] != texts[2] && texts[0] != texts[3] && texts[2] != texts[3]);
    assert!(texts.iter().all(|text| text.bytes().all(|byte| byte.is_ascii_graphic())));
    assert!(keys.iter().all(|key| key.since == NOW - time::Duration::days(7)));
}

#[actix_web::test]
async fn each_refusal_has_its_response() {
    let (state, _) = sandbox();
    let refund = |transaction: i64, amount: i64| json!({"transactionId": transaction, "amount": amount});
    for (path, body, field) in [
        ("card/CARD/activate", json!({}), "activationCode"),
        ("card/CARD/refund", refund(404, 1), "transactionId"),
        ("card/CARD/refund", refund(1, 100), "amount"),
        ("clock/advance", json!({"seconds": 1_001}), "seconds"),
        ("bank", json!({"down": true}), "errorRate"),
        ("balance/deposit", json!({"amount": 0}), "amount"),
    ] {
        assert_eq!(told(&state, "k", path, &body).await.fields(), field, "{path}");
    }
    let gone = told(&state, "k", "card/CARD/expire", &json!({})).await;
    assert_eq!((gone.status, gone.code().as_str()), (404, "card_not_found"));
    let failed = told(&state, "k", "card/CARD/unblock", &json!({})).await;
    assert_eq!((failed.status, failed.code().as_str()), (500, "internal"));
    assert!(!failed.text.contains("secret"));
    let declined = told(&state, "k", "card/CARD/purchase", &json!({"amount": 1})).await;
    let reason = "not enough money on the card";
    let expected =
        json!({"approved": false, "reason": reason, "code": "insufficient_funds", "transactionId": null});
    assert_eq!((declined.status, declined.json()), (200, expected));
    let given_back = told(&state, "r", "card/CARD/refund", &refund(1, 1)).await;
    assert_eq!(given_back.json(), json!({"success": true, "transactionId": 2}));
}
