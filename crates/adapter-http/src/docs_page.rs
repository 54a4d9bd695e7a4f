//! The OpenAPI document at `/openapi.json`, the reference page at `/docs`, and the book as Markdown. None needs a token.
//! They are compressed once for clients that accept gzip. The page is compiled in, needs no other host, and its policy
//! forbids loading from one.

mod book;

use std::convert::Infallible;
use std::io::Write as _;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use actix_web::body::{BodySize, MessageBody};
use actix_web::http::{Method, StatusCode, header};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use flate2::Compression;
use flate2::write::GzEncoder;
use ipnet::IpNet;
use kopeck_port_bank::Capability;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::sync::OwnedSemaphorePermit;

use crate::error::ApiError;
use crate::http1::OverTls;
use crate::openapi::openapi;
use crate::pipeline::head::{self, JSON};
use crate::pipeline::response_builder::STRICT_TRANSPORT_SECURITY;
use crate::state::Shared;

/// The size of a chunk, which bounds what the server buffers for a slow client.
const CHUNK: usize = 16 * 1024;

/// The page may load its own files, and call the service that serves it.
const POLICY: &str =
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";

const SCRIPT: &str = "text/javascript; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";

const PAGE: &str = include_str!("../site/docs.html");

/// The page as a sandbox serves it: what it says of itself, and its forms are filled in.
static SANDBOX_PAGE: File =
    File::new("/docs", HTML, || PAGE.replace("data-mode=\"production\"", "data-mode=\"sandbox\"").into());

/// The files that are served.
static FILES: [File; 23] = [
    File::new("/openapi.json", JSON, || openapi().into()),
    File::new("/docs", HTML, || PAGE.into()),
    File::new("/docs/docs.css", "text/css; charset=utf-8", || include_str!("../site/docs.css").into()),
    File::new("/docs/icon.svg", "image/svg+xml; charset=utf-8", || include_str!("../site/icon.svg").into()),
    File::new("/docs/docs.js", SCRIPT, || include_str!("../site/docs.js").into()),
    File::new("/docs/dom.js", SCRIPT, || include_str!("../site/dom.js").into()),
    File::new("/docs/markdown.js", SCRIPT, || include_str!("../site/markdown.js").into()),
    File::new("/docs/schema.js", SCRIPT, || include_str!("../site/schema.js").into()),
    File::new("/docs/operation.js", SCRIPT, || include_str!("../site/operation.js").into()),
    File::new("/docs/samples.js", SCRIPT, || include_str!("../site/samples.js").into()),
    File::new("/docs/confirm.js", SCRIPT, || include_str!("../site/confirm.js").into()),
    File::new("/docs/try.js", SCRIPT, || include_str!("../site/try.js").into()),
    File::new("/docs/seal.js", SCRIPT, || include_str!("../site/seal.js").into()),
    File::new("/docs/noble-ciphers/chacha.js", SCRIPT, || {
        include_str!("../site/noble-ciphers/chacha.js").into()
    }),
    File::new("/docs/noble-ciphers/_arx.js", SCRIPT, || include_str!("../site/noble-ciphers/_arx.js").into()),
    File::new("/docs/noble-ciphers/_poly1305.js", SCRIPT, || {
        include_str!("../site/noble-ciphers/_poly1305.js").into()
    }),
    File::new("/docs/noble-ciphers/utils.js", SCRIPT, || {
        include_str!("../site/noble-ciphers/utils.js").into()
    }),
    File::new("/docs/search.js", SCRIPT, || include_str!("../site/search.js").into()),
    File::new("/docs/prefill.js", SCRIPT, || include_str!("../site/prefill.js").into()),
    File::new("/docs/highlight.js", SCRIPT, || include_str!("../site/highlight.js").into()),
    File::new("/docs/session.js", SCRIPT, || include_str!("../site/session.js").into()),
    // For engineers who implement sealing and know only the address of a service.
    File::new("/docs/vectors.json", JSON, || include_str!("../../sealing/tests/data/vectors.json").into()),
    File::new("/docs/forgeries.json", JSON, || {
        include_str!("../../sealing/tests/data/forgeries.json").into()
    }),
];

/// A static file, served to GET and HEAD.
pub(crate) struct File {
    path: &'static str,
    media: &'static str,
    make: fn() -> Bytes,
    /// Made at its first request: without one it takes no memory.
    content: OnceLock<Content>,
}

/// A file, plain and compressed.
struct Content {
    plain: Representation,
    gzip: Option<Representation>,
}

struct Representation {
    body: Bytes,
    /// Its entity tag.
    tag: String,
}

impl Representation {
    fn new(body: Bytes) -> Self {
        let digest: String =
            Sha256::digest(&body).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Self { body, tag: format!("\"{digest}\"") }
    }
}

impl Content {
    fn new(body: Bytes) -> Self {
        let gzip = compressed(&body).map(|body| Representation::new(body.into()));
        Self { plain: Representation::new(body), gzip }
    }
}

/// Writing to memory does not fail; if it did, the file would be served plain.
fn compressed(body: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).ok()?;
    encoder.finish().ok()
}

/// A file that is being sent, chunk by chunk.
struct FileBody {
    rest: Bytes,
    _permit: OwnedSemaphorePermit,
}

impl MessageBody for FileBody {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.rest.len() as u64)
    }

    fn poll_next(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Infallible>>> {
        let rest = &mut self.get_mut().rest;
        let length = rest.len().min(CHUNK);
        Poll::Ready((length > 0).then(|| Ok(rest.split_to(length))))
    }
}

impl File {
    const fn new(path: &'static str, media: &'static str, make: fn() -> Bytes) -> Self {
        Self { path, media, make, content: OnceLock::new() }
    }

    /// The content; a blocking thread makes and compresses it at the first request.
    async fn content(&'static self) -> Result<&'static Content, ApiError> {
        if let Some(content) = self.content.get() {
            return Ok(content);
        }
        let make = || self.content.get_or_init(|| Content::new((self.make)()));
        let made = tokio::task::spawn_blocking(make).await;
        made.map_err(|error| ApiError::internal(format!("{}: {error}", self.path)))
    }

    /// The file, or 304.
    ///
    /// # Errors
    /// 503 if too many are being sent.
    pub(crate) async fn answer(
        &'static self,
        shared: &Shared,
        request: &HttpRequest,
    ) -> Result<HttpResponse, ApiError> {
        let permit = Arc::clone(&shared.documents)
            .try_acquire_owned()
            .map_err(|_| ApiError::unavailable("too many documents are being sent, try again"))?;
        let content = self.content().await?;
        let gzip = content.gzip.as_ref().filter(|_| head::accepts_gzip(request.headers()));
        let Representation { body, tag } = gzip.unwrap_or(&content.plain);
        let tags = request.headers().get_all(header::IF_NONE_MATCH).filter_map(|value| value.to_str().ok());
        let known = tags
            .flat_map(|list| list.split(','))
            .map(|had| had.trim().trim_start_matches("W/"))
            .any(|had| had == tag || had == "*");
        let status = if known { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
        let mut response = document(status, request.app_data::<OverTls>().is_some());
        response.insert_header((header::ETAG, tag.as_str())).insert_header((header::VARY, "accept-encoding"));
        if known {
            return Ok(response.finish());
        }
        if gzip.is_some() {
            response.insert_header((header::CONTENT_ENCODING, "gzip"));
        }
        response.insert_header((header::CONTENT_TYPE, self.media));
        Ok(response.body(FileBody { rest: body.clone(), _permit: permit }))
    }
}

/// Whether the page is on and takes the method.
pub(crate) fn is_served(shared: &Shared, method: &Method) -> bool {
    shared.parts.settings.docs && [Method::GET, Method::HEAD].contains(method)
}

/// Tells the reference page what the bank behind this service does not support: a list of texts.
pub(crate) const BANK: &str = "/docs/bank.json";

/// The response to [`BANK`].
pub(crate) fn bank(shared: &Shared, secure: bool) -> HttpResponse {
    let without: Vec<&str> = shared.parts.bank.capabilities().missing().map(Capability::about).collect();
    document(StatusCode::OK, secure).json(json!({ "without": without }))
}

/// Redirects a browser from `/` to the reference page.
pub(crate) fn redirect_to_docs(secure: bool) -> HttpResponse {
    document(StatusCode::FOUND, secure).insert_header((header::LOCATION, "/docs")).finish()
}

/// The file at this path, with or without a final slash, as a sandbox or another service has it.
pub(crate) fn file(path: &str, is_sandbox: bool) -> Option<&'static File> {
    let path = path.strip_suffix('/').unwrap_or(path);
    let own = Some(&SANDBOX_PAGE).filter(|page| is_sandbox && page.path == path);
    own.or_else(|| FILES.iter().find(|file| file.path == path)).or_else(|| book::page(path))
}

/// Where the service tells from which addresses webhooks come.
pub(crate) const SENDERS: &str = "/docs/webhook-senders.json";

/// The addresses from which webhooks come, as the operator has set them.
pub(crate) fn senders(shared: &Shared, secure: bool) -> HttpResponse {
    let addresses = &shared.parts.settings.webhook_senders;
    let mut response = document(StatusCode::OK, secure);
    response.insert_header((header::CONTENT_TYPE, JSON));
    response
        .body(json!({"addresses": addresses.iter().map(IpNet::to_string).collect::<Vec<_>>()}).to_string())
}

/// A response with the headers of all documents.
fn document(status: StatusCode, secure: bool) -> HttpResponseBuilder {
    let mut response = HttpResponse::build(status);
    response
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((header::REFERRER_POLICY, "no-referrer"))
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY));
    if secure {
        response.insert_header(STRICT_TRANSPORT_SECURITY);
    }
    response
}
