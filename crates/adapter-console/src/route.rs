//! Which page a request gets, and the headers of every response.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use askama::Template as _;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kopeck_port_bank::sandbox::Sandbox;
use kopeck_port_store::{Access, AuditSigner, Store, StoreError};
use kopeck_service::Env;
use kopeck_service::bank_reconciliation::BankReconciler;
use kopeck_service::partners::PartnerService;
use kopeck_service::users::{UserService, UserSession};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::Mutex;

use crate::call::Problem;
use crate::cookies::Cookie;
use crate::host::{Host, ServiceStatus};
use crate::pages;
use crate::request::{Pairs, Request, Response, SentForm, Visitor};
use crate::session;
use crate::texts::{Language, Text};
use crate::unsent;
use crate::view::{Block, Document, NavigationLink, Page, Waiting};
use crate::visit::{Outcome, Reply, Visit, in_store};

/// What the console works with.
pub struct ConsoleParts {
    /// Logins and sessions of users.
    pub users: UserService,
    /// The database.
    pub store: Arc<dyn Store>,
    /// Partners and their keys.
    pub partners: PartnerService,
    /// Clock, ids, random bytes and the settings of the rules.
    pub env: Arc<Env>,
    /// Whether the server has the reference of the API at `/docs`.
    pub has_docs: bool,
    /// What only operators' pages use.
    pub operators: OperatorParts,
}

/// What operators' pages work with.
pub struct OperatorParts {
    /// Compares days with the bank.
    pub reconciler: Arc<BankReconciler>,
    /// Checks the signatures of the audit log.
    pub signer: Arc<dyn AuditSigner>,
    /// Control of the simulator and the clock, if there is a sandbox.
    pub sandbox: Option<Sandbox>,
    /// What the process knows of itself.
    pub status: Arc<dyn ServiceStatus>,
}

/// The console.
pub struct Console {
    pub(crate) parts: ConsoleParts,
    /// Held by the one long work at a time.
    long_work: Arc<Mutex<()>>,
}

const STYLE: &str = include_str!("../site/console.css");
const ICON: &str = include_str!("../site/icon.svg");
const SCRIPT: &str = include_str!("../site/console.js");

/// Nothing but the console's own style sheet, icon and script, no frame, and forms and requests to the console alone.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

impl ConsoleParts {
    /// 128 random bits as text.
    pub(crate) fn random_text(&self) -> String {
        let mut bytes = [0; 16];
        self.env.entropy.fill(&mut bytes);
        URL_SAFE_NO_PAD.encode(bytes)
    }
}

impl Console {
    /// A console over these parts.
    #[must_use]
    pub fn new(parts: ConsoleParts) -> Self {
        Self { parts, long_work: Arc::default() }
    }

    /// Whether a path below the console's is for people who are not logged in.
    #[must_use]
    pub fn is_login(path: &str) -> bool {
        matches!(path.trim_end_matches('/'), "/login" | "/login/code")
    }

    /// The response to a request.
    pub async fn respond(&self, host: &dyn Host, request: &Request) -> Response {
        let path = request.path.trim_end_matches('/');
        let mut response = match path {
            "/console.css" => asset("text/css; charset=utf-8", STYLE),
            "/icon.svg" => asset("image/svg+xml; charset=utf-8", ICON),
            "/console.js" => asset("text/javascript; charset=utf-8", SCRIPT),
            _ if Self::is_login(path) => pages::login::respond(self, host, request, path).await,
            _ => self.respond_to_user(host, request, path).await,
        };
        response.headers.extend([
            ("content-security-policy", CONTENT_SECURITY_POLICY.to_owned()),
            // Not `no-referrer`: with it browsers do not say where a form comes from.
            ("referrer-policy", "same-origin".to_owned()),
            ("cross-origin-opener-policy", "same-origin".to_owned()),
            ("cross-origin-resource-policy", "same-origin".to_owned()),
            ("x-frame-options", "DENY".to_owned()),
            ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=()".to_owned()),
        ]);
        response
    }

    async fn respond_to_user(&self, host: &dyn Host, request: &Request, path: &str) -> Response {
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let (is_fragment, is_poll) =
            (matches!(*segments, ["fragment" | "poll", ..]), path.starts_with("/poll/"));
        let secret = Cookie::Session.of(&request.cookies);
        let session = match secret {
            Some(secret) => self.session(secret, !is_poll).await,
            None => Ok(None),
        };
        let form = if request.is_post { request.form().await } else { Ok(SentForm::default()) };
        let fault = form.as_ref().err().copied();
        let form = form.unwrap_or_default();
        let is_kept = fault.is_none() && unsent::is_kept(request, &form);
        let (secret, session) = match (secret, session) {
            (Some(secret), Ok(Some(session))) => (secret, session),
            // The script leaves the page as it is.
            (_, Ok(_)) if is_fragment => return fragment(401, String::new()),
            // What was typed can be sent behind the login.
            (_, Ok(_)) | (None, _) if is_kept => return unsent::page(self, request, &form.fields),
            (Some(_), Ok(_)) => return see_other("/login?done=ended", vec![Cookie::Session.remove()]),
            (None, _) => return see_other("/login", Vec::new()),
            (_, Err(error)) => {
                log::warn!(error:%; "a session of the console cannot be looked up");
                return document(request.language, &failure(request.language), None, None);
            }
        };
        let is_own = !request.is_post || is_own_form(request, form.fields.get("token"), secret);
        let fault = match (request.refused, fault) {
            (Some(status), _) => Some(Problem::new(status, request.language, unread(status))),
            (None, Some(text)) => Some(Problem::new(422, request.language, text)),
            (None, None) if !is_own => Some(Problem::new(403, request.language, Text::FOREIGN_FORM)),
            (None, None) => None,
        };
        let visitor = Visitor { partner: session.user.partner, user: Some(session.user.id) };
        let SentForm { fields, file } = form;
        let visit = Visit {
            parts: &self.parts,
            host,
            language: request.language,
            session,
            secret,
            renewed: OnceCell::new(),
            has_entry: Cell::new(false),
            query: Pairs::parse(request.query.as_bytes()),
            form: fields,
            file,
            request,
            long_work: &self.long_work,
        };
        let response = if !is_own && is_kept {
            visit.note_forbidden();
            unsent::page(self, request, &visit.form)
        } else {
            respond_in_session(&visit, &segments, is_fragment, fault).await
        };
        Response { visitor, ..response }
    }

    /// The session of a token. If `is_use`, that is stored, so that the session lives on: what a page asks by itself is none.
    async fn session(&self, secret: &str, is_use: bool) -> Result<Option<UserSession>, StoreError> {
        let (users, token) = (self.parts.users.clone(), SecretString::from(secret));
        let found = in_store(&self.parts, Access::Read, move |unit| users.look_up(unit, &token)).await?;
        let touched = found.clone().filter(|session| is_use && self.parts.users.needs_touch(session));
        if let Some(session) = touched {
            let users = self.parts.users.clone();
            in_store(&self.parts, Access::Write, move |unit| users.touch(unit, &session)).await?;
        }
        Ok(found)
    }
}

/// The response to a request in a session, or to one whose form has a fault.
async fn respond_in_session(
    visit: &Visit<'_>,
    segments: &[&str],
    is_fragment: bool,
    fault: Option<Problem>,
) -> Response {
    let outcome = if let Some(problem) = fault {
        Err(problem)
    } else if visit.session.must_change_password
        && !matches!(*segments, ["password" | "logout"] | ["poll", "session"])
    {
        Ok(Reply::SeeOther("/password".to_owned()))
    } else {
        route(visit, segments).await
    };
    if outcome.as_ref().is_err_and(|problem| problem.status == 403) {
        visit.note_forbidden();
    }
    if is_fragment {
        return fragment_reply(outcome);
    }
    let mut response = reply(visit, outcome).await;
    if let Some(token) = visit.renewed.get() {
        response.headers.push(("set-cookie", Cookie::Session.set(token.expose_secret())));
    }
    response
}

/// Whether the form was made for this session, or for this browser when its session had ended.
fn is_own_form(request: &Request, token: &str, secret: &str) -> bool {
    let of_browser = Cookie::LoginForm.of(&request.cookies);
    [Some(secret), of_browser]
        .into_iter()
        .flatten()
        .any(|secret| session::is_own_form(request, token, secret))
}

/// Why a form could not be read.
pub(crate) const fn unread(status: u16) -> Text {
    match status {
        413 => Text::FILE_TOO_LARGE,
        503 => Text::BUSY,
        _ => Text::FORM_INCOMPLETE,
    }
}

/// A part of a page.
fn fragment(status: u16, html: String) -> Response {
    let headers = vec![
        ("content-type", "text/html; charset=utf-8".to_owned()),
        ("cache-control", "no-store".to_owned()),
    ];
    Response { status, headers, body: html.into_bytes(), ..Response::default() }
}

/// What is no part of a page has only its status code: the script leaves the page as it is.
fn fragment_reply(outcome: Outcome) -> Response {
    match outcome {
        Ok(Reply::Fragment(html)) => fragment(200, html),
        Ok(_) => fragment(404, String::new()),
        Err(problem) => fragment(problem.status, String::new()),
    }
}

async fn reply(visit: &Visit<'_>, outcome: Outcome) -> Response {
    match outcome {
        Ok(Reply::Page(page)) => {
            document(visit.language, &page, Some(visit), pages::runs::waiting(visit).await)
        }
        Ok(Reply::Fragment(html)) => fragment(200, html),
        Ok(Reply::SeeOther(path)) => see_other(&path, Vec::new()),
        Ok(Reply::LoggedOut) => see_other("/login?done=logged_out", vec![Cookie::Session.remove()]),
        Ok(Reply::File(file)) => {
            let (media, name) = file.file.unwrap_or(("application/json", "kopeck.json".to_owned()));
            Response {
                status: 200,
                headers: vec![
                    ("content-type", media.to_owned()),
                    ("content-disposition", format!("attachment; filename=\"{name}\"")),
                    ("cache-control", "no-store".to_owned()),
                ],
                body: file.body,
                chunks: file.chunks,
                ..Response::default()
            }
        }
        Err(problem) => {
            let page = Page {
                title: visit.t(Text::NOT_DONE).to_owned(),
                status: problem.status,
                blocks: vec![Block::Notice(problem.notice())],
                ..Page::default()
            };
            document(visit.language, &page, Some(visit), None)
        }
    }
}

/// The HTML of a page, for `visit` with navigation, in which stands how many runs wait for an approval.
pub(crate) fn document(
    language: Language,
    page: &Page,
    visit: Option<&Visit<'_>>,
    waiting: Option<Waiting>,
) -> Response {
    // The number of approvals is asked for in the navigation.
    let asks = waiting.is_none();
    let navigation = visit.map(|visit| navigation(visit, page.section, waiting)).unwrap_or_default();
    let user = visit
        .map(|visit| (visit.session.user.login.as_str().to_owned(), visit.post("/logout", Text::LOG_OUT)));
    let document = Document { language, page, navigation, user, asks };
    let body = document.render().unwrap_or_else(|error| {
        log::error!(error:%; "a page of the console cannot be made");
        String::new()
    });
    Response {
        status: page.status,
        headers: vec![
            ("content-type", "text/html; charset=utf-8".to_owned()),
            ("content-language", language.tag().to_owned()),
            ("cache-control", "no-store".to_owned()),
        ],
        body: body.into_bytes(),
        ..Response::default()
    }
}

/// The page of a path, or what its form does. Each part of the console knows its own paths.
async fn route(visit: &Visit<'_>, segments: &[&str]) -> Outcome {
    use pages::{
        account, home, integration, limits, operator, orders, people, person, programmes, reports, runs,
        users,
    };
    match segments {
        [] if !visit.request.is_post => home::show(visit).await,
        ["sessions" | "password" | "logout"] | ["poll", "session"] => account::route(visit, segments).await,
        ["people", ..] => people::route(visit, segments).await,
        ["person", ..] => person::route(visit, segments).await,
        ["runs" | "run" | "approvals" | "poll", ..] | ["fragment", "run", ..] => {
            runs::route(visit, segments).await
        }
        ["fragment", "people"] => people::route(visit, segments).await,
        ["programmes" | "programme", ..] => programmes::route(visit, segments).await,
        ["limits", ..] => limits::route(visit, segments).await,
        ["orders" | "order", ..] => orders::route(visit, segments).await,
        ["reports" | "report" | "statement", ..] => reports::route(visit, segments).await,
        ["integration" | "webhook" | "credential", ..] => integration::route(visit, segments).await,
        ["users" | "user" | "audit", ..] => users::route(visit, segments).await,
        [
            "partners" | "partner" | "deposits" | "service" | "stuck" | "reconciliation" | "calendar" | "log"
            | "sandbox",
            ..,
        ] => operator::route(visit, segments).await,
        _ => Err(visit.nothing()),
    }
}

/// The parts of the console that a user has.
fn navigation(visit: &Visit<'_>, section: &str, waiting: Option<Waiting>) -> Vec<NavigationLink> {
    let entries: &[(Text, &'static str)] = if visit.session.must_change_password {
        &[]
    } else if visit.session.user.partner.is_none() {
        &[
            (Text::PARTNERS, "/partners"),
            (Text::DEPOSITS_WAITING, "/deposits"),
            (Text::SERVICE, "/service"),
            (Text::ACCOUNT, "/sessions"),
        ]
    } else {
        &[
            (Text::THIS_MONTH, "/"),
            (Text::PEOPLE, "/people"),
            (Text::RUNS, "/runs"),
            (Text::APPROVALS, "/approvals"),
            (Text::PROGRAMMES, "/programmes"),
            (Text::ORDERS, "/orders"),
            (Text::REPORTS, "/reports"),
            (Text::INTEGRATION, "/integration"),
            (Text::USERS, "/users"),
            (Text::ACCOUNT, "/sessions"),
        ]
    };
    let link = |(text, path): &(Text, &'static str)| NavigationLink {
        text: visit.t(*text),
        path,
        is_current: path.trim_start_matches('/') == section,
        waiting: waiting.filter(|_| *path == "/approvals"),
    };
    entries.iter().map(link).collect()
}

/// 303, with cookies.
pub(crate) fn see_other(path: &str, cookies: Vec<String>) -> Response {
    let mut headers = vec![("location", format!("/console{path}")), ("cache-control", "no-store".to_owned())];
    headers.extend(cookies.into_iter().map(|cookie| ("set-cookie", cookie)));
    Response { status: 303, headers, ..Response::default() }
}

fn asset(media: &str, body: &str) -> Response {
    let headers =
        vec![("content-type", media.to_owned()), ("cache-control", "private, max-age=300".to_owned())];
    Response { status: 200, headers, body: body.as_bytes().to_vec(), ..Response::default() }
}

/// The page of the service's own failure.
pub(crate) fn failure(language: Language) -> Page {
    let problem = Problem::failed(language);
    Page {
        title: Text::NOT_DONE.of(language).to_owned(),
        status: 503,
        blocks: vec![Block::Notice(problem.notice())],
        ..Page::default()
    }
}
