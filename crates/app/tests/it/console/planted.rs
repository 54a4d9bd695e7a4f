//! A partner with something of every page, and with a script in every text that the API takes.

use std::collections::{BTreeMap, BTreeSet};

use kopeck_adapter_http::openapi;
use kopeck_domain::access::{Role, Scope, Scopes};
use serde_json::{Map, Value, json};

use super::browser::{Browser, Values, between, create_user, encoded, hidden_fields, upload_request};
use super::money::carry_out;
use super::walk::{Route, Walk, routes, walk};
use crate::raw_http::{CSV, RawRequest, RawResponse, exchange, login, post};
use crate::server::{TestPartner, TestServer};
use crate::world::{Sample, Things, samples};

/// What is planted, with a number that tells one from another.
fn script(number: usize) -> String {
    format!("<script>alert({number})</script>\"'><img src=x onerror=alert({number})>")
}

/// What of it stands in no page: its beginning, its end, and what would end the value of an attribute.
pub const RAW: &str = "\"'>";

/// The texts that may hold a script, by operation and field. Each is shown as a text wherever it is shown.
const TAKEN: &[(&str, &str)] = &[
    ("category.create", "nameCategory"),
    ("category.rename", "nameCategory"),
    ("order.plastic", "data[].deliveryAddress"),
    ("order.plastic", "data[].recipient"),
    ("programme.change", "name"),
    ("programme.create", "name"),
    // Every field of a row: what is wrong with it is shown beside it.
    ("run.create", "items[]"),
    ("run.refuse", "reason"),
    ("sandbox.activate", "activationCode"),
    ("sandbox.purchase", "mcc"),
    ("sandbox.purchase", "merchantId"),
    ("sandbox.purchase", "place"),
    ("webhook.create", "description"),
    ("webhook.update", "description"),
];

/// A text of a request's body: the names on the way to it, `[]` for the first of a list.
type Field = Vec<String>;

/// The texts of each operation's body that are neither chosen from a list nor read as an identifier.
fn texts() -> BTreeMap<String, Vec<Field>> {
    let document: Value = serde_json::from_str(&openapi()).unwrap();
    let mut found = BTreeMap::new();
    for operation in
        document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values())
    {
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        let mut fields = Vec::new();
        collect(&document, schema, &mut Vec::new(), &mut fields);
        found.insert(operation["operationId"].as_str().unwrap().to_owned(), fields);
    }
    found
}

fn collect(document: &Value, schema: &Value, at: &mut Field, found: &mut Vec<Field>) {
    if let Some(name) = schema["$ref"].as_str() {
        let pointer = name.trim_start_matches('#');
        return collect(document, document.pointer(pointer).unwrap(), at, found);
    }
    for kind in ["oneOf", "anyOf", "allOf"] {
        schema[kind].as_array().into_iter().flatten().for_each(|one| collect(document, one, at, found));
    }
    let is_text = schema["type"] == "string"
        || schema["type"].as_array().is_some_and(|types| types.contains(&json!("string")));
    let is_free = schema["enum"].is_null() && schema["format"] != "uuid" && schema["format"] != "password";
    if is_text && is_free && !found.contains(at) {
        found.push(at.clone());
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        at.push(name.clone());
        collect(document, inner, at, found);
        at.pop();
    }
    if !schema["items"].is_null() {
        at.push("[]".to_owned());
        collect(document, &schema["items"], at, found);
        at.pop();
    }
}

/// Puts a script at a field of a body.
fn plant(body: &mut Value, at: &[String], script: &str) {
    let Some((name, rest)) = at.split_first() else {
        *body = json!(script);
        return;
    };
    if name == "[]" {
        if !body.is_array() || body == &json!([]) {
            *body = json!([null]);
        }
        plant(&mut body[0], rest, script);
    } else {
        if !body.is_object() {
            *body = Value::Object(Map::new());
        }
        plant(&mut body[name.as_str()], rest, script);
    }
}

/// Sends every operation with a script in each of its texts, one at a time; returns those that were taken.
fn plant_everywhere(server: &TestServer, token: &str, things: &Things) -> BTreeSet<(String, String)> {
    let texts = texts();
    let mut taken = BTreeSet::new();
    let asked = samples().filter(|sample: &Sample| sample.operation.changes);
    for sample in asked.filter(|sample| !sample.operation.name.starts_with("session")) {
        for field in texts.get(sample.operation.name).into_iter().flatten() {
            let mut request = sample.call(things);
            let mut body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
            let script = script(taken.len());
            plant(&mut body, field, &script);
            request = request.json(&body).token(token).with("x-request-id", script);
            // Rows of runs are read whatever is in them, so that the description of a request is not held against it.
            let status = exchange(&server.base_url, request.from, &request.to_bytes()).status;
            assert!(status < 500, "{} {field:?}: {status}", sample.operation.name);
            if status < 300 {
                let name = field.join(".").replace(".[]", "[]");
                let is_row = name.starts_with("items[]");
                taken.insert((
                    sample.operation.name.to_owned(),
                    if is_row { "items[]".to_owned() } else { name },
                ));
            }
        }
    }
    taken
}

/// A partner with one thing of each kind, and all that [`Things`] has not; and the page of a run that is under way.
pub fn world(server: &TestServer) -> (TestPartner, String) {
    let partner = server.partner(kopeck_domain::partner::SealingPolicy::Optional, 10_000_000);
    let token = login(server, &partner).access;
    let things = Things::make(server, &token, 1);
    let taken = plant_everywhere(server, &token, &things);
    let taken: BTreeSet<(&str, &str)> =
        taken.iter().map(|(operation, field)| (operation.as_str(), field.as_str())).collect();
    assert_eq!(
        taken,
        TAKEN.iter().copied().collect(),
        "look where else a new text is shown, then name it here"
    );
    // A file's rows are kept as they came.
    let quoted = script(0).replace('"', "\"\"");
    let rows = format!("customId,amount,note\n\"{quoted}\",1,x\nA-1,\"{quoted}\",\"{quoted}\"\n");
    let file = RawRequest::new("POST", "/v1/runs?kind=TOP_UP").bytes(CSV, rows);
    assert_eq!(file.token(&token).send(server).status, 201);
    let people = json!({"kind": "EMPLOYEES", "items": [{"customId": "P-1", "surname": script(0), "category": script(0)}]});
    let people = post("/v1/runs", &people).token(&token).send(server);
    assert_eq!(people.status, 201, "{people:?}");
    create_user(server, Some(&partner), Role::Auditor, "somebody@example.ru");
    server.run_jobs();
    server.follow_feed();
    server.write_request_log();
    server.credential(&partner, Scopes::of(&[Scope::EmployeesRead]), None);
    // One run is under way for as long as no worker runs.
    let submit = format!("/v1/run/{}/submit", things.id("run"));
    let submitted = post(&submit, &json!({"digest": things.get("digest")})).token(&token).send(server);
    assert_eq!(submitted.status, 200, "{submitted:?}");
    (partner, format!("/run/{}", things.id("run")))
}

/// Sends each form of the pages with a script in each field that a person fills in, and each search with it.
fn fill_in_everything(browser: &mut Browser<'_>, pages: &BTreeSet<String>) {
    let mut sent = BTreeSet::new();
    for path in pages {
        let page = browser.get_once(path);
        for form in page.text.split("<form ").skip(1).map(|form| between(form, "", "</form>")) {
            let action = between(form, "action=\"/console", "\"");
            let is_skipped =
                ["/logout", "/password", "/sessions"].contains(&action) || form.contains("enctype");
            if is_skipped || !sent.insert(action.to_owned()) {
                continue;
            }
            let names = form.split(" name=\"").skip(1).map(|field| between(field, "", "\""));
            let typed: Vec<(&str, String)> = names.map(|name| (name, script(1))).collect();
            let got = if form.contains("method=\"post\"") {
                let hidden = hidden_fields(&page.text, action);
                let typed = typed.iter().filter(|(name, _)| hidden.iter().all(|(other, _)| other != name));
                let fields: Vec<(&str, &str)> = hidden
                    .iter()
                    .map(|(name, value)| (&**name, &**value))
                    .chain(typed.map(|(name, value)| (*name, &**value)))
                    .collect();
                browser.post(action, &fields)
            } else {
                let query: Vec<_> =
                    typed.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
                browser.get_once(&format!("{action}?{}", query.join("&")))
            };
            assert!(got.status < 500 && !got.text.contains(RAW), "{action}: {got:?}");
        }
    }
    assert!(sent.len() > 20, "{sent:?}");
}

/// The bytes of the first page with all that it loads, heads included.
fn weight(browser: &mut Browser<'_>) -> usize {
    let page = browser.get_once("/");
    let loaded = [
        "<link rel=\"stylesheet\" href=\"",
        "<link rel=\"icon\" type=\"image/svg+xml\" href=\"",
        "<script src=\"",
    ];
    let loaded = loaded.iter().filter_map(|before| Some(page.text.split_once(before)?.1.split_once('"')?.0));
    let assets: Vec<_> =
        loaded.map(|path| browser.get_once(path.strip_prefix("/console").unwrap())).collect();
    let bytes = |got: &RawResponse| {
        got.text.len() + got.headers.iter().map(|(name, value)| name.len() + value.len() + 4).sum::<usize>()
    };
    assert!(assets.len() >= 2 && assets.iter().all(|asset| asset.status == 200), "{assets:?}");
    assets.iter().chain([&page]).map(bytes).sum()
}

/// Pages that no link leads to, but a form: steps of orders, and a file whose columns a person has to name.
pub fn behind_forms(browser: &mut Browser<'_>) -> Vec<String> {
    let steps = ["?kind=plastic&people=all", "?kind=plastic&people=number", "?kind=virtual&people=number"];
    let steps = steps.map(|query| format!("/orders/new{query}"));
    steps.into_iter().chain([uploaded(browser)]).collect()
}

/// A file whose columns a person has to name, as the page on which they do.
pub fn uploaded(browser: &mut Browser<'_>) -> String {
    let page = browser.get("/runs/new");
    let file = format!("{};sum\nA-1;5\n", script(2).replace(';', ""));
    let sent =
        browser.exchange(upload_request(&page, "/runs/upload", &[("kind", "TOP_UP")], file.as_bytes()));
    assert_eq!(sent.status, 303, "{}", sent.text);
    sent.header("location").unwrap().strip_prefix("/console").unwrap().to_owned()
}

/// The forms that stand below the previews of forms alone.
fn confirmations(browser: &mut Browser<'_>) -> BTreeSet<String> {
    let terms = [
        ("name", "Meals"),
        ("audience", "all"),
        ("statuses", "WORK"),
        ("grant", "fixed"),
        ("rubles", "5"),
        ("every", "MONTH"),
        ("day", "1"),
        ("time", "09:00"),
        ("shift", "NONE"),
        ("onShortage", "NOTHING"),
    ];
    let limit = [
        ("whom", "people"),
        ("names", "customId"),
        ("people", "A-1"),
        ("rubles", "500"),
        ("period", "CDAY"),
        ("days", "1"),
        ("times", "08:00-20:30"),
    ];
    let programmes = browser.get("/programmes").text;
    let programme = format!("/programme/{}", between(&programmes, "href=\"/console/programme/", "\""));
    let steps: [(String, String, Values<'_>); 3] = [
        ("/programmes/new".to_owned(), "/programmes/preview".to_owned(), &terms),
        (format!("{programme}/edit"), format!("{programme}/preview"), &terms),
        ("/limits".to_owned(), "/limits/preview".to_owned(), &limit),
    ];
    let mut found = BTreeSet::new();
    for (page, action, values) in &steps {
        let page = browser.get(page);
        let preview = browser.send_once(&page, action, values);
        assert!(preview.status == 200 && !preview.text.contains(RAW), "{action}: {}", preview.text);
        let forms = preview.text.split("method=\"post\" action=\"/console").skip(1);
        found.extend(forms.map(|form| between(form, "", "\"").to_owned()));
    }
    found
}

/// The routes that none of these paths is of.
fn missed(is_form: bool, paths: &BTreeSet<String>) -> Vec<Route> {
    let wanted = routes().into_iter().filter(|route| route.is_form == is_form);
    wanted.filter(|route| !paths.iter().any(|path| route.is_of(path))).collect()
}

/// Every page that the console has is reached by links, each form stands on one of them, no link leads to what its reader
/// may not see, and no text of the API becomes a script.
#[test]
fn links_lead_to_every_page_and_no_text_becomes_a_script() {
    let server = TestServer::start();
    let (partner, running) = world(&server);
    let mut all = Walk::default();
    for (role, most) in
        [(Role::Owner, 4), (Role::Hr, 1), (Role::Finance, 1), (Role::Auditor, 1), (Role::Operator, 2)]
    {
        let of = (role != Role::Operator).then_some(&partner);
        let mut browser = Browser::of_new(&server, of, role);
        if role == Role::Owner {
            // Of two sessions one can end the other.
            browser = Browser::of_known(&server, &mut browser);
        }
        let mut more = Vec::new();
        if role == Role::Owner {
            more = [behind_forms(&mut browser), vec![running.clone()]].concat();
        } else if role == Role::Operator {
            let page = browser.get(&format!("/partner/{}", partner.id));
            let deposit = [("deposited", "1"), ("reference", "INV-1")];
            browser.send(&page, &format!("/partner/{}/deposit", partner.id), &deposit);
        }
        let found = walk(&mut browser, most, &more);
        if role == Role::Owner {
            all.forms.extend(confirmations(&mut browser));
            let weight = weight(&mut browser);
            assert!(weight <= 100_000, "the first page has {weight} bytes");
            fill_in_everything(&mut browser, &found.pages);
        }
        all.pages.extend(found.pages);
        all.forms.extend(found.forms);
    }
    assert_eq!(missed(false, &all.pages), [], "pages without a link");
    // While no request waits for the word of a person, whose page `stuck` uses.
    all.forms.insert("/stuck".to_owned());
    assert_eq!(missed(true, &all.forms), [], "forms that no page has");
    carry_out(&server);
}
