//! Cards and their transactions.

use kopeck_domain::calendar::Zone;
use time::UtcOffset;

use super::ErrorResponse::{self, Coded};
use super::{OperationDocs, docs, reads};
use crate::code::Code;
use crate::dto::{
    CardBalanceDto, CardDto, Data, ForecastDto, LinkDto, PageDto, TransactionDto, UnassignedCardDto,
};
use crate::handlers::cards;

/// The format of a timestamp is the same in every zone.
const ANY_ZONE: Zone = Zone::new(UtcOffset::UTC);

pub(super) const OPERATIONS: &[OperationDocs] = &[
    docs::<Data<CardDto>>("card.info", reads!(cards::read_id), NO_CARD),
    docs::<CardBalanceDto>("card.balance", reads!(cards::read_id), NO_CARD),
    docs::<PageDto<'_, TransactionDto<'_>>>(
        "card.transactions",
        reads!(cards::read_transactions, ANY_ZONE),
        NO_CARD_OR_BANK,
    ),
    docs::<ForecastDto>("card.can_pay", reads!(cards::read_question, ANY_ZONE), NO_CARD_OR_BANK),
    docs::<PageDto<'_, UnassignedCardDto>>("card.available", reads!(cards::read_available), &[]),
    docs::<LinkDto>(
        "card.link",
        reads!(cards::read_link),
        &[
            NEITHER,
            Coded(
                409,
                &[
                    Code::CardLinkedToAnother,
                    Code::CardAlreadyLinked,
                    Code::CardExpired,
                    Code::CardNotAvailable,
                    Code::EmployeeHasMainCard,
                ],
            ),
        ],
    ),
    docs::<LinkDto>(
        "card.switch",
        reads!(cards::read_switch),
        &[NEITHER, Coded(409, &[Code::CardExpired, Code::CardBlocked, Code::EmployeeHasMainCard])],
    ),
];

const NO_CARD: &[ErrorResponse] = &[Coded(404, &[Code::CardNotFound])];
const NO_CARD_OR_BANK: &[ErrorResponse] =
    &[Coded(404, &[Code::CardNotFound]), Coded(503, &[Code::BankUnavailable])];
const NEITHER: ErrorResponse = Coded(404, &[Code::EmployeeNotFound, Code::CardNotFound]);
