//! `kopeck statement`.

use std::io::Write;

use kopeck_adapter_http::{
    FileFormat, Language, SpreadsheetWriter, StatementHead, entry_writer, statement_body,
};
use kopeck_domain::calendar::{Zone, date_text};
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Access, BookedMovement, KindTotal, Store, UnitOfWork, transact};
use kopeck_service::entries::BalanceParts;
use kopeck_service::partners::{self, PartnerError};
use kopeck_service::statement::{self, DayTotal, Outline, PIECE, StatementError, TOTALS_PIECE};
use time::OffsetDateTime;

use super::{existing_application, month_file};
use crate::cli::{StatementArgs, StatementForm};
use crate::command_output::aligned;

/// Shows the month of a partner, or writes it to a file.
pub(super) fn run(args: &StatementArgs) -> anyhow::Result<()> {
    month_file::check(&args.of, args.format == StatementForm::Xlsx)?;
    let application = existing_application(&args.of.store)?;
    let (store, env) = (application.store(), application.env.clone());
    let (partner, month) = (args.of.partner, args.of.month);
    let found = transact(&*store, Access::Read, move |unit| -> Result<_, PartnerError> {
        partners::find(unit, partner)
    })?;
    let made_at = env.now();
    let outline = transact(&*store, Access::Read, move |unit| -> Result<_, StatementError> {
        statement::outline(unit, &env, partner, month)
    })?;
    let reader =
        MonthReader { store: &*store, partner, outline, name: found.name, made_at, language: args.of.lang };
    month_file::write(&args.of, |out| reader.write(args.format, args.of.store.utc_offset, out))
}

/// Reads a month in pieces.
struct MonthReader<'a> {
    store: &'a dyn Store,
    partner: PartnerId,
    outline: Outline,
    /// The partner's.
    name: String,
    made_at: OffsetDateTime,
    language: Language,
}

impl MonthReader<'_> {
    fn write(&self, form: StatementForm, zone: Zone, out: &mut (dyn Write + Send)) -> anyhow::Result<()> {
        match form {
            StatementForm::Table => Ok(write!(out, "{}", self.table()?)?),
            StatementForm::Json => {
                let body = statement_body(&self.outline, &self.totals()?)?;
                Ok(writeln!(out, "{}", serde_json::to_string_pretty(&body)?)?)
            }
            StatementForm::Csv => self.entries(FileFormat::Csv, zone, out),
            StatementForm::Excel => self.entries(FileFormat::ExcelCsv, zone, out),
            StatementForm::OneC => self.entries(FileFormat::OneC, zone, out),
            StatementForm::Camt => self.entries(FileFormat::Camt, zone, out),
            StatementForm::Xlsx => {
                let mut writer = SpreadsheetWriter::new(zone, self.language)?;
                self.for_each(|entry| Ok(writer.add(entry)?))?;
                Ok(writer.finish(&statement_body(&self.outline, &self.totals()?)?, out)?)
            }
        }
    }

    /// Writes a file entry by entry.
    fn entries(&self, format: FileFormat, zone: Zone, out: &mut dyn Write) -> anyhow::Result<()> {
        let head = StatementHead {
            outline: self.outline.clone(),
            totals: self.totals()?,
            partner: self.partner,
            name: self.name.clone(),
            made_at: self.made_at,
            zone,
            language: self.language,
        };
        let Some(mut writer) = entry_writer(format, head) else { return Ok(()) };
        let mut bytes = Vec::new();
        writer.head(&mut bytes)?;
        self.for_each(|entry| {
            out.write_all(&bytes)?;
            bytes.clear();
            Ok(writer.entry(entry, &mut bytes)?)
        })?;
        writer.tail(&mut bytes);
        Ok(out.write_all(&bytes)?)
    }

    /// Reads the entries, a piece in a unit of work.
    fn for_each(&self, mut each: impl FnMut(&BookedMovement) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let (numbers, partner) = (&self.outline.span.numbers, self.partner);
        let mut from = numbers.start;
        while from < numbers.end {
            let piece = statement::piece(numbers, from, PIECE);
            from = piece.end;
            let read = move |unit: &mut dyn UnitOfWork| statement::entries(unit, partner, piece.clone());
            transact(self.store, Access::Read, read)?.iter().try_for_each(&mut each)?;
        }
        Ok(())
    }

    fn totals(&self) -> anyhow::Result<Vec<KindTotal>> {
        let (numbers, partner, mut totals) = (&self.outline.span.numbers, self.partner, Vec::new());
        let mut from = numbers.start;
        while from < numbers.end {
            let piece = statement::piece(numbers, from, TOTALS_PIECE);
            from = piece.end;
            let read = move |unit: &mut dyn UnitOfWork| statement::kind_totals(unit, partner, piece.clone());
            totals.extend(transact(self.store, Access::Read, read)?);
        }
        Ok(totals)
    }

    /// Totals in roubles, for people.
    fn table(&self) -> anyhow::Result<String> {
        let Outline { month, is_complete, span, days } = &self.outline;
        let so_far = if *is_complete { "" } else { ", which is not over" };
        let mut text = format!("{}{so_far}\n\n", month.text());
        let ends = [("opening", span.opening), ("closing", span.closing)];
        let mut rows = vec![["", "balance", "hold", "available"].map(str::to_owned)];
        rows.extend(ends.map(|(name, parts)| {
            let BalanceParts { balance, hold, available } = parts;
            [name.to_owned(), balance.to_string(), hold.to_string(), available.to_string()]
        }));
        text.push_str(&aligned(&rows));
        text.push('\n');
        let mut rows = vec![["type", "entries", "balance", "hold", "available"].map(str::to_owned)];
        rows.extend(statement::type_totals(&self.totals()?)?.iter().map(|total| {
            let BalanceParts { balance, hold, available } = total.change;
            let [balance, hold, available] = [balance, hold, available].map(|amount| amount.to_string());
            [total.entry_type.as_str().to_owned(), total.number.to_string(), balance, hold, available]
        }));
        text.push_str(&aligned(&rows));
        text.push('\n');
        let head = ["date", "opening", "closing", "hold", "available", "amount"];
        let mut rows = vec![head.map(str::to_owned)];
        rows.extend(days.iter().map(|day| {
            let DayTotal { date, opening, closing, change } = day;
            let amounts =
                [opening.balance, closing.balance, closing.hold, closing.available, change.available];
            let [opening, closing, hold, available, amount] = amounts.map(|amount| amount.to_string());
            [date_text(*date), opening, closing, hold, available, amount]
        }));
        text.push_str(&aligned(&rows));
        Ok(text)
    }
}
