//! The names of those who did something.

use kopeck_domain::access::Actor;
use kopeck_port_store::Access;
use kopeck_service::users::{self, UserOverview};

use crate::texts::Text;
use crate::visit::Visit;

/// The users of the partner by their identifiers.
pub(crate) struct Names(Vec<UserOverview>);

impl Names {
    /// Those of the user's own partner; none if they cannot be read.
    pub(crate) async fn of(visit: &Visit<'_>) -> Self {
        let (env, partner) = (visit.parts.env.clone(), visit.session.user.partner);
        let list = visit.in_store(Access::Read, move |unit| users::list(unit, &env, partner)).await;
        Self(list.unwrap_or_default())
    }

    /// Who an actor is, for people.
    pub(crate) fn show(&self, visit: &Visit<'_>, actor: &str) -> String {
        match actor.parse() {
            Ok(Actor::User(id)) => {
                let known = self.0.iter().find(|user| user.user.id == id);
                known.map_or_else(|| actor.to_owned(), |user| user.user.login.as_str().to_owned())
            }
            Ok(Actor::Login | Actor::Credential(_)) => visit.t(Text::A_PROGRAM).to_owned(),
            Ok(Actor::Service) => visit.t(Text::THE_SERVICE).to_owned(),
            _ => actor.to_owned(),
        }
    }
}
