//! Requests for many cards that name them by number, or by the employee who has them.

use serde_json::{Value, json};

use crate::api_client::{Api, Plastic, UNKNOWN_ID, keys, start, text};
use crate::server::TestServer;

/// A request for many cards.
struct Requests {
    path: &'static str,
    list: &'static str,
    id: &'static str,
    /// Where the state is, and the cards that it was for.
    result: fn(&str) -> String,
}

const ALL: [Requests; 4] = [
    Requests {
        path: "/v1/replenishment",
        list: "cards",
        id: "replenishmentId",
        result: |id| format!("/v1/replenishment/{id}/result"),
    },
    Requests {
        path: "/v1/setlimitscards",
        list: "data",
        id: "setLimitsCardsId",
        result: |id| format!("/v1/limits/result/{id}"),
    },
    Requests {
        path: "/v1/withdrawals",
        list: "data",
        id: "withdrawalId",
        result: |id| format!("/v1/withdrawal/{id}/result"),
    },
    Requests {
        path: "/v1/closings",
        list: "data",
        id: "closingId",
        result: |id| format!("/v1/closing/{id}/result"),
    },
];

impl Requests {
    /// The body of a request for cards with these names.
    fn body(&self, names: &[(&str, &str)]) -> Value {
        let item = |(field, name): &(&str, &str)| json!({*field: name, "amountReplenishment": 500, "amount": 100, "reason": "OTHER"});
        json!({self.list: names.iter().map(item).collect::<Vec<_>>(), "limit": {"unlimited": true}})
    }
}

/// Anna has a MAIN card and an additional one, Boris a MAIN one, Vera none; one more is unassigned.
struct Staff {
    cards: Vec<Plastic>,
    anna: String,
    boris: String,
}

impl Staff {
    async fn hire(api: &Api, server: &TestServer) -> Self {
        let cards = api.plastic(server, 4).await;
        let [anna, boris] = [api.employee("Анна-1").await, api.employee("B-2").await];
        api.employee("V-3").await;
        api.link(&anna, &cards[0].number, "MAIN").await.ok(200);
        api.link(&anna, &cards[1].number, "ADDITIONAL").await.ok(200);
        api.link(&boris, &cards[2].number, "MAIN").await.ok(200);
        Self { cards, anna, boris }
    }
}

#[tokio::test]
async fn each_name_leads_to_its_card_in_every_request() {
    let (server, api) = start(100_000).await;
    let staff = Staff::hire(&api, &server).await;
    for request in ALL {
        for names in [
            [("customId", "Анна-1"), ("idEmployee", staff.boris.as_str())],
            [("customIdCard", staff.cards[0].number.as_str()), ("customId", "B-2")],
            [("idEmployee", staff.anna.as_str()), ("idCard", staff.cards[2].id.as_str())],
        ] {
            let accepted = api.post(request.path, &request.body(&names)).await.ok(202);
            assert_eq!(accepted.as_object().unwrap().len(), 2, "{accepted}");
            if request.path == "/v1/closings" && names[0].0 != "idEmployee" {
                api.delete(&format!("/v1/closing/{}", text(&accepted[request.id]))).await.ok(200);
                continue;
            }
            server.run_jobs();
            let result = api.get(&(request.result)(&text(&accepted[request.id]))).await.ok(200);
            let cards: Vec<&Value> =
                result["data"].as_array().unwrap().iter().map(|item| &item["idCard"]).collect();
            assert_eq!(cards, [&json!(staff.cards[0].id), &json!(staff.cards[2].id)], "{}", request.path);
        }
    }
    // A closed card is nobody's MAIN one.
    let replenishment = &ALL[0];
    let refused = api.post(replenishment.path, &replenishment.body(&[("customId", "B-2")])).await;
    assert_eq!((refused.status, refused.body[0]["code"].clone()), (409, json!("card_not_main")));
}

#[tokio::test]
async fn a_card_has_exactly_one_name_and_stands_once() {
    let (server, api) = start(0).await;
    let staff = Staff::hire(&api, &server).await;
    let card = &staff.cards[0];
    for request in ALL {
        let field = |place: usize, name: &str| format!("{}[{place}].{name}", request.list);
        let faulty = async |names: &[(&str, &str)], fields: &[String]| {
            let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
            api.post(request.path, &request.body(names)).await.faulty(&fields);
        };
        let unnamed = [("none", "x"), ("customIdCard", "12"), ("customId", "a b"), ("idEmployee", "7")];
        let expected =
            [field(0, "idCard"), field(1, "customIdCard"), field(2, "customId"), field(3, "idEmployee")];
        faulty(&unnamed, &expected).await;
        faulty(&[("customId", "B-2"), ("customId", "B-2")], &[field(1, "customId")]).await;
        // Under other names; before what does not exist.
        let twice = [
            ("idCard", card.id.as_str()),
            ("customId", "nobody"),
            ("customIdCard", card.number.as_str()),
            ("idEmployee", staff.anna.as_str()),
            ("customId", "Анна-1"),
        ];
        faulty(&twice, &[field(2, "customIdCard"), field(3, "idEmployee"), field(4, "customId")]).await;
        let mut both = request.body(&[("customId", "B-2")]);
        both[request.list][0]["idCard"] = json!(card.id);
        both[request.list][0]["idEmployee"] = json!(null);
        api.post(request.path, &both).await.faulty(&[&field(0, "customId")]);
    }
}

#[tokio::test]
async fn refused_cards_are_listed_by_the_names_of_the_request() {
    let (server, api) = start(0).await;
    let staff = Staff::hire(&api, &server).await;
    let unknown = [
        ("customId", "nobody", "employee_not_found"),
        ("idEmployee", UNKNOWN_ID, "employee_not_found"),
        ("customIdCard", "1234567890", "card_not_found"),
        ("idCard", UNKNOWN_ID, "card_not_found"),
    ];
    for request in ALL {
        let names: Vec<(&str, &str)> =
            [("customId", "V-3")].into_iter().chain(unknown.map(|(field, name, _)| (field, name))).collect();
        let refused = api.post(request.path, &request.body(&names)).await;
        assert_eq!(refused.status, 404, "{}", refused.text);
        let listed = refused.body.as_array().unwrap();
        assert_eq!(listed.len(), unknown.len(), "{}", refused.text);
        for (fault, (field, name, code)) in listed.iter().zip(unknown) {
            let mut fields = ["code", "message", field];
            fields.sort_unstable();
            assert_eq!(keys(fault), fields);
            assert_eq!((&fault[field], &fault["code"]), (&json!(name), &json!(code)));
        }
        let names = [("idEmployee", staff.anna.as_str()), ("customId", "V-3")];
        let refused = api.post(request.path, &request.body(&names)).await;
        assert_eq!(refused.status, 409, "{}", refused.text);
        let expected = json!([
            {"message": "the employee has no main card", "code": "card_not_main", "customId": "V-3"}
        ]);
        assert_eq!(refused.body, expected);
    }
    // With the card, if the name leads to one.
    let top_up = &ALL[0];
    let additional = &staff.cards[1];
    let names = [("customIdCard", additional.number.as_str()), ("customId", "Анна-1")];
    let refused = api.post(top_up.path, &top_up.body(&names)).await;
    let fault = &refused.body[0];
    assert_eq!((refused.status, keys(fault)), (409, vec!["code", "customIdCard", "idCard", "message"]));
    assert_eq!(
        (&fault["customIdCard"], &fault["idCard"], &fault["code"]),
        (&json!(additional.number), &json!(additional.id), &json!("card_not_main"))
    );
}

/// Nobody learns by them what another partner has.
#[tokio::test]
async fn names_of_another_partner_are_unknown() {
    let (server, api) = start(0).await;
    let staff = Staff::hire(&api, &server).await;
    let partner = server.partner(kopeck_domain::partner::SealingPolicy::Optional, 0);
    let stranger = Api::login(&server, &partner).await;
    for request in ALL {
        for (field, name) in [
            ("customId", "B-2"),
            ("idEmployee", staff.boris.as_str()),
            ("customIdCard", staff.cards[2].number.as_str()),
        ] {
            let refused = stranger.post(request.path, &request.body(&[(field, name)])).await;
            assert_eq!((refused.status, refused.body.as_array().unwrap().len()), (404, 1), "{field}");
        }
    }
    assert_eq!(api.get("/v1/replenishments").await.ok(200)["data"], json!([]));
}
