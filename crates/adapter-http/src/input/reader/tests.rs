use kopeck_domain::ids::CardId;
use kopeck_domain::person::{CustomId, Phone};
use serde_json::{Value, json};

use super::super::field_types::{id, integer, text};
use super::*;

fn call(body: Value) -> RequestInput {
    let fields = body.as_object().cloned().unwrap_or_default();
    let body = fields.into_iter().map(|(name, value)| (name, value.into())).collect();
    RequestInput { body, ..RequestInput::default() }
}

fn reading(params: &[(&str, Param)]) -> RequestInput {
    let params = params.iter().map(|(name, param)| ((*name).to_owned(), param.clone())).collect();
    RequestInput { params, ..RequestInput::default() }
}

fn fields(faults: &Faults) -> Vec<&str> {
    faults.as_slice().iter().map(|fault| fault.field.as_str()).collect()
}

fn text_param(text: &str) -> Param {
    Param::Text(text.to_owned())
}

#[test]
fn all_faulty_fields_are_reported_at_once() {
    let call = RequestInput {
        ids: vec![("idCard", "x".to_owned())],
        ..call(json!({"phone": "1", "customId": null}))
    };
    let ((), faults) = call.gather(|r| {
        r.id::<CardId>("idCard");
        let mut body = r.body();
        body.required("customId", text(CustomId::parse));
        body.optional("phone", text(Phone::parse));
        body.optional("missing", text(Phone::parse));
    });
    assert_eq!(fields(&faults), ["idCard", "customId", "phone"]);
}

#[test]
fn an_update_keeps_clears_or_sets() {
    let call = call(json!({"clear": null, "set": "1234567890", "status": null, "bad": 7}));
    let (changes, faults) = call.gather(|r| {
        let mut body = r.body();
        let changes = ["keep", "clear", "set", "bad"].map(|name| body.change(name, text(Phone::parse)));
        assert_eq!(body.replacement("status", text(Phone::parse)), None);
        changes
    });
    let phone = Phone::parse("1234567890").unwrap();
    assert_eq!(changes, [Change::Keep, Change::Clear, Change::Set(phone), Change::Keep]);
    assert_eq!(fields(&faults), ["bad", "status"]);
}

#[test]
fn items_are_named_by_their_place() {
    let read = |call: &RequestInput| {
        call.values(|r| r.body().items("cards", 1..=3, |item| item.required("amount", integer(Ok))))
            .map_err(|faults| fields(&faults).join(" "))
    };
    assert_eq!(read(&call(json!({"cards": [{"amount": 1}, {"amount": 2}]}))), Ok(vec![1, 2]));
    assert_eq!(
        read(&call(json!({"cards": [{"amount": 1}, {"amount": "2"}, 3]}))),
        Err("cards[1].amount cards[2]".to_owned())
    );
    for body in [
        json!({}),
        json!({"cards": null}),
        json!({"cards": {}}),
        json!({"cards": []}),
        json!({"cards": [1, 2, 3, 4]}),
    ] {
        assert_eq!(read(&call(body)), Err("cards".to_owned()));
    }
}

#[test]
fn a_list_is_not_read_further_after_a_thousand_faults() {
    let read = |items: usize| {
        let call = call(json!({"cards": vec![json!({}); items]}));
        let ((), faults) = call.gather(|r| {
            r.body().items("cards", 1..=10_000, |item| {
                item.required("idCard", id::<CardId>());
                item.required("amount", integer(Ok))
            });
        });
        faults.as_slice().iter().map(|fault| fault.field.clone()).collect::<Vec<_>>()
    };
    let whole = read(500);
    assert_eq!((whole.len(), whole.last().unwrap().as_str()), (1_000, "cards[499].amount"));
    let cut = read(10_000);
    assert_eq!((cut.len(), cut.last().unwrap().as_str()), (1_001, "cards"));
    assert_eq!(cut.get(..1_000), whole.get(..));
}

#[test]
fn pages_come_from_query_and_body() {
    let page = |call: &RequestInput| {
        call.values(|r| r.page())
            .map(|page| (page.number(), page.size()))
            .map_err(|faults| fields(&faults).join(" "))
    };
    assert_eq!(page(&reading(&[])), Ok((1, 15)));
    assert_eq!(
        page(&reading(&[("page", text_param("2")), ("per_page", Param::Json(json!(500).into()))])),
        Ok((2, 500))
    );
    assert_eq!(page(&reading(&[("perPage", text_param("3"))])), Ok((1, 3)));
    assert_eq!(
        page(&reading(&[("perPage", text_param("3")), ("per_page", Param::Json(json!(9).into()))])),
        Ok((1, 3)),
        "the query wins"
    );
    assert_eq!(
        page(&reading(&[("perPage", text_param("3")), ("per_page", text_param("4"))])),
        Err("perPage".to_owned())
    );
    assert_eq!(
        page(&reading(&[("page", text_param("0")), ("perPage", text_param("501"))])),
        Err("page perPage".to_owned())
    );
    assert_eq!(page(&reading(&[("page", Param::Json(json!("2").into()))])), Err("page".to_owned()));
    assert_eq!(page(&reading(&[("page", text_param("1000000000"))])), Ok((1_000_000_000, 15)));
    assert_eq!(page(&reading(&[("page", text_param("1000000001"))])), Err("page".to_owned()));
}

#[test]
fn a_required_parameter_goes_by_two_names() {
    let names = ["idReplenishment", "replenishmentId"];
    let read = |call: &RequestInput| {
        call.values(|r| r.required_param(names, id::<CardId>())).map_err(|faults| fields(&faults).join(" "))
    };
    let uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";
    for name in names {
        assert!(read(&reading(&[(name, text_param(uuid))])).is_ok());
        assert_eq!(read(&reading(&[(name, text_param("x"))])), Err(name.to_owned()));
    }
    assert_eq!(read(&reading(&[])), Err("idReplenishment".to_owned()));
}
