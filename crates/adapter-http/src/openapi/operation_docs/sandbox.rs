//! The sandbox.

use kopeck_domain::calendar::Zone;
use time::UtcOffset;

use super::ErrorResponse::{self, Coded};
use super::{OperationDocs, docs, reads};
use crate::code::Code;
use crate::dto::{BalanceDto, PurchaseDto, RefundDto, SuccessDto};
use crate::handlers::sandbox;
use crate::input::reader::Reader;

/// The format of a timestamp is the same in every zone.
const ANY_ZONE: Zone = Zone::new(UtcOffset::UTC);

pub(super) const OPERATIONS: &[OperationDocs] = &[
    docs::<BalanceDto>("sandbox.deposit", reads!(sandbox::read_deposit), &[]),
    docs::<PurchaseDto>(
        "sandbox.purchase",
        |r| on_card(r, reads!(sandbox::read_purchase, ANY_ZONE)),
        OF_CARD,
    ),
    docs::<RefundDto>("sandbox.refund", |r| on_card(r, reads!(sandbox::read_refund)), OF_CARD),
    docs::<SuccessDto>("sandbox.block", reads!(sandbox::read_card), OF_CARD),
    docs::<SuccessDto>("sandbox.unblock", reads!(sandbox::read_card), OF_CARD),
    docs::<SuccessDto>("sandbox.expire", reads!(sandbox::read_card), OF_CARD),
    docs::<SuccessDto>("sandbox.activate", |r| on_card(r, reads!(sandbox::read_activation)), OF_CARD),
    docs::<SuccessDto>("sandbox.bank", reads!(sandbox::read_fault_injection), NO_BANK),
    docs::<SuccessDto>("sandbox.clock", reads!(sandbox::read_seconds), NO_BANK),
];

const OF_CARD: &[ErrorResponse] = &[Coded(404, &[Code::CardNotFound]), Coded(503, &[Code::BankUnavailable])];
const NO_BANK: &[ErrorResponse] = &[Coded(503, &[Code::BankUnavailable])];

/// The card of the path, and the inputs of `read`.
fn on_card(r: &mut Reader<'_>, read: fn(&mut Reader<'_>)) {
    sandbox::read_card(r);
    read(r);
}
