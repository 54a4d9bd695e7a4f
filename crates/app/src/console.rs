//! The console in front of the server: its requests, and the operations that its pages call.

use std::sync::Arc;

use actix_web::http::{Method, StatusCode, header};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use futures_util::StreamExt as _;
use kopeck_adapter_console::{
    ApiRequest, ApiResponse, Busy, Caller, Chunks, Console, ConsoleParts, CutOff, FileForm, Host, Language,
    Local, OperatorParts, Request, Response, ServiceStatus, Visitor, pattern,
};
use kopeck_adapter_http::{
    FileCutOff, FileFormat, FrontEnd, FrontEndRequest, FrontEndResponse, Language as ApiLanguage,
    LocalOperations, LocalRequest, LocalUser,
};
use kopeck_audit::Entry;
use kopeck_domain::ids::PartnerId;
use kopeck_port_bank::BankGateway;
use kopeck_port_bank::sandbox::Sandbox;

use crate::compose::Application;

/// The console of this application, for the server of its API.
#[must_use]
pub fn front_end(
    application: &Application,
    bank: Arc<dyn BankGateway>,
    sandbox: Option<Sandbox>,
    status: Arc<dyn ServiceStatus>,
    has_docs: bool,
) -> Arc<dyn FrontEnd> {
    let operators = OperatorParts {
        reconciler: Arc::new(application.bank_reconciler(bank)),
        signer: Arc::clone(&application.signer),
        sandbox,
        status,
    };
    let parts = ConsoleParts {
        users: application.users.clone(),
        partners: application.partners.clone(),
        store: application.store(),
        has_docs,
        env: Arc::clone(&application.env),
        operators,
    };
    Arc::new(ConsoleFrontEnd(Console::new(parts)))
}

struct ConsoleFrontEnd(Console);

impl FrontEnd for ConsoleFrontEnd {
    fn is_login(&self, path: &str) -> bool {
        Console::is_login(path)
    }

    fn respond<'a>(&'a self, request: FrontEndRequest<'a>) -> Local<'a, FrontEndResponse> {
        Box::pin(async move {
            let route = pattern(request.path);
            let (response, visitor) = self.respond_to(request).await;
            let Visitor { partner, user } = visitor;
            FrontEndResponse { response, partner, user, route }
        })
    }
}

impl ConsoleFrontEnd {
    async fn respond_to(&self, request: FrontEndRequest<'_>) -> (HttpResponse, Visitor) {
        let FrontEndRequest { head, path, body, language, operations } = request;
        let content_type = text(head, &header::CONTENT_TYPE).unwrap_or_default();
        let is_form = body.as_ref().is_ok_and(|body| !body.is_empty());
        if ![Method::GET, Method::HEAD, Method::POST].contains(head.method()) {
            let allowed = (header::ALLOW, "GET, HEAD, POST");
            let refused = HttpResponse::MethodNotAllowed().insert_header(allowed).finish();
            return (refused, Visitor::default());
        }
        if is_form && !Request::takes(&content_type) {
            return (HttpResponse::UnsupportedMediaType().finish(), Visitor::default());
        }
        let fetch_site = head.headers().get("sec-fetch-site").and_then(|value| value.to_str().ok());
        let cookies: Vec<_> =
            head.headers().get_all(header::COOKIE).filter_map(|value| value.to_str().ok()).collect();
        let request = Request {
            is_post: head.method() == Method::POST,
            path: path.to_owned(),
            query: head.query_string().to_owned(),
            cookies: cookies.join("; "),
            host: text(head, &header::HOST).unwrap_or_default(),
            origin: text(head, &header::ORIGIN),
            fetch_site: fetch_site.map(str::to_owned),
            content_type,
            refused: body.as_ref().err().map(StatusCode::as_u16),
            body: body.unwrap_or_default(),
            language: match language {
                ApiLanguage::English => Language::English,
                ApiLanguage::Russian => Language::Russian,
            },
        };
        let response = self.0.respond(&ServerHost(operations), &request).await;
        let visitor = response.visitor;
        (http(response), visitor)
    }
}

fn text(head: &HttpRequest, name: &header::HeaderName) -> Option<String> {
    head.headers().get(name)?.to_str().ok().map(str::to_owned)
}

fn http(response: Response) -> HttpResponse {
    let status = StatusCode::from_u16(response.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut built = HttpResponse::build(status);
    for header in response.headers {
        built.append_header(header);
    }
    match response.chunks {
        Some(Chunks(chunks)) => {
            built.streaming(chunks.map(|chunk| chunk.map(Bytes::from).map_err(|CutOff| FileCutOff)))
        }
        None => built.body(response.body),
    }
}

/// The server, for one request of the console.
struct ServerHost(LocalOperations);

impl Host for ServerHost {
    fn call<'a>(&'a self, caller: &'a Caller, request: ApiRequest) -> Local<'a, ApiResponse> {
        let Caller { partner, authority, session } = caller.clone();
        let user = LocalUser { partner, authority, session };
        let ApiRequest { operation, ids, query, body, key, file, language } = request;
        let file = file.map(|form| match form {
            FileForm::Xlsx => FileFormat::Xlsx,
            FileForm::ExcelCsv => FileFormat::ExcelCsv,
            FileForm::Csv => FileFormat::Csv,
            FileForm::OneC => FileFormat::OneC,
            FileForm::Camt => FileFormat::Camt,
        });
        let language = match language {
            Language::English => ApiLanguage::English,
            Language::Russian => ApiLanguage::Russian,
        };
        let request = LocalRequest { operation: operation.name, ids, query, body, key, file, language };
        Box::pin(async move {
            let response = self.0.call(&user, request).await;
            let chunks = response
                .chunks
                .map(|chunks| Chunks(Box::pin(chunks.map(|chunk| chunk.map_err(|FileCutOff| CutOff)))));
            ApiResponse { status: response.status, body: response.body, chunks, file: response.file }
        })
    }

    fn check_password(
        &self,
        in_session: bool,
        check: Box<dyn FnOnce() + Send>,
    ) -> Local<'_, Result<(), Busy>> {
        Box::pin(async move { self.0.check_password(in_session, check).await.map_err(|_| Busy) })
    }

    fn remember_login(&self) {
        self.0.remember_login();
    }

    fn read_file(&self, partner: PartnerId, read: Box<dyn FnOnce() + Send>) -> Local<'_, Result<(), Busy>> {
        Box::pin(async move { self.0.read_file(partner, read).await.map_err(|_| Busy) })
    }

    fn address(&self) -> Option<String> {
        self.0.address()
    }

    fn network(&self) -> Option<String> {
        self.0.network()
    }

    fn audit_entry(&self, action: &'static str) -> Entry {
        self.0.audit_entry(action)
    }

    fn record(&self, entry: Entry) {
        self.0.record(entry);
    }
}
