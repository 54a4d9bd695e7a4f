//! How long a session lasts, and what ends it before.

use kopeck_domain::partner::SealingPolicy;
use kopeck_port_store::{Access, transact};
use kopeck_port_system::Clock as _;
use kopeck_service::partners::{self, PartnerError};
use serde_json::Value;
use time::Duration;

use crate::http_tokens::claims;
use crate::process::{Installation, PartnerSecrets, Running};
use crate::raw_http::{Tokens, get, login, login_call, post, refresh_call};
use crate::server::{SETTINGS, TestServer};

const TOKENS: [(&str, &str); 2] = [("accessToken", "accessExpireAt"), ("refreshToken", "refreshExpireAt")];

/// However often it is refreshed. No token says that it lives longer.
#[test]
fn a_session_ends_ninety_days_after_its_login() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let status = |access: &str| get("/v1/balance").token(access).send(&server).status;
    let end = (server.clock.now() + SETTINGS.lifetimes.session).unix_timestamp();
    let mut tokens = login(&server, &partner);
    let mut last = Value::Null;
    for days in [29, 29, 29] {
        server.clock.advance(Duration::days(days));
        let got = refresh_call(&partner, &tokens.refresh).send(&server);
        last = got.ok(200);
        tokens = Tokens::of(&got);
    }
    assert_eq!(last["refreshExpireAt"].as_i64(), Some(end), "three days are left and not thirty");

    server.clock.advance(Duration::days(3) - Duration::minutes(1));
    let got = refresh_call(&partner, &tokens.refresh).send(&server);
    let body = got.ok(200);
    for (token, expire_at) in TOKENS {
        assert_eq!(body[expire_at].as_i64(), Some(end), "{expire_at}");
        assert_eq!(claims(body[token].as_str().unwrap())["exp"].as_i64(), Some(end), "{token}");
    }
    tokens = Tokens::of(&got);
    assert_eq!(status(&tokens.access), 200);
    server.clock.advance(Duration::minutes(1));
    assert_eq!(status(&tokens.access), 401);
    assert_eq!(refresh_call(&partner, &tokens.refresh).send(&server).status, 401);
    assert_eq!(status(&login(&server, &partner).access), 200);
}

/// Every session of the partner with all of its tokens, and of no other partner.
#[test]
fn an_operator_can_end_all_sessions_of_a_partner() {
    let server = TestServer::start();
    let [partner, other] = [(); 2].map(|()| server.partner(SealingPolicy::Optional, 0));
    let status = |access: &str| get("/v1/balance").token(access).send(&server).status;
    let sessions = [login(&server, &partner), login(&server, &partner)];
    let refreshed = Tokens::of(&refresh_call(&partner, &sessions[0].refresh).send(&server));
    let others = login(&server, &other);
    let all = [&sessions[0], &sessions[1], &refreshed, &others].map(|tokens| tokens.access.as_str());
    assert_eq!(all.map(status), [200; 4]);

    let id = partner.id;
    let ended =
        transact(&*server.application.store, Access::Write, move |unit| partners::end_sessions(unit, id));
    assert_eq!(ended.map_err(|error: PartnerError| error.to_string()), Ok(2));
    server.clock.advance(Duration::seconds(5));
    assert_eq!(all.map(status), [401, 401, 401, 200]);
    for tokens in [&sessions[1], &refreshed] {
        assert_eq!(refresh_call(&partner, &tokens.refresh).send(&server).status, 401);
    }
    assert_eq!(status(&login(&server, &partner).access), 200, "it can log in again at once");
}

/// Tokens of a partner at a running server.
pub struct StolenCredentials {
    pub access: String,
    pub refresh: String,
}

impl StolenCredentials {
    /// The tokens of a login.
    pub fn from_login(running: &Running, partner: &PartnerSecrets) -> Self {
        let call = login_call(&partner.api_key, &partner.login, &partner.password);
        let got = call.send_to(&running.base_url);
        Self { access: got.text_of("accessToken"), refresh: got.text_of("refreshToken") }
    }

    pub fn status(&self, running: &Running) -> u16 {
        get("/v1/balance").token(&self.access).send_to(&running.base_url).status
    }

    /// The status of a refresh.
    pub fn refresh(&self, running: &Running, api_key: &str) -> u16 {
        let call = post("/v1/get_refresh_token", &serde_json::json!({"token": self.refresh}));
        call.with("x-api-key", api_key).send_to(&running.base_url).status
    }

    /// Waits until the access token is refused, which has to be within five seconds.
    pub fn must_end(&self, running: &Running) {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(5);
        while self.status(running) != 401 {
            assert!(std::time::Instant::now() < deadline, "the token is still accepted");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}

/// By the commands, beside a running server.
#[test]
fn stolen_sessions_can_be_ended() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let running = installation.serve(&[]);
    let command = |name: &str| installation.succeed(&["partner", name, &partner.id]);
    let fresh = || {
        let tokens = StolenCredentials::from_login(&running, &partner);
        assert_eq!(tokens.status(&running), 200);
        tokens
    };

    let stolen = fresh();
    assert!(command("end-sessions").ends_with(" ended: 1\n"));
    stolen.must_end(&running);
    assert_eq!(stolen.refresh(&running, &partner.api_key), 401);

    let stolen = fresh();
    command("suspend");
    command("resume");
    stolen.must_end(&running);
    assert_eq!(stolen.refresh(&running, &partner.api_key), 401, "a suspension is no pause");
    assert_eq!(fresh().status(&running), 200);
}

/// The former keys end with the command; sessions go on.
#[test]
fn a_stolen_key_can_be_ended_at_once() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let running = installation.serve(&[]);
    let tokens = StolenCredentials::from_login(&running, &partner);
    let rotate = |arguments: &[&str]| {
        let output = installation.run(&[&["partner"][..], arguments, &[&partner.id]].concat());
        let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        assert!(output.status.success() && out.split_whitespace().count() == 1, "{out}{err}");
        (out.trim().to_owned(), err)
    };
    let login = |api_key: &str| {
        login_call(api_key, &partner.login, &partner.password).send_to(&running.base_url).status
    };

    let (second, said) = rotate(&["rotate-api-key"]);
    assert!(said.contains("The former API key is accepted until "), "{said}");
    assert_eq!((login(&partner.api_key), login(&second)), (200, 200));
    let (third, said) = rotate(&["rotate-api-key", "--at-once"]);
    assert!(said.contains("The former API key is not accepted any more"), "{said}");
    assert_eq!((login(&partner.api_key), login(&second), login(&third)), (400, 400, 200));
    assert_eq!((tokens.status(&running), tokens.refresh(&running, &third)), (200, 200), "sessions go on");

    let (_, said) = rotate(&["rotate-keys"]);
    assert!(said.contains("The former sealing key is accepted until "), "{said}");
    let (newest, said) = rotate(&["rotate-keys", "--at-once"]);
    assert!(said.contains("The former sealing key is not accepted any more"), "{said}");
    let sealed_under = |key: &str| {
        let (api_key, sealing_key) = (third.clone(), key.to_owned());
        let (id, login, password) = (partner.id.clone(), partner.login.clone(), partner.password.clone());
        let secrets = PartnerSecrets { id, api_key, login, password, sealing_key };
        let client = running.client(&secrets);
        tokio::runtime::Runtime::new().unwrap().block_on(async move { client.login().await.is_ok() })
    };
    assert_eq!((sealed_under(&partner.sealing_key), sealed_under(&newest)), (false, true));
}
