//! Cards and their transactions.

use kopeck_domain::calendar::Zone;
use time::UtcOffset;

use super::Refusal::{self, Coded};
use super::{Row, reads, row};
use crate::code::Code;
use crate::dto::{CardBalanceDto, CardDto, Data, ForecastDto, FreeCardDto, LinkDto, PageDto, TransactionDto};
use crate::handlers::cards;

/// The form of a moment is the same in every zone.
const ANY_ZONE: Zone = Zone::new(UtcOffset::UTC);

pub(super) const ROWS: &[Row] = &[
    row::<Data<CardDto>>("card.info", reads!(cards::read_id), NO_CARD),
    row::<CardBalanceDto>("card.balance", reads!(cards::read_id), NO_CARD),
    row::<PageDto<'_, TransactionDto<'_>>>(
        "card.transactions",
        reads!(cards::read_transactions, ANY_ZONE),
        NO_CARD_OR_BANK,
    ),
    row::<ForecastDto>("card.can_pay", reads!(cards::read_question, ANY_ZONE), NO_CARD_OR_BANK),
    row::<PageDto<'_, FreeCardDto>>("card.available", reads!(cards::read_available), &[]),
    row::<LinkDto>(
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
    row::<LinkDto>(
        "card.switch",
        reads!(cards::read_switch),
        &[NEITHER, Coded(409, &[Code::CardExpired, Code::CardBlocked, Code::EmployeeHasMainCard])],
    ),
];

const NO_CARD: &[Refusal] = &[Coded(404, &[Code::CardNotFound])];
const NO_CARD_OR_BANK: &[Refusal] =
    &[Coded(404, &[Code::CardNotFound]), Coded(503, &[Code::BankUnavailable])];
const NEITHER: Refusal = Coded(404, &[Code::EmployeeNotFound, Code::CardNotFound]);
