#![doc = include_str!("../README.md")]

mod call;
mod change;
mod chart;
mod cookies;
mod format;
mod host;
mod pages;
mod request;
mod route;
mod session;
mod texts;
mod view;
mod visit;
mod week;

pub use host::{ApiRequest, ApiResponse, Busy, Caller, Chunks, CutOff, FileForm, Host, Local};
pub use request::{Request, Response};
pub use route::{Console, ConsoleParts};
pub use texts::Language;
