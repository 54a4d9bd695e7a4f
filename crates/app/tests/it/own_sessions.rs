//! Sessions of one's own, and the change of one's own password.

use kopeck_client::RequestLogQuery;
use kopeck_domain::partner::SealingPolicy;
use kopeck_port_store::{Access, StoreError, transact};
use kopeck_port_system::Clock as _;
use serde_json::{Value, json};
use time::Duration;
use time::format_description::well_known::Rfc3339;

use crate::http_sessions::StolenCredentials;
use crate::process::Installation;
use crate::raw_http::{RawRequest, get, login, login_call, optional, refresh_call, required, seal_body};
use crate::server::{PASSWORD, TestPartner, TestServer};

const OTHER: &str = "four green barges at dusk";

const THERE: [u8; 4] = [127, 0, 0, 3];

fn change(current: &str, new: &str) -> RawRequest {
    RawRequest::new("PUT", "/v1/password").json(&json!({"current": current, "new": new}))
}

fn end(id: &str) -> RawRequest {
    RawRequest::new("DELETE", &format!("/v1/session/{id}"))
}

fn sessions(server: &TestServer, token: &str) -> Vec<Value> {
    get("/v1/sessions").token(token).send(server).ok(200).as_array().unwrap().clone()
}

fn id_of(session: &Value) -> String {
    session["idSession"].as_str().unwrap().to_owned()
}

fn status(server: &TestServer, token: &str) -> u16 {
    get("/v1/balance").token(token).send(server).status
}

fn may_log_in(server: &TestServer, partner: &TestPartner, password: &str) -> u16 {
    login_call(&partner.api_key, &partner.login, password).send(server).status
}

/// With the time and the address of the last use, to a minute: a request in between costs no write.
#[test]
fn a_partner_sees_its_sessions() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let first = login(&server, &partner);
    let start = server.clock.now().replace_nanosecond(0).unwrap();
    let shown = |at: time::OffsetDateTime| json!(at.format(&Rfc3339).unwrap());
    server.clock.advance(Duration::seconds(10));
    let call = login_call(&partner.api_key, &partner.login, &partner.password).from(THERE).send(&server);
    let second = call.text_of("accessToken");
    let seen = sessions(&server, &first.access);
    let facts =
        |session: &Value| ["createdAt", "lastUsedAt", "address", "current"].map(|name| session[name].clone());
    let later = start + Duration::seconds(10);
    assert_eq!(facts(&seen[0]), [shown(start), shown(start), json!("127.0.0.1"), json!(true)]);
    assert_eq!(facts(&seen[1]), [shown(later), shown(later), json!("127.0.0.3"), json!(false)]);
    assert_eq!(seen.len(), 2);

    server.clock.advance(Duration::seconds(49));
    assert_eq!(status(&server, &first.access), 200);
    assert_eq!(sessions(&server, &second)[0]["lastUsedAt"], shown(start), "not a minute ago");
    server.clock.advance(Duration::seconds(2));
    assert_eq!(get("/v1/balance").from(THERE).token(&first.access).send(&server).status, 200);
    // The use is written after the request, by the one writer of the store: this unit of work comes behind it.
    transact::<_, StoreError>(&*server.application.store, Access::Write, |_| Ok(())).unwrap();
    let used = sessions(&server, &second).remove(0);
    assert_eq!(
        facts(&used),
        [shown(start), shown(start + Duration::seconds(61)), json!("127.0.0.3"), json!(false)]
    );
}

#[test]
fn a_session_is_ended_with_its_tokens() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let [kept, lost] = [login(&server, &partner), login(&server, &partner)];
    let (other, others_token) = optional(&server);
    assert_eq!([&kept, &lost].map(|tokens| status(&server, &tokens.access)), [200, 200]);
    let theirs = id_of(&sessions(&server, &others_token)[0]);
    let listed = sessions(&server, &kept.access);
    let ended = id_of(listed.iter().find(|session| session["current"] == json!(false)).unwrap());
    let got = end(&ended).token(&kept.access).send(&server).ok(200);
    assert_eq!(got, json!({"idSession": ended}));
    // At once in the process that ended it.
    assert_eq!([&kept, &lost].map(|tokens| status(&server, &tokens.access)), [200, 401]);
    assert_eq!(refresh_call(&partner, &lost.refresh).send(&server).status, 401);
    assert_eq!(sessions(&server, &kept.access).len(), 1);
    let unknown = "0f8fad5b-d9cb-469f-a165-70867728950e";
    for id in [ended.as_str(), theirs.as_str(), unknown] {
        let refused = end(id).token(&kept.access).send(&server).code();
        assert_eq!(refused, (404, "session_not_found".to_owned()), "{id}");
    }
    assert_eq!(end("none").token(&kept.access).send(&server).fields(), "idSession");
    assert_eq!(status(&server, &others_token), 200, "{}", other.login);
    // Its own one too: a log-out.
    let own = id_of(&sessions(&server, &kept.access)[0]);
    end(&own).token(&kept.access).send(&server).ok(200);
    assert_eq!(status(&server, &kept.access), 401);
}

/// Whatever the client sends again after a lost response changes nothing more.
#[test]
fn a_new_password_ends_all_other_sessions_and_is_the_one_to_log_in_with() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let [kept, lost, unused] = [(); 3].map(|()| login(&server, &partner));
    assert_eq!([&kept, &lost].map(|tokens| status(&server, &tokens.access)), [200, 200]);
    let call = change(PASSWORD, OTHER).token(&kept.access);
    let changed = call.send(&server);
    assert_eq!(changed.ok(200), json!({"success": true, "endedSessions": 2}));
    let again = call.send(&server);
    assert!(again.replayed());
    assert_eq!(again.ok(200), changed.ok(200));
    assert_eq!([&kept, &lost, &unused].map(|tokens| status(&server, &tokens.access)), [200, 401, 401]);
    assert_eq!(refresh_call(&partner, &lost.refresh).send(&server).status, 401);
    assert_eq!(refresh_call(&partner, &kept.refresh).send(&server).status, 200);
    assert_eq!([PASSWORD, OTHER].map(|password| may_log_in(&server, &partner, password)), [400, 200]);
    let dump = server.dump();
    for password in [PASSWORD, OTHER] {
        assert!(!dump.windows(password.len()).any(|bytes| bytes == password.as_bytes()), "{password}");
    }
}

/// The recorded digest of the request is no way round argon2: one without a key could be tried a billion times a second.
#[test]
fn the_digest_of_a_password_change_is_keyed() {
    let server = TestServer::start();
    let [one, two] = [(); 2].map(|()| server.partner(SealingPolicy::Optional, 0));
    let recorded = |partner: &TestPartner, call: RawRequest| {
        let (token, id) = (login(&server, partner).access, partner.id);
        call.key("the-key").token(&token).send(&server).ok(200);
        let found =
            move |unit: &mut dyn kopeck_port_store::UnitOfWork| unit.idempotency().find(id, "the-key");
        transact::<_, StoreError>(&*server.application.store, Access::Read, found)
            .unwrap()
            .unwrap()
            .fingerprint
    };
    let keyed = recorded(&one, change(PASSWORD, OTHER));
    let plain = server.application.tokens.keyed_digest(&plain_digest());
    assert_eq!(keyed, plain);
    assert_ne!(recorded(&two, change(PASSWORD, OTHER)), plain_digest());
}

/// What any other operation would record of `change(PASSWORD, OTHER)`.
fn plain_digest() -> [u8; 32] {
    use sha2::{Digest as _, Sha256};
    let mut bytes = Vec::new();
    let mut text = |text: &str| {
        bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
    };
    text("PUT");
    text("/v1/password");
    let mut body = 2_u64.to_le_bytes().to_vec();
    for (name, value) in [("current", PASSWORD), ("new", OTHER)] {
        body.extend_from_slice(&(name.len() as u64).to_le_bytes());
        body.extend_from_slice(name.as_bytes());
        body.push(b's');
        body.extend_from_slice(&(value.len() as u64).to_le_bytes());
        body.extend_from_slice(value.as_bytes());
    }
    Sha256::new().chain_update(&bytes).chain_update(&body).finalize().into()
}

#[test]
fn a_faulty_password_change_changes_nothing() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let [kept, other] = [(); 2].map(|()| login(&server, &partner));
    for (call, fields) in [
        (change("wrong", OTHER), "current"),
        (change(PASSWORD, "short"), "new"),
        (change(PASSWORD, "passwordpassword"), "new"),
        (change("wrong", "short"), "current new"),
        (RawRequest::new("PUT", "/v1/password").json(&json!({"current": 7})), "current new"),
        (RawRequest::new("PUT", "/v1/password"), "body"),
    ] {
        let got = call.token(&kept.access).send(&server);
        assert_eq!((got.status, got.fields().as_str()), (422, fields), "{got:?}");
        assert!(!got.text.contains(PASSWORD) && !got.text.contains("wrong\""), "{got:?}");
    }
    assert_eq!([&kept, &other].map(|tokens| status(&server, &tokens.access)), [200, 200]);
    assert_eq!(may_log_in(&server, &partner, PASSWORD), 200);
}

/// Each remembers callers for itself.
#[test]
fn own_sessions_and_passwords_end_on_every_server() {
    let installation = Installation::on_a_server();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let servers = [installation.serve(&[]), installation.serve(&["--no-workers"])];
    let [kept, ended, other] = [(); 3].map(|()| StolenCredentials::from_login(&servers[0], &partner));
    let statuses = |of: &StolenCredentials| servers.each_ref().map(|server| of.status(server));
    assert_eq!([&kept, &ended, &other].map(statuses), [[200; 2]; 3]);
    let listed = get("/v1/sessions").token(&ended.access).send_to(&servers[1].base_url).ok(200);
    let id =
        id_of(listed.as_array().unwrap().iter().find(|session| session["current"] == json!(true)).unwrap());
    end(&id).token(&kept.access).send_to(&servers[0].base_url).ok(200);
    for server in &servers {
        ended.must_end(server);
        assert_eq!(ended.refresh(server, &partner.api_key), 401);
    }
    assert_eq!([&kept, &other].map(statuses), [[200; 2]; 2]);
    let changed = change(&partner.password, OTHER).token(&kept.access).send_to(&servers[1].base_url);
    assert_eq!(changed.ok(200)["endedSessions"], json!(1));
    for server in &servers {
        other.must_end(server);
        let log_in = |password: &str| {
            login_call(&partner.api_key, &partner.login, password).send_to(&server.base_url).status
        };
        assert_eq!([log_in(&partner.password), log_in(OTHER)], [400, 200]);
    }
    assert_eq!(statuses(&kept), [200; 2]);
}

/// As for logins, and together with them: for the partner and for the address.
#[test]
fn guesses_of_the_present_password_are_failed_logins() {
    let server = TestServer::start();
    let (partner, neighbour) =
        (server.partner(SealingPolicy::Optional, 0), server.partner(SealingPolicy::Optional, 0));
    let (token, others) = (login(&server, &partner).access, login(&server, &neighbour).access);
    for _ in 0..5 {
        assert_eq!(change("wrong", OTHER).from(THERE).token(&token).send(&server).fields(), "current");
        let failed = login_call(&partner.api_key, &partner.login, "wrong").from(THERE).send(&server);
        assert_eq!(failed.code(), (400, "bad_credentials".to_owned()));
    }
    // Also with the right one, and from elsewhere; a new password of the partner's neighbour from the same address.
    for call in [
        change(PASSWORD, OTHER).from(THERE).token(&token),
        change(PASSWORD, OTHER).token(&token),
        change(PASSWORD, OTHER).from(THERE).token(&others),
        login_call(&partner.api_key, &partner.login, PASSWORD),
    ] {
        let got = call.send(&server);
        assert_eq!(got.code(), (429, "too_many_requests".to_owned()));
        assert_eq!(got.header("retry-after"), Some("900"), "{got:?}");
    }
    assert_eq!(change(PASSWORD, OTHER).token(&others).send(&server).status, 200);
    server.clock.advance(Duration::minutes(15) - Duration::SECOND);
    let token = login_call(&neighbour.api_key, &neighbour.login, OTHER).send(&server).text_of("accessToken");
    assert_eq!(status(&server, &token), 200);
    server.clock.advance(Duration::SECOND);
    assert_eq!(may_log_in(&server, &partner, PASSWORD), 200);
}

/// The session goes on, and once it is over the client logs in with the new password.
#[tokio::test]
async fn the_rust_client_keeps_working_after_a_password_change() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Required, 0);
    let client = server.client(&partner);
    let (current, new) = (PASSWORD.into(), OTHER.into());
    let wrong = client.change_password(&new, &new).await.unwrap_err();
    assert_eq!(wrong.status(), Some(422), "{wrong}");
    let other = server.client(&partner);
    other.balance().await.unwrap();
    assert_eq!(client.change_password(&current, &new).await.unwrap().ended_sessions, 1);
    let sessions = client.sessions().list().await.unwrap();
    assert!(sessions.len() == 1 && sessions[0].current, "{sessions:?}");
    client.login().await.unwrap();
    let before = sessions[0].id_session;
    assert_eq!(client.sessions().end(before).await.unwrap().id_session, before);
    client.balance().await.unwrap();
    server.write_request_log();
    let query = RequestLogQuery { status: Some(422), ..RequestLogQuery::default() };
    let refused = client.request_log().follow(&query).next().await.unwrap();
    assert_eq!((refused.operation.as_str(), refused.fields), ("password.change", vec!["current".to_owned()]));
}

#[test]
fn under_the_policy_required_passwords_are_sealed() {
    let server = TestServer::start();
    let (partner, token) = required(&server);
    let clear = change(PASSWORD, OTHER).token(&token);
    assert_eq!(clear.send(&server).fields(), "body");
    seal_body(&server, &partner.key, clear).send(&server).ok(200);
    let bare = end("0f8fad5b-d9cb-469f-a165-70867728950e").token(&token).send(&server);
    assert_eq!(bare.fields(), "idSession");
}
