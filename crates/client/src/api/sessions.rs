//! Sessions of one's own login.

use kopeck_api::{Session, SessionEnded, operations};
use uuid::Uuid;

use crate::client::Client;
use crate::error::Error;
use crate::request::Request;
use crate::write::Write;

/// Operations on the sessions of the client's login; see [`Client::sessions`].
#[derive(Debug, Clone, Copy)]
pub struct Sessions<'a> {
    client: &'a Client,
}

impl<'a> Sessions<'a> {
    pub(crate) const fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// The active sessions, the oldest first; the one of this client is `current`.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn list(&self) -> Result<Vec<Session>, Error> {
        self.client.read(Request::of(&operations::SESSION_LIST)).await
    }

    /// Ends a session with all of its tokens, within five seconds everywhere.
    pub fn end(&self, id_session: Uuid) -> Write<SessionEnded> {
        self.client.write(Request::of(&operations::SESSION_END).id(id_session))
    }
}
