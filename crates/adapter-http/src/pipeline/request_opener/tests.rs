use actix_web::test::TestRequest;
use kopeck_sealing::{RequestContext, SealingKey, seal_request};
use serde_json::{Map, Value, json};

use super::*;
use crate::error::SEAL_REFUSED;
use crate::operations;

const NONCE: &str = "3f2a9c51e7d84b0fa6c2d1e45b907788";
const NOW: u64 = 1_767_225_600;
const CARD: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";
const OTHER: &str = "7c9e6679-7425-40de-944b-e07fc1f90ae7";

fn key(id: u8) -> SealingKey {
    SealingKey::new(KeyId::from_bytes([id; 8]), [id; 32])
}

/// A request built by hand.
struct TestRequestParts {
    operation: &'static str,
    path: String,
    ids: Vec<(&'static str, String)>,
    query: String,
    body: String,
    sealed_type: bool,
    policy: SealingPolicy,
}

impl TestRequestParts {
    fn to(operation: &'static str, path: &str) -> Self {
        Self {
            operation,
            path: path.to_owned(),
            ids: Vec::new(),
            query: String::new(),
            body: String::new(),
            sealed_type: false,
            policy: SealingPolicy::Optional,
        }
    }

    fn seal_with(&self, key: &SealingKey, slot: Slot<'_>, clear: &Clear<'_>, plain: &str) -> String {
        let operation = operations::named(self.operation).unwrap();
        let context =
            RequestContext { method: operation.method.as_str(), path: &self.path, nonce: NONCE, slot, clear };
        seal_request(key, &context, NOW, [7; 16], plain.as_bytes())
    }

    fn seal(&self, slot: Slot<'_>, plain: &str) -> String {
        self.seal_with(&key(1), slot, Clear::none(), plain)
    }

    fn open(&self) -> OpenedRequest {
        let operation = operations::named(self.operation).unwrap();
        let content_type = if self.sealed_type { "application/sealed+json" } else { "application/json" };
        let request = TestRequest::default().insert_header(("content-type", content_type));
        let mut head = Head::read(self.ids.clone(), operation, &request.to_http_request());
        head.path.clone_from(&self.path);
        head.query.clone_from(&self.query);
        let (keys, dummy) = ([key(1), key(2)], key(9));
        let context = OpeningContext {
            keys: &keys,
            dummy: &dummy,
            method: operation.method.as_str(),
            path: &self.path,
            nonce: NONCE,
            now_unix: NOW + 5,
            operation,
            metrics: &crate::metrics::NoopMetrics,
        };
        let body = Bytes::from(self.body.clone());
        open(RawRequest { operation, head: &head, body: &body }, context, self.policy)
    }

    fn input(&self) -> RequestInput {
        self.open().input.unwrap_or_else(|faults| panic!("{faults:?}"))
    }

    /// A field of the input.
    fn field(&self, name: &str) -> Option<Value> {
        self.input().field(name).map(|value| serde_json::from_str(value.as_str()).unwrap())
    }

    /// The faulty fields with their details.
    fn faults(&self) -> Vec<(String, String)> {
        let Err(faults) = self.open().input else { panic!("nothing is faulty") };
        faults.as_slice().iter().map(|fault| (fault.field.clone(), fault.detail.clone())).collect()
    }

    fn faulty_fields(&self) -> String {
        self.faults().into_iter().map(|(field, _)| field).collect::<Vec<_>>().join(" ")
    }
}

fn text(value: &str) -> Param {
    Param::Text(value.to_owned())
}

#[test]
fn identifiers_open_and_clear_ones_stay() {
    let mut sent = TestRequestParts::to("card.info", "/v1/card/*");
    sent.ids = vec![("idCard", sent.seal(Slot::Path("idCard"), CARD))];
    assert_eq!(sent.input().ids, [("idCard", CARD.to_owned())]);
    assert_eq!(sent.open().used, Some(key(1).id()));

    sent.ids = vec![("idCard", CARD.to_owned())];
    assert_eq!(sent.input().ids, [("idCard", CARD.to_owned())]);
    assert_eq!(sent.open().used, None);
}

#[test]
fn every_refusal_is_one_and_the_same() {
    let sent = TestRequestParts::to("card.info", "/v1/card/*");
    let good = sent.seal(Slot::Path("idCard"), CARD);
    let unknown = sent.seal_with(&key(3), Slot::Path("idCard"), Clear::none(), CARD);
    let foreign = SealingKey::new(KeyId::from_bytes([1; 8]), [3; 32]);
    let foreign = sent.seal_with(&foreign, Slot::Path("idCard"), Clear::none(), CARD);
    let slot = sent.seal(Slot::Path("idEmployee"), CARD);
    let long = sent.seal(Slot::Path("idCard"), &"x".repeat(400));
    for bad in [&unknown, &foreign, &slot, &long, &good[..50], "s1.", "s1.%%%"] {
        let sent = TestRequestParts {
            ids: vec![("idCard", bad.to_owned())],
            ..TestRequestParts::to("card.info", "/v1/card/*")
        };
        assert_eq!(
            sent.faults(),
            [(
                "idCard".to_owned(),
                "the sealed value was refused; check the sealing key and the clock".to_owned()
            )],
            "{bad}"
        );
    }
}

#[test]
fn a_query_opens_as_a_whole() {
    let mut sent = TestRequestParts::to("card.transactions", "/v1/card/*/transactions");
    let whole = r#"{"page":2,"per_page":"50","type":null}"#;
    sent.query = format!("sealed={}", sent.seal(Slot::Query, whole));
    let params = sent.input().params;
    assert_eq!(
        params.into_iter().collect::<Vec<_>>(),
        [("page".to_owned(), text("2")), ("per_page".to_owned(), text("50"))]
    );

    let sealed = sent.query.clone();
    sent.query = format!("{sealed}&page=3");
    assert_eq!(sent.faulty_fields(), "page");
    sent.query = "sealed=s1.xyz".to_owned();
    assert_eq!(sent.faulty_fields(), "sealed");
    for bad in ["[1]", "", "{\"page\":[1]}"] {
        sent.query = format!("sealed={}", sent.seal(Slot::Query, bad));
        assert!(["sealed", "page"].contains(&&*sent.faulty_fields()), "{bad}");
    }
    sent.query = format!("sealed={}", sent.seal(Slot::Query, r#"{"page":"s1.x"}"#));
    assert_eq!(sent.faulty_fields(), "page");
}

#[test]
fn sealed_parameters_are_bound_to_plaintext_parameters() {
    let mut sent = TestRequestParts::to("card.transactions", "/v1/card/*/transactions");
    let mut clear = Clear::new();
    clear.add(Slot::QueryParameter("per_page"), "50");
    clear.add(Slot::QueryParameter("q"), "a b");
    let page = sent.seal_with(&key(2), Slot::QueryParameter("page"), &clear, "2");
    sent.query = format!("q=a+b&page={page}&per_page=50");
    assert_eq!(sent.input().params.get("page"), Some(&text("2")));
    assert_eq!(sent.open().used, Some(key(2).id()));
    sent.query = format!("q=a+b&page={page}&per_page=51");
    assert_eq!(sent.faulty_fields(), "page");
    sent.query = format!("page={page}&per_page=50");
    assert_eq!(sent.faulty_fields(), "page");
}

#[test]
fn the_query_wins_over_the_body_unless_one_is_sealed() {
    let mut sent = TestRequestParts::to("employee.list", "/v1/employees");
    sent.query = "page=2".to_owned();
    sent.body = r#"{"page":3,"per_page":5,"q":null}"#.to_owned();
    let params = sent.input().params;
    assert_eq!(params.get("page"), Some(&text("2")));
    assert_eq!(params.get("per_page"), Some(&Param::Json(json!(5).into())));
    assert_eq!(params.get("q"), None);

    sent.body = format!(r#"{{"sealed":"{}"}}"#, sent.seal(Slot::Body, r#"{"page":3}"#));
    assert_eq!(sent.faulty_fields(), "page");
    sent.query.clear();
    assert_eq!(sent.input().params.get("page"), Some(&Param::Json(json!(3).into())));
}

#[test]
fn a_body_opens_as_a_whole_under_either_type() {
    let mut sent = TestRequestParts::to("category.create", "/v1/category");
    sent.policy = SealingPolicy::Required;
    let sealed = sent.seal(Slot::Body, r#"{"nameCategory":"Офис"}"#);
    sent.body = json!({ "sealed": sealed }).to_string();
    for sealed_type in [true, false] {
        sent.sealed_type = sealed_type;
        assert_eq!(sent.field("nameCategory"), Some(json!("Офис")));
    }
    let bodies = [
        json!({"sealed": sealed, "nameCategory": "x"}),
        json!({"sealed": 7}),
        json!({"sealed": "s2.x"}),
        json!({"sealed": sent.seal(Slot::Body, "")}),
        json!({"sealed": sent.seal(Slot::Body, "[1]")}),
        json!({"sealed": sent.seal(Slot::Query, "{}")}),
    ];
    for body in bodies {
        sent.body = body.to_string();
        assert_eq!(sent.faulty_fields(), "body", "{body}");
    }
    sent.body = json!({"sealed": sent.seal(Slot::Body, r#"{"nameCategory":"s1.x"}"#)}).to_string();
    assert_eq!(sent.faults(), [("nameCategory".to_owned(), SEALED_TWICE.to_owned())]);
    sent.body = r#"{"nameCategory":"x"}"#.to_owned();
    sent.sealed_type = true;
    assert_eq!(sent.faulty_fields(), "body");
}

#[test]
fn sealed_fields_are_bound_to_plaintext_fields() {
    let path = format!("/v1/employee/{OTHER}/card/switch");
    let mut sent = TestRequestParts::to("card.switch", &path);
    sent.policy = SealingPolicy::Required;
    sent.ids = vec![("idEmployee", OTHER.to_owned())];
    let mut clear = Clear::new();
    clear.add(Slot::Field("idCard"), CARD);
    clear.add(Slot::Field("note"), "[1, 2]");
    let status = sent.seal_with(&key(1), Slot::Field("statusCard"), &clear, "MAIN");
    sent.body = format!(r#"{{"statusCard":"{status}", "idCard":"{CARD}", "note": [1, 2]}}"#);
    assert_eq!(sent.field("statusCard"), Some(json!("MAIN")));
    assert_eq!(sent.field("idCard"), Some(json!(CARD)));
    assert_eq!(sent.field("note"), None, "the operation does not name it");

    sent.body = format!(r#"{{"statusCard":"{status}", "idCard":"{OTHER}", "note": [1, 2]}}"#);
    assert_eq!(sent.faulty_fields(), "statusCard");
}

#[test]
fn a_sealed_list_is_a_list() {
    let mut sent = TestRequestParts::to("replenishment.create", "/v1/replenishment");
    let cards = json!([{"idCard": CARD, "amountReplenishment": 1}]);
    sent.body = json!({"cards": sent.seal(Slot::Field("cards"), &cards.to_string())}).to_string();
    assert_eq!(sent.field("cards"), Some(cards));
    sent.body = json!({"cards": sent.seal(Slot::Field("cards"), "no json")}).to_string();
    assert_eq!(sent.field("cards"), Some(json!("no json")));
    let again = sent.seal(Slot::Field("cards"), "[]");
    sent.body = json!({"cards": sent.seal(Slot::Field("cards"), &again)}).to_string();
    assert_eq!(sent.faults(), [("cards".to_owned(), SEALED_TWICE.to_owned())]);
}

#[test]
fn the_policy_required_needs_all_marked_fields_sealed() {
    let refused = [("body".to_owned(), MUST_BE_SEALED.to_owned())];
    let mut sent = TestRequestParts::to("card.switch", "/v1/employee/x/card/switch");
    sent.policy = SealingPolicy::Required;
    for body in [json!({}), json!({"idCard": CARD}), json!({"idCard": CARD, "statusCard": "MAIN"})] {
        sent.body = body.to_string();
        assert_eq!(sent.faults(), refused);
    }
    // A sealed field does not excuse a marked plaintext field.
    let card = sent.seal(Slot::Field("idCard"), CARD);
    sent.body = json!({"idCard": card, "statusCard": null}).to_string();
    assert_eq!(sent.faults(), refused);

    let mut list = TestRequestParts::to("employee.list", "/v1/employees");
    list.policy = SealingPolicy::Required;
    list.query = "page=1".to_owned();
    assert!(list.open().input.is_ok());
    list.body = r#"{"page":1}"#.to_owned();
    assert_eq!(list.faults(), refused);
}

#[test]
fn a_missing_or_malformed_body_is_faulty() {
    let mut sent = TestRequestParts::to("category.create", "/v1/category");
    assert_eq!(sent.faulty_fields(), "body");
    for body in ["[1]", "{", "\"x\"", "{\"a\":1,\"a\":2}"] {
        sent.body = body.to_owned();
        assert_eq!(sent.faulty_fields(), "body", "{body}");
    }
    assert!(TestRequestParts::to("category.delete", "/v1/category/x").open().input.is_ok());
}

/// A name that the operation does not have is the caller's text.
#[test]
fn names_of_the_caller_are_reported_as_their_container() {
    let mut sent = TestRequestParts::to("employee.list", "/v1/employees");
    sent.query = "mine=s1.x&page=s1.x&other=1&other=2".to_owned();
    assert_eq!(sent.faulty_fields(), "query");
    sent.query = "mine=s1.x&page=s1.x".to_owned();
    sent.body = json!({"yours": "s1.x", "q": "s1.x"}).to_string();
    assert_eq!(sent.faulty_fields(), "query page q body");
    sent.body.clear();
    sent.query = format!("sealed={}&mine=1", sent.seal(Slot::Query, r#"{"yours":[1],"page":{}}"#));
    assert_eq!(sent.faulty_fields(), "query sealed page");
    sent.query = "mine=1".to_owned();
    sent.body = json!({"sealed": sent.seal(Slot::Body, r#"{"mine":2,"yours":"s1.x"}"#)}).to_string();
    assert_eq!(sent.faulty_fields(), "body body");
}

/// Each sealed field is bound to all plaintext fields: the work grows with the product.
#[test]
fn a_body_has_at_most_32_sealed_fields() {
    let mut sent = TestRequestParts::to("category.create", "/v1/category");
    let body = |count: usize| {
        let fields = (0..count).map(|n| (format!("x{n:02}"), json!("s1.x"))).collect::<Map<_, _>>();
        Value::Object(fields).to_string()
    };
    sent.body = body(32);
    assert_eq!(sent.faults().len(), 32);
    sent.body = body(33);
    assert_eq!(sent.faults(), [("body".to_owned(), TOO_MANY_SEALED.to_owned())]);
}

#[test]
fn all_that_is_wrong_is_reported_at_once() {
    let mut sent = TestRequestParts::to("employee.update", "/v1/employee/*");
    sent.ids = vec![("idEmployee", "s1.x".to_owned())];
    sent.query = "a=%ff".to_owned();
    sent.body = json!({"phone": "s1.x", "email": "s1.y", "name": "N"}).to_string();
    assert_eq!(sent.faulty_fields(), "idEmployee query email phone");
}

/// The access token alone changes nothing under `required`.
#[test]
fn a_mutation_without_a_body_needs_a_sealed_identifier_or_a_sealed_empty_body() {
    let mut sent = TestRequestParts::to("card.unlink", "/v1/employee/*/card/x");
    sent.policy = SealingPolicy::Required;
    sent.ids = vec![("idEmployee", OTHER.to_owned()), ("idCard", CARD.to_owned())];
    assert_eq!(sent.faults(), [("idCard".to_owned(), MUST_BE_SEALED.to_owned())]);
    sent.query = format!("x={}", sent.seal(Slot::QueryParameter("x"), "1"));
    assert_eq!(sent.faulty_fields(), "idCard", "a sealed parameter proves nothing about the operation");
    sent.query.clear();
    sent.body = json!({"sealed": sent.seal(Slot::Body, "{}")}).to_string();
    assert!(sent.open().input.is_ok());
    sent.body.clear();
    sent.ids[0].1 = sent.seal(Slot::Path("idEmployee"), OTHER);
    assert!(sent.open().input.is_ok());
    sent.ids[0].1 = "s1.x".to_owned();
    assert_eq!(sent.faults(), [("idEmployee".to_owned(), SEAL_REFUSED.to_owned())]);
    sent.ids[0].1 = OTHER.to_owned();
    sent.policy = SealingPolicy::Optional;
    assert!(sent.open().input.is_ok());
}

#[test]
fn plaintext_names_that_the_operation_does_not_have_are_listed() {
    let told = |sent: &TestRequestParts| sent.open().ignored.header();
    let mut sent = TestRequestParts::to("employee.list", "/v1/employees");
    assert_eq!(told(&sent), None);
    sent.query = "statuss=WORK&page=1&q=x".to_owned();
    sent.body = json!({"perPagee": 5, "status": "WORK"}).to_string();
    assert_eq!(told(&sent).as_deref(), Some("perPagee, query:statuss"));
    // A value that does not open, or is faulty, changes nothing.
    sent.query = "page=s1.x&statuss=s1.y".to_owned();
    assert_eq!(told(&sent).as_deref(), Some("perPagee, query:statuss"));
    // Names that came sealed stay sealed.
    sent.query = format!("sealed={}", sent.seal(Slot::Query, r#"{"statuss":"WORK"}"#));
    sent.body = json!({"sealed": sent.seal(Slot::Body, r#"{"perPagee":5}"#)}).to_string();
    assert_eq!(told(&sent), None);
    // A request that changes something has no query parameters.
    let mut sent = TestRequestParts::to("category.create", "/v1/category");
    sent.query = "nameCategory=A".to_owned();
    sent.body = json!({"nameCategory": "A", "namecategory": "B"}).to_string();
    assert_eq!(told(&sent).as_deref(), Some("namecategory, query:nameCategory"));
}
