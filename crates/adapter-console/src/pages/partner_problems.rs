//! What the refusals of partners' use cases say.

use kopeck_service::partners::PartnerError;

use crate::call::Problem;
use crate::texts::{Text, field_text};
use crate::visit::Visit;

/// What the refusal of a change to a partner or its credentials says.
pub(crate) fn partner_problem(visit: &Visit<'_>, error: &PartnerError) -> Problem {
    let problem = |status, text| Problem::new(status, visit.language, text);
    match error {
        PartnerError::NotFound | PartnerError::NoCredential => visit.nothing(),
        PartnerError::Forbidden(_) => Problem::hidden(403, visit.language),
        PartnerError::TooManyCredentials => problem(409, Text::TOO_MANY_CREDENTIALS),
        PartnerError::NotForCredentials(_) => problem(422, Text::FORM_INCOMPLETE),
        PartnerError::LoginTaken => problem(409, Text::PARTNER_LOGIN_TAKEN),
        PartnerError::Password(_) => problem(422, Text::PASSWORD_REFUSED),
        PartnerError::NotPositive => problem(422, Text::AMOUNT_ABOVE_ZERO),
        PartnerError::ReferenceUsed(amount) => {
            let mut problem = problem(409, Text::REFERENCE_USED);
            problem.lines.push(visit.money(amount.get()));
            problem
        }
        PartnerError::NoDeposit
        | PartnerError::AlreadyReversed
        | PartnerError::Insufficient(_)
        | PartnerError::Overflow
        | PartnerError::Store(_)
        | PartnerError::Security(_) => visit.failed(error),
    }
}

/// The problem of a faulty field.
pub(crate) fn faulty(visit: &Visit<'_>, field: &str, invalid: impl std::fmt::Display) -> Problem {
    Problem { status: 422, lines: vec![field_text(visit.language, field, &invalid.to_string())] }
}
