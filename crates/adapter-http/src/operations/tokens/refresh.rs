//! Issues tokens for a refresh token.

use crate::input::field_types::text;
use crate::operation::Effect;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::with_effect(&operations::TOKEN_REFRESH, Needs::Nothing, Effect::Refresh)
        .reads(reads!(read))
        .responds::<api::Tokens>(200)
        .refuses(&[Code::Unauthorized, Code::TooManyRequests]);

pub(crate) fn read(r: &mut Reader<'_>) -> Option<String> {
    r.body().required("token", text(|token| Ok(token.to_owned())).about("The refresh token."))
}
