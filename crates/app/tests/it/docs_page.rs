//! The reference page in a real browser: it loads from the service alone, shows every operation, and sends a sealed request.
//!
//! Run by `scripts/test-docs-page`, which sees to Chromium and its driver. The test controls the driver by plain HTTP
//! (W3C WebDriver), and asked afterwards what the page has loaded and complained of.

pub mod driver;
mod production;

use std::collections::BTreeSet;

use kopeck::compose::SystemAdapters;
use kopeck_adapter_http::HttpSettings;
use kopeck_domain::partner::SealingPolicy;
use serde_json::{Value, json};

use crate::raw_http::{get, login};
use crate::server::{TestPartner, TestServer};
use driver::Browser;

const VECTORS: &str = include_str!("../../../sealing/tests/data/vectors.json");

/// Seals or opens every published value of a request or response with the page's own code; answers the names of those
/// that come out otherwise.
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
                    && await openResponse(key, call, v.status + 1, v.text).then(() => false, () => true)
                    && await openResponse({ ...key, id: new Uint8Array(8) }, call, v.status, v.text)
                        .then(() => false, error => error.message.includes('was the sealing key rotated?'));
            if (!right) wrong.push(v.name);
        }
        done(wrong);
    }, error => done([String(error)]));
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Chromium and its driver: scripts/test-docs-page"]
async fn the_page_works_in_a_browser_and_loads_from_the_service_alone() {
    let now = SystemAdapters::real().wall.now();
    let server = TestServer::start_at(now, true, HttpSettings { workers: 1, ..HttpSettings::default() });
    let partner = server.partner(SealingPolicy::Required, 1_000_000);
    let browser = Browser::start().await;
    browser.open(&format!("{}/docs", server.base_url)).await;
    browser.wait_for("return document.body.dataset.ready === 'true'").await;

    assert_eq!(production::mode(&browser).await, "Sandbox. Requests from this page change test data alone.");
    lists_every_operation(&browser).await;
    is_laid_out(&browser).await;
    finds(&browser).await;
    log_in(&browser, &partner).await;
    sends_a_sealed_call(&browser, &server, &partner).await;
    asks_by_a_sealed_query(&browser).await;
    // Anew: edited values are not filled in again.
    browser.open(&format!("{}/docs", server.base_url)).await;
    browser.wait_for("return document.body.dataset.ready === 'true'").await;
    log_in(&browser, &partner).await;
    works_at_the_first_click_and_the_second(&browser, &server).await;
    logs_in_without_a_sealing_key(&browser, &server.partner(SealingPolicy::Optional, 0)).await;
    folds_on_a_phone(&browser).await;
    stacks_tables_on_a_narrow_phone(&browser).await;
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    assert_eq!(browser.run_async(TRY_VECTORS, &json!([vectors])).await, json!([]));

    for url in browser.requested().await {
        assert!(url.starts_with(&format!("{}/", server.base_url)), "the page asked {url}");
    }
    browser.end(|_| false).await;
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
    for (words, found, other) in [
        ("topup", "replenishment.create", "employee.add"),
        ("top-up", "replenishment.create", "employee.add"),
        ("phone", "employee.add", "balance"),
        ("card_in_request", "card.switch", "employee.add"),
        ("CQUARTET", "limits.set", "employee.add"),
        ("Freeze", "card.switch", "card.link"),
    ] {
        search(browser, words).await;
        let shown = browser.run(visible).await;
        let shown = shown.as_array().unwrap();
        assert!(shown.contains(&json!(found)) && !shown.contains(&json!(other)), "{words}: {shown:?}");
        assert!(browser.text_of("#found").await.contains(&format!("“{words}”")), "{words}");
    }
    search(browser, "zzz").await;
    assert_eq!(browser.run(visible).await, json!([]));
    assert!(browser.text_of("#found:not([hidden])").await.starts_with("No results for “zzz”."));
    search(browser, "percent-encode").await;
    let guide = "return [...document.querySelectorAll('#guide section:not([hidden])')].map(one => one.id)";
    assert_eq!(browser.run(guide).await, json!(["requests"]), "the guide is searched too");
    search(browser, "").await;
    assert!(browser.run(visible).await.as_array().unwrap().len() > 40);
    assert_eq!(browser.run("return document.querySelector('#found').hidden").await, true);
}

async fn search(browser: &Browser, words: &str) {
    let script = format!("search.value = '{words}'; search.dispatchEvent(new Event('input'))");
    browser.run(&script).await;
}

/// Menu, text and samples beside each other; one first heading; no link in a summary; no link to nowhere; colours; a
/// sign where a sample is cut off.
async fn is_laid_out(browser: &Browser) {
    let columns = "
        const section = document.querySelector('[data-operation=\"employee.add\"]');
        const at = selector => (section.querySelector(selector) ?? document.querySelector(selector)).getBoundingClientRect();
        return at('nav').right <= at('.text').left && at('.text').right <= at('.samples').left";
    assert_eq!(browser.run(columns).await, true);
    let counts = "return ['h1', 'summary a'].map(what => document.querySelectorAll(what).length)";
    assert_eq!(browser.run(counts).await, json!([1, 0]));
    let nowhere = "
        const targets = [...document.querySelectorAll('a[href^=\"#\"]')].map(link => link.hash.slice(1));
        return targets.filter(id => !document.getElementById(id))";
    assert_eq!(browser.run(nowhere).await, json!([]));
    let titles = "return [...document.querySelectorAll('nav [data-for]')].map(one => one.textContent)";
    let titles = browser.run(titles).await;
    let titles = titles.as_array().unwrap();
    let different: BTreeSet<String> = titles.iter().map(Value::to_string).collect();
    assert_eq!(different.len(), titles.len(), "{titles:?}");
    let coloured =
        "return document.querySelectorAll('[data-operation=\"employee.add\"] .hl-key').length > 10";
    assert_eq!(browser.run(coloured).await, true);
    let codes = "
        const rows = [...document.querySelectorAll('[data-operation=\"category.create\"] .refusals tbody tr')];
        return rows.map(row => row.textContent.split('category_exists').length - 1).reduce((a, b) => a + b)";
    assert_eq!(browser.run(codes).await, 2, "in its row and in its example");
    let patterns =
        "return [...document.querySelectorAll('.rules')].filter(one => /[\\^]/.test(one.textContent)).length";
    assert_eq!(browser.run(patterns).await, 0);
    let nullable = "return document.querySelector('[data-operation=\"employee.add\"] .text').textContent";
    assert!(browser.run(nullable).await.as_str().unwrap().contains("uuid or null"));
    let clipped = "
        const cut = [...document.querySelectorAll('pre')].filter(pre => pre.scrollHeight > pre.clientHeight + 1);
        return [cut.length > 3, cut.every(pre => pre.parentElement.querySelector('.more'))]";
    assert_eq!(browser.run(clipped).await, json!([true, true]));
    let opened = "
        const more = document.querySelector('.more');
        const pre = more.previousElementSibling;
        more.click();
        return [pre.scrollHeight <= pre.clientHeight + 1, more.textContent]";
    assert_eq!(browser.run(opened).await, json!([true, "Show less"]));
}

/// The first requests of a partner, in order: the response to one fills the next one. `~` stands
/// for the work that is due.
/// Purchases come before the limit of the examples, which allows none in the evening.
const STORY: &str = "token.access token.refresh sandbox.deposit category.create category.rename category.list \
    employee.add employee.update employee.get employee.list order.plastic order.virtual order.status order.cancel \
    order.list ~ order.result order.confirm card.available card.link card.info card.balance sandbox.activate \
    replenishment.create replenishment.status replenishment.status_by_path replenishment.cancel ~ \
    replenishment.result replenishment.result_by_path replenishment.list sandbox.purchase sandbox.refund \
    limits.set limits.status limits.cancel ~ limits.result limits.list card.can_pay card.transactions card.switch balance \
    withdrawal.create withdrawal.status withdrawal.cancel ~ withdrawal.result withdrawal.list \
    order.virtual ~ closing.create closing.status closing.cancel ~ closing.result closing.list \
    sandbox.block sandbox.unblock sandbox.expire sandbox.bank sandbox.clock";

/// Sends each request as it is filled in, twice.
async fn works_at_the_first_click_and_the_second(browser: &Browser, server: &TestServer) {
    let work = || tokio::task::block_in_place(|| server.run_jobs());
    for name in STORY.split_whitespace() {
        if name == "~" {
            work();
            continue;
        }
        for time in ["first", "second"] {
            let (status, shown) = send(browser, name).await;
            assert!(status.starts_with('2'), "{name}, the {time} time: {status} {shown}");
            // A card is in one such request at a time.
            let takes_cards = ["replenishment.create", "limits.set", "withdrawal.create", "closing.create"];
            if time == "first" && takes_cards.contains(&name) {
                work();
            }
        }
    }
}

/// Sends the request as the page has filled it in; answers the status and what the page shows of it.
async fn send(browser: &Browser, name: &str) -> (String, String) {
    let section = format!("[data-operation='{name}']");
    browser.run(&format!("document.querySelector(\"{section} .try\").open = true")).await;
    browser.wait_for(&format!("return document.querySelector(\"{section} .try form\") !== null")).await;
    browser.run(&format!("document.querySelector(\"{section} .answer\").replaceChildren()")).await;
    browser.click(&format!("{section} .try button[type=submit]")).await;
    let shown = format!("(document.querySelector(\"{section} .answer\").textContent)");
    browser.wait_for(&format!("return !['', '…'].includes({shown})")).await;
    let hint = format!("document.querySelector(\"{section} .hint\").textContent");
    let said = browser.run(&format!("return {shown} + {hint}")).await;
    let status =
        format!("return document.querySelector(\"{section} .received\")?.dataset.status ?? 'not sent'");
    (browser.run(&status).await.as_str().unwrap().to_owned(), said.as_str().unwrap().to_owned())
}

/// Under the policy `optional` nothing has to be sealed.
async fn logs_in_without_a_sealing_key(browser: &Browser, partner: &TestPartner) {
    browser.run("document.querySelector('#session').open = true").await;
    browser.run("document.querySelector('#login').reset()").await;
    browser.run("document.querySelector('#login-told').textContent = ''").await;
    browser.type_into("#login [name=apiKey]", &partner.api_key).await;
    browser.type_into("#login [name=login]", &partner.login).await;
    browser.type_into("#login [name=password]", &partner.password).await;
    browser.click("#login button").await;
    browser.wait_for("return document.querySelector('#login-told').textContent !== ''").await;
    logged_in(browser).await;
    let (status, shown) = send(browser, "category.create").await;
    assert!(status == "201" && !shown.contains("s1."), "{status} {shown}");
    // A password is sent, and never shown.
    let (status, shown) = send(browser, "token.access").await;
    assert!(status == "200" && !shown.contains(&partner.password), "{status} {shown}");
}

/// Until when the login holds is shown as every other moment is.
async fn logged_in(browser: &Browser) {
    let until = "return /^Logged in until \\d\\d[.]\\d\\d[.]\\d{4} \\d\\d:\\d\\d[.]$/
        .test(document.querySelector('#login-told').textContent)";
    browser.wait_for(until).await;
    // The open form at the top covers the page below.
    browser.run("document.querySelector('#session').open = false").await;
}

/// The menu opens on request, and the page is as wide as the screen.
async fn folds_on_a_phone(browser: &Browser) {
    // A window is not made narrower than 500 pixels.
    browser.resize(500, 900).await;
    browser.run("document.querySelector('#session').open = false; scrollTo(0, 0)").await;
    let shown = "
        const height = selector => document.querySelector(selector).getBoundingClientRect().height;
        return [height('header') < 70, height('nav') > 0, document.documentElement.scrollWidth <= innerWidth]";
    assert_eq!(browser.run(shown).await, json!([true, false, true]));
    browser.click("#menu").await;
    let menu = "return [getComputedStyle(document.querySelector('nav')).display, document.querySelector('#menu').ariaExpanded]";
    assert_eq!(browser.run(menu).await, json!(["block", "true"]));
    browser.run("document.querySelector('nav [data-for] a').click()").await;
    assert_eq!(browser.run(menu).await, json!(["none", "false"]));
}

/// No word of a table is broken over lines.
async fn stacks_tables_on_a_narrow_phone(browser: &Browser) {
    browser.emulate_width(390).await;
    let broken = "
        const codes = [...document.querySelectorAll('#guide td:first-child > code:first-child, .refusals td code')];
        const word = codes.filter(code => /^[a-z_]+$/.test(code.textContent));
        return [word.length > 40, document.documentElement.scrollWidth <= innerWidth,
            ...word.filter(code => code.getClientRects().length > 1).map(code => code.textContent)]";
    assert_eq!(browser.run(broken).await, json!([true, true]));
}

async fn log_in(browser: &Browser, partner: &TestPartner) {
    browser.click("#session summary").await;
    browser.type_into("#login [name=apiKey]", &partner.api_key).await;
    browser.type_into("#login [name=login]", &partner.login).await;
    browser.type_into("#login [name=password]", &partner.password).await;
    browser.type_into("#login [name=sealingKey]", &partner.key.to_text()).await;
    browser.click("#login button").await;
    logged_in(browser).await;
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
