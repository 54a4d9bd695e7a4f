//! The service from outside: over HTTP, by its commands, and killed.

#![expect(unreachable_pub, reason = "a test binary has no outside")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of a test fail it by panicking, as the test itself does"
)]

mod accounts;
mod api_client;
mod api_examples;
mod architecture;
mod audit;
mod audit_signed;
mod away;
mod balance;
mod bank;
mod bank_capabilities;
mod bank_check;
mod bank_feed;
mod bank_network;
mod book;
mod calendar;
mod can_pay;
mod card_blocks;
mod card_lists;
mod card_names;
mod cards;
mod categories;
mod quick_passwords;
mod raw_http;
// Certificates are made the same way for a bank.
#[path = "../../../adapter-bank-http/tests/it/certificates.rs"]
mod certificates;
mod clock;
mod clock_steps;
mod command_line;
mod command_line_examples;
mod command_line_input;
mod commands;
mod connections;
mod console;
mod contract_end;
mod copies;
mod coverage;
mod database;
mod deploy;
mod deployment;
mod docs_page;
mod employee_versions;
mod employees;
mod erasure;
mod events;
mod faults;
mod first_start;
mod http_bodies;
mod http_connections;
mod http_details;
mod http_head_method;
mod http_heads;
mod http_log;
mod http_order;
mod http_pipelining;
mod http_rates;
mod http_refresh;
mod http_refusals;
mod http_repeats;
mod http_sealing;
mod http_sessions;
mod http_throttle;
mod http_tokens;
mod http_vectors;
mod isolation;
mod key_rotation;
mod kill;
mod kill_runs;
// The examples of BANK.md are laid out by the same rule.
mod bank_faults;
#[path = "../../../adapter-bank-http/tests/it/layout.rs"]
mod layout;
mod leavers;
mod limits;
mod limits_refusals;
mod lists;
mod lost_cards;
mod memory;
mod memory_of_values;
mod memory_pipelining;
mod names;
mod openapi;
mod operations;
mod operators;
mod orders;
mod outages;
mod output;
mod own_sessions;
mod pages;
mod passwords;
mod paydays;
mod personal_data;
mod process;
mod programmes;
mod prose;
mod races;
mod readme;
mod reconcile;
mod reconcile_command;
mod references;
mod rehearsals;
mod replenishments;
mod reports;
mod request_log;
mod returns;
mod roles;
mod run_files;
mod run_races;
mod runs;
mod sandbox;
mod scopes;
mod sealed_once;
mod sealing_required;
mod sealing_rotation;
mod security_review;
mod server;
mod several;
mod statement_command;
mod statement_files;
mod statements;
mod stopping;
mod stuck;
mod tls;
mod transactions;
mod turns;
mod upgrade;
mod users;
mod webhooks;
mod workflows;
mod world;
mod wrong_cards;
