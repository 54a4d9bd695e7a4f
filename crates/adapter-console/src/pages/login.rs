//! Login in two steps: the password, then the second factor, which the first login sets up.

use kopeck_audit::{Entry, Outcome as AuditOutcome};
use kopeck_port_security::AppSetup;
use kopeck_service::users::{NewSession, PasswordAttempt, PendingLogin, SecondFactorAttempt, UserError};
use qrcode::{Color, QrCode};
use secrecy::{ExposeSecret as _, SecretString};

use crate::call::Problem;
use crate::cookies::Cookie;
use crate::host::Host;
use crate::request::{Pairs, Request, Response};
use crate::route::{Console, document, see_other, unread};
use crate::session;
use crate::texts::{Language, Text};
use crate::view::{Block, Cell, Field, FieldKind, Form, Notice, Page, Setup};
use crate::visit::queued;

/// The blank margin of a QR code, in modules.
const QUIET_ZONE: usize = 4;

/// The response to a request of somebody who is not logged in.
pub(crate) async fn respond(console: &Console, host: &dyn Host, request: &Request, path: &str) -> Response {
    let known = Cookie::LoginForm.of(&request.cookies).map(str::to_owned);
    let secret = known.clone().unwrap_or_else(|| console.parts.random_text());
    let login = Login { console, host, request, secret };
    let form = request.form().await.map(|form| form.fields);
    let unread = request
        .refused
        .map(|status| (status, if status == 413 { Text::FORM_TOO_LARGE } else { unread(status) }));
    let refused = unread.or_else(|| form.as_ref().err().map(|text| (422, *text)));
    let form = form.unwrap_or_default();
    let mut response = if !request.is_post {
        login.first_page(login.note())
    } else if let Some((status, text)) = refused {
        login.first_page_with(Some(login.problem(text)), status)
    } else if known.is_none() || !session::is_own_form(request, form.get("token"), &login.secret) {
        login.record_refusal(403);
        login.first_page_with(Some(login.problem(Text::FOREIGN_FORM)), 403)
    } else if path == "/login" {
        login.take_password(&form).await
    } else {
        login.take_code(&form).await
    };
    if known.is_none() {
        response.headers.push(("set-cookie", Cookie::LoginForm.set(&login.secret)));
    }
    response
}

/// Runs the check of a password of a logged-in user in the queue of logins.
///
/// # Errors
/// If the queue is too long.
pub(crate) async fn in_queue<T: Send + 'static>(
    host: &dyn Host,
    language: Language,
    check: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    queued(language, check, |check| host.check_password(true, check)).await
}

/// What the refusal of a password or a code says.
pub(crate) fn problem_of(error: &UserError, language: Language) -> Problem {
    let (status, text) = match error {
        UserError::BadCredentials => (422, Text::WRONG_CREDENTIALS),
        UserError::WrongCode => (422, Text::WRONG_CODE),
        UserError::Expired => (422, Text::LOGIN_EXPIRED),
        UserError::TooMany { .. } => (429, Text::TOO_MANY_LOGINS),
        UserError::Password(_) => (422, Text::PASSWORD_REFUSED),
        UserError::LoginTaken => (409, Text::LOGIN_TAKEN),
        UserError::NotFound | UserError::NoPartner => (404, Text::NOTHING_HERE),
        UserError::Role(_) => (422, Text::FORM_INCOMPLETE),
        UserError::Store(_) | UserError::Security(_) => {
            log::error!(error:%; "the use case of a user failed");
            (500, Text::FAILED)
        }
    };
    Problem::new(status, language, text)
}

/// A request of somebody who is not logged in.
struct Login<'a> {
    console: &'a Console,
    host: &'a dyn Host,
    request: &'a Request,
    /// Ties the forms to the browser.
    secret: String,
}

impl Login<'_> {
    fn t(&self, text: Text) -> &'static str {
        text.of(self.request.language)
    }

    /// Runs a step of the login in the queue of logins.
    async fn in_queue<T: Send + 'static>(
        &self,
        step: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        queued(self.request.language, step, |step| self.host.check_password(false, step)).await
    }

    fn problem(&self, text: Text) -> Notice {
        Notice { is_problem: true, lines: vec![self.t(text).to_owned()] }
    }

    fn note(&self) -> Option<Notice> {
        let done = Pairs::parse(self.request.query.as_bytes()).get("done").to_owned();
        let text = Text::of_done(&done)?;
        Some(Notice { is_problem: false, lines: vec![self.t(text).to_owned()] })
    }

    fn form(&self, action: &str, submit: Text) -> Form {
        let form = Form::search(action, self.t(submit));
        Form { is_post: true, ..form }.hide("token", session::form_token(&self.secret))
    }

    fn answer(&self, page: &Page) -> Response {
        document(self.request.language, page, None, None)
    }

    fn first_page(&self, notice: Option<Notice>) -> Response {
        self.first_page_with(notice, 200)
    }

    fn first_page_with(&self, notice: Option<Notice>, status: u16) -> Response {
        let mut page = Page { status, ..Page::new(self.t(Text::LOG_IN), "") };
        let login = Field::new("login", self.t(Text::EMAIL), FieldKind::Email);
        let password = Field::new("password", self.t(Text::PASSWORD), FieldKind::Password);
        page.push(Block::Form(
            self.form("/login", Text::CONTINUE)
                .field(login.required().autocomplete("username"))
                .field(password.required().autocomplete("current-password")),
        ));
        self.answer(&page.noting(notice))
    }

    async fn take_password(&self, form: &Pairs) -> Response {
        let attempt = PasswordAttempt {
            login: form.get("login").to_owned(),
            password: SecretString::from(form.raw("password")),
            address: self.host.network(),
        };
        let (users, store) = (self.console.parts.users.clone(), self.console.parts.store.clone());
        let language = self.request.language;
        let begun = self.in_queue(move || users.begin(&*store, attempt)).await;
        match begun {
            Ok(Ok(pending)) => self.pending(&pending),
            Ok(Err(error)) => {
                let problem = problem_of(&error, language);
                self.record_refusal(problem.status);
                self.first_page_with(Some(problem.notice()), problem.status)
            }
            Err(problem) => self.first_page_with(Some(problem.notice()), problem.status),
        }
    }

    fn pending(&self, pending: &PendingLogin) -> Response {
        let mut response = self.second_page(pending.setup.as_ref(), None, 200);
        let cookie = Cookie::PendingLogin.set(pending.token.expose_secret());
        response.headers.push(("set-cookie", cookie));
        response
    }

    fn second_page(&self, setup: Option<&AppSetup>, notice: Option<Notice>, status: u16) -> Response {
        let mut page = Page { status, ..Page::new(self.t(Text::SECOND_FACTOR), "") };
        if let Some(setup) = setup {
            page.push(Block::Text(self.t(Text::SET_UP_APP).to_owned()));
            page.push(Block::Setup(drawn(setup, self.t(Text::APP_SECRET))));
        }
        let hint = if setup.is_some() { Text::CODE_OF_APP } else { Text::CODE_OR_RECOVERY };
        let code = Field::new("code", self.t(Text::CODE), FieldKind::Code).hint(self.t(hint)).max(40);
        let form = self.form("/login/code", Text::LOG_IN);
        page.push(Block::Form(form.field(code.required().autocomplete("one-time-code"))));
        page.push(Block::Links(vec![Cell::link(self.t(Text::BEGIN_AGAIN), "/login")]));
        self.answer(&page.noting(notice))
    }

    async fn take_code(&self, form: &Pairs) -> Response {
        let Some(token) = Cookie::PendingLogin.of(&self.request.cookies) else {
            return self.expired();
        };
        let attempt = SecondFactorAttempt {
            token: SecretString::from(token),
            code: SecretString::from(form.get("code")),
            address: self.host.network(),
            former: Cookie::Session.of(&self.request.cookies).map(SecretString::from),
            entry: self.host.audit_entry("user.login"),
        };
        let (users, store) = (self.console.parts.users.clone(), self.console.parts.store.clone());
        let language = self.request.language;
        let finished = self.in_queue(move || users.finish(&*store, attempt)).await;
        match finished {
            Ok(Ok(session)) => self.begin(&session),
            Ok(Err(UserError::Expired)) => self.expired(),
            Ok(Err(error)) => {
                let problem = problem_of(&error, language);
                // A wrong code has its entry already, in the unit of work that counts it.
                if !matches!(error, UserError::WrongCode) {
                    self.record_refusal(problem.status);
                }
                self.second_page(None, Some(problem.notice()), problem.status)
            }
            Err(problem) => self.second_page(None, Some(problem.notice()), problem.status),
        }
    }

    /// Leads to the first step, as the login waited too long.
    fn expired(&self) -> Response {
        let response = see_other("/login?done=expired", Vec::new());
        self.record_refusal(response.status);
        response
    }

    /// Queues the audit entry of a refused step, within the budget of its address.
    fn record_refusal(&self, status: u16) {
        let entry = self.host.audit_entry("user.login");
        self.host.record(Entry { outcome: AuditOutcome::Refused, status: Some(status), ..entry });
    }

    /// A new session has a new token, so that nobody knows it from before the login.
    fn begin(&self, session: &NewSession) -> Response {
        self.host.remember_login();
        let mut response = match &session.recovery_codes {
            Some(codes) => {
                let mut page = Page::new(self.t(Text::RECOVERY_CODES), "");
                page.push(Block::Text(self.t(Text::KEEP_CODES).to_owned()));
                let codes = codes.iter().map(|code| code.expose_secret().to_owned());
                page.push(Block::Codes(codes.collect()));
                page.push(Block::Links(vec![Cell::link(self.t(Text::CONTINUE), "/")]));
                self.answer(&page)
            }
            None => see_other("/", Vec::new()),
        };
        response.headers.extend([
            ("set-cookie", Cookie::Session.set(session.token.expose_secret())),
            ("set-cookie", Cookie::PendingLogin.remove()),
        ]);
        response
    }
}

/// The QR code of a set-up. A text too long for a code is shown alone.
fn drawn(setup: &AppSetup, label: &str) -> Setup {
    let code = QrCode::new(setup.uri.expose_secret().as_bytes()).ok();
    let width = code.as_ref().map_or(0, QrCode::width);
    let modules = code.map(QrCode::into_colors).unwrap_or_default();
    let dark = modules.iter().enumerate().filter(|(_, color)| **color == Color::Dark);
    let path =
        dark.map(|(at, _)| format!("M{} {}h1v1h-1z", at % width + QUIET_ZONE, at / width + QUIET_ZONE));
    Setup {
        side: width + 2 * QUIET_ZONE,
        path: path.collect(),
        secret: setup.secret.expose_secret().to_owned(),
        label: label.to_owned(),
    }
}
