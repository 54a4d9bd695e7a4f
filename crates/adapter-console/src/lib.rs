#![doc = include_str!("../README.md")]

mod call;
mod change;
mod chart;
mod cookies;
mod format;
mod host;
mod pages;
mod pattern;
mod request;
mod route;
mod session;
mod texts;
mod unsent;
mod view;
mod visit;
mod week;

pub use host::{
    ApiRequest, ApiResponse, BankCallStatus, Busy, Caller, Chunks, CutOff, FileForm, Host, Local,
    ServiceStatus, StatusReport, StatusSample, WorkStatus,
};
pub use pattern::pattern;
pub use request::{Request, Response, Visitor};
pub use route::{Console, ConsoleParts, OperatorParts};
pub use texts::Language;
