//! Files of a statement over HTTP: which form and language a request gets.

use kopeck_adapter_http::FileFormat;
use kopeck_client::FileFormat::{Camt, OneC};
use kopeck_client::VirtualItem;
use serde_json::json;

use crate::api_client::start_client;
use crate::raw_http::{JSON, RawResponse, get, optional};
use crate::server::TestServer;
use crate::statements::read_file;

const STATEMENT: &str = "/v1/statement/2026-03";
const EXCEL: &str = "text/csv; profile=excel";

#[test]
fn the_profile_of_the_media_type_decides_on_the_form() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let ask = |accept: &str| get(STATEMENT).token(&token).with("accept", accept).send(&server);
    for (accept, form) in [
        ("text/csv", FileFormat::Csv),
        ("text/csv;profile=excel", FileFormat::ExcelCsv),
        ("application/xml; profile=\"camt.053\"", FileFormat::Camt),
        ("text/csv; profile=other, text/plain, text/csv; profile=excel", FileFormat::ExcelCsv),
    ] {
        let got = ask(accept);
        assert_eq!((got.status, got.header("content-type")), (200, Some(form.content_type())), "{accept}");
        let name = format!("attachment; filename=\"statement-2026-03-so-far.{}\"", form.extension());
        assert_eq!(got.header("content-disposition"), Some(name.as_str()), "{accept}");
    }
    for accept in ["text/plain", "application/xml", "text/csv; profile=other", "text/plain; profile=1c; q=0"]
    {
        assert_eq!(ask(accept).header("content-type"), Some(JSON), "{accept}");
    }
}

#[test]
fn the_query_and_then_the_weights_decide_on_the_language() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let ask = |query: &str, accept: &str, language: &str| -> RawResponse {
        get(&format!("{STATEMENT}{query}"))
            .token(&token)
            .with("accept", accept)
            .with("accept-language", language)
            .send(&server)
    };
    for (query, language, is_russian) in [
        ("", "", false),
        ("", "ru-RU,ru;q=0.9,en;q=0.8", true),
        ("", "ru;q=0.5, en-GB;q=0.6", false),
        ("", "de", false),
        ("?lang=ru", "en", true),
        ("?lang=en", "ru", false),
    ] {
        let text = ask(query, EXCEL, language).text;
        let head = if is_russian { "\u{feff}№;Дата и время;" } else { "No.,Date and time," };
        assert!(text.starts_with(head), "{query} {language}: {text}");
        // What is for programs has no language.
        assert!(
            ask(query, "text/csv", language).text.starts_with("seq,at,type,amount,"),
            "{query} {language}"
        );
    }
    for accept in [EXCEL, "text/csv", JSON] {
        for language in ["?lang=de", "?lang=", "?lang=RU"] {
            let refused = ask(language, accept, "ru");
            assert_eq!(
                (refused.status, &refused.json()["data"][0]["field"]),
                (422, &json!("lang")),
                "{language}"
            );
        }
    }
}

/// An order is booked; what is held for another is not.
#[tokio::test]
async fn account_statements_have_what_changed_the_balance() {
    let (server, client) = start_client(1_000_000);
    client.orders().virtual_cards(&[VirtualItem::new(2, 5_050)]).await.unwrap();
    server.run_jobs();
    client.orders().virtual_cards(&[VirtualItem::new(1, 7_000)]).await.unwrap();
    let camt = String::from_utf8(read_file(&client, "2026-03", Camt).await).unwrap();
    let amounts: Vec<&str> = camt
        .split("<Ntry>")
        .skip(1)
        .filter_map(|entry| Some(entry.split_once("<Amt Ccy=\"RUB\">")?.1.split_once('<')?.0))
        .collect();
    assert_eq!(amounts, ["10000.00", "101.00"]);
    let closing = camt.split("<Cd>CLBD</Cd>").nth(1).unwrap();
    assert!(closing.starts_with("</CdOrPrtry></Tp><Amt Ccy=\"RUB\">9899.00</Amt>"), "{closing}");
    let one_c = read_file(&client, "2026-03", OneC).await;
    // "Сумма=" in Windows-1251.
    let is_sum = |line: &[u8]| line.starts_with(&[0xD1, 0xF3, 0xEC, 0xEC, 0xE0, b'=']);
    let sums: Vec<String> = one_c
        .split(|byte| *byte == b'\n')
        .filter(|line| is_sum(line))
        .map(|line| String::from_utf8_lossy(&line[6..]).trim_end().to_owned())
        .collect();
    assert_eq!(sums, ["10000.00", "101.00"]);
    server.run_jobs();
}
