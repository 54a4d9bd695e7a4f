#![doc = include_str!("../README.md")]

mod error_code;
mod open_enum;

pub use error_code::{Code, ErrorCode};
