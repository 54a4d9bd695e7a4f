//! `kopeck report`.

use std::io::Write;

use kopeck_adapter_http::{Language, ReportSpreadsheet, RowWriter};
use kopeck_domain::ids::PartnerId;
use kopeck_domain::report::ReportAmounts;
use kopeck_port_store::{Access, ReportRow, Store, transact};
use kopeck_service::partners::{self, PartnerError};
use kopeck_service::report::{self, ReportError, ReportOutline};

use super::{existing_application, month_file};
use crate::cli::{ReportArgs, ReportForm};
use crate::command_output::aligned;

/// Shows what moved on the cards of a partner's employees in a month, or writes it to a file.
pub(super) fn run(args: &ReportArgs) -> anyhow::Result<()> {
    month_file::check(&args.of, args.format == ReportForm::Xlsx)?;
    let application = existing_application(&args.of.store)?;
    let (store, env) = (application.store(), application.env.clone());
    let (partner, month) = (args.of.partner, args.of.month);
    transact(&*store, Access::Read, move |unit| -> Result<_, PartnerError> {
        partners::find(unit, partner)
    })?;
    let outline = transact(&*store, Access::Read, move |unit| -> Result<_, ReportError> {
        report::outline(unit, &env, partner, month)
    })?;
    let reader = ReportReader { store: &*store, partner, outline };
    month_file::write(&args.of, |out| reader.write(args.format, args.of.lang, out))
}

/// Reads a month in pieces.
struct ReportReader<'a> {
    store: &'a dyn Store,
    partner: PartnerId,
    outline: ReportOutline,
}

impl ReportReader<'_> {
    fn write(
        &self,
        form: ReportForm,
        language: Language,
        out: &mut (dyn Write + Send),
    ) -> anyhow::Result<()> {
        match form {
            ReportForm::Table => Ok(write!(out, "{}", self.table()?)?),
            ReportForm::Json => {
                self.rows(RowWriter::Json(false), out)?;
                Ok(writeln!(out)?)
            }
            ReportForm::Csv => self.rows(RowWriter::Csv, out),
            ReportForm::Excel => self.rows(RowWriter::Excel(language), out),
            ReportForm::Xlsx => {
                let mut sheet = ReportSpreadsheet::new(language)?;
                let sums = self.for_each(|row| Ok(sheet.add(row)?))?;
                Ok(sheet.finish(&sums, out)?)
            }
        }
    }

    /// Writes row by row.
    fn rows(&self, mut writer: RowWriter, out: &mut dyn Write) -> anyhow::Result<()> {
        let mut bytes = Vec::new();
        writer.head(&self.outline, &mut bytes);
        let sums = self.for_each(|row| {
            out.write_all(&bytes)?;
            bytes.clear();
            Ok(writer.row(row, &mut bytes)?)
        })?;
        writer.tail(&sums, &mut bytes)?;
        Ok(out.write_all(&bytes)?)
    }

    /// Calls `each` with every row; returns the total.
    fn for_each(
        &self,
        mut each: impl FnMut(&ReportRow) -> anyhow::Result<()>,
    ) -> anyhow::Result<ReportAmounts> {
        let mut sums = ReportAmounts::default();
        report::for_each_row(self.store, self.partner, &self.outline, |row| {
            sums = report::with_row(sums, row)?;
            each(row)
        })?;
        Ok(sums)
    }

    /// A line for each employee and the total in roubles, for people.
    fn table(&self) -> anyhow::Result<String> {
        let head = [
            "customId",
            "name",
            "category",
            "opening",
            "given",
            "spent",
            "refunded",
            "returned",
            "correction",
            "late",
            "closing",
        ];
        let mut lines = vec![head.map(str::to_owned)];
        let sums = self.for_each(|row| {
            let (id, name, category) = labels(row);
            lines.push(line([id, name, category], &row.amounts)?);
            Ok(())
        })?;
        lines.push(line(["total".to_owned(), String::new(), String::new()], &sums)?);
        let so_far = if self.outline.is_complete { "" } else { ", which is not over" };
        let closed = self.outline.closed.map_or("", |_| ", closed");
        Ok(format!("{}{so_far}{closed}\n\n{}", self.outline.month.text(), aligned(&lines)))
    }
}

/// Number, name and category of the person; an erased one has none.
fn labels(row: &ReportRow) -> (String, String, String) {
    let Some(person) = &row.person else {
        return ("-".to_owned(), "cards without a holder".to_owned(), String::new());
    };
    let names = [&person.surname, &person.name, &person.patronymic];
    let name: Vec<&str> = names.into_iter().filter_map(Option::as_deref).collect();
    let id = person.custom_id.clone().unwrap_or_else(|| person.id.to_string());
    let category = person.category.as_ref().map(|(_, name)| name.clone());
    (id, name.join(" "), category.unwrap_or_default())
}

fn line(labels: [String; 3], amounts: &ReportAmounts) -> anyhow::Result<[String; 11]> {
    let [id, name, category] = labels;
    let ReportAmounts { opening, given, spent, refunded, returned, correction, late, .. } = amounts;
    let closing = amounts.closing()?;
    let [opening, given, spent, refunded, returned, correction, late] =
        [opening, given, spent, refunded, returned, correction, late].map(|amount| amount.to_string());
    let closing = closing.to_string();
    Ok([id, name, category, opening, given, spent, refunded, returned, correction, late, closing])
}
