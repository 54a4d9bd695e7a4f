#[path = "it/calls.rs"]
mod calls;
#[path = "it/employees.rs"]
mod employees;
#[path = "it/server.rs"]
mod server;
