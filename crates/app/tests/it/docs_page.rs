//! The reference page in a real browser: it asks nobody but the service, shows every operation, and makes a sealed call.
//!
//! Run by `scripts/test-docs-page`, which sees to Chromium and its driver. The driver is told what to do by plain HTTP
//! (W3C WebDriver), and asked afterwards what the page has loaded and complained of.

mod driver;

use std::collections::BTreeSet;

use kopeck::compose::Machine;
use kopeck_adapter_http::HttpSettings;
use kopeck_domain::partner::SealingPolicy;
use serde_json::{Value, json};

use crate::bare::{get, login};
use crate::server::{TestPartner, TestServer};
use driver::Browser;

const VECTORS: &str = include_str!("../../../sealing/tests/data/vectors.json");

/// Seals or opens every published value of a request or response with the page's own code; answers the names of those that come out otherwise.
const TRY_VECTORS: &str = "
    const [vectors, done] = arguments;
    const bytes = hex => Uint8Array.from(hex.match(/../g) ?? [], pair => parseInt(pair, 16));
    import('/docs/seal.js').then(async ({ sealRequest, openResponse }) => {
        const wrong = [];
        for (const v of vectors.filter(v => v.direction !== 'evt')) {
            const key = { id: bytes(v.kid), secret: bytes(v.secret) };
            const call = { method: v.method, path: v.path, nonce: v.x_nonce, slot: v.slot, clear: v.clear.flat() };
            const right = v.direction === 'req'
                ? await sealRequest(key, call, v.plaintext, bytes(v.salt), v.ts) === v.text
                : await openResponse(key, call, v.status, v.text) === v.plaintext
                    && await openResponse(key, call, v.status + 1, v.text).then(() => false, () => true);
            if (!right) wrong.push(v.name);
        }
        done(wrong);
    }, error => done([String(error)]));
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Chromium and its driver: scripts/test-docs-page"]
async fn the_page_works_in_a_browser_and_asks_nobody_else() {
    let now = Machine::real().wall.now();
    let server = TestServer::start_at(now, true, HttpSettings { workers: 1, ..HttpSettings::default() });
    let partner = server.partner(SealingPolicy::Required, 10_000);
    let browser = Browser::start().await;
    browser.open(&format!("{}/docs", server.base_url)).await;
    browser.wait_for("return document.body.dataset.ready === 'true'").await;

    lists_every_operation(&browser).await;
    finds(&browser).await;
    log_in(&browser, &partner).await;
    sends_a_sealed_call(&browser, &server, &partner).await;
    asks_by_a_sealed_query(&browser).await;
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    assert_eq!(browser.run_async(TRY_VECTORS, &json!([vectors])).await, json!([]));

    for url in browser.requested().await {
        assert!(url.starts_with(&format!("{}/", server.base_url)), "the page asked {url}");
    }
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.end().await;
}

async fn lists_every_operation(browser: &Browser) {
    let shown = "return [...document.querySelectorAll('[data-operation]')].map(one => one.dataset.operation)";
    let shown = browser.run(shown).await;
    let shown: BTreeSet<&str> = shown.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let document: Value = serde_json::from_str(&kopeck_adapter_http::openapi()).unwrap();
    let items = document["paths"].as_object().unwrap().values();
    let all: BTreeSet<&str> = items
        .flat_map(|item| item.as_object().unwrap().values())
        .map(|operation| operation["operationId"].as_str().unwrap())
        .collect();
    assert_eq!(shown, all);
}

async fn finds(browser: &Browser) {
    let visible =
        "return [...document.querySelectorAll('.operation:not([hidden])')].map(one => one.dataset.operation)";
    browser.type_into("#search", "would pay card.can_pay").await;
    assert_eq!(browser.run(visible).await, json!(["card.can_pay"]));
    browser.run("search.value = ''; search.dispatchEvent(new Event('input'))").await;
    assert!(browser.run(visible).await.as_array().unwrap().len() > 40);
}

async fn log_in(browser: &Browser, partner: &TestPartner) {
    browser.click("#session summary").await;
    browser.type_into("#login [name=apiKey]", &partner.api_key).await;
    browser.type_into("#login [name=login]", &partner.login).await;
    browser.type_into("#login [name=password]", &partner.password).await;
    browser.type_into("#login [name=sealingKey]", &partner.key.to_text()).await;
    browser.click("#login button").await;
    browser
        .wait_for("return document.querySelector('#login-told').textContent.startsWith('Logged in until')")
        .await;
}

async fn sends_a_sealed_call(browser: &Browser, server: &TestServer, partner: &TestPartner) {
    let section = "[data-operation='category.create']";
    browser.click(&format!("{section} .try > summary")).await;
    browser
        .run(&format!(
            "document.querySelector(\"{section} textarea\").value = '{{\"nameCategory\": \"Пекари\"}}'"
        ))
        .await;
    browser.click(&format!("{section} .try button[type=submit]")).await;
    let opened = browser.text_of(&format!("{section} .opened[data-status='201'] code")).await;
    let opened: Value = serde_json::from_str(&opened).unwrap();
    assert_eq!(opened["nameCategory"], "Пекари");
    let shown = browser.text_of(&format!("{section} .answer")).await;
    assert_eq!(shown.matches("{\"sealed\":\"s1.").count(), 2, "sent and received sealed: {shown}");
    assert!(!shown.contains("Bearer") && !shown.contains(&partner.api_key), "{shown}");

    let ask = || get("/v1/categories").token(&login(server, partner).access).send(server).ok(200);
    let list = tokio::task::block_in_place(ask);
    assert_eq!(list["data"][0]["idCategory"], opened["idCategory"], "the service has it");
}

async fn asks_by_a_sealed_query(browser: &Browser) {
    let section = "[data-operation='category.list']";
    browser.click(&format!("{section} .try > summary")).await;
    browser.type_into(&format!("{section} [name='query:per_page']"), "7").await;
    browser.click(&format!("{section} .try button[type=submit]")).await;
    let opened = browser.text_of(&format!("{section} .opened[data-status='200'] code")).await;
    let opened: Value = serde_json::from_str(&opened).unwrap();
    assert_eq!((&opened["meta"]["per_page"], &opened["meta"]["total"]), (&json!(7), &json!(1)));
}
