//! A month of a card programme, by the sandbox's clock: hire, order, load, spend, lose, freeze, close, replace, be paid by
//! a rule, take money back, leave, erase. At the end the balance, the cards, the transactions and the statement have to agree to the
//! kopeck.

mod payday;
mod programme;
mod verify;

use anyhow::ensure;
use kopeck_client::{Client, Date, PrimitiveDateTime, Time};

use self::programme::Programme;
use crate::books::Check;
use crate::table;

/// Plays the month that begins next, with so many cards, and answers with every comparison made.
pub(crate) async fn play(client: &Client, deposit: i64, cards: usize) -> anyhow::Result<Vec<Check>> {
    ensure!(cards >= 100, "a month needs 100 cards or more, so that something happens to one of a hundred");
    let mut calendar = Calendar::open(client).await?;
    table::heading(&format!("Day 1: {cards} employees and cards, each with money"));
    let mut programme = Programme::begin(client, deposit, cards).await?;
    calendar.advance_to(client, 5).await?;
    table::heading("Day 5: purchases, within the merchant categories and outside of them");
    programme.go_shopping().await?;
    calendar.advance_to(client, 12).await?;
    table::heading("Day 12: cards are lost and replaced, others are frozen");
    programme.lose_and_replace().await?;
    programme.freeze().await?;
    let payday = payday::promise(client, calendar.first.replace_day(15)?, programme::PAYDAY).await?;
    calendar.advance_to(client, 15).await?;
    table::heading("Day 15: payday, by a rule");
    programme.be_paid(&payday::paid(client, payday).await?)?;
    calendar.advance_to(client, 20).await?;
    table::heading("Day 20: money is taken back, purchases are refunded, frozen cards pay again");
    programme.take_back().await?;
    programme.refund().await?;
    programme.unfreeze().await?;
    calendar.advance_to(client, 26).await?;
    table::heading("Day 26: employees leave, and are erased");
    programme.leave().await?;
    calendar.end_month(client).await?;

    table::heading("Does the month add up?");
    let checks = verify::compare(client, &programme, calendar.month()).await?;
    table::checks(&checks);
    // For the script, which goes on with its statement.
    println!("the month is {}", calendar.month());
    Ok(checks)
}

/// The service's clock during the month.
struct Calendar {
    first: Date,
    now: PrimitiveDateTime,
}

/// An hour at which a programme works.
const MORNING: Time = match Time::from_hms(9, 0, 0) {
    Ok(time) => time,
    Err(_) => Time::MIDNIGHT,
};

impl Calendar {
    /// Moves the clock to the morning of the next month's first day.
    async fn open(client: &Client) -> anyhow::Result<Self> {
        // The time of the last movement is to the minute: early in the morning is early enough.
        let now = client.sandbox().deposit(programme::CLOCK_DEPOSIT).await?.updated_at;
        let first = first_of_next_month(now.date())?;
        let mut calendar = Self { first, now };
        calendar.move_to(client, first).await?;
        Ok(calendar)
    }

    async fn advance_to(&mut self, client: &Client, day: u8) -> anyhow::Result<()> {
        self.move_to(client, self.first.replace_day(day)?).await
    }

    async fn end_month(&mut self, client: &Client) -> anyhow::Result<()> {
        self.move_to(client, first_of_next_month(self.first)?).await
    }

    async fn move_to(&mut self, client: &Client, day: Date) -> anyhow::Result<()> {
        let morning = PrimitiveDateTime::new(day, MORNING);
        let seconds = u64::try_from((morning - self.now).whole_seconds())?;
        client.sandbox().advance_clock(seconds).await?;
        self.now = morning;
        Ok(())
    }

    /// The month's name for a statement.
    fn month(&self) -> String {
        format!("{:04}-{:02}", self.first.year(), u8::from(self.first.month()))
    }
}

fn first_of_next_month(day: Date) -> anyhow::Result<Date> {
    let month = day.month();
    let year = if u8::from(month) == 12 { day.year() + 1 } else { day.year() };
    Ok(Date::from_calendar_date(year, month.next(), 1)?)
}

#[cfg(test)]
mod tests {
    use kopeck_client::Date;

    use super::first_of_next_month;

    #[test]
    fn the_month_after_december_is_in_the_next_year() {
        let day = |year, ordinal| Date::from_ordinal_date(year, ordinal).unwrap();
        assert_eq!(first_of_next_month(day(2026, 365)).unwrap(), day(2027, 1));
        assert_eq!(first_of_next_month(day(2027, 1)).unwrap(), day(2027, 32));
    }
}
