//! Decides each payment of a CSV file by a limit: which would be approved, why not, and what is left.
//!
//! ```text
//! cargo run -p kopeck-domain --example limit_calculator -- payments.csv CMONTH 500000 1,2,3,4,5 09:00-18:00
//! ```
//!
//! The file has the columns `at` (`DD.MM.YYYY HH:MM` in Moscow's time) and `kopecks`, oldest payment first.

use std::error::Error;

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_domain::limit::{Days, Limit, PaymentAttempt, decide};
use time::OffsetDateTime;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, period, amount, rest @ ..] = arguments.as_slice() else {
        return Err("limit_calculator FILE PERIOD KOPECKS [DAYS [WINDOWS]]".into());
    };
    let mut limit = Limit::per(period.parse()?, Kopecks::new(amount.parse()?));
    if let Some(days) = rest.first() {
        let days: Vec<i64> = days.split(',').map(str::parse).collect::<Result<_, _>>()?;
        limit = limit.on(Days::parse(&days)?);
    }
    if let Some(windows) = rest.get(1) {
        limit = limit.within(windows.split(','));
    }
    print!("{}", report(&limit.build()?, Zone::parse("+03:00")?, &std::fs::read_to_string(file)?)?);
    Ok(())
}

/// One line a payment.
pub(crate) fn report(limit: &Limit, zone: Zone, csv: &str) -> Result<String, Box<dyn Error>> {
    let mut approved: Vec<(OffsetDateTime, Kopecks)> = Vec::new();
    let mut lines = String::new();
    for row in csv::Reader::from_reader(csv.as_bytes()).deserialize() {
        let (at, kopecks): (String, i64) = row?;
        let (moment, amount) = (zone.parse_moment(&at)?, Kopecks::new(kopecks));
        // What counts are the payments of the period around this one.
        let spent = match limit.period_around(zone, moment) {
            Some(period) => {
                let counted = approved.iter().filter(|(earlier, _)| period.contains(earlier));
                Kopecks::sum(counted.map(|(_, amount)| *amount))?
            }
            None => Kopecks::ZERO,
        };
        let decision = decide(limit, zone, &PaymentAttempt::new(moment, amount), spent);
        let verdict = decision.refusal.map_or("approved", |refusal| refusal.as_str());
        let left = decision.remaining.map_or_else(|| "any".to_owned(), |left| left.to_string());
        lines.push_str(&format!("{at} {amount:>10} {verdict:<16} left before: {left}\n"));
        if decision.is_allowed() {
            approved.push((moment, amount));
        }
    }
    Ok(lines)
}
