//! Changes the password of one's own login.

use std::sync::Arc;

use kopeck_domain::ids::PartnerId;
use kopeck_fair_queue::Rank;
use kopeck_service::tokens::{CheckedChange, PasswordChange, PasswordChangeError, TokenService};
use secrecy::SecretString;

use crate::input::faults::Faults;
use crate::input::field_types::text;
use crate::operations::prelude::*;
use crate::request_source::RequestSource;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::PASSWORD_CHANGE, Needs::Nothing, handler!(change))
        .reads(reads!(read))
        .responds::<api::PasswordChanged>(200)
        .keeps_secret()
        .refuses(&[Code::TooManyRequests]);

/// The present password, and the new one.
type Passwords = (SecretString, SecretString);

fn read(r: &mut Reader<'_>) -> Option<Passwords> {
    let mut body = r.body();
    let password = || text(|password| Ok(SecretString::from(password)));
    let current = body.required("current", password().about("Your present password."));
    let about = "The new one: 12 characters at least, none of the commonest, and not made of login or name.";
    let new = body.required("new", password().about(about));
    Some((current?, new?))
}

/// A change that was checked outside of the unit of work, since that takes long.
struct Change {
    tokens: Arc<TokenService>,
    checked: CheckedChange,
}

async fn change(mut ctx: HandlerContext) -> HandlerResult {
    let values = ctx.values(read);
    let (shared, partner) = (Arc::clone(&ctx.shared), ctx.partner());
    let mut mutation = ctx.begin_mutation().await?;
    if let Some(recorded) = mutation.replay().await? {
        return Ok(recorded);
    }
    let (current, new) = values?;
    let client = &mutation.context().client;
    let wish = PasswordChange {
        partner,
        credential: client.identity.credential(),
        session: client.session,
        address: client.address.network().map(|network| network.to_string()),
        current,
        new,
    };
    let parts = Arc::clone(&shared);
    let check = move || parts.parts.tokens.check_password_change(&*parts.parts.store, &wish);
    let checked = shared.logins.run(RequestSource::Partner(partner), Rank::First, check).await??;
    mutation.renew_deadline();
    let change = Change { tokens: Arc::clone(&shared.parts.tokens), checked };
    let changed = mutation
        .once(change, |unit, _env, _partner: PartnerId, Change { tokens, checked }| {
            let ended_sessions = tokens.change_password(unit, checked)?;
            Ok::<_, PasswordChangeError>(api::PasswordChanged { success: true, ended_sessions })
        })
        .await?;
    // Sessions that were ended here are not remembered for seconds more; the present one is found again.
    shared.callers.forget_partner(partner);
    Ok(changed)
}

impl From<PasswordChangeError> for ApiError {
    fn from(error: PasswordChangeError) -> Self {
        match error {
            PasswordChangeError::Refused { wrong_current, new } => {
                let mut faults = Faults::new();
                if wrong_current {
                    faults.push("current", "is not the present password");
                }
                if let Some(invalid) = new {
                    faults.push("new", invalid.detail());
                }
                faults.into()
            }
            PasswordChangeError::Token(error) => error.into(),
        }
    }
}
