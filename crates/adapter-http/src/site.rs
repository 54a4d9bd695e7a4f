//! The description of the API at `/openapi.json`, and a page that shows it at `/docs`. Both take no token: they tell
//! nothing that a partner is not told anyway. The page is in the binary as it is, needs no other host, and its policy
//! lets it load nothing else.

use std::sync::OnceLock;

use actix_web::http::{StatusCode, header};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use sha2::{Digest as _, Sha256};

use crate::openapi::openapi;
use crate::reply::STRICT_TRANSPORT_SECURITY;

/// What the page may do: load what is served here, and call the service that serves it.
const POLICY: &str =
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// What is served.
static FILES: [File; 13] = [
    File::new("/openapi.json", "application/json", || openapi().into()),
    File::new("/docs", "text/html; charset=utf-8", || include_str!("../site/docs.html").into()),
    File::new("/docs/docs.css", "text/css; charset=utf-8", || include_str!("../site/docs.css").into()),
    File::new("/docs/icon.svg", "image/svg+xml", || include_str!("../site/icon.svg").into()),
    File::new("/docs/docs.js", SCRIPT, || include_str!("../site/docs.js").into()),
    File::new("/docs/dom.js", SCRIPT, || include_str!("../site/dom.js").into()),
    File::new("/docs/markdown.js", SCRIPT, || include_str!("../site/markdown.js").into()),
    File::new("/docs/schema.js", SCRIPT, || include_str!("../site/schema.js").into()),
    File::new("/docs/operation.js", SCRIPT, || include_str!("../site/operation.js").into()),
    File::new("/docs/samples.js", SCRIPT, || include_str!("../site/samples.js").into()),
    File::new("/docs/try.js", SCRIPT, || include_str!("../site/try.js").into()),
    File::new("/docs/seal.js", SCRIPT, || include_str!("../site/seal.js").into()),
    File::new("/docs/chacha.js", SCRIPT, || include_str!("../site/chacha.js").into()),
];

/// Something that is served as it is, to GET and HEAD.
pub(crate) struct File {
    path: &'static str,
    media: &'static str,
    make: fn() -> Bytes,
    /// Made when it is first asked for: a service whose document nobody reads has no memory of it.
    content: OnceLock<Content>,
}

struct Content {
    body: Bytes,
    /// Tells one version from another.
    tag: String,
}

impl Content {
    fn new(body: Bytes) -> Self {
        let digest: String =
            Sha256::digest(&body).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Self { body, tag: format!("\"{digest}\"") }
    }
}

impl File {
    const fn new(path: &'static str, media: &'static str, make: fn() -> Bytes) -> Self {
        Self { path, media, make, content: OnceLock::new() }
    }

    /// The file, or word that the caller has it already.
    pub(crate) fn answer(&self, request: &HttpRequest) -> HttpResponse {
        let Content { body, tag } = self.content.get_or_init(|| Content::new((self.make)()));
        let tags = request.headers().get_all(header::IF_NONE_MATCH).filter_map(|value| value.to_str().ok());
        let known = tags
            .flat_map(|list| list.split(','))
            .map(|had| had.trim().trim_start_matches("W/"))
            .any(|had| had == tag || had == "*");
        let mut response = HttpResponse::build(if known { StatusCode::NOT_MODIFIED } else { StatusCode::OK });
        response
            .insert_header((header::ETAG, tag.as_str()))
            .insert_header((header::CACHE_CONTROL, "no-cache"))
            .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
            .insert_header((header::REFERRER_POLICY, "no-referrer"))
            .insert_header((header::CONTENT_SECURITY_POLICY, POLICY));
        if request.app_config().secure() {
            response.insert_header(STRICT_TRANSPORT_SECURITY);
        }
        if known {
            return response.finish();
        }
        response.insert_header((header::CONTENT_TYPE, self.media)).body(body.clone())
    }
}

/// What is served at this path.
pub(crate) fn file(path: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.path == path)
}
