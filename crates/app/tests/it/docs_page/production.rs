//! The page of a service that is no sandbox: it says so, fills in no change, and asks before it sends one.

use std::path::Path;

use kopeck::compose::SystemAdapters;
use kopeck_adapter_http::HttpSettings;
use kopeck_domain::partner::SealingPolicy;
use serde_json::{Value, json};

use super::driver::Browser;
use super::{log_in, send};
use crate::api_client::{Api, text};
use crate::server::TestServer;

/// The kind of service that the page shows.
pub async fn mode(browser: &Browser) -> String {
    let shown = "
        const bars = [...document.querySelectorAll('.mode')];
        return bars.filter(bar => bar.offsetHeight > 0).map(bar => bar.textContent).join(' ')";
    browser.run(shown).await.as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Chromium and its driver: scripts/test-docs-page"]
async fn outside_of_a_sandbox_the_page_changes_nothing_by_a_click() {
    let now = SystemAdapters::real().wall.now();
    let server = TestServer::start_at(now, false, HttpSettings { workers: 1, ..HttpSettings::default() });
    let partner = server.partner(SealingPolicy::Optional, 1_000_000);
    let api = Api::login(&server, &partner).await;
    let employee =
        text(&api.post("/v1/employee/add", &json!({"customId": "U-1"})).await.ok(200)["idEmployee"]);
    let card = api.main_cards(&server, 1).await.remove(0);
    let browser = Browser::start().await;
    browser.open(&format!("{}/docs", server.base_url)).await;
    browser.wait_for("return document.body.dataset.ready === 'true'").await;
    assert_eq!(mode(&browser).await, "Production. Requests from this page change real cards and real money.");
    log_in(&browser, &partner).await;

    fills_in_no_change(&browser, &[&employee, &card]).await;
    asks_by_name_before_it_erases(&browser, &api, &employee).await;
    asks_by_number_before_it_closes(&browser, &api, &card).await;
    asks_before_any_other_change(&browser).await;
    saves_a_statement(&browser).await;
    browser.end(|_| false).await;
}

/// The form of an operation, filled.
async fn open(browser: &Browser, name: &str) -> String {
    let section = format!("[data-operation='{name}']");
    browser.run(&format!("document.querySelector(\"{section} .try\").open = true")).await;
    browser.wait_for(&format!("return document.querySelector(\"{section} .try form\") !== null")).await;
    section
}

/// Forms of changes are filled in neither with objects of the partner nor with invented ones.
async fn fills_in_no_change(browser: &Browser, objects: &[&str]) {
    // A read is filled in, so the page knows by now what there is.
    let section = open(browser, "employee.get").await;
    let filled =
        format!("return document.querySelector(\"{section} [name='path:idEmployee']\").value !== ''");
    browser.wait_for(&filled).await;
    browser.run("document.querySelectorAll('.try').forEach(one => { one.open = true })").await;
    browser
        .wait_for("return [...document.querySelectorAll('.try')].every(one => one.querySelector('form'))")
        .await;
    let body = "return document.querySelector(\"[data-operation='closing.create'] textarea\").value !== ''";
    browser.wait_for(body).await;
    let values = "
        const changes = [...document.querySelectorAll('.try form')].filter(form => form.querySelector('[name=\"header:idempotency-key\"]'));
        return changes.map(form => [form.closest('section').dataset.operation,
            ...[...form.querySelectorAll('input, textarea')].map(box => box.value)].join(' '))";
    let values = browser.run(values).await;
    let values = values.as_array().unwrap();
    assert!(values.len() > 25, "{values:?}");
    for value in values.iter().map(|value| value.as_str().unwrap()) {
        assert!(!objects.iter().any(|object| value.contains(object)), "{value}");
    }
    browser.run("document.querySelectorAll('.try').forEach(one => { one.open = false })").await;
}

/// The confirmation that the page shows, once it does.
async fn question(browser: &Browser, section: &str) -> String {
    browser.text_of(&format!("{section} .confirm")).await
}

async fn press(browser: &Browser, section: &str, button: &str) {
    browser.click(&format!("{section} .confirm {button}")).await;
}

async fn asks_by_name_before_it_erases(browser: &Browser, api: &Api, employee: &str) {
    let section = open(browser, "employee.erase").await;
    browser.type_into(&format!("{section} [name='path:idEmployee']"), employee).await;
    browser.click(&format!("{section} .try button[type=submit]")).await;
    let asked = question(browser, &section).await;
    assert!(
        asked.contains("erases this person for good") && asked.contains("Type U-1 to confirm"),
        "{asked}"
    );
    let is_disabled = format!("return document.querySelector(\"{section} .confirm .go\").disabled");
    assert_eq!(browser.run(&is_disabled).await, true);
    browser.type_into(&format!("{section} [name=confirm]"), "U-2").await;
    assert_eq!(browser.run(&is_disabled).await, true);
    press(browser, &section, "button:not(.go)").await;
    let told = browser.text_of(&format!("{section} .answer .fault")).await;
    assert_eq!(told, "Nothing was sent.");
    let path = format!("/v1/employee/{employee}");
    assert_eq!(api.get(&path).await.ok(200)["data"]["customId"], "U-1");

    browser.click(&format!("{section} .try button[type=submit]")).await;
    question(browser, &section).await;
    browser.type_into(&format!("{section} [name=confirm]"), "U-1").await;
    press(browser, &section, ".go").await;
    browser.text_of(&format!("{section} .received[data-status='200']")).await;
    api.get(&path).await.refused(404, "employee_not_found");
}

async fn asks_by_number_before_it_closes(browser: &Browser, api: &Api, card: &str) {
    let number = api.get(&format!("/v1/card/{card}")).await.ok(200)["data"]["customCardId"].to_string();
    for (name, about) in
        [("closing.create", "closes these cards for good"), ("withdrawal.create", "takes money")]
    {
        let section = open(browser, name).await;
        let filled = format!("return document.querySelector(\"{section} textarea\").value !== ''");
        browser.wait_for(&filled).await;
        let fill = format!(
            "const box = document.querySelector(\"{section} textarea\");
            box.value = box.value.replace(/\"idCard\": \"[^\"]*\"/g, '\"idCard\": \"{card}\"')"
        );
        browser.run(&fill).await;
        browser.click(&format!("{section} .try button[type=submit]")).await;
        let asked = question(browser, &section).await;
        assert!(asked.contains(about) && asked.contains(&format!("Type {number} to confirm")), "{asked}");
        press(browser, &section, "button:not(.go)").await;
        browser.text_of(&format!("{section} .answer .fault")).await;
    }
    let none = json!([]);
    for list in ["/v1/closings", "/v1/withdrawals"] {
        assert_eq!(api.get(list).await.ok(200)["data"], none, "{list}");
    }
}

async fn asks_before_any_other_change(browser: &Browser) {
    let section = open(browser, "category.create").await;
    let fill =
        format!("document.querySelector(\"{section} textarea\").value = '{{\"nameCategory\": \"Drivers\"}}'");
    browser.run(&fill).await;
    browser.click(&format!("{section} .try button[type=submit]")).await;
    let asked = question(browser, &section).await;
    assert!(asked.contains("this changes real data. POST /v1/category"), "{asked}");
    press(browser, &section, ".go").await;
    browser.text_of(&format!("{section} .received[data-status='201']")).await;
    // A read needs no confirmation.
    assert_eq!(send(browser, "balance").await.0, "200");
}

/// This month is filled in, and a file is offered under its name.
async fn saves_a_statement(browser: &Browser) {
    let folder = tempfile::tempdir().unwrap();
    browser.save_into(folder.path()).await;
    let section = open(browser, "statement").await;
    let month = format!(
        "return /^\\d{{4}}-\\d\\d$/.test(document.querySelector(\"{section} [name='path:month']\").value)"
    );
    browser.wait_for(&month).await;
    let formats =
        format!("return [...document.querySelectorAll(\"{section} option\")].map(one => one.textContent)");
    let shown = [
        "JSON",
        "CSV",
        "CSV for a spreadsheet program",
        "spreadsheet (XLSX)",
        "1CClientBankExchange",
        "camt.053",
    ];
    assert_eq!(browser.run(&formats).await, json!(shown));
    for (place, ending, start) in [
        (1, ".csv", &b"seq"[..]),
        (3, ".xlsx", b"PK"),
        (4, ".txt", b"1CClientBankExchange"),
        (5, ".xml", b"<?xml"),
    ] {
        let choose = format!("document.querySelector(\"{section} select\").selectedIndex = {place}");
        browser.run(&choose).await;
        let (status, shown) = send(browser, "statement").await;
        assert_eq!(status, "200", "{shown}");
        let link = format!("return document.querySelector(\"{section} a.file\").download");
        let name: Value = browser.run(&link).await;
        let name = name.as_str().unwrap();
        assert!(name.ends_with(ending), "{name}");
        browser.click(&format!("{section} a.file")).await;
        let saved = wait_for_file(&folder.path().join(name)).await;
        assert!(saved.starts_with(start), "{name}: {:?}", String::from_utf8_lossy(&saved[..40]));
    }
}

/// The content of a file that a browser saves.
async fn wait_for_file(path: &Path) -> Vec<u8> {
    let began = std::time::Instant::now();
    loop {
        match std::fs::read(path) {
            Ok(content) if !content.is_empty() => return content,
            _ => assert!(began.elapsed().as_secs() < 60, "{} is not saved", path.display()),
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}
