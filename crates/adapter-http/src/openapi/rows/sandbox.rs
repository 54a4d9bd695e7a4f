//! The sandbox.

use kopeck_domain::calendar::Zone;
use time::UtcOffset;

use super::Refusal::{self, Coded};
use super::{Row, reads, row};
use crate::code::Code;
use crate::dto::{BalanceDto, Done, PurchaseDto, RefundDto};
use crate::handlers::sandbox;
use crate::input::reader::Reader;

/// The form of a moment is the same in every zone.
const ANY_ZONE: Zone = Zone::new(UtcOffset::UTC);

pub(super) const ROWS: &[Row] = &[
    row::<BalanceDto>("sandbox.deposit", reads!(sandbox::read_deposit), &[]),
    row::<PurchaseDto>("sandbox.purchase", |r| on_card(r, reads!(sandbox::read_purchase, ANY_ZONE)), OF_CARD),
    row::<RefundDto>("sandbox.refund", |r| on_card(r, reads!(sandbox::read_refund)), OF_CARD),
    row::<Done>("sandbox.block", reads!(sandbox::read_card), OF_CARD),
    row::<Done>("sandbox.unblock", reads!(sandbox::read_card), OF_CARD),
    row::<Done>("sandbox.expire", reads!(sandbox::read_card), OF_CARD),
    row::<Done>("sandbox.activate", |r| on_card(r, reads!(sandbox::read_activation)), OF_CARD),
    row::<Done>("sandbox.bank", reads!(sandbox::read_misbehaviour), NO_BANK),
    row::<Done>("sandbox.clock", reads!(sandbox::read_seconds), NO_BANK),
];

const OF_CARD: &[Refusal] = &[Coded(404, &[Code::CardNotFound]), Coded(503, &[Code::BankUnavailable])];
const NO_BANK: &[Refusal] = &[Coded(503, &[Code::BankUnavailable])];

/// The card of the path, and what `read` asks for.
fn on_card(r: &mut Reader<'_>, read: fn(&mut Reader<'_>)) {
    sandbox::read_card(r);
    read(r);
}
