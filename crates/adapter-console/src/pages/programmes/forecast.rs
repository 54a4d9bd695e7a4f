//! What programmes will do, as a chart with its table.

use kopeck_api::operations::PROGRAMME_FORECAST;
use kopeck_api::{Data, Programme, ProgrammeForecast};
use kopeck_domain::calendar::date_text;
use time::{Date, Duration};

use crate::call::Problem;
use crate::chart::{Chart, Point};
use crate::texts::Text;
use crate::view::{Block, Cell, Table};
use crate::visit::Visit;

/// How far ahead a forecast goes, unless a page asks for another day.
pub(crate) const AHEAD: Duration = Duration::days(60);

/// The forecast up to a day.
pub(crate) async fn read(visit: &Visit<'_>, until: Date) -> Result<Vec<ProgrammeForecast>, Problem> {
    let until = date_text(until);
    let found: Data<Vec<_>> = visit.get(&PROGRAMME_FORECAST, &[], &[("until", &until)]).await?;
    Ok(found.data)
}

/// The chart of what is available, from now on, and the table of what is due. Without a chart if nothing is.
pub(crate) fn block(
    visit: &Visit<'_>,
    available: i64,
    rows: &[ProgrammeForecast],
    programmes: &[Programme],
) -> Block {
    let table = table(visit, rows, programmes);
    let point = |date: Date, value: i64, is_alarm: bool| Point {
        at: i64::from(date.to_julian_day()),
        label: visit.date(date),
        values: vec![value],
        is_alarm,
    };
    let then = rows.iter().map(|row| point(row.date, row.available_after, row.short > 0));
    let points: Vec<Point> = std::iter::once(point(visit.today(), available, false)).chain(then).collect();
    let names = [visit.t(Text::AVAILABLE)];
    let chart = Chart::new(visit.t(Text::AVAILABLE_BY_DATE), &names, &points, |kopecks| visit.money(kopecks));
    match chart {
        Some(chart) => Block::Chart(Box::new(chart), table),
        None => Block::Table(table),
    }
}

fn table(visit: &Visit<'_>, rows: &[ProgrammeForecast], programmes: &[Programme]) -> Table {
    let columns = [
        (Text::DATE, false),
        (Text::PROGRAMME, false),
        (Text::PERIOD, false),
        (Text::PEOPLE_PAID, true),
        (Text::NEEDED, true),
        (Text::AVAILABLE_AFTER, true),
        (Text::MISSING, true),
    ];
    let mut table =
        Table::new(visit.t(Text::PROGRAMMES_DUE), visit.columns(&columns), visit.t(Text::NO_PROGRAMMES_DUE));
    for row in rows {
        let known = programmes.iter().find(|programme| programme.id_programme == row.id_programme);
        let name = match known {
            Some(known) => {
                Cell::link(known.terms.name.clone(), &format!("/programme/{}", known.id_programme))
            }
            None => Cell::text(visit.t(Text::THIS_PROGRAMME)),
        };
        table.rows.push(vec![
            Cell::text(visit.date(row.date)),
            name,
            Cell::text(row.period.clone()),
            Cell::number(row.people.to_string()),
            Cell::number(visit.money(row.needed)),
            Cell::number(visit.money(row.available_after)),
            Cell::number(if row.short > 0 { visit.money(row.short) } else { String::new() }),
        ]);
    }
    table
}
