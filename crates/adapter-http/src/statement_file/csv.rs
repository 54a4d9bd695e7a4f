//! The entries as CSV: plain by RFC 4180, and for spreadsheet programs.

use kopeck_api::BalanceEntry;
use kopeck_api::wire::WireText as _;
use kopeck_domain::calendar::Zone;
use kopeck_domain::ledger::EntryType;
use kopeck_port_store::{BookedMovement, StoreError};

use super::xlsx::COLUMNS;
use super::{EntryWriter, StatementHead};
use crate::cells::{ExcelCsv, csv_cell};
use crate::dto::{self, entry};
use crate::wording;

/// The names of the columns.
const NAMES: &str =
    "seq,at,type,amount,balance,hold,kind,id,reference,available,balanceChange,holdChange\r\n";

/// Kopecks for programs.
pub(super) struct PlainCsv {
    pub(super) zone: Zone,
}

impl EntryWriter for PlainCsv {
    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), StoreError> {
        out.extend_from_slice(NAMES.as_bytes());
        Ok(())
    }

    fn entry(&mut self, booked: &BookedMovement, out: &mut Vec<u8>) -> Result<(), StoreError> {
        let entry = entry::body(booked, self.zone)?;
        let BalanceEntry { seq, at, entry_type, amount, balance, hold, of, .. } = entry;
        let BalanceEntry { available, balance_change, hold_change, .. } = entry;
        let id = of.id.map(|id| id.to_string()).unwrap_or_default();
        let reference = of.reference.unwrap_or_default();
        let (kind, reference) = (of.kind.as_str(), csv_cell(&reference));
        let line = format!(
            "{seq},{},{},{amount},{balance},{hold},{kind},{id},{reference},\
             {available},{balance_change},{hold_change}\r\n",
            at.text(),
            entry_type.as_str()
        );
        out.extend_from_slice(line.as_bytes());
        Ok(())
    }

    fn tail(&mut self, _: &mut Vec<u8>) {}
}

/// Roubles for people.
pub(super) struct PeoplesCsv {
    zone: Zone,
    csv: ExcelCsv,
}

impl PeoplesCsv {
    pub(super) const fn new(head: &StatementHead) -> Self {
        Self { zone: head.zone, csv: ExcelCsv { language: head.language } }
    }
}

impl EntryWriter for PeoplesCsv {
    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), StoreError> {
        let names = COLUMNS.map(|(name, _)| name.of(self.csv.language));
        out.extend_from_slice(self.csv.mark().as_bytes());
        out.extend_from_slice(self.csv.line(&names).as_bytes());
        Ok(())
    }

    fn entry(&mut self, booked: &BookedMovement, out: &mut Vec<u8>) -> Result<(), StoreError> {
        let (language, kind) = (self.csv.language, EntryType::from(booked.movement.kind()));
        let entry = entry::body(booked, self.zone)?;
        let cells = [
            entry.seq.to_string(),
            self.csv.time(dto::local(booked.booked_at, self.zone)),
            wording::entry_type(kind).of(language).to_owned(),
            language.roubles(entry.amount),
            language.roubles(entry.balance),
            language.roubles(entry.hold),
            wording::entry_source(booked.movement.source()).of(language).to_owned(),
            entry.of.id.map(|id| id.to_string()).unwrap_or_default(),
            ExcelCsv::text(&entry.of.reference.unwrap_or_default()),
            language.roubles(entry.available),
            language.roubles(entry.balance_change),
            language.roubles(entry.hold_change),
        ];
        out.extend_from_slice(self.csv.line(&cells).as_bytes());
        Ok(())
    }

    fn tail(&mut self, _: &mut Vec<u8>) {}
}
