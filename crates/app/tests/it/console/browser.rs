//! A browser without scripts: it keeps cookies, follows redirects of the console, and sends the forms of a page as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use kopeck_domain::access::Role;
use kopeck_domain::user::UserLogin;
use kopeck_port_store::{Access, transact};
use kopeck_port_system::Clock as _;
use kopeck_service::partners;
use kopeck_service::users::{NewUser, UserError};
use time::OffsetDateTime;
use totp_rs::{Builder, Secret};

use crate::raw_http::{RawRequest, RawResponse, exchange};
use crate::server::{PASSWORD, TestPartner, TestServer};

/// The password by which users replace their first one.
pub const NEW_PASSWORD: &str = "seven green ferries at noon";

pub struct Browser<'s> {
    pub server: &'s TestServer,
    pub cookies: BTreeMap<String, String>,
    pub language: &'static str,
    /// The secret of the authenticator app.
    pub app: String,
    pub login: String,
    pub recovery_codes: Vec<String>,
}

/// What a form is sent with, beside its hidden fields.
pub type Values<'v> = &'v [(&'v str, &'v str)];

impl<'s> Browser<'s> {
    pub fn new(server: &'s TestServer) -> Self {
        Self {
            server,
            cookies: BTreeMap::new(),
            language: "en",
            app: String::new(),
            login: String::new(),
            recovery_codes: Vec::new(),
        }
    }

    /// A browser in which a new user of the partner, or an operator, is logged in.
    pub fn of_new(server: &'s TestServer, partner: Option<&TestPartner>, role: Role) -> Self {
        let login = format!("{}@example.ru", role.as_str().to_lowercase());
        create_user(server, partner, role, &login);
        let mut browser = Self::new(server);
        browser.first_login(&login);
        browser
    }

    /// The same user with a new session, by the next of its recovery codes.
    pub fn of_known(server: &'s TestServer, known: &mut Self) -> Self {
        let mut browser = Self { language: known.language, login: known.login.clone(), ..Self::new(server) };
        let code = known.recovery_codes.remove(0);
        browser.recovery_codes.clone_from(&known.recovery_codes);
        let page = browser.get("/login");
        let values = [("login", &*known.login), ("password", NEW_PASSWORD)];
        let page = browser.send(&page, "/login", &values);
        let page = browser.send(&page, "/login/code", &[("code", &code)]);
        assert!(offers(&page, "/logout"), "{page:?}");
        browser
    }

    /// The first login of a user: password, authenticator app, new password.
    pub fn first_login(&mut self, login: &str) {
        self.login = login.to_owned();
        let page = self.get("/login");
        let page = self.send(&page, "/login", &[("login", login), ("password", PASSWORD)]);
        self.app = between(&page.text, "<code>", "</code>").to_owned();
        assert!(page.text.contains("<svg") && self.app.len() > 20, "{}", page.text);
        let code = self.code();
        let page = self.send(&page, "/login/code", &[("code", &code)]);
        self.recovery_codes = codes(&page.text);
        let page = self.get("/people");
        let new = [("current", PASSWORD), ("new", NEW_PASSWORD), ("again", NEW_PASSWORD)];
        self.send(&page, "/password", &new);
    }

    /// What the authenticator app shows. It goes by the machine's clock, which the one of the test is ahead of.
    pub fn code(&self) -> String {
        let clock = &*self.server.clock;
        app_code(&self.app, clock.now() - clock.ahead())
    }

    /// The page at a path of the console, behind redirects.
    pub fn get(&mut self, path: &str) -> RawResponse {
        let got = self.get_once(path);
        self.follow(got)
    }

    pub fn get_once(&mut self, path: &str) -> RawResponse {
        self.exchange(RawRequest::new("GET", &format!("/console{path}")))
    }

    /// Sends the form with this action of a page, and follows the redirects.
    pub fn send(&mut self, page: &RawResponse, action: &str, values: Values<'_>) -> RawResponse {
        let got = self.send_once(page, action, values);
        self.follow(got)
    }

    pub fn send_once(&mut self, page: &RawResponse, action: &str, values: Values<'_>) -> RawResponse {
        let hidden = hidden_fields(&page.text, action);
        let fields: Vec<(&str, &str)> =
            hidden.iter().map(|(name, value)| (&**name, &**value)).chain(values.iter().copied()).collect();
        self.post(action, &fields)
    }

    pub fn post(&mut self, action: &str, fields: Values<'_>) -> RawResponse {
        self.exchange(form_request(action, fields))
    }

    /// Sends the form with this action of a page with a file, as a browser does.
    pub fn upload(
        &mut self,
        page: &RawResponse,
        action: &str,
        values: Values<'_>,
        file: &[u8],
    ) -> RawResponse {
        let got = self.exchange(upload_request(page, action, values, file));
        self.follow(got)
    }

    fn follow(&mut self, mut got: RawResponse) -> RawResponse {
        for _ in 0..5 {
            if got.status != 303 {
                return got;
            }
            let to = got.header("location").unwrap().strip_prefix("/console").unwrap().to_owned();
            got = self.get_once(&to);
        }
        panic!("too many redirects: {got:?}");
    }

    pub fn exchange(&mut self, request: RawRequest) -> RawResponse {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = request.with("accept-language", self.language).with("cookie", cookies.join("; "));
        let got = exchange(&self.server.base_url, Ipv4Addr::LOCALHOST, &request.to_bytes());
        for (_, cookie) in got.headers.iter().filter(|(name, _)| name == "set-cookie") {
            let (pair, attributes) = cookie.split_once("; ").unwrap();
            assert!(attributes.starts_with("Path=/; Secure; HttpOnly; SameSite=Strict"), "{cookie}");
            let (name, value) = pair.split_once('=').unwrap();
            assert!(name.starts_with("__Host-"), "{cookie}");
            if attributes.ends_with("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        check(&got);
        got
    }
}

/// What an authenticator app with this secret shows at a time.
pub fn app_code(secret: &str, at: OffsetDateTime) -> String {
    let app = Builder::new().with_secret(Secret::try_from_base32(secret).unwrap()).build().unwrap();
    app.generate(at.unix_timestamp().cast_unsigned()).to_string()
}

/// A form as a browser sends it.
pub fn form_request(action: &str, fields: Values<'_>) -> RawRequest {
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    RawRequest::new("POST", &format!("/console{action}"))
        .bytes("application/x-www-form-urlencoded", fields.join("&"))
}

/// A form with a file as a browser sends it.
pub fn upload_request(page: &RawResponse, action: &str, values: Values<'_>, file: &[u8]) -> RawRequest {
    let hidden = hidden_fields(&page.text, action);
    let fields = hidden.iter().map(|(name, value)| (&**name, &**value)).chain(values.iter().copied());
    let mut body = Vec::new();
    for (name, value) in fields {
        let head = format!("--line\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        body.extend(head.into_bytes());
    }
    let head = "--line\r\nContent-Disposition: form-data; name=\"file\"; filename=\"list.csv\"\r\n\
        Content-Type: text/csv\r\n\r\n";
    body.extend([head.as_bytes(), file, b"\r\n--line--\r\n"].concat());
    RawRequest::new("POST", &format!("/console{action}")).bytes("multipart/form-data; boundary=line", body)
}

/// A value in a query or a form.
pub fn encoded(value: &str) -> String {
    value.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// The console's own script.
const SCRIPT: &str = "<script src=\"/console/console.js\" defer></script>";

/// The rules for every response of the console.
fn check(got: &RawResponse) {
    let policy = got.header("content-security-policy").unwrap_or_else(|| panic!("{got:?}"));
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    for directive in ["frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"] {
        assert!(policy.contains(directive), "{policy}");
    }
    assert_eq!(got.header("x-content-type-options"), Some("nosniff"));
    for name in ["referrer-policy", "cross-origin-opener-policy", "cross-origin-resource-policy"] {
        assert_eq!(got.header(name), Some("same-origin"));
    }
    assert!(got.header("x-request-id").is_some());
    if got.header("content-type").is_some_and(|media| media.starts_with("text/html")) {
        assert_eq!(got.header("cache-control"), Some("no-store"));
        // A part of a page, for the script.
        if !got.text.starts_with("<!doctype") {
            assert!(!got.text.contains("<h1>"), "{}", got.text);
            return;
        }
        assert_eq!(got.text.matches(SCRIPT).count(), 1, "the console has one script of its own");
        let whole = got.text.replace(SCRIPT, "");
        let elsewhere = ["href=\"http", "src=\"", "href=\"//", "href=\"javascript:", "action=\"http"];
        for refused in ["<script", " style=", "<style"].iter().chain(&elsewhere) {
            assert!(!whole.contains(refused), "{refused} in {whole}");
        }
        assert_eq!(got.text.matches("<h1>").count(), 1, "{}", got.text);
        let ids: Vec<&str> = got.text.split(" id=\"").skip(1).map(|rest| between(rest, "", "\"")).collect();
        assert_eq!(BTreeSet::from_iter(&ids).len(), ids.len(), "a label leads to one field: {ids:?}");
    }
}

pub fn create_user(server: &TestServer, partner: Option<&TestPartner>, role: Role, login: &str) {
    let found = partner.map(|partner| {
        let id = partner.id;
        transact(&*server.application.store, Access::Read, move |unit| partners::find(unit, id)).unwrap()
    });
    let login = UserLogin::parse(login).unwrap();
    let new = NewUser { partner: found, role, login, password: Some(PASSWORD.into()) };
    let draft = server.application.users.prepare(new).unwrap();
    let users = server.application.users.clone();
    transact(&*server.application.store, Access::Write, move |unit| -> Result<_, UserError> {
        users.create(unit, &draft)
    })
    .unwrap();
}

/// The hidden fields of the form with this action.
pub fn hidden_fields(html: &str, action: &str) -> Vec<(String, String)> {
    let form = html
        .split("<form ")
        .skip(1)
        .map(|form| between(form, "", "</form>"))
        .find(|form| form.contains(&format!("action=\"/console{action}\"")) && form.contains("\"post\""))
        .unwrap_or_else(|| panic!("no form {action} in {html}"));
    let hidden = form.split("<input type=\"hidden\" name=\"").skip(1);
    hidden
        .map(|input| (between(input, "", "\"").to_owned(), between(input, "value=\"", "\"").to_owned()))
        .collect()
}

/// Whether the page offers a form with this action.
pub fn offers(page: &RawResponse, action: &str) -> bool {
    page.text.contains(&format!("method=\"post\" action=\"/console{action}\""))
}

fn codes(html: &str) -> Vec<String> {
    html.split("<li><code>").skip(1).map(|code| between(code, "", "<").to_owned()).collect()
}

pub fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let from = text.find(before).unwrap_or_else(|| panic!("no {before} in {text}")) + before.len();
    let rest = &text[from..];
    &rest[..rest.find(after).unwrap_or_else(|| panic!("no {after} in {rest}"))]
}
