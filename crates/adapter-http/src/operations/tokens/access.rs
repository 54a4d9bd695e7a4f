//! Issues tokens for login and password.

use kopeck_service::tokens::LoginBody;
use secrecy::SecretString;

use crate::input::field_types::text;
use crate::operation::Effect;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::with_effect(&operations::TOKEN_ACCESS, Needs::Nothing, Effect::Login)
        .reads(reads!(read))
        .responds::<api::Tokens>(200)
        .refuses(&[Code::BadCredentials, Code::TooManyRequests]);

pub(crate) fn read(r: &mut Reader<'_>) -> Option<LoginBody> {
    let mut body = r.body();
    let login = body.required("login", text(|login| Ok(login.to_owned())));
    let password = body.required("password", text(|password| Ok(SecretString::from(password))));
    Some(LoginBody::Credentials { login: login?, password: password? })
}
