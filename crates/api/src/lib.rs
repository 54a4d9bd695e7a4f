#![doc = include_str!("../README.md")]

mod error_code;
mod open_enum;
mod operation;

pub use error_code::{Code, ErrorCode};
pub use operation::{Method, Operation, operations, placeholders};
