//! A request of a user who is logged in.

use std::cell::{self, OnceCell};
use std::sync::Arc;

use kopeck_api::{Operation, Page as ListPage, PageMeta};
use kopeck_audit::Entry;
use kopeck_domain::access::Scope;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Access, StoreError, UnitOfWork, submit};
use kopeck_service::users::UserSession;
use secrecy::{ExposeSecret as _, SecretString};
use serde::de::DeserializeOwned;
use serde_json::Value;
use time::{OffsetDateTime, PrimitiveDateTime};
use tokio::sync::{Mutex, oneshot};

use crate::call::{self, Call, Problem};
use crate::format;
use crate::host::{ApiResponse, Busy, Caller, FileForm, Host, Local};
use crate::pattern::pattern;
use crate::request::{Pairs, Request};
use crate::route::ConsoleParts;
use crate::session;
use crate::texts::{Language, Text};
use crate::view::{Cell, Form, Notice, Page, Pages};

/// The most records that a page goes by: an import and a run take no more.
const MOST: u64 = 10_000;

/// What a page came to.
pub(crate) enum Reply {
    /// HTML.
    Page(Page),
    /// 303 to a path of the console, which begins with a slash.
    SeeOther(String),
    /// A file.
    File(ApiResponse),
    /// A part of a page, for the script.
    Fragment(String),
    /// The session is over.
    LoggedOut,
}

pub(crate) type Outcome = Result<Reply, Problem>;

/// A request of a user who is logged in.
pub(crate) struct Visit<'a> {
    pub(crate) parts: &'a ConsoleParts,
    pub(crate) host: &'a dyn Host,
    pub(crate) language: Language,
    pub(crate) session: UserSession,
    /// The token of the session, as the request has it.
    pub(crate) secret: &'a str,
    /// The new token of the session behind a confirmation by the password.
    pub(crate) renewed: OnceCell<SecretString>,
    /// Whether an operation has refused the request with 403: it has an audit entry of its own.
    pub(crate) has_entry: cell::Cell<bool>,
    pub(crate) query: Pairs,
    pub(crate) form: Pairs,
    /// The file of the form.
    pub(crate) file: Option<Vec<u8>>,
    pub(crate) request: &'a Request,
    /// Held by the one long work at a time.
    pub(crate) long_work: &'a Arc<Mutex<()>>,
}

impl Visit<'_> {
    /// A text of the interface.
    pub(crate) fn t(&self, text: Text) -> &'static str {
        text.of(self.language)
    }

    /// The session goes on under this token, which the response brings to the browser.
    pub(crate) fn renew(&self, token: SecretString) {
        // A request has one confirmation.
        let _ = self.renewed.set(token);
    }

    fn token(&self) -> &str {
        self.renewed.get().map_or(self.secret, |renewed| renewed.expose_secret())
    }

    /// Whether the user has the scope: for what a page offers. What it then calls decides by itself.
    pub(crate) fn may(&self, scope: Scope) -> bool {
        self.session.authority().require(scope).is_ok()
    }

    /// Refuses a user without the scope: for what is no operation of the API.
    ///
    /// # Errors
    /// What there is not looks the same.
    pub(crate) fn require(&self, scope: Scope) -> Result<(), Problem> {
        if self.may(scope) { Ok(()) } else { Err(Problem::hidden(403, self.language)) }
    }

    /// The user's partner; operators have none.
    ///
    /// # Errors
    /// What there is not looks the same.
    pub(crate) fn partner(&self) -> Result<PartnerId, Problem> {
        self.session.user.partner.ok_or_else(|| Problem::hidden(403, self.language))
    }

    /// The problem of a path that is no page.
    pub(crate) fn nothing(&self) -> Problem {
        Problem::hidden(404, self.language)
    }

    /// The problem of a use case that failed.
    pub(crate) fn failed(&self, error: &dyn std::error::Error) -> Problem {
        log::error!(error:%; "a use case of a page failed");
        Problem::failed(self.language)
    }

    /// Records that the console itself has refused the request with 403, unless an operation did.
    pub(crate) fn note_forbidden(&self) {
        if !self.has_entry.get() {
            let subject = format!("page:{}", pattern(&self.request.path));
            let entry = Entry { subject, ..self.entry("console.page", self.session.user.partner) };
            self.record_refusal(entry, Problem::hidden(403, self.language));
        }
    }

    /// Calls an operation.
    async fn send(&self, operation: &'static Operation, call: Call<'_>) -> Result<ApiResponse, Problem> {
        let sent = call::send(self.host, &self.caller()?, self.language, operation, call).await;
        self.has_entry.set(self.has_entry.get() || sent.as_ref().is_err_and(|problem| problem.status == 403));
        sent
    }

    fn caller(&self) -> Result<Caller, Problem> {
        let partner = self.partner()?;
        Ok(Caller { partner, authority: self.session.authority(), session: self.session.id() })
    }

    /// What an operation reads.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        operation: &'static Operation,
        ids: &[&str],
        query: &[(&str, &str)],
    ) -> Result<T, Problem> {
        self.read(operation, Call { ids, query, ..Call::default() }).await
    }

    /// All records of a list that fit a filter.
    ///
    /// # Errors
    /// Those of the operation, and that there are more than an import or a run takes.
    pub(crate) async fn all<T: DeserializeOwned>(
        &self,
        operation: &'static Operation,
        filter: &[(&str, &str)],
    ) -> Result<Vec<T>, Problem> {
        let (mut all, mut page) = (Vec::new(), 1);
        loop {
            let number = page.to_string();
            let query = [filter, &[("page", &*number), ("per_page", "500")]].concat();
            let found: ListPage<T> = self.get(operation, &[], &query).await?;
            if found.meta.total.unwrap_or_default() > MOST {
                return Err(Problem::new(422, self.language, Text::TOO_MANY_PEOPLE));
            }
            all.extend(found.data);
            if page >= found.meta.last_page {
                return Ok(all);
            }
            page += 1;
        }
    }

    /// As [`Self::get`], with a body.
    pub(crate) async fn ask<T: DeserializeOwned>(
        &self,
        operation: &'static Operation,
        ids: &[&str],
        body: Value,
    ) -> Result<T, Problem> {
        self.read(operation, Call { ids, body: Some(body), ..Call::default() }).await
    }

    async fn read<T: DeserializeOwned>(
        &self,
        operation: &'static Operation,
        call: Call<'_>,
    ) -> Result<T, Problem> {
        let sent = self.send(operation, call).await;
        call::read(&sent.map_err(|problem| self.hidden_alike(problem))?, self.language)
    }

    /// A file that an operation makes.
    pub(crate) async fn file(
        &self,
        operation: &'static Operation,
        ids: &[&str],
        query: &[(&str, &str)],
        form: FileForm,
    ) -> Outcome {
        let call = Call { ids, query, file: Some(form), ..Call::default() };
        let sent = self.send(operation, call).await;
        Ok(Reply::File(sent.map_err(|problem| self.hidden_alike(problem))?))
    }

    /// What there is not and what the user may not see look alike.
    pub(crate) fn hidden_alike(&self, problem: Problem) -> Problem {
        match problem.status {
            status @ (403 | 404) => Problem::hidden(status, self.language),
            // An identifier in a path that is none.
            422 if self.request.query.is_empty() && !self.request.is_post => {
                Problem::hidden(404, self.language)
            }
            _ => problem,
        }
    }

    /// Changes something once, whatever the number of times that the form is sent.
    pub(crate) async fn change(
        &self,
        operation: &'static Operation,
        ids: &[&str],
        body: Option<Value>,
    ) -> Result<ApiResponse, Problem> {
        self.change_as(self.key()?, operation, ids, body).await
    }

    /// As [`Self::change`], for a form that changes several things: each under a key of its own.
    pub(crate) async fn change_as(
        &self,
        key: &str,
        operation: &'static Operation,
        ids: &[&str],
        body: Option<Value>,
    ) -> Result<ApiResponse, Problem> {
        let call = Call { ids, body, key: Some(key), ..Call::default() };
        self.send(operation, call).await
    }

    /// Reads a file on a blocking thread.
    ///
    /// # Errors
    /// If the queue is too long.
    pub(crate) async fn read_file<T: Send + 'static>(
        &self,
        read: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let partner = self.partner()?;
        queued(self.language, read, |read| self.host.read_file(partner, read)).await
    }

    /// The idempotency key of the form.
    pub(crate) fn key(&self) -> Result<&str, Problem> {
        let key = self.form.get("key");
        let is_well_formed =
            (16..=64).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
        if is_well_formed { Ok(key) } else { Err(Problem::new(422, self.language, Text::FORM_INCOMPLETE)) }
    }

    /// A form that changes something. Each has a key of its own.
    pub(crate) fn post(&self, action: &str, submit: Text) -> Form {
        let form = Form::search(action, self.t(submit));
        Form { is_post: true, ..form }
            .hide("token", session::form_token(self.token()))
            .hide("key", self.parts.random_text())
    }

    /// The day, in the service's zone.
    pub(crate) fn today(&self) -> time::Date {
        self.parts.env.settings.zone.day(self.parts.env.now())
    }

    /// A part of a page, for the script.
    pub(crate) fn fragment(&self, part: &dyn askama::DynTemplate) -> Outcome {
        part.dyn_render().map(Reply::Fragment).map_err(|error| self.failed(&error))
    }

    pub(crate) fn money(&self, kopecks: i64) -> String {
        format::money(self.language, kopecks)
    }

    pub(crate) fn date(&self, day: time::Date) -> String {
        format::date(self.language, day)
    }

    pub(crate) fn moment(&self, at: PrimitiveDateTime) -> String {
        format::moment(self.language, at)
    }

    /// A point in time, in the service's zone.
    pub(crate) fn instant(&self, at: OffsetDateTime) -> String {
        let local = at.to_offset(self.parts.env.settings.zone.offset());
        self.moment(PrimitiveDateTime::new(local.date(), local.time()))
    }

    /// Facts with their labels.
    pub(crate) fn facts(&self, facts: impl IntoIterator<Item = (Text, String)>) -> Vec<(String, Cell)> {
        facts.into_iter().map(|(label, value)| (self.t(label).to_owned(), Cell::text(value))).collect()
    }

    /// The values of a choice with their labels.
    pub(crate) fn options(&self, options: &[(impl ToString, Text)]) -> Vec<(String, String)> {
        options.iter().map(|(value, label)| (value.to_string(), self.t(*label).to_owned())).collect()
    }

    /// The heads of columns, each with whether it is one of numbers.
    pub(crate) fn columns(&self, texts: &[(Text, bool)]) -> Vec<Cell> {
        let column =
            |(text, is_number): &(Text, bool)| Cell { is_number: *is_number, ..Cell::text(self.t(*text)) };
        texts.iter().map(column).collect()
    }

    /// The way to the other pages of a list at `path`, with the parameters of this one.
    pub(crate) fn pages(&self, path: &str, meta: &PageMeta) -> Option<Pages> {
        if meta.last_page <= 1 {
            return None;
        }
        let link = |text: Text, page: u64| {
            let query = self.query.with("page", &page.to_string()).query();
            Cell::link(self.t(text), &format!("{path}?{query}"))
        };
        let (page, last) = (meta.current_page, meta.last_page);
        Some(Pages {
            label: format!("{} {page} / {last}", self.t(Text::PAGE_NUMBER)),
            previous: (page > 1).then(|| link(Text::PREVIOUS, page - 1)),
            next: (page < last).then(|| link(Text::NEXT, page + 1)),
        })
    }

    /// The message of what the page before this one has done: a word of the query, which is one of these or nothing.
    pub(crate) fn done(&self) -> Option<Notice> {
        let text = Text::of_done(self.query.get("done"))?;
        Some(Notice { is_problem: false, lines: vec![self.t(text).to_owned()] })
    }

    /// The page with what was wrong with its form above everything else, or else with what the page before it has done.
    pub(crate) fn answer(&self, page: Page, problem: Option<&Problem>) -> Outcome {
        let page = if problem.is_some() { page.refused(problem) } else { page.noting(self.done()) };
        Ok(Reply::Page(page))
    }

    /// Runs what may take long on a blocking thread, one at a time.
    ///
    /// # Errors
    /// If another one runs.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let Ok(permit) = Arc::clone(self.long_work).try_lock_owned() else {
            return Err(Problem::new(503, self.language, Text::BUSY));
        };
        let work = tokio::task::spawn_blocking(move || {
            // Until the work ends, whether or not the client waits for it.
            let _permit = permit;
            work()
        });
        work.await.map_err(|error| self.failed(&error))
    }

    /// Runs `body` in a unit of work.
    pub(crate) async fn in_store<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        access: Access,
        body: impl FnMut(&mut dyn UnitOfWork) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        in_store(self.parts, access, body).await
    }
}

/// Runs `work` in the queue of the host to which `put` gives it.
///
/// # Errors
/// If the queue is too long.
pub(crate) async fn queued<'h, T: Send + 'static>(
    language: Language,
    work: impl FnOnce() -> T + Send + 'static,
    put: impl FnOnce(Box<dyn FnOnce() + Send>) -> Local<'h, Result<(), Busy>>,
) -> Result<T, Problem> {
    let (sender, receiver) = oneshot::channel();
    let work = move || {
        // The receiver is gone if the client has disconnected.
        let _ = sender.send(work());
    };
    let busy = || Problem::new(503, language, Text::BUSY);
    put(Box::new(work)).await.map_err(|_| busy())?;
    receiver.await.map_err(|_| busy())
}

/// Runs `body` in a unit of work, and waits for it without blocking a thread.
pub(crate) async fn in_store<T: Send + 'static, E: From<StoreError> + Send + 'static>(
    parts: &ConsoleParts,
    access: Access,
    body: impl FnMut(&mut dyn UnitOfWork) -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    let (sender, receiver) = oneshot::channel();
    submit(&*parts.store, access, body, move |result| {
        // The receiver is gone if the client has disconnected.
        let _ = sender.send(result);
    });
    receiver.await.unwrap_or_else(|_| Err(StoreError::Failed("the store dropped the work".to_owned()).into()))
}
