//! A statement as ISO 20022 camt.053.001.08.
//!
//! The account is the partner's identifier, since the partner has no account at a bank here.

use std::fmt::Write as _;

use kopeck_port_store::{BookedMovement, StoreError};
use time::format_description::well_known::Rfc3339;
use time::{Date, OffsetDateTime, Time};

use super::bookings::{Booking, Bookings};
use super::{EntryWriter, StatementHead};
use crate::wording::{self, Language};

/// The most characters of a reference.
const REFERENCE_CHARS: usize = 35;

/// Writes the file.
pub(super) struct Camt {
    head: StatementHead,
    bookings: Bookings,
}

impl Camt {
    pub(super) fn new(head: StatementHead) -> Self {
        Self { bookings: Bookings::new(head.zone), head }
    }

    fn time(&self, at: OffsetDateTime) -> String {
        let at = at.to_offset(self.head.zone.offset()).replace_nanosecond(0).unwrap_or(at);
        at.format(&Rfc3339).unwrap_or_default()
    }

    fn end_of(&self, day: Date) -> OffsetDateTime {
        let last_second = Time::MIDNIGHT - time::Duration::SECOND;
        day.with_time(last_second).assume_offset(self.head.zone.offset())
    }
}

impl EntryWriter for Camt {
    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), StoreError> {
        let (month, span) = (self.head.outline.month, &self.head.outline.span);
        let (coming, going) = self.head.turnovers()?;
        let account = self.head.partner.uuid().simple().to_string();
        let first = month.first_day();
        let last = self.head.outline.days.last().map_or(first, |day| day.date);
        let (made_at, from) = (self.time(self.head.made_at), self.time(self.head.zone.start_of(first)));
        let to = self.time(self.end_of(last));
        let (name, month) = (escaped(&self.head.name, 140), month.text());
        let message = format!("{month}-{}", self.head.made_at.unix_timestamp());
        let opening = balance("OPBD", span.opening.balance.get(), first);
        let closing = balance("CLBD", span.closing.balance.get(), last);
        let sum = |kopecks| Language::English.roubles(kopecks);
        let (coming, going) = (sum(coming), sum(going));
        out.extend_from_slice(
            format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                 <Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.08\">\n<BkToCstmrStmt>\n\
                 <GrpHdr><MsgId>{message}</MsgId><CreDtTm>{made_at}</CreDtTm></GrpHdr>\n<Stmt>\n<Id>{month}</Id>\
                 <CreDtTm>{made_at}</CreDtTm><FrToDt><FrDtTm>{from}</FrDtTm><ToDtTm>{to}</ToDtTm></FrToDt>\n\
                 <Acct><Id><Othr><Id>{account}</Id></Othr></Id><Ccy>RUB</Ccy><Ownr><Nm>{name}</Nm></Ownr></Acct>\n\
                 {opening}{closing}<TxsSummry><TtlCdtNtries><Sum>{coming}</Sum></TtlCdtNtries>\
                 <TtlDbtNtries><Sum>{going}</Sum></TtlDbtNtries></TxsSummry>\n"
            )
            .as_bytes(),
        );
        Ok(())
    }

    fn entry(&mut self, booked: &BookedMovement, out: &mut Vec<u8>) -> Result<(), StoreError> {
        if let Some(booking) = self.bookings.add(booked)? {
            write_entry(&booking, out);
        }
        Ok(())
    }

    fn tail(&mut self, out: &mut Vec<u8>) {
        if let Some(booking) = self.bookings.end() {
            write_entry(&booking, out);
        }
        out.extend_from_slice(b"</Stmt>\n</BkToCstmrStmt>\n</Document>\n");
    }
}

fn balance(code: &str, kopecks: i64, day: Date) -> String {
    let (amount, day) = (amount(kopecks), iso(day));
    format!("<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp>{amount}<Dt><Dt>{day}</Dt></Dt></Bal>\n")
}

/// Amount and direction.
fn amount(kopecks: i64) -> String {
    let side = if kopecks < 0 { "DBIT" } else { "CRDT" };
    let roubles = Language::English.roubles(kopecks);
    format!("<Amt Ccy=\"RUB\">{}</Amt><CdtDbtInd>{side}</CdtDbtInd>", roubles.trim_start_matches('-'))
}

fn write_entry(booking: &Booking, out: &mut Vec<u8>) {
    let (number, amount, day) = (booking.number, amount(booking.change), iso(booking.day));
    let mut text = format!(
        "<Ntry><NtryRef>{number}</NtryRef>{amount}<Sts><Cd>BOOK</Cd></Sts>\
         <BookgDt><Dt>{day}</Dt></BookgDt><ValDt><Dt>{day}</Dt></ValDt>"
    );
    // Writing to a text does not fail.
    if let Some(id) = booking.id {
        let _ = write!(text, "<AcctSvcrRef>{}</AcctSvcrRef>", id.simple());
    }
    let code = booking.entry_type.as_str();
    let _ = write!(text, "<BkTxCd><Prtry><Cd>{code}</Cd><Issr>Kopeck</Issr></Prtry></BkTxCd>");
    let mut about = wording::entry_source(booking.source).of(Language::English).to_owned();
    if let Some(reference) = &booking.reference {
        if reference.chars().count() <= REFERENCE_CHARS {
            let reference = escaped(reference, REFERENCE_CHARS);
            let _ = write!(
                text,
                "<NtryDtls><TxDtls><Refs><EndToEndId>{reference}</EndToEndId></Refs></TxDtls></NtryDtls>"
            );
        }
        let _ = write!(about, ", {reference}");
    }
    let _ = writeln!(text, "<AddtlNtryInf>{}</AddtlNtryInf></Ntry>", escaped(&about, 500));
    out.extend_from_slice(text.as_bytes());
}

fn iso(day: Date) -> String {
    format!("{:04}-{:02}-{:02}", day.year(), u8::from(day.month()), day.day())
}

/// So many characters of a text, as the content of an element.
fn escaped(text: &str, most: usize) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars().take(most) {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}
