//! A partner's sealing key is rotated, and the partner learns the new key later: no request and no event fails meanwhile.

use kopeck_client::{
    Client, Error, Event, NewEmployee, NewWebhook, RetryPolicy, SealingKey, SigningSecret, Uuid,
    WebhookError, WebhookHeaders, WebhookVerifier,
};
use kopeck_sealing::key_id_of;

use crate::process::{Installation, PartnerSecrets, Running};
use crate::webhooks::receiver::{Received, Receiver};

/// The sandbox is off by default on a database server.
const SANDBOX: &[&str] = &["--sandbox", "true"];

/// A partner that has to seal, with a webhook.
struct Partner {
    installation: Installation,
    running: Option<Running>,
    secrets: PartnerSecrets,
    receiver: Receiver,
    webhook: Uuid,
    signing: SigningSecret,
    employees: u32,
}

impl Partner {
    async fn start() -> Self {
        let installation = Installation::new();
        let secrets = installation.create_partner(&["--deposit", "0.01"]);
        let running = installation.serve(SANDBOX);
        let receiver = Receiver::start();
        let types = Some(vec!["employee.created".into()]);
        let webhook = NewWebhook { url: receiver.url(), types, ..NewWebhook::default() };
        let created = running.client(&secrets).webhooks().create(&webhook).await.unwrap();
        assert!(created.webhook.sealed, "by default, under the policy required");
        let signing = SigningSecret::parse(&created.secret.0).unwrap();
        let webhook = created.webhook.id_webhook;
        Self { installation, running: Some(running), secrets, receiver, webhook, signing, employees: 0 }
    }

    fn key(&self) -> SealingKey {
        SealingKey::parse(&self.secrets.sealing_key).unwrap()
    }

    fn rotate(&self, options: &[&str]) -> SealingKey {
        let rotate = ["partner", "rotate-keys", &self.secrets.id];
        SealingKey::parse(self.installation.succeed(&[&rotate[..], options].concat()).trim()).unwrap()
    }

    /// Whether each key is used, the newest first, as the operator sees it.
    fn first_uses(&self) -> Vec<bool> {
        let shown = self.installation.succeed(&["partner", "show", &self.secrets.id, "--json"]);
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
        let keys = shown["sealingKeys"].as_array().unwrap();
        keys.iter().map(|key| key["firstUsedAt"].is_string()).collect()
    }

    /// A client that logs in again, so that no cache has its token.
    fn client(&self, key: &SealingKey, others: &[&SealingKey]) -> Client {
        let builder = Client::builder(&self.running.as_ref().unwrap().base_url)
            .api_key(self.secrets.api_key.as_str())
            .login(&self.secrets.login)
            .password(self.secrets.password.as_str())
            .sealing_key(key.clone())
            .retry(RetryPolicy::none());
        others.iter().fold(builder, |builder, key| builder.also_open_with((*key).clone())).build().unwrap()
    }

    fn verifier(&self, key: &SealingKey, others: &[&SealingKey]) -> WebhookVerifier {
        let verifier = WebhookVerifier::new(vec![self.signing.clone()]).sealing_key(key.clone());
        others.iter().fold(verifier, |verifier, key| verifier.also_open_with((*key).clone()))
    }

    /// A day of a client: requests with nothing sealed, with a sealed body, and without a body.
    async fn work(&mut self, client: &Client) -> Received {
        assert!(client.balance().await.unwrap().balance > 0);
        self.employees += 1;
        let employee = NewEmployee::new(format!("E-{}", self.employees));
        let employee = client.employees().add(&employee).await.unwrap();
        let received = self.receiver.next();
        client.employees().erase(employee.id_employee).await.unwrap();
        client.webhooks().get(self.webhook).await.unwrap();
        received
    }

    /// Restarts the process after a power loss.
    fn restart(&mut self) {
        self.running.as_mut().unwrap().kill();
        self.running = None;
        self.running = Some(self.installation.serve(SANDBOX));
    }

    async fn advance(&self, client: &Client, seconds: u64) {
        client.sandbox().advance_clock(seconds).await.unwrap();
    }
}

fn verify(verifier: &WebhookVerifier, received: &Received) -> Result<Event, WebhookError> {
    let headers = WebhookHeaders::find(|name| Some(received.header(name)))?;
    verifier.verify(headers, &received.body)
}

/// The key under which the data of an event are sealed.
fn key_of(received: &Received) -> kopeck_sealing::KeyId {
    key_id_of(received.json()["sealed"].as_str().unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_learns_the_new_key_an_hour_later_misses_nothing() {
    let mut partner = Partner::start().await;
    let old = partner.key();
    let stays = partner.client(&old, &[]);
    let old_verifier = partner.verifier(&old, &[]);
    verify(&old_verifier, &partner.work(&stays).await).unwrap();

    // Only the operator has the new key.
    let new = partner.rotate(&[]);
    for round in 0..2 {
        let fresh = partner.client(&old, &[]);
        for client in [&stays, &fresh] {
            let received = partner.work(client).await;
            assert_eq!(key_of(&received), old.id());
            verify(&old_verifier, &received).unwrap();
        }
        if round == 0 {
            // Longer than an access token lives.
            partner.advance(&stays, 3_600).await;
        }
    }

    // The partner adds the new key everywhere, before anything seals with it.
    let prepared = partner.client(&old, &[&new]);
    assert_eq!(key_of(&partner.work(&prepared).await), old.id());
    assert_eq!(partner.first_uses(), [false, true]);

    // From its first sealed request on, here the login, the new key is the default; a receiver that has both misses nothing.
    let changed = partner.client(&new, &[&old]);
    let verifier = partner.verifier(&old, &[&new]);
    let received = partner.work(&changed).await;
    assert_eq!(key_of(&received), new.id());
    assert_eq!(partner.first_uses(), [true, true]);
    verify(&verifier, &received).unwrap();
    verify(&partner.verifier(&new, &[]), &received).unwrap();
    assert_eq!(verify(&old_verifier, &received), Err(WebhookError::UnknownKey(new.id())));
    partner.work(&prepared).await;

    // A process that starts now knows it, too.
    partner.restart();
    let fresh = partner.client(&new, &[]);
    let received = partner.work(&fresh).await;
    assert_eq!(key_of(&received), new.id());
    let behind = partner.client(&old, &[]);
    let error = behind.balance().await.unwrap_err();
    let expected = format!(
        "sealed under key {}, which this client does not have: was the sealing key rotated?",
        new.id()
    );
    assert!(matches!(&error, Error::Sealing(_)) && error.to_string().contains(&expected), "{error}");
}

/// A stolen key opens nothing any more.
#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_at_once_seals_under_the_new_key_at_once() {
    let mut partner = Partner::start().await;
    let old = partner.key();
    let client = partner.client(&old, &[]);
    partner.work(&client).await;
    let new = partner.rotate(&["--at-once"]);
    let changed = partner.client(&new, &[]);
    let received = partner.work(&changed).await;
    assert_eq!(key_of(&received), new.id());
    verify(&partner.verifier(&new, &[]), &received).unwrap();
}
