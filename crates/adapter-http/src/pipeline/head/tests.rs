use actix_web::http::header::{HeaderValue, TryIntoHeaderPair};
use actix_web::test::TestRequest;

use super::*;
use crate::operations;

const GOOD_NONCE: &str = "3f2a9c51e7d84b0fa6c2d1e45b907788";

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for pair in pairs {
        let (name, value) = (pair.0, pair.1).try_into_pair().unwrap();
        headers.append(name, value);
    }
    headers
}

fn read(pairs: &[(&'static str, &str)]) -> Head {
    let request = pairs.iter().fold(TestRequest::default(), |request, pair| request.append_header(*pair));
    Head::read(Vec::new(), operations::named("run.create").unwrap(), &request.to_http_request())
}

fn nonce_and_key(operation: &str, pairs: &[(&'static str, &str)]) -> Result<Option<RequestKey>, String> {
    let head = read(pairs);
    let effect = operations::named(operation).unwrap().effect;
    head.nonce_and_key(effect)
        .map(|(_, key)| key)
        .map_err(|error| String::from_utf8(error.body("r")).unwrap())
}

#[test]
fn a_request_id_of_the_callers_own_is_kept_if_it_is_one() {
    assert_eq!(request_id(&headers(&[("x-request-id", "a.B_9-")])), Some("a.B_9-".to_owned()));
    for bad in ["", "a b", "ä", &"x".repeat(65)] {
        assert_eq!(request_id(&headers(&[("x-request-id", bad)])), None);
    }
    assert_eq!(request_id(&headers(&[("x-request-id", "a"), ("x-request-id", "b")])), None);
}

#[test]
fn a_sealed_answer_has_to_be_asked_for() {
    for accept in ["application/sealed+json", "text/html, Application/Sealed+JSON;q=0.5"] {
        assert!(wants_sealed(&headers(&[("accept", accept)])), "{accept}");
    }
    for accept in ["*/*", "application/json", "application/sealed+json;q=0", ""] {
        assert!(!wants_sealed(&headers(&[("accept", accept)])), "{accept}");
    }
}

#[test]
fn two_types_of_body_are_read() {
    let body_type = |value: &str| super::body_type(&headers(&[("content-type", value)]), &[]);
    assert_eq!(body_type("application/json"), Some(BodyType::Json));
    assert_eq!(body_type("Application/JSON; charset=\"UTF-8\""), Some(BodyType::Json));
    assert_eq!(body_type("application/sealed+json"), Some(BodyType::SealedJson));
    let of_uploads = |value: &str| {
        super::body_type(&headers(&[("content-type", value)]), &[FileFormat::Csv, FileFormat::Xlsx])
    };
    for upload in ["text/csv", "Text/CSV; charset=windows-1251", FileFormat::Xlsx.media_type()] {
        assert_eq!((body_type(upload), of_uploads(upload)), (None, Some(BodyType::File)), "{upload}");
    }
    assert_eq!(of_uploads("application/json"), Some(BodyType::Json));
    assert_eq!(of_uploads("text/plain"), None);
    for other in ["", "text/plain", "application/json; charset=latin1", "application/jsonx"] {
        assert_eq!(body_type(other), None, "{other}");
    }
}

#[test]
fn a_token_may_stand_bare_or_behind_its_scheme() {
    for value in ["abc", "Bearer abc", "bearer abc", "BEARER  abc"] {
        assert_eq!(token(&headers(&[("authorization", value)])).as_deref(), Some("abc"), "{value}");
    }
    for value in ["", "Basic abc", "Bearer "] {
        assert_eq!(token(&headers(&[("authorization", value)])).filter(|t| t != "Bearer"), None, "{value}");
    }
    assert_eq!(token(&headers(&[("authorization", "a"), ("authorization", "b")])), None);
}

#[test]
fn a_body_is_judged_by_its_head() {
    let check = |pairs: &[(&'static str, &str)]| {
        check_body_head(&headers(pairs), &[], 10).map_err(|error| error.status().as_u16())
    };
    assert_eq!(check(&[]), Ok(()));
    assert_eq!(check(&[("content-length", "0"), ("content-type", "text/plain")]), Ok(()));
    assert_eq!(check(&[("content-length", "10"), ("content-type", "application/json")]), Ok(()));
    assert_eq!(check(&[("content-length", "11"), ("content-type", "application/json")]), Err(413));
    assert_eq!(check(&[("content-length", "1")]), Err(415));
    assert_eq!(check(&[("transfer-encoding", "chunked"), ("content-type", "text/plain")]), Err(415));
    assert_eq!(check(&[("content-encoding", "identity")]), Err(415));
}

#[test]
fn the_nonce_is_the_key_of_a_call_without_another() {
    let key = nonce_and_key("category.create", &[("x-nonce", GOOD_NONCE)]).unwrap().unwrap();
    assert_eq!((key.key.as_str(), key.header), (GOOD_NONCE, "x-nonce"));
    let pairs = [("x-nonce", GOOD_NONCE), ("Idempotency-Key", "k")];
    let key = nonce_and_key("category.create", &pairs).unwrap().unwrap();
    assert_eq!((key.key.as_str(), key.header), ("k", "idempotency-key"));
    assert_eq!(nonce_and_key("category.list", &pairs), Ok(None));
}

#[test]
fn faulty_headers_are_reported_at_once() {
    let error =
        nonce_and_key("category.create", &[("x-nonce", "short"), ("idempotency-key", "")]).unwrap_err();
    assert!(
        error.contains(r#""field":"x-nonce""#) && error.contains(r#""field":"idempotency-key""#),
        "{error}"
    );
    let twice = [("x-nonce", GOOD_NONCE), ("x-nonce", GOOD_NONCE)];
    assert!(nonce_and_key("category.list", &twice).is_err());
    let long = "k".repeat(256);
    assert!(
        nonce_and_key("category.create", &[("x-nonce", GOOD_NONCE), ("idempotency-key", &long)]).is_err()
    );
}

#[test]
fn headers_that_are_not_text_are_as_if_malformed() {
    let mut map = HeaderMap::new();
    map.insert(
        HeaderName::from_static("x-nonce"),
        HeaderValue::from_bytes(b"\xff\xfe0123456789abcdef").unwrap(),
    );
    assert_eq!(single(&map, &NONCE), Err(()));
}
