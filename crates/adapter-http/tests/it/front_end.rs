//! A front end for people: the queue of its password checks, and its panics.

use std::pin::Pin;
use std::sync::{Arc, Mutex, mpsc};

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::test::TestRequest;
use futures_util::FutureExt as _;
use futures_util::future::join_all;
use kopeck_adapter_http::{FrontEnd, FrontEndRequest, FrontEndResponse, HttpState};
use kopeck_domain::partner::SealingPolicy::Optional;
use kopeck_port_store::mock::InPlaceStore;

use crate::client::{TestResponse, send};
use crate::support::{parts, unit};

/// Pages that check one password at a time, on a signal of the test.
struct Pages {
    /// The checks in the order in which they began.
    checked: Arc<Mutex<Vec<String>>>,
    ends: Arc<Mutex<mpsc::Receiver<()>>>,
}

impl FrontEnd for Pages {
    fn is_login(&self, path: &str) -> bool {
        path == "/login"
    }

    fn respond<'a>(
        &'a self,
        request: FrontEndRequest<'a>,
    ) -> Pin<Box<dyn Future<Output = FrontEndResponse> + 'a>> {
        Box::pin(async move {
            let FrontEndRequest { path, head, operations, .. } = request;
            assert_ne!(path, "/panic", "a secret of the page");
            let (checked, ends) = (Arc::clone(&self.checked), Arc::clone(&self.ends));
            let name = head.query_string().to_owned();
            let check = move || {
                checked.lock().unwrap().push(name);
                ends.lock().unwrap().recv().unwrap();
            };
            let done = operations.check_password(path == "/password", check).await;
            if path == "/login/code" {
                operations.remember_login();
            }
            let mut response =
                if done.is_ok() { HttpResponse::Ok() } else { HttpResponse::ServiceUnavailable() };
            let response = response.finish();
            FrontEndResponse { response, partner: None, user: None, route: path.to_owned() }
        })
    }
}

fn request(path: &str, from: &str) -> TestRequest {
    TestRequest::default()
        .method(Method::GET)
        .uri(&format!("/console{path}"))
        .peer_addr(from.parse().unwrap())
}

type Waiting<'a> = Pin<Box<dyn Future<Output = TestResponse> + 'a>>;

/// Sends a request, which then waits for its check, or gets its response at once.
fn start<'a>(state: &'a HttpState, path: &str, from: &str) -> Result<Waiting<'a>, u16> {
    let mut sent: Waiting<'a> = Box::pin(send(state, request(path, from)));
    match (&mut sent).now_or_never().or_else(|| (&mut sent).now_or_never()) {
        Some(got) => Err(got.status),
        None => Ok(sent),
    }
}

fn state(pages: Pages) -> HttpState {
    let mut parts = parts(Arc::new(InPlaceStore::new(unit(Optional))));
    parts.settings.logins_at_once = 1;
    HttpState::new(parts).with_front_end(Arc::new(pages))
}

/// Each from an address of its own.
#[actix_web::test]
async fn a_flood_of_logins_of_people_does_not_make_others_wait() {
    let (checked, (end, ends)) = (Arc::<Mutex<Vec<String>>>::default(), mpsc::channel());
    let state = state(Pages { checked: Arc::clone(&checked), ends: Arc::new(Mutex::new(ends)) });
    let stranger = |place: usize| format!("192.0.2.{place}:4000");
    let (known, user) = ("198.51.100.1:4000", "198.51.100.2:4000");
    let finish = async |sent: Vec<Waiting<'_>>| {
        sent.iter().for_each(|_| end.send(()).unwrap());
        join_all(sent).await;
        std::mem::take(&mut *checked.lock().unwrap())
    };
    finish(vec![start(&state, "/login/code?before", known).ok().unwrap()]).await;
    // One is checked, eight wait, and the others are refused at once, whoever they are.
    let mut sent: Vec<_> = (0..9)
        .map(|place| start(&state, &format!("/login?{place}"), &stranger(place)).ok().unwrap())
        .collect();
    assert_eq!(start(&state, "/login?9", &stranger(9)).err(), Some(503));
    sent.push(start(&state, "/login?known", known).ok().unwrap());
    sent.push(start(&state, "/password?session", user).ok().unwrap());
    let order = finish(sent).await;
    assert_eq!(order[0], "0");
    assert_eq!((order[1].as_str(), order[2].as_str(), order[3].as_str()), ("known", "session", "1"));
}

#[actix_web::test]
async fn a_panic_of_a_page_is_a_500_that_shows_nothing() {
    let (_, ends) = mpsc::channel();
    let state = state(Pages { checked: Arc::default(), ends: Arc::new(Mutex::new(ends)) });
    let got = send(&state, request("/panic", "192.0.2.1:4000")).await;
    assert_eq!((got.status, got.text.as_str()), (500, ""));
    assert!(got.header("x-request-id").is_some() && got.header("content-security-policy").is_some());
}
