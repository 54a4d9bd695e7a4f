//! Login, renewal, and what happens when either goes wrong.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kopeck_client::{Client, Error, ErrorCode, ExposeSecret as _, Paging, RetryPolicy};
use tokio::task::JoinSet;

use crate::stub::{RecordedRequest, Reply, Stub, pair};

const LOGIN: &str = "/v1/get_access_token";
const REFRESH: &str = "/v1/get_refresh_token";
const EMPTY_PAGE: &str = r#"{"data":[],"meta":{"current_page":1,"from":null,"to":null,"total":0,"last_page":1,
    "per_page":15,"path":"/v1/categories"}}"#;

/// The service's side of tokens: the newest pair is the one that is good.
struct Issuer {
    issued: AtomicUsize,
    life: u64,
    clock: Arc<AtomicU64>,
}

impl Issuer {
    fn new(life: u64) -> Arc<Self> {
        Arc::new(Self { issued: AtomicUsize::new(0), life, clock: Arc::new(AtomicU64::new(1_000_000)) })
    }

    fn issue(&self) -> Reply {
        let n = self.issued.fetch_add(1, Ordering::SeqCst) + 1;
        pair(n, self.clock.load(Ordering::SeqCst) + self.life)
    }

    /// Good only with the newest access token.
    fn answer(&self, seen: &RecordedRequest) -> Reply {
        let good = format!("Bearer access-{}", self.issued.load(Ordering::SeqCst));
        match seen.path() {
            LOGIN => self.issue(),
            REFRESH => {
                let good = format!(r#"{{"token":"refresh-{}"}}"#, self.issued.load(Ordering::SeqCst));
                if seen.body == good { self.issue() } else { unauthorized() }
            }
            _ if seen.header("authorization") == Some(&good) => Reply::json(200, EMPTY_PAGE),
            _ => unauthorized(),
        }
    }

    fn client(&self, stub: &Stub) -> Client {
        let clock = Arc::clone(&self.clock);
        stub.builder().clock(move || clock.load(Ordering::SeqCst)).build().unwrap()
    }

    fn advance(&self, seconds: u64) {
        self.clock.fetch_add(seconds, Ordering::SeqCst);
    }
}

fn unauthorized() -> Reply {
    Reply::json(401, r#"{"success":false,"code":"unauthorized","message":"no"}"#)
}

async fn start(issuer: &Arc<Issuer>) -> (Stub, Client) {
    let answers = Arc::clone(issuer);
    let stub = Stub::start(move |seen| answers.answer(seen)).await;
    let client = issuer.client(&stub);
    (stub, client)
}

async fn list(client: &Client) -> Result<(), Error> {
    client.categories().list(Paging::default()).await.map(|_| ())
}

async fn list_eight_times_at_once(client: &Client) {
    let mut calls = JoinSet::new();
    for _ in 0..8 {
        let client = client.clone();
        calls.spawn(async move { list(&client).await });
    }
    for result in calls.join_all().await {
        result.unwrap();
    }
}

#[tokio::test]
async fn the_first_call_logs_in_and_the_next_do_not() {
    let (stub, client) = start(&Issuer::new(900)).await;
    list_eight_times_at_once(&client).await;
    list(&client).await.unwrap();
    assert_eq!((stub.count(LOGIN), stub.count(REFRESH)), (1, 0));

    let seen = stub.seen();
    let login = seen.first().unwrap();
    assert_eq!(login.body, r#"{"login":"partner-1","password":"secret"}"#);
    assert_eq!(login.header("x-api-key"), Some("ak_test"));
    assert_eq!(login.header("authorization"), None);
    assert_eq!(login.header("idempotency-key"), None);
    let call = seen.last().unwrap();
    assert_eq!(call.header("authorization"), Some("Bearer access-1"));
    assert_eq!(call.header("x-api-key"), None);
    let mut nonces: Vec<_> = seen.iter().map(|seen| seen.header("x-nonce").unwrap()).collect();
    nonces.sort_unstable();
    nonces.dedup();
    assert_eq!(nonces.len(), seen.len(), "each request has a new nonce");
}

#[tokio::test]
async fn one_renewal_in_time_serves_all() {
    let issuer = Issuer::new(900);
    let (stub, client) = start(&issuer).await;
    list(&client).await.unwrap();
    issuer.advance(869);
    list(&client).await.unwrap();
    assert_eq!(stub.count(REFRESH), 0);
    issuer.advance(1);
    list_eight_times_at_once(&client).await;
    assert_eq!((stub.count(LOGIN), stub.count(REFRESH)), (1, 1));
}

#[tokio::test]
async fn one_renewal_after_401_serves_all() {
    // The first access token is refused though its time is not over.
    let stub = Stub::start(|seen| match seen.path() {
        LOGIN => pair(1, 4_000_000_000),
        REFRESH => pair(2, 4_000_000_000),
        _ if seen.header("authorization") == Some("Bearer access-1") => unauthorized(),
        _ => Reply::json(200, EMPTY_PAGE),
    })
    .await;
    let client = stub.client();
    client.login().await.unwrap();
    list_eight_times_at_once(&client).await;
    assert_eq!((stub.count(LOGIN), stub.count(REFRESH)), (1, 1));
}

#[tokio::test]
async fn a_second_401_is_an_error() {
    let stub =
        Stub::start(|seen| if seen.is_token_call() { pair(1, 4_000_000_000) } else { unauthorized() }).await;
    let error = list(&stub.client()).await.unwrap_err();
    assert_eq!(error.code(), Some(&ErrorCode::Unauthorized));
    assert_eq!((stub.count(LOGIN), stub.count(REFRESH), stub.calls().len()), (1, 1, 2));
}

#[tokio::test]
async fn a_refused_refresh_token_falls_back_to_login() {
    let stub = Stub::start(|seen| match seen.path() {
        LOGIN => pair(1, 4_000_000_000),
        _ => unauthorized(),
    })
    .await;
    let client = stub.client();
    client.login().await.unwrap();
    let tokens = client.refresh().await.unwrap();
    assert_eq!(tokens.access_token.expose_secret(), "access-1");
    assert_eq!((stub.count(LOGIN), stub.count(REFRESH)), (2, 1));
}

#[tokio::test]
async fn a_lost_refresh_is_repeated_once_with_a_fresh_nonce() {
    for losses in [1, 2] {
        let left = AtomicUsize::new(losses);
        let stub = Stub::start(move |seen| match seen.path() {
            LOGIN => pair(1, 4_000_000_000),
            _ if left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
                .is_ok() =>
            {
                Reply::HangUp
            }
            _ => pair(2, 4_000_000_000),
        })
        .await;
        let client = stub.client();
        client.login().await.unwrap();
        client.refresh().await.unwrap();
        // Lost twice, the token must not be shown a third time.
        assert_eq!((stub.count(LOGIN), stub.count(REFRESH)), (losses, 2));
        let renewals: Vec<_> = stub.seen().into_iter().filter(|seen| seen.path() == REFRESH).collect();
        let [first, second] = renewals.as_slice() else { panic!("{renewals:?}") };
        assert_eq!(first.body, second.body);
        assert_ne!(first.header("x-nonce"), second.header("x-nonce"));
    }
}

#[tokio::test]
async fn the_token_of_a_dropped_renewal_is_not_sent_again() {
    // The renewal is dropped while the service works on it; the next request must log in.
    let (begun, mut told) = tokio::sync::mpsc::unbounded_channel();
    let stub = Stub::start(move |seen| match seen.path() {
        LOGIN => pair(1, 4_000_000_000),
        REFRESH => {
            begun.send(()).unwrap();
            Reply::HangUp
        }
        _ => Reply::json(200, EMPTY_PAGE),
    })
    .await;
    let client = stub.client();
    client.login().await.unwrap();
    tokio::select! {
        biased;
        _ = told.recv() => {}
        _ = client.refresh() => {}
    }
    let before = stub.count(REFRESH);
    list(&client).await.unwrap();
    assert_eq!((stub.count(LOGIN), stub.count(REFRESH)), (2, before));
}

#[tokio::test]
async fn wrong_credentials_are_reported_and_not_retried() {
    let stub = Stub::start(|_| Reply::json(400, r#"{"code":"bad_credentials","message":"no"}"#)).await;
    let error = list(&stub.client()).await.unwrap_err();
    assert_eq!(error.code(), Some(&ErrorCode::BadCredentials));
    assert_eq!(stub.seen().len(), 1);
}

#[tokio::test]
async fn a_failing_login_is_retried_by_the_session_alone() {
    let stub = Stub::start(|_| Reply::HangUp).await;
    let policy = RetryPolicy::none().max_retries(2).delays(Duration::ZERO, Duration::ZERO);
    let client = stub.builder().retry(policy).build().unwrap();
    let error = list(&client).await.unwrap_err();
    assert!(matches!(error, Error::Transport { sent: true, .. }), "{error:?}");
    assert_eq!(stub.count(LOGIN), 3);
}

#[tokio::test]
async fn a_login_retried_after_a_loss_has_a_fresh_nonce() {
    let nonces = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&nonces);
    let stub = Stub::start(move |seen| {
        let mut log = log.lock().unwrap();
        log.push(seen.header("x-nonce").unwrap().to_owned());
        if log.len() == 1 { Reply::HangUp } else { pair(1, 4_000_000_000) }
    })
    .await;
    stub.client().login().await.unwrap();
    let nonces = nonces.lock().unwrap();
    assert_eq!(nonces.len(), 2);
    assert_ne!(nonces.first(), nonces.last());
}

#[tokio::test]
async fn another_client_goes_on_with_the_access_token_and_logs_in_when_it_is_over() {
    let issuer = Issuer::new(900);
    let (stub, first) = start(&issuer).await;
    assert!(first.access_token().await.is_none());
    list(&first).await.unwrap();
    let token = first.access_token().await.unwrap();
    assert!(!format!("{token:?}").contains("access-1"));

    let clock = Arc::clone(&issuer.clock);
    let second = stub
        .builder()
        .clock(move || clock.load(Ordering::SeqCst))
        .access_token(token.clone())
        .build()
        .unwrap();
    list(&second).await.unwrap();
    assert_eq!(issuer.issued.load(Ordering::SeqCst), 1, "there was no second login");

    issuer.advance(900);
    list(&second).await.unwrap();
    assert_eq!((stub.count(LOGIN), stub.count(REFRESH)), (2, 0), "it has no refresh token");
    assert_eq!(second.access_token().await.unwrap().token.expose_secret(), "access-2");
}
