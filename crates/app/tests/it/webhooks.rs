//! Webhooks, from the change to the receiver.

mod endpoints;
pub mod receiver;

use std::collections::BTreeSet;

use kopeck_sealing::{EventContext, SealingKey, SigningSecret, open_event};
use serde_json::{Value, json};

use crate::process::{Installation, PartnerSecrets, Running};
use crate::raw_http::{RawRequest, RawResponse, get, login_call, post};
use receiver::{Received, Receiver};

/// The sandbox is off by default on a database server.
const SANDBOX: &[&str] = &["--sandbox", "true"];

/// A service with a partner, whom events of a receiver reach.
struct Service {
    installation: Installation,
    running: Option<Running>,
    partner: PartnerSecrets,
    token: String,
}

impl Service {
    fn start() -> Self {
        let installation = Installation::new();
        let partner = installation.create_partner(&["--deposit", "0.01", "--sealing", "optional"]);
        let running = Some(installation.serve(SANDBOX));
        let mut service = Self { installation, running, partner, token: String::new() };
        service.login();
        service
    }

    fn login(&mut self) {
        let call = login_call(&self.partner.api_key, &self.partner.login, &self.partner.password);
        self.token = call.send_to(&self.running.as_ref().unwrap().base_url).text_of("accessToken");
    }

    fn send(&self, call: RawRequest) -> RawResponse {
        call.token(&self.token).send_to(&self.running.as_ref().unwrap().base_url)
    }

    fn webhook(&self, body: &Value) -> Value {
        self.send(post("/v1/webhooks", body)).ok(201)
    }

    fn ping(&self, webhook: &Value) -> String {
        self.send(RawRequest::new("POST", &format!("{}/ping", path_of(webhook)))).text_of("eventId")
    }

    fn advance(&self, seconds: u32) {
        self.send(post("/sandbox/v1/clock/advance", &json!({"seconds": seconds}))).ok(200);
    }

    /// The newest delivery, once this holds of it.
    fn delivery(&self, webhook: &Value, holds: impl Fn(&Value) -> bool) -> Value {
        let path = format!("{}/deliveries", path_of(webhook));
        receiver::once(|| {
            let listed = self.send(get(&path)).ok(200);
            Some(listed["data"][0].clone()).filter(&holds)
        })
    }

    fn delivered(&self, webhook: &Value) -> Value {
        self.delivery(webhook, |delivery| delivery["status"] == "DELIVERED")
    }

    /// Restarts the process after a power loss.
    fn kill(&mut self) {
        self.running.as_mut().unwrap().kill();
        self.running = None;
        self.running = Some(self.installation.serve(SANDBOX));
    }
}

fn path_of(webhook: &Value) -> String {
    format!("/v1/webhook/{}", webhook["idWebhook"].as_str().unwrap())
}

fn signed(received: &Received, secret: &Value) -> bool {
    let secret = SigningSecret::parse(secret.as_str().unwrap()).unwrap();
    let header = |name| received.header(name);
    let signatures = header("webhook-signature");
    secret.verify(header("webhook-id"), header("webhook-timestamp"), &received.body, signatures)
}

#[test]
fn events_arrive_signed_and_as_the_feed_has_them() {
    let (service, receiver) = (Service::start(), Receiver::start());
    let webhook = service.webhook(&json!({"url": receiver.url(), "types": ["employee.created", "ping"]}));
    service.send(post("/v1/category", &json!({"nameCategory": "Office"}))).ok(201);
    service.send(post("/v1/employee/add", &json!({"customId": "E-1"}))).ok(200);
    let received = receiver.next();
    let feed = service.send(get("/v1/events?types=employee.created")).ok(200);
    assert_eq!(received.json(), feed["data"][0]);
    assert_eq!(received.header("webhook-id"), feed["data"][0]["id"].as_str().unwrap());
    assert_eq!(received.header("content-type"), "application/json");
    assert!(signed(&received, &webhook["secret"]));
    let delivery = service.delivered(&webhook);
    assert_eq!((&delivery["attempts"], &delivery["lastStatusCode"]), (&json!(1), &json!(200)));
    assert_eq!((&delivery["type"], &delivery["seq"]), (&json!("employee.created"), &json!(2)));
    let shown = service.send(get(&path_of(&webhook))).ok(200);
    assert_eq!((&shown["pending"], &shown["failingSince"]), (&json!(0), &Value::Null));
    assert!(shown["lastSuccessAt"].is_string() && shown.get("secret").is_none());
    let event = service.ping(&webhook);
    let ping = receiver.next();
    assert_eq!((ping.json()["type"].clone(), ping.header("webhook-id")), (json!("ping"), event.as_str()));
}

#[test]
fn each_event_is_delivered_once_while_others_are_appended() {
    const EVENTS: usize = 40;
    let (service, receiver) = (Service::start(), Receiver::start());
    let webhook = service.webhook(&json!({"url": receiver.url(), "types": ["employee.created", "ping"]}));
    for number in 0..EVENTS {
        service.send(post("/v1/employee/add", &json!({"customId": format!("E-{number}")}))).ok(200);
    }
    let arrived = || receiver.next().header("webhook-id").to_owned();
    let ids: BTreeSet<String> = (0..EVENTS).map(|_| arrived()).collect();
    assert_eq!(ids.len(), EVENTS);
    let ping = service.ping(&webhook);
    assert_eq!(arrived(), ping, "nothing was left over");
}

/// Its receiver accepts the connection and says nothing for the ten seconds of an attempt.
#[test]
fn an_attempt_that_takes_long_holds_up_no_newer_event() {
    let (service, receiver) = (Service::start(), Receiver::start());
    let webhook = service.webhook(&json!({"url": receiver.url(), "types": ["employee.created"]}));
    receiver.answer_never();
    let slow = service.ping(&webhook);
    assert_eq!(receiver.next().header("webhook-id"), slow);
    for number in 1..=3 {
        service.send(post("/v1/employee/add", &json!({"customId": format!("E-{number}")}))).ok(200);
        assert_eq!(receiver.next().json()["type"], "employee.created");
    }
    let listed = service.send(get(&format!("{}/deliveries", path_of(&webhook)))).ok(200);
    let oldest = &listed["data"][3];
    assert_eq!(
        (&oldest["eventId"], &oldest["attempts"]),
        (&json!(slow), &json!(0)),
        "it is still on its way"
    );
}

#[test]
fn a_failed_attempt_is_made_again_with_the_same_event() {
    let (service, receiver) = (Service::start(), Receiver::start());
    let webhook = service.webhook(&json!({"url": receiver.url()}));
    receiver.answer("503 Service Unavailable\r\nRetry-After: 40");
    let event = service.ping(&webhook);
    assert_eq!(receiver.next().header("webhook-id"), event);
    let failed = service.delivery(&webhook, |delivery| delivery["attempts"] == 1);
    assert_eq!((&failed["status"], &failed["lastStatusCode"]), (&json!("PENDING"), &json!(503)));
    assert_eq!(failed["lastError"], "the endpoint answered with status 503");
    assert!(service.send(get(&path_of(&webhook))).ok(200)["failingSince"].is_string());
    service.advance(41);
    assert_eq!(receiver.next().header("webhook-id"), event);
    assert_eq!(service.delivered(&webhook)["attempts"], 2);
}

#[test]
fn a_receiver_that_is_gone_is_disabled() {
    let (service, receiver) = (Service::start(), Receiver::start());
    let webhook = service.webhook(&json!({"url": receiver.url()}));
    receiver.answer("410 Gone");
    let event = service.ping(&webhook);
    receiver.next();
    let delivery = service.delivery(&webhook, |delivery| delivery["status"] == "FAILED");
    assert_eq!((&delivery["lastStatusCode"], &delivery["eventId"]), (&json!(410), &json!(event)));
    let feed = service.send(get("/v1/events?types=webhook.disabled")).ok(200);
    let data = json!({"idWebhook": webhook["idWebhook"], "reason": "gone"});
    assert_eq!(feed["data"][0]["data"], data);
    let redeliver = format!("{}/redeliver", path_of(&webhook));
    let again = json!({"eventId": event});
    assert_eq!(service.send(post(&redeliver, &again)).code(), (409, "webhook_disabled".to_owned()));
    let unknown = json!({"eventId": webhook["idWebhook"]});
    assert_eq!(service.send(post(&redeliver, &unknown)).code(), (404, "not_found".to_owned()));
    // While it is disabled nothing is queued; afterwards missed events are delivered on request.
    service.send(post("/v1/employee/add", &json!({"customId": "E-1"}))).ok(200);
    let enable = RawRequest::new("PUT", &path_of(&webhook)).json(&json!({"enabled": true}));
    assert_eq!(service.send(enable).ok(200)["enabled"], true);
    assert_eq!(service.send(post(&redeliver, &again)).ok(202), json!({"deliveries": 1}));
    assert_eq!(receiver.next().header("webhook-id"), event);
    service.delivered(&webhook);
    let after = feed["data"][0]["seq"].clone();
    assert_eq!(service.send(post(&redeliver, &json!({"after": after}))).ok(202), json!({"deliveries": 1}));
    assert_eq!(receiver.next().json()["type"], "employee.created");
}

#[test]
fn both_secrets_sign_during_a_rotation() {
    let (mut service, receiver) = (Service::start(), Receiver::start());
    let webhook = service.webhook(&json!({"url": receiver.url()}));
    let rotated = service.send(RawRequest::new("POST", &format!("{}/secret", path_of(&webhook)))).ok(200);
    assert_ne!(rotated["secret"], webhook["secret"]);
    service.ping(&webhook);
    let received = receiver.next();
    assert!(signed(&received, &webhook["secret"]) && signed(&received, &rotated["secret"]));
    service.advance(24 * 3_600 + 1);
    service.login();
    service.ping(&webhook);
    let received = receiver.next();
    assert!(!signed(&received, &webhook["secret"]) && signed(&received, &rotated["secret"]));
}

#[test]
fn the_data_of_a_sealed_webhook_are_encrypted() {
    let (service, receiver) = (Service::start(), Receiver::start());
    service.webhook(&json!({"url": receiver.url(), "sealed": true, "types": ["employee.created"]}));
    let employee = service.send(post("/v1/employee/add", &json!({"customId": "E-1"}))).text_of("idEmployee");
    let received = receiver.next();
    let body = received.json();
    assert!(body.get("data").is_none() && body["type"] == "employee.created");
    let key = SealingKey::parse(&service.partner.sealing_key).unwrap();
    let at: u64 = received.header("webhook-timestamp").parse().unwrap();
    let context = EventContext { id: body["id"].as_str().unwrap() };
    let data = open_event(&key, &context, at, body["sealed"].as_str().unwrap()).unwrap();
    let data: Value = serde_json::from_str(&data).unwrap();
    assert_eq!(data, json!({"idEmployee": employee, "customId": "E-1"}));
}

/// The receiver has the event, the service has not recorded it.
#[test]
fn an_attempt_that_was_not_recorded_is_made_again() {
    let (mut service, receiver) = (Service::start(), Receiver::start());
    let webhook = service.webhook(&json!({"url": receiver.url()}));
    receiver.answer_never();
    let event = service.ping(&webhook);
    assert_eq!(receiver.next().header("webhook-id"), event);
    service.kill();
    // The lease of the process that was killed ends.
    service.advance(61);
    assert_eq!(receiver.next().header("webhook-id"), event);
    assert_eq!(service.delivered(&webhook)["eventId"], json!(event));
}

#[test]
fn an_address_that_leads_elsewhere_is_refused() {
    let service = Service::start();
    for url in [
        "http://example.com/",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://[fd00::1]/",
        "https://user:password@8.8.8.8/",
        "https://8.8.8.8/#part",
        "gopher://127.0.0.1/",
        "",
        "https://a b/",
        "https://8.8.8.8\\@127.0.0.1/",
        "https://8.8.8.8/\u{202e}moc",
        "https://8.8.8.8/\u{200b}",
        "https://[::ffff:0:127.0.0.1]/",
        "https://[4000::1]/",
    ] {
        assert_eq!(service.send(post("/v1/webhooks", &json!({"url": url}))).fields(), "url");
    }
    assert_eq!(
        service.send(post("/v1/webhooks", &json!({"url": "https://127.0.0.1/", "types": []}))).fields(),
        "types"
    );
    let webhook = service.webhook(&json!({"url": "HTTPS://127.1:9"}));
    assert_eq!(webhook["url"], "https://127.0.0.1:9/", "it is shown as it is understood");
    let change = |url: &str| RawRequest::new("PUT", &path_of(&webhook)).json(&json!({"url": url}));
    assert_eq!(service.send(change("https://192.168.0.1/")).fields(), "url");
    assert_eq!(service.send(change("https://127.0.0.1:9/a/../b")).ok(200)["url"], "https://127.0.0.1:9/b");
    assert_eq!(service.send(get(&path_of(&webhook))).ok(200)["url"], "https://127.0.0.1:9/b");
    for _ in 1..10 {
        service.webhook(&json!({"url": "https://127.0.0.1:9/"}));
    }
    // They are counted before an address is looked at.
    for url in ["https://127.0.0.1:9/", "https://10.0.0.1/"] {
        let eleventh = post("/v1/webhooks", &json!({"url": url}));
        assert_eq!(service.send(eleventh).code(), (409, "too_many_webhooks".to_owned()));
    }
    let deleted = service.send(RawRequest::new("DELETE", &path_of(&webhook))).ok(200);
    assert_eq!(deleted["idWebhook"], webhook["idWebhook"]);
    assert_eq!(service.send(get(&path_of(&webhook))).code(), (404, "webhook_not_found".to_owned()));
}

#[test]
fn a_redelivery_names_one_event_or_a_place_in_the_feed() {
    let (service, receiver) = (Service::start(), Receiver::start());
    let webhook = service.webhook(&json!({"url": receiver.url()}));
    let path = format!("{}/redeliver", path_of(&webhook));
    for body in [json!({}), json!({"after": 0, "eventId": webhook["idWebhook"]})] {
        assert_eq!(service.send(post(&path, &body)).fields(), "body");
    }
    for (body, field) in [(json!({"eventId": "x"}), "eventId"), (json!({"after": -1}), "after")] {
        assert_eq!(service.send(post(&path, &body)).fields(), field);
    }
    assert_eq!(
        service.send(post(&path, &json!({"eventId": webhook["idWebhook"]}))).code(),
        (404, "not_found".to_owned())
    );
}

#[test]
fn an_operator_lists_webhooks_and_disables_one() {
    let service = Service::start();
    let webhook = service.webhook(&json!({"url": "https://127.0.0.1:9/"}));
    let (partner, id) = (service.partner.id.as_str(), webhook["idWebhook"].as_str().unwrap());
    let listed = service.installation.succeed(&["webhooks", "list", partner]);
    assert_eq!(listed, format!("{id}  enabled, 0 pending  https://127.0.0.1:9/\n"));
    assert_eq!(
        service.installation.succeed(&["webhooks", "disable", partner, id]),
        format!("disabled {id}\n")
    );
    assert!(!service.installation.run(&["webhooks", "disable", partner, id]).status.success());
    let listed: Value =
        serde_json::from_str(&service.installation.succeed(&["webhooks", "list", partner, "--json"]))
            .unwrap();
    assert_eq!((&listed[0]["idWebhook"], &listed[0]["enabled"]), (&json!(id), &json!(false)));
    let feed = service.send(get("/v1/events?types=webhook.disabled")).ok(200);
    assert_eq!(feed["data"][0]["data"], json!({"idWebhook": id, "reason": "operator"}));
    let audit = service.installation.succeed(&["audit", "list", "--json"]);
    assert!(audit.contains("webhooks.disable") && audit.contains(&format!("webhook:{id}")), "{audit}");
}

/// A bare container has no certificates: no event can be delivered by https, and the start does not depend on it.
#[test]
fn a_machine_without_certificate_authorities_serves_all_the_same() {
    let installation = Installation::embedded();
    let partner = installation.create_partner(&["--deposit", "0.01", "--sealing", "optional"]);
    let mut command = installation.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("SSL_CERT_FILE", "/nonexistent").env("SSL_CERT_DIR", "/nonexistent");
    let running = Some(installation.start_command(command));
    let mut service = Service { installation, running, partner, token: String::new() };
    service.login();
    let receiver = Receiver::start();
    service.webhook(&json!({"url": receiver.url(), "types": ["employee.created"]}));
    let secure = service.webhook(&json!({"url": "https://127.0.0.1:9/", "types": ["employee.created"]}));
    service.send(post("/v1/employee/add", &json!({"customId": "E-1"}))).ok(200);
    assert_eq!(receiver.next().json()["type"], "employee.created");
    let failed = service.delivery(&secure, |delivery| delivery["attempts"] == 1);
    assert_eq!(failed["lastError"], "no connection, or the certificate is not trusted");
}
