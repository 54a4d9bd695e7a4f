//! A statement as 1CClientBankExchange 1.03: lines of `Name=value` in Windows-1251.
//!
//! The account is the end of the partner's identifier, since the partner has no account at a bank here.

use encoding_rs::WINDOWS_1251;
use kopeck_domain::calendar::date_text;
use kopeck_port_store::{BookedMovement, StoreError};

use super::bookings::{Booking, Bookings};
use super::{EntryWriter, StatementHead};
use crate::wording::{self, Language};

/// The most characters of an account's number in programs of 1C.
const ACCOUNT_CHARS: usize = 20;
/// Who stands on the other side of what reaches cards and comes back from them.
const CARDS: &str = "Карты сотрудников";

/// Writes the file.
pub(super) struct OneC {
    head: StatementHead,
    account: String,
    bookings: Bookings,
}

impl OneC {
    pub(super) fn new(head: StatementHead) -> Self {
        let account = head.partner.uuid().simple().to_string();
        let account = account.get(account.len() - ACCOUNT_CHARS..).unwrap_or(&account).to_uppercase();
        Self { bookings: Bookings::new(head.zone), head, account }
    }

    fn period(&self) -> (String, String) {
        let first = self.head.outline.month.first_day();
        let last = self.head.outline.days.last().map_or(first, |day| day.date);
        (date_text(first), date_text(last))
    }

    fn document(&self, booking: &Booking, out: &mut Vec<u8>) {
        let (partner, is_income) = (self.head.name.as_str(), booking.change > 0);
        let day = date_text(booking.day);
        let other = match booking.id {
            Some(_) => CARDS,
            None => partner,
        };
        let own = self.account.as_str();
        let sides = if is_income {
            [("ПлательщикСчет", ""), ("Плательщик", other), ("ПолучательСчет", own), ("Получатель", partner)]
        } else {
            [("ПлательщикСчет", own), ("Плательщик", partner), ("ПолучательСчет", ""), ("Получатель", other)]
        };
        line(out, "СекцияДокумент", "Банковский ордер");
        line(out, "Номер", &booking.number.to_string());
        line(out, "Дата", &day);
        line(out, "Сумма", &roubles(booking.change));
        line(out, if is_income { "ДатаПоступило" } else { "ДатаСписано" }, &day);
        for (name, value) in sides {
            line(out, name, value);
        }
        line(out, "ВидОплаты", "17");
        line(out, "НазначениеПлатежа", &purpose(booking));
        words(out, "КонецДокумента");
    }
}

impl EntryWriter for OneC {
    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), StoreError> {
        let ((from, to), (coming, going)) = (self.period(), self.head.turnovers()?);
        let (zone, made_at) = (self.head.zone, self.head.made_at);
        words(out, "1CClientBankExchange");
        line(out, "ВерсияФормата", "1.03");
        line(out, "Кодировка", "Windows");
        line(out, "Отправитель", "Kopeck");
        line(out, "Получатель", "");
        line(out, "ДатаСоздания", &zone.date_text(made_at));
        line(out, "ВремяСоздания", &format!("{}:00", zone.time_text(made_at)));
        line(out, "ДатаНачала", &from);
        line(out, "ДатаКонца", &to);
        line(out, "РасчСчет", &self.account);
        words(out, "СекцияРасчСчет");
        line(out, "ДатаНачала", &from);
        line(out, "ДатаКонца", &to);
        line(out, "РасчСчет", &self.account);
        line(out, "НачальныйОстаток", &roubles(self.head.outline.span.opening.balance.get()));
        line(out, "ВсегоПоступило", &roubles(coming));
        line(out, "ВсегоСписано", &roubles(going));
        line(out, "КонечныйОстаток", &roubles(self.head.outline.span.closing.balance.get()));
        words(out, "КонецРасчСчет");
        Ok(())
    }

    fn entry(&mut self, booked: &BookedMovement, out: &mut Vec<u8>) -> Result<(), StoreError> {
        if let Some(booking) = self.bookings.add(booked)? {
            self.document(&booking, out);
        }
        Ok(())
    }

    fn tail(&mut self, out: &mut Vec<u8>) {
        if let Some(booking) = self.bookings.end() {
            self.document(&booking, out);
        }
        words(out, "КонецФайла");
    }
}

/// Roubles without a sign: the side of a document tells the direction.
fn roubles(kopecks: i64) -> String {
    Language::English.roubles(kopecks).trim_start_matches('-').to_owned()
}

fn purpose(booking: &Booking) -> String {
    let mut text = wording::entry_source(booking.source).of(Language::Russian).to_owned();
    if let Some(id) = booking.id {
        text.push_str(&format!(", заявка {id}"));
    }
    if let Some(reference) = &booking.reference {
        text.push_str(&format!(", номер {reference}"));
    }
    text
}

fn line(out: &mut Vec<u8>, name: &str, value: &str) {
    words(out, &format!("{name}={value}"));
}

/// A line in Windows-1251: `?` for a character that it does not have, a blank for one that would end the line.
fn words(out: &mut Vec<u8>, text: &str) {
    let text: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    match WINDOWS_1251.encode(&text) {
        (bytes, _, false) => out.extend_from_slice(&bytes),
        (.., true) => {
            for letter in text.chars() {
                let mut buffer = [0; 4];
                match WINDOWS_1251.encode(letter.encode_utf8(&mut buffer)) {
                    (bytes, _, false) => out.extend_from_slice(&bytes),
                    (.., true) => out.push(b'?'),
                }
            }
        }
    }
    out.extend_from_slice(b"\r\n");
}
