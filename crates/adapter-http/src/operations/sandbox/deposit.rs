//! Adds to the partner's balance.

use kopeck_domain::Kopecks;
use kopeck_service::partners;
use kopeck_service::partners::{DepositOrigin, PartnerError};

use crate::input::field_types::amount;
use crate::operations::balance;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::SANDBOX_DEPOSIT, Needs::One(Scope::SandboxWrite), handler!(deposit))
        .reads(reads!(read))
        .responds::<api::Balance>(200);

fn read(r: &mut Reader<'_>) -> Option<Kopecks> {
    r.body().required("amount", amount().about("Kopecks."))
}

async fn deposit(mut ctx: HandlerContext) -> HandlerResult {
    let amount = ctx.values(read);
    ctx.mutate(amount, |unit, env, partner, amount| {
        partners::deposit(unit, env, partner, *amount, &DepositOrigin::Sandbox)?;
        let sheet = kopeck_service::balance::get(unit, partner)?;
        balance::body(&sheet, env.settings.zone)
    })
    .await
}

impl From<PartnerError> for ApiError {
    fn from(error: PartnerError) -> Self {
        match error {
            PartnerError::NotPositive | PartnerError::Overflow => Self::field("amount", error.to_string()),
            // A deposit of an authenticated partner under a new reference has none of these errors.
            PartnerError::LoginTaken
            | PartnerError::Password(_)
            | PartnerError::NotFound
            | PartnerError::NoCredential
            | PartnerError::TooManyCredentials
            | PartnerError::Forbidden(_)
            | PartnerError::NotForCredentials(_)
            | PartnerError::ReferenceUsed(_)
            | PartnerError::NoDeposit
            | PartnerError::AlreadyReversed
            | PartnerError::Insufficient(_) => Self::internal(error.to_string()),
            PartnerError::Store(error) => error.into(),
            PartnerError::Security(error) => error.into(),
        }
    }
}
