//! The description of the API and the page that shows it.

use std::collections::BTreeSet;
use std::io::Read as _;

use actix_web::App;
use actix_web::body::to_bytes;
use actix_web::http::Method;
use actix_web::http::header::HeaderMap;
use actix_web::test::{TestRequest, init_service, try_call_service};
use kopeck_adapter_http::{HttpSettings, HttpState, configure, openapi};
use kopeck_domain::partner::SealingPolicy::Required;
use kopeck_port_store::mock::InPlaceStore;
use sha2::{Digest as _, Sha256};

use crate::support::{parts, unit};

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");

/// After a change of the API `UPDATE_DOCS=1 cargo test --workspace --locked --test it -- docs_page` updates the document.
#[test]
fn the_document_in_docs_is_that_of_the_code() {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(DOCUMENT, openapi()).unwrap();
    }
    let written = std::fs::read_to_string(DOCUMENT).unwrap_or_default();
    if let Some((line, (code, docs))) =
        openapi().lines().zip(written.lines()).enumerate().find(|(_, (a, b))| a != b)
    {
        panic!("docs/openapi.json:{}\n{docs}\n\nbut the code says\n{code}", line + 1);
    }
    assert!(openapi() == written, "docs/openapi.json is not as long as the document of the code");
}

struct ServedFile {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl ServedFile {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// A GET without the headers of the API.
async fn ask(docs: bool, request: TestRequest) -> ServedFile {
    ask_with(HttpSettings { docs, ..HttpSettings::default() }, request).await
}

async fn ask_with(settings: HttpSettings, request: TestRequest) -> ServedFile {
    let mut parts = parts(std::sync::Arc::new(InPlaceStore::new(unit(Required))));
    parts.settings = settings;
    let state = HttpState::new(parts);
    let app = init_service(App::new().configure(move |config| configure(config, &state))).await;
    let answer = try_call_service(&app, request.to_request()).await.unwrap();
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    ServedFile { status, headers, body: to_bytes(answer.into_body()).await.unwrap_or_default().to_vec() }
}

#[actix_web::test]
async fn the_document_needs_no_authentication() {
    let served = ask(true, TestRequest::with_uri("/openapi.json")).await;
    assert_eq!((served.status, served.header("content-type")), (200, "application/json"));
    assert_eq!(served.body, openapi().into_bytes());
}

#[actix_web::test]
async fn the_page_may_load_nothing_from_elsewhere() {
    let page = ask(true, TestRequest::with_uri("/docs")).await;
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(page.header("content-security-policy").starts_with("default-src 'self';"));
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    let text = String::from_utf8(page.body).unwrap();
    let links = text.split(['"', '\'']).filter(|part| part.starts_with("/docs/"));
    let mut paths: Vec<String> = links.map(str::to_owned).collect();
    let mut seen = 0;
    while let Some(path) = paths.get(seen).cloned() {
        seen += 1;
        let file = ask(true, TestRequest::with_uri(&path)).await;
        assert_eq!(file.status, 200, "{path}");
        let text = without_comments(&String::from_utf8(file.body).unwrap());
        assert!(
            !text.contains("https://") && !text.replace("http://www.w3.org/2000/svg", "").contains("http://"),
            "{path}"
        );
        let imported = text.split("from \"./").skip(1).filter_map(|rest| rest.split('"').next());
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for path in imported.map(|name| format!("{folder}/{name}")) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    assert_eq!(paths.len(), 19, "every file of the page is needed: {paths:?}");
}

/// A file without its comments, which may name a page elsewhere, such as an RFC.
fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut in_comment = false;
    for line in text.lines() {
        let code = line.trim_start();
        in_comment |= code.starts_with("/*");
        if !in_comment && !code.starts_with("//") {
            kept += code.split(" // ").next().unwrap_or_default();
            kept.push('\n');
        }
        in_comment &= !code.contains("*/");
    }
    kept
}

/// The cipher of the page is `@noble/ciphers` as npm has it; see `site/noble-ciphers/README.md`.
#[test]
fn the_vendored_files_have_their_checksums() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("site/noble-ciphers");
    let sums = std::fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    let mut names = vec!["README.md".to_owned(), "SHA256SUMS".to_owned()];
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").unwrap();
        let digest = Sha256::digest(std::fs::read(folder.join(name)).unwrap());
        let found: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, sum, "{name}");
        names.push(name.to_owned());
    }
    let files = std::fs::read_dir(&folder).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    names.sort();
    assert_eq!(files, names, "every vendored file has a checksum");
}

#[actix_web::test]
async fn a_known_entity_tag_gets_304() {
    let first = ask(true, TestRequest::with_uri("/docs/docs.js")).await;
    let tag = first.header("etag").to_owned();
    let again =
        |tag: String| ask(true, TestRequest::with_uri("/docs/docs.js").insert_header(("if-none-match", tag)));
    let same = again(format!("\"other\", W/{tag}")).await;
    assert_eq!((same.status, same.body.len(), same.header("etag")), (304, 0, tag.as_str()));
    assert_eq!(again("\"other\"".to_owned()).await.status, 200);
}

#[actix_web::test]
async fn the_book_is_served_as_markdown() {
    let contents = ask(true, TestRequest::with_uri("/llms.txt")).await;
    assert_eq!((contents.status, contents.header("content-type")), (200, "text/plain; charset=utf-8"));
    let contents = String::from_utf8(contents.body).unwrap();
    let links = |text: &str| -> BTreeSet<String> {
        let targets = text.split("](/").skip(1).filter_map(|rest| rest.split_once(')'));
        targets.map(|(target, _)| format!("/{}", target.split('#').next().unwrap())).collect()
    };
    let (mut to_read, mut read) = (links(&contents), BTreeSet::new());
    while let Some(path) = to_read.pop_first() {
        if !read.insert(path.clone()) {
            continue;
        }
        let page = ask(true, TestRequest::with_uri(&path)).await;
        assert_eq!(page.status, 200, "{path}");
        if page.header("content-type").starts_with("text/markdown") {
            let text = String::from_utf8(page.body).unwrap();
            assert!(text.starts_with("# ") && !text.contains("<!--"), "{path}");
            assert!(!text.contains("](.") && !text.contains("](guide"), "{path} has a relative link");
            to_read.extend(links(&text));
        }
    }
    assert!(read.len() > 17, "{read:?}");
    for path in ["/docs/OPERATIONS.md", "/docs/../README.md", "/docs/adr/README.md"] {
        assert_eq!(ask(true, TestRequest::with_uri(path)).await.status, 404, "{path}");
    }
    for path in ["/llms.txt", "/docs/API.md", SENDERS] {
        assert_eq!(ask(false, TestRequest::with_uri(path)).await.status, 404, "{path}");
    }
}

const SENDERS: &str = "/docs/webhook-senders.json";

#[actix_web::test]
async fn the_addresses_of_webhooks_are_told() {
    let told = ask(true, TestRequest::with_uri(SENDERS)).await;
    assert_eq!((told.status, told.header("content-type")), (200, "application/json"));
    assert_eq!(told.body, br#"{"addresses":[]}"#);
    let webhook_senders = vec!["203.0.113.0/28".parse().unwrap(), "2001:db8::/64".parse().unwrap()];
    let settings = HttpSettings { webhook_senders, ..HttpSettings::default() };
    let told = ask_with(settings, TestRequest::with_uri(SENDERS)).await;
    assert_eq!(told.body, br#"{"addresses":["203.0.113.0/28","2001:db8::/64"]}"#);
}

fn gzip_of(path: &str) -> TestRequest {
    TestRequest::with_uri(path).insert_header(("accept-encoding", "br, GZIP;q=0.8"))
}

#[actix_web::test]
async fn documents_are_compressed_on_accept_encoding() {
    let plain = ask(true, TestRequest::with_uri("/openapi.json")).await;
    assert_eq!((plain.header("content-encoding"), plain.header("vary")), ("", "accept-encoding"));
    let gzip = ask(true, gzip_of("/openapi.json")).await;
    assert_eq!((gzip.header("content-encoding"), gzip.header("vary")), ("gzip", "accept-encoding"));
    assert_ne!(gzip.header("etag"), plain.header("etag"), "another representation");
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&gzip.body[..]).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain.body);
    assert!(gzip.body.len() * 5 < plain.body.len(), "{} of {}", gzip.body.len(), plain.body.len());

    let known = gzip_of("/openapi.json").insert_header(("if-none-match", gzip.header("etag").to_owned()));
    let known = ask(true, known).await;
    assert_eq!(
        (known.status, known.header("vary"), known.header("etag")),
        (304, "accept-encoding", gzip.header("etag"))
    );
    for refused in ["gzip;q=0", "identity", "br"] {
        let request = TestRequest::with_uri("/docs").insert_header(("accept-encoding", refused));
        assert_eq!(ask(true, request).await.header("content-encoding"), "", "{refused}");
    }
}

/// A client that does not read its response uses a permit for documents, and nothing else.
#[actix_web::test]
async fn a_bounded_number_of_documents_is_sent_at_once() {
    let parts = parts(std::sync::Arc::new(InPlaceStore::new(unit(Required))));
    let state = HttpState::new(parts);
    let app = init_service(App::new().configure(move |config| configure(config, &state))).await;
    let ask =
        async || try_call_service(&app, TestRequest::with_uri("/openapi.json").to_request()).await.unwrap();
    let mut unread = Vec::new();
    for _ in 0..32 {
        unread.push(ask().await);
    }
    let refused = ask().await;
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.headers().get("retry-after").unwrap(), "1");
    assert_eq!(to_bytes(unread.pop().unwrap().into_body()).await.unwrap(), openapi());
    assert_eq!(ask().await.status(), 200);
}

#[actix_web::test]
async fn the_root_leads_to_the_page_and_to_nothing_without_it() {
    for method in [Method::GET, Method::HEAD] {
        let root = ask(true, TestRequest::with_uri("/?a=b").method(method)).await;
        assert_eq!((root.status, root.header("location"), root.body.len()), (302, "/docs", 0));
        assert!(root.header("content-security-policy").starts_with("default-src 'self';"));
    }
    assert_eq!(ask(true, TestRequest::with_uri("/").method(Method::POST)).await.status, 404);
    assert_eq!(ask(false, TestRequest::with_uri("/")).await.status, 404);
    assert_eq!(ask(true, TestRequest::with_uri("/docs/")).await.status, 200);
}

#[actix_web::test]
async fn sealing_can_be_tested_against_what_is_served() {
    for name in ["vectors.json", "forgeries.json"] {
        let served = ask(true, TestRequest::with_uri(&format!("/docs/{name}"))).await;
        assert_eq!((served.status, served.header("content-type")), (200, "application/json"));
        let path = format!("{}/../sealing/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
        assert_eq!(served.body, std::fs::read(path).unwrap(), "{name}");
    }
}

#[actix_web::test]
async fn other_methods_are_refused_as_everywhere() {
    let refused = ask(true, TestRequest::with_uri("/docs").method(Method::POST)).await;
    assert_eq!((refused.status, refused.header("allow")), (405, "GET, HEAD"));
    assert_eq!(ask(true, TestRequest::with_uri("/openapi.json").method(Method::HEAD)).await.status, 200);
}

#[actix_web::test]
async fn the_docs_page_can_be_turned_off() {
    for path in ["/docs", "/docs/docs.js", "/docs/vectors.json", "/openapi.json"] {
        let served = ask(false, TestRequest::with_uri(path)).await;
        assert_eq!(served.status, 404, "{path}");
        assert!(String::from_utf8(served.body).unwrap().contains("\"not_found\""));
    }
}
