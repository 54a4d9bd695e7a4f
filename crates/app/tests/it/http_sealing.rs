//! Places of sealed values in a request, and sealed responses.

use kopeck_port_store::{Access, transact};
use kopeck_sealing::{Clear, KeyId, SealingKey, Slot};
use kopeck_service::partners::FormerKey;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use time::Duration;

use crate::api_client::UNKNOWN_ID as ID;
use crate::raw_http::{
    JSON, Place, RawRequest, SEALED_JSON, fresh_nonce, get, login, login_call, open_answer, optional, post,
    refresh_call, required, seal_body,
};
use crate::server::{TestPartner, TestServer};
use crate::world::{Things, samples_by_path};

pub fn rotate(server: &TestServer, partner: &TestPartner) -> SealingKey {
    let (service, id) = (server.application.partners.clone(), partner.id);
    let new = transact(&*server.application.store, Access::Write, move |unit| {
        service.rotate_keys(unit, id, FormerKey::Overlaps)
    })
    .unwrap()
    .key;
    SealingKey::new(KeyId::from_bytes(new.id), new.secret.expose_secret().try_into().unwrap())
}

#[test]
fn a_whole_body_is_sealed_under_either_media_type() {
    let server = TestServer::start();
    for (partner, token) in [required(&server), optional(&server)] {
        for (place, media) in [SEALED_JSON, JSON, "application/sealed+json; charset=utf-8"].iter().enumerate()
        {
            let name = format!("Отдел {place}");
            let call = post("/v1/category", &json!({"nameCategory": name})).token(&token);
            let call = seal_body(&server, &partner.key, call).with("content-type", media);
            assert_eq!(call.send(&server).ok(201)["nameCategory"], *name);
        }
        let slash = post("/v1/category/", &json!({"nameCategory": "Slash"})).token(&token);
        assert_eq!(seal_body(&server, &partner.key, slash).send(&server).status, 201);
        let page = get("/v1/categories").json(&json!({"page": 1, "per_page": 2})).token(&token);
        assert_eq!(seal_body(&server, &partner.key, page).send(&server).ok(200)["meta"]["per_page"], 2);
        let empty = seal_body(&server, &partner.key, post("/v1/category", &json!({})).token(&token));
        assert_eq!(empty.send(&server).fields(), "nameCategory");
        for text in ["", "[]", "5", "{", "\u{0}"] {
            let call = RawRequest::new("POST", "/v1/category").token(&token).bytes(JSON, text);
            assert_eq!(seal_body(&server, &partner.key, call).send(&server).fields(), "body", "{text:?}");
        }
    }
}

#[test]
fn the_token_calls_take_sealed_bodies_and_sealed_fields() {
    let server = TestServer::start();
    let (partner, _) = required(&server);
    let tokens = login(&server, &partner);
    let refresh = refresh_call(&partner, &tokens.refresh).sealed_answer();
    let refresh = seal_body(&server, &partner.key, refresh);
    let got = refresh.send(&server);
    let opened: Value = serde_json::from_str(&open_answer(&server, &partner.key, &refresh, &got)).unwrap();
    assert_eq!((got.status, opened.as_object().unwrap().len()), (200, 5));

    let call = login_call(&partner.api_key, &partner.login, &partner.password);
    let nonce = call.its_nonce().to_owned();
    let field = |name, plain: &str| {
        let place =
            Place { method: "POST", path: "/v1/get_access_token", nonce: &nonce, slot: Slot::Field(name) };
        place.seal(&server, &partner.key, plain)
    };
    let both =
        json!({"login": field("login", &partner.login), "password": field("password", &partner.password)});
    let one = json!({"login": partner.login, "password": field("password", &partner.password)});
    assert_eq!(call.clone().json(&one).send(&server).fields(), "body", "all that is marked has to be sealed");
    assert_eq!(call.clone().json(&both).send(&server).status, 200);
}

#[test]
fn single_fields_are_sealed_beside_clear_ones() {
    let server = TestServer::start();
    for (partner, token) in [required(&server), optional(&server)] {
        let path = format!("/v1/employee/{ID}/card/switch");
        let nonce = fresh_nonce();
        let place = Place { method: "POST", path: &path, nonce: &nonce, slot: Slot::Field("statusCard") };
        let mut clear = Clear::new();
        clear.add(Slot::Field("idCard"), ID);
        let sealed = place.seal_beside(&server, &partner.key, &clear, "MAIN");
        let send = |body: Value| post(&path, &body).token(&token).nonce(&nonce).send(&server);
        let body = json!({"idCard": ID, "statusCard": sealed});
        assert_eq!(send(body.clone()).code(), (404, "employee_not_found".to_owned()));
        assert_eq!(send(json!({"statusCard": sealed, "idCard": ID})).code().0, 404, "in any order");
        for other in [ID.replace('0', "1"), ID.to_uppercase()] {
            assert_eq!(
                send(json!({"idCard": other, "statusCard": sealed})).fields(),
                "statusCard",
                "a swapped card"
            );
        }
        assert_eq!(send(json!({"statusCard": sealed})).fields(), "statusCard");
        assert_eq!(send(json!({"idCard": ID, "statusCard": sealed, "x": 1})).fields(), "statusCard");
        let wrong = place.seal_beside(&server, &partner.key, &clear, "main");
        assert_eq!(send(json!({"idCard": ID, "statusCard": wrong})).fields(), "statusCard");
        // Neighbours of every kind enter by their JSON text.
        for (name, text) in [("a", "1.50"), ("b", "[1, {\"k\":2}]"), ("c", "null"), ("d", "true")] {
            clear.add(Slot::Field(name), text);
        }
        clear.add(Slot::Field("e"), "Ё\"");
        clear.add(Slot::Field("f/~"), "x");
        clear.add(Slot::QueryParameter("z"), "1 ы");
        let sealed = place.seal_beside(&server, &partner.key, &clear, "MAIN");
        let text = format!(
            r#"{{"f/~":"x","e":"\u0401\"","d":true , "c": null,"b":[1, {{"k":2}}],"a":1.50,"statusCard":"{sealed}","idCard":"{ID}"}}"#
        );
        let call = RawRequest::new("POST", &format!("{path}?z=1+%D1%8B"))
            .token(&token)
            .nonce(&nonce)
            .bytes(JSON, text);
        assert_eq!(call.send(&server).code().0, 404);
    }
}

#[test]
fn sealed_fields_hold_texts_numbers_and_lists() {
    let server = TestServer::start();
    let (partner, token) = required(&server);
    // A request that changes something spends its nonce.
    let nonces = [fresh_nonce(), fresh_nonce(), fresh_nonce()];
    let field_under = |nonce: &str, method: &str, path: &str, name: &str, plain: &str| {
        Place { method, path, nonce, slot: Slot::Field(name) }.seal(&server, &partner.key, plain)
    };
    let [nonce, of_confirm, of_category] = &nonces;
    let field =
        |method: &str, path: &str, name: &str, plain: &str| field_under(nonce, method, path, name, plain);
    let line = json!([{"numberCards": 1, "typeCard": "MLZ", "amount": 5_000}]).to_string();
    let path = "/v1/order/virtualcards";
    let order = post(path, &json!({"data": field("POST", path, "data", &line)})).token(&token).nonce(nonce);
    let id = order.send(&server).text_of("orderId");
    server.run_jobs();
    let path = "/v1/order/confirm";
    let confirm = json!({"orderId": field_under(of_confirm, "POST", path, "orderId", &id)});
    let confirm = post("/v1/order/confirm/", &confirm).token(&token).nonce(of_confirm);
    assert_eq!(confirm.send(&server).status, 200);
    let path = format!("/v1/card/{ID}/transactions");
    for (page, status) in [("2", 404), ("\"2\"", 422), ("x", 422), ("0", 422)] {
        let body = json!({"page": field("GET", &path, "page", page), "per_page": field("GET", &path, "per_page", "50")});
        assert_eq!(get(&path).json(&body).token(&token).nonce(nonce).send(&server).status, status, "{page}");
    }
    let category = field_under(of_category, "POST", "/v1/category", "nameCategory", "5");
    let category = json!({"nameCategory": category});
    let made = post("/v1/category", &category).token(&token).nonce(of_category).send(&server);
    assert_eq!(made.ok(201)["nameCategory"], "5", "a text is a text");
}

#[test]
fn identifiers_of_the_path_are_sealed() {
    let server = TestServer::start();
    let (partner, token) = required(&server);
    for (sample, slot) in samples_by_path() {
        let call = sample.call(&Things::nothing()).token(&token);
        let pattern = call.target.replace(ID, "{}");
        let bound = pattern.replace("{}", "*");
        let nonce = call.its_nonce().to_owned();
        let place = Place { method: &call.method, path: &bound, nonce: &nonce, slot: Slot::Path(slot) };
        let send = |id: &str, slash: &str| {
            let call = RawRequest { target: pattern.replace("{}", id) + slash, ..call.clone() };
            if call.body.is_empty() { call } else { seal_body(&server, &partner.key, call) }.send(&server)
        };
        let sealed = place.seal(&server, &partner.key, ID);
        for slash in ["", "/"] {
            assert_eq!(send(&sealed, slash).status, 404, "{pattern}");
        }
        for plain in ["x", "", "s1.x", &sealed[..20]] {
            let faulty = send(&place.seal(&server, &partner.key, plain), "");
            assert_eq!(faulty.fields(), slot, "{pattern} {plain}");
        }
        let elsewhere = Place { slot: Slot::Path("other"), ..place }.seal(&server, &partner.key, ID);
        assert_eq!(send(&elsewhere, "").fields(), slot, "{pattern}");
        let clear = Place { path: &pattern.replace("{}", ID), ..place }.seal(&server, &partner.key, ID);
        assert_eq!(send(&clear, "").fields(), slot, "{pattern}: bound to a star");
    }
}

#[test]
fn parameters_of_the_query_are_sealed_one_by_one_or_together() {
    let server = TestServer::start();
    let (partner, token) = required(&server);
    let nonce = fresh_nonce();
    let place = Place { method: "GET", path: "/v1/employees", nonce: &nonce, slot: Slot::Query };
    let one = |name, clear: &Clear<'_>, plain: &str| {
        Place { slot: Slot::QueryParameter(name), ..place }.seal_beside(&server, &partner.key, clear, plain)
    };
    let send = |query: &str| get(&format!("/v1/employees?{query}")).token(&token).nonce(&nonce).send(&server);
    let none = Clear::none();
    let all = ["page", "per_page", "status", "idCategory", "customId", "q"];
    for (name, plain) in all.iter().zip(["1", "2", "WORK", ID, "a", "Ё"]) {
        assert_eq!(send(&format!("{name}={}", one(name, none, plain))).status, 200, "{name}");
        assert_eq!(send(&format!("{name}={}", one("other", none, plain))).fields(), *name);
        assert_eq!(send(&format!("{name}={}", one(name, none, "s1.x"))).fields(), *name, "sealed twice");
    }
    let (page, size) = (one("page", none, "3"), one("per_page", none, "4"));
    let meta = send(&format!("page={page}&per_page={size}")).ok(200)["meta"].clone();
    assert_eq!((&meta["current_page"], &meta["per_page"]), (&json!(3), &json!(4)));
    assert_eq!(send(&format!("page={page}&page={page}")).fields(), "page", "sealed twice");
    assert_eq!(send(&format!("page={page}&page=3")).fields(), "page", "clear and sealed");
    assert_eq!(send(&format!("page={page}&q=x")).fields(), "page", "a neighbour added");
    let mut beside = Clear::new();
    beside.add(Slot::QueryParameter("q"), "Ё ж");
    let bound = one("page", &beside, "1");
    assert_eq!(send(&format!("q=%D0%81+%D0%B6&page={bound}")).status, 200);
    assert_eq!(send(&format!("q=%D0%81&page={bound}")).fields(), "page");

    let whole = |plain: &str| format!("sealed={}", place.seal(&server, &partner.key, plain));
    let meta = send(&whole(r#"{"page":2,"per_page":"7","status":"WORK","q":null}"#)).ok(200)["meta"].clone();
    assert_eq!((&meta["current_page"], &meta["per_page"]), (&json!(2), &json!(7)));
    assert_eq!(send(&whole("{}")).status, 200);
    for plain in ["", "[]", "page=1", "{\"page\":1,\"page\":2}"] {
        assert_eq!(send(&whole(plain)).fields(), "sealed", "{plain}");
    }
    for (plain, field) in [("{\"page\":0}", "page"), ("{\"q\":[1]}", "q"), (r#"{"q":"s1.x"}"#, "q")] {
        assert_eq!(send(&whole(plain)).fields(), field, "{plain}");
    }
    assert_eq!(send(&format!("{}&page=1", whole("{}"))).fields(), "page", "a clear one beside");
    assert_eq!(send(&format!("{0}&{0}", whole("{}"))).fields(), "sealed");
    for bad in ["sealed=", "sealed=x", "sealed=s1.x", &format!("sealed={page}"), "sealed"] {
        assert_eq!(send(bad).fields(), "sealed", "{bad}");
    }
}

#[test]
fn a_value_is_given_once() {
    let server = TestServer::start();
    let (partner, token) = optional(&server);
    let nonce = fresh_nonce();
    let place = Place { method: "GET", path: "/v1/employees", nonce: &nonce, slot: Slot::Body };
    let body = json!({"sealed": place.seal(&server, &partner.key, "{\"page\":1}")});
    let send = |query: &str, body: &Value| {
        get(&format!("/v1/employees{query}")).token(&token).nonce(&nonce).json(body).send(&server)
    };
    assert_eq!(send("", &body).status, 200);
    assert_eq!(send("?per_page=5", &body).status, 200);
    assert_eq!(send("?page=1", &body).fields(), "page", "sealed in the body, clear in the query");
    let mut clear = Clear::new();
    clear.add(Slot::Field("page"), "1");
    let query =
        Place { slot: Slot::QueryParameter("page"), ..place }.seal_beside(&server, &partner.key, &clear, "1");
    assert_eq!(
        send(&format!("?page={query}"), &json!({"page": 1})).fields(),
        "page",
        "and the other way round"
    );
    let together = Place { slot: Slot::Query, ..place }.seal(&server, &partner.key, "{\"page\":1}");
    assert_eq!(send(&format!("?sealed={together}"), &body).fields(), "page", "sealed in both");
    let mut beside = body.clone();
    beside["page"] = json!(1);
    assert_eq!(send("", &beside).fields(), "body", "a clear field beside a sealed body");
    let inner = Place { slot: Slot::Field("page"), ..place }.seal(&server, &partner.key, "1");
    let twice = json!({"sealed": place.seal(&server, &partner.key, &json!({"page": inner}).to_string())});
    assert_eq!(send("", &twice).fields(), "page", "sealed inside of sealed");
    let text = body.to_string();
    let double = format!("{},{}", &text[..text.len() - 1], &text[1..]);
    let call = get("/v1/employees").token(&token).nonce(&nonce).bytes(JSON, double);
    assert_eq!(call.send(&server).fields(), "body");
}

/// A proxy that removes a header does not get the activation codes.
#[test]
fn activation_codes_come_sealed_under_required_whatever_is_accepted() {
    let server = TestServer::start();
    let has_to_seal = [(required(&server), true), (optional(&server), false)];
    for ((partner, token), has_to_seal) in has_to_seal {
        let line = json!({"data": [{"numberCards": 1, "typeCard": "MLZ", "amount": 5_000}]});
        let order = seal_body(&server, &partner.key, post("/v1/order/virtualcards", &line).token(&token));
        let id = order.send(&server).text_of("orderId");
        let result = || get(&format!("/v1/order/result/{id}")).token(&token);
        assert_eq!(
            result().send(&server).code(),
            (404, "order_not_processed".to_owned()),
            "it holds no code"
        );
        server.run_jobs();
        for accept in ["application/json", "*/*", "application/sealed+json;q=0", ""] {
            for call in [result().with("accept", accept), result()] {
                let got = call.send(&server);
                let text = if has_to_seal {
                    assert!(!got.text.contains("activationCode"), "{accept}");
                    open_answer(&server, &partner.key, &call, &got)
                } else {
                    got.text
                };
                let opened: Value = serde_json::from_str(&text).unwrap();
                assert!(opened["data"][0]["activationCode"].is_string(), "{accept}: {opened}");
            }
        }
    }
}

#[test]
fn responses_are_sealed_on_request() {
    let server = TestServer::start();
    let (partner, token) = required(&server);
    let open = |call: &RawRequest| {
        let got = call.send(&server);
        let text = open_answer(&server, &partner.key, call, &got);
        (got.status, serde_json::from_str::<Value>(&text).unwrap())
    };
    let asked = |call: RawRequest| call.token(&token).sealed_answer();
    let (status, body) = open(&asked(get("/v1/balance")));
    assert_eq!((status, &body["balance"]), (200, &json!(10_000_000)));
    let create =
        || seal_body(&server, &partner.key, asked(post("/v1/category", &json!({"nameCategory": "A"}))));
    assert_eq!(open(&create()).0, 201);
    assert_eq!(open(&create()).1["code"], "category_exists");
    let (status, body) = open(&asked(get(&format!("/v1/card/{ID}"))));
    assert_eq!((status, &body["code"]), (404, &json!("card_not_found")));
    for call in [get("/v1/employees?page=0"), get("/v1/card/s1.x"), post("/v1/category", &json!({}))] {
        assert_eq!(open(&asked(call.clone())).0, 422, "{call:?}");
    }
    let faulty_key = asked(RawRequest::new("DELETE", &format!("/v1/category/{ID}"))).key("");
    let (status, body) = open(&faulty_key);
    assert_eq!((status, crate::raw_http::faulty(&body)), (422, "idempotency-key".to_owned()));
    let nonce = fresh_nonce();
    let bound = Place { method: "GET", path: "/v1/card/*", nonce: &nonce, slot: Slot::Path("idCard") };
    let path = bound.seal(&server, &partner.key, ID);
    let (status, _) = open(&asked(get(&format!("/v1/card/{path}"))).nonce(&nonce));
    assert_eq!(status, 404);

    for accept in [
        "application/json, application/sealed+json",
        "APPLICATION/SEALED+JSON; q=0.5",
        "x/y,application/sealed+json",
    ] {
        let got = get("/v1/balance").token(&token).with("accept", accept).send(&server);
        assert_eq!(got.header("content-type"), Some(SEALED_JSON), "{accept}");
    }
    for accept in ["*/*", "application/*", "application/json", "application/sealed+json;q=0", ""] {
        let got = get("/v1/balance").token(&token).with("accept", accept).send(&server);
        assert_eq!(got.header("content-type"), Some(JSON), "{accept}");
    }
    // Before the caller is known nothing is sealed.
    for call in
        [get("/v1/balance"), get("/nowhere"), post("/v1/balance", &json!({})), login_call("x", "y", "z")]
    {
        assert_eq!(call.clone().sealed_answer().send(&server).header("content-type"), Some(JSON), "{call:?}");
    }
    let wrong = seal_body(
        &server,
        &partner.key,
        login_call(&partner.api_key, &partner.login, "wrong").sealed_answer(),
    );
    assert_eq!(wrong.send(&server).header("content-type"), Some(JSON));
}

/// The month may be sealed too. Files are in plaintext, also for a partner that has to seal.
#[test]
fn a_statement_is_sealed_and_its_files_are_not() {
    let server = TestServer::start();
    let (partner, token) = required(&server);
    let nonce = fresh_nonce();
    let place = Place { method: "GET", path: "/v1/statement/*", nonce: &nonce, slot: Slot::Path("month") };
    let month = |text: &str| {
        let sealed = place.seal(&server, &partner.key, text);
        get(&format!("/v1/statement/{sealed}")).token(&token).nonce(&nonce)
    };
    let call = month("2026-03").sealed_answer();
    let got = call.send(&server);
    assert_eq!((got.status, got.header("content-type")), (200, Some(SEALED_JSON)));
    let opened: Value = serde_json::from_str(&open_answer(&server, &partner.key, &call, &got)).unwrap();
    assert_eq!((&opened["month"], &opened["closing"]), (&json!("2026-03"), &json!(10_000_000)));
    let file = month("2026-03").with("accept", "text/csv, application/sealed+json").send(&server);
    assert_eq!((file.status, file.header("content-type")), (200, Some("text/csv; charset=utf-8")));
    assert!(file.text.starts_with("seq,at,type"), "{}", file.text);
    assert_eq!(month("2026-3").send(&server).fields(), "month");
}

#[test]
fn a_replay_is_sealed_anew_and_says_the_same() {
    let server = TestServer::start();
    let (partner, token) = required(&server);
    let call = post("/v1/category", &json!({"nameCategory": "A"})).token(&token).sealed_answer().key("same");
    let again = || seal_body(&server, &partner.key, call.clone().nonce(&fresh_nonce()));
    let (first, second, plain) = (again(), again(), again().without("accept"));
    let (one, two, three) = (first.send(&server), second.send(&server), plain.send(&server));
    assert_eq!(
        [&one, &two, &three].map(|got| (got.status, got.replayed())),
        [(201, false), (201, true), (201, true)]
    );
    assert_ne!(one.text, two.text);
    let opened = open_answer(&server, &partner.key, &first, &one);
    assert_eq!(opened, open_answer(&server, &partner.key, &second, &two));
    assert_eq!(opened, three.text, "byte for byte");
    let same = first.send(&server);
    assert_ne!(same.text, one.text, "also for the same bytes");
    assert_eq!(open_answer(&server, &partner.key, &first, &same), opened);
}

#[test]
fn responses_are_sealed_with_the_key_of_the_request_through_a_rotation() {
    let server = TestServer::start();
    let (partner, token) = required(&server);
    let first = partner.key.clone();
    let second = rotate(&server, &partner);
    server.clock.advance(Duration::seconds(5));
    let category = |key: &SealingKey, name: &str| {
        seal_body(
            &server,
            key,
            post("/v1/category", &json!({"nameCategory": name})).token(&token).sealed_answer(),
        )
    };
    // With nothing sealed in the request, the newest key that the partner has used seals the response: at once, here.
    let unasked = |key: &SealingKey| {
        let clear = get("/v1/balance").token(&token).sealed_answer();
        open_answer(&server, key, &clear, &clear.send(&server));
    };
    unasked(&first);
    for (key, name) in [(&first, "A"), (&second, "B")] {
        let call = category(key, name);
        let got = call.send(&server);
        assert!(open_answer(&server, key, &call, &got).contains("idCategory"));
        unasked(key);
    }
    assert_eq!(
        seal_body(&server, &first, login_call(&partner.api_key, &partner.login, &partner.password))
            .send(&server)
            .status,
        200
    );

    let third = rotate(&server, &partner);
    server.clock.advance(Duration::seconds(5));
    let refused = category(&first, "C");
    let got = refused.send(&server);
    let said = open_answer(&server, &second, &refused, &got);
    assert_eq!(
        crate::raw_http::faulty(&serde_json::from_str(&said).unwrap()),
        "body",
        "a third key ends the first"
    );
    assert_eq!(category(&second, "C").send(&server).status, 201);
    assert_eq!(category(&third, "D").send(&server).status, 201);
    server.clock.advance(Duration::days(14));
    let login =
        |key| seal_body(&server, key, login_call(&partner.api_key, &partner.login, &partner.password));
    assert_eq!(login(&second).send(&server).fields(), "body", "the overlap has an end");
    assert_eq!(login(&third).send(&server).status, 200);
}
