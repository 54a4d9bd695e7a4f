//! A form whose session has ended, or was replaced by another in a second tab: what was typed is shown, and can be sent once
//! the user is logged in again.
//!
//! The page keeps it, not the service: it knows no user to whom it would belong. Its form is tied to the browser by the cookie
//! of the login's form, which outlives sessions.

use crate::cookies::Cookie;
use crate::request::{Pairs, Request, Response, SentForm};
use crate::route::{Console, document};
use crate::session;
use crate::texts::{Text, field_name};
use crate::view::{Block, Cell, Form, Notice, Page};

/// Fields that never come back: a form with one of them has to be filled in anew.
const SECRETS: [&str; 5] = ["password", "current", "new", "again", "code"];

/// Fields that the page itself has put into the form.
const OWN: [&str; 3] = ["token", "key", "digest"];

/// The longest form that is kept, in bytes: its page shows each value, and holds it once more.
const MOST_KEPT: usize = 256 * 1024;

/// Whether the form may be shown and sent again: it comes from a page of the console, whose browser says so, and has no
/// secrets.
pub(crate) fn is_kept(request: &Request, form: &SentForm) -> bool {
    let has_secret = SECRETS.iter().any(|name| form.fields.given(name).is_some());
    // A page cannot choose a file again.
    let is_whole = form.file.is_none() && request.refused.is_none() && request.body.len() <= MOST_KEPT;
    is_whole
        && request.is_post
        && request.path != "/logout"
        && session::is_surely_own_site(request)
        && !has_secret
}

/// The page of a form that was not carried out.
pub(crate) fn page(console: &Console, request: &Request, form: &Pairs) -> Response {
    let language = request.language;
    let known = Cookie::LoginForm.of(&request.cookies).map(str::to_owned);
    let secret = known.clone().unwrap_or_else(|| console.parts.random_text());
    let mut page = Page { status: 403, ..Page::new(Text::NOT_SENT.of(language), "") };
    let line = Text::NOT_SENT_YET.of(language).to_owned();
    page.push(Block::Notice(Notice { is_problem: true, lines: vec![line] }));
    page.push(Block::Links(vec![Cell::link(Text::LOG_IN_ELSEWHERE.of(language), "/login").in_new_tab()]));
    let typed = form.iter().filter(|(name, value)| !value.is_empty() && !OWN.contains(name));
    let typed = typed.map(|(name, value)| (field_name(language, name).to_owned(), Cell::text(value)));
    page.push(Block::Facts(typed.collect()));
    let again = Form::search(&request.path, Text::SEND_AGAIN.of(language));
    let again = Form { is_post: true, ..again }.hide("token", session::form_token(&secret));
    let fields = form.iter().filter(|(name, _)| *name != "token");
    page.push(Block::Form(fields.fold(again, |form, (name, value)| form.hide(name.to_owned(), value))));
    let mut response = document(language, &page, None, None);
    if known.is_none() {
        response.headers.push(("set-cookie", Cookie::LoginForm.set(&secret)));
    }
    response
}
