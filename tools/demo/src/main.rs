#![doc = include_str!("../README.md")]

mod books;
mod money;
mod month;
mod outcome;
mod plan;
mod pool;
mod progress;
mod settings;
mod staff_file;
mod steps;
mod table;

use std::process::ExitCode;

use crate::books::Check;
use crate::settings::Settings;

#[tokio::main]
async fn main() -> ExitCode {
    let played = match std::env::args().nth(1).as_deref() {
        None => play().await,
        Some("month") => play_month().await,
        Some(other) => {
            eprintln!("{other} is nothing to play; there is month, and the first day without a name");
            return ExitCode::FAILURE;
        }
    };
    let checks = match played {
        Ok(checks) => checks,
        Err(error) => {
            eprintln!("the demo could not go on: {error:#}");
            return ExitCode::FAILURE;
        }
    };
    let wrong: Vec<&Check> = checks.iter().filter(|check| !check.fits()).collect();
    if wrong.is_empty() {
        println!("\nthe money adds up");
        return ExitCode::SUCCESS;
    }
    println!("\nthe money does not add up:");
    for check in wrong {
        println!("  {check}");
    }
    ExitCode::FAILURE
}

async fn play_month() -> anyhow::Result<Vec<Check>> {
    let settings = Settings::from_env()?;
    month::play(&settings.client()?, settings.deposit, settings::cards()?).await
}

/// Plays the day, shows it, and answers with every comparison made.
async fn play() -> anyhow::Result<Vec<Check>> {
    let settings = Settings::from_env()?;
    let staff_file = settings::staff_file()?;
    let rows = staff_file::read(&staff_file)?;
    let client = settings.client()?;
    let at_start = client.balance().await?;

    table::heading(&format!("Employees: {} rows of {}", rows.len(), staff_file.display()));
    let staff = steps::staff::hire(&client, &rows).await?;
    table::staff(&staff);

    table::heading("Cards: ordered, issued, linked");
    let issued = steps::orders::order(&client).await?;
    let wallet = steps::links::link(&client, &staff.employees, issued.cards).await?;
    let after_orders = client.balance().await?;
    let dear = steps::orders::too_dear(&client, after_orders.available).await?;
    table::cards(&wallet, &dear);

    table::heading("Top-ups: one request");
    let planned = steps::bank::prepare(&client, &wallet.linked).await?;
    let before_top_ups = client.balance().await?;
    let top_ups = steps::top_ups::run(&client, planned, before_top_ups.available).await?;
    table::top_ups(&top_ups);

    table::heading("Does the money add up?");
    let seen = steps::verify::look(&client, &wallet, &top_ups).await?;
    table::balances(&[
        ("at the start", &at_start),
        ("after the orders", &after_orders),
        ("after the refused order", &before_top_ups),
        ("after the top-ups", &seen.balance),
    ]);
    let books = books::Books {
        deposit: settings.deposit,
        at_start: (&at_start).into(),
        after_orders: (&after_orders).into(),
        after_refused_order: (&before_top_ups).into(),
        at_end: (&seen.balance).into(),
        order_cost: issued.cost,
        employees: books::Count { expected: staff.employees.len(), found: seen.employees },
        orders: books::Count { expected: steps::orders::ACCEPTED, found: seen.orders },
        requests: books::Count { expected: 1, found: seen.top_up_requests },
        repeats_answered_alike: top_ups.repeat_is_the_same,
        top_ups: top_ups.cards,
        linked: seen.linked,
        free: seen.free,
    };
    let checks = books.checks();
    table::checks(&checks);
    Ok(checks)
}
