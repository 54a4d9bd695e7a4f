//! Sessions and the password of one's own login.

mod end;
mod list;
mod password;

use crate::operations::prelude::*;

pub(super) static OPERATIONS: [&Operation; 3] = [&list::OPERATION, &end::OPERATION, &password::OPERATION];
