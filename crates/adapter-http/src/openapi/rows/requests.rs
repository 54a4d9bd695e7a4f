//! Asynchronous requests: orders, replenishments, limit changes.

use super::Refusal::{self, Cards, Coded};
use super::{Row, reads, row};
use crate::code::Code;
use crate::dto::{
    AcceptedDto, Data, LimitChangeAcceptedDto, LimitChangeItemDto, LimitChangeListDto, LimitChangeStateDto,
    OrderIdDto, OrderListDto, OrderResultDto, OrderStateDto, PageDto, ReplenishmentItemDto,
    ReplenishmentListDto, ReplenishmentStateDto,
};
use crate::handlers::{limits, orders, read_list_of_requests, replenishments};

pub(super) const ROWS: &[Row] = &[
    row::<OrderIdDto>("order.plastic", reads!(orders::read_plastic), &[]).answering(202),
    row::<OrderIdDto>(
        "order.virtual",
        reads!(orders::read_virtual),
        &[Coded(402, &[Code::InsufficientBalance])],
    )
    .answering(202),
    row::<OrderStateDto>("order.status", reads!(orders::read_id), &[NO_ORDER]),
    row::<OrderResultDto>(
        "order.result",
        reads!(orders::read_id),
        &[Coded(
            404,
            &[Code::OrderNotFound, Code::OrderNotProcessed, Code::OrderCancelled, Code::OrderDeclined],
        )],
    ),
    row::<OrderStateDto>(
        "order.confirm",
        reads!(orders::read_confirmed),
        &[NO_ORDER, Coded(409, &[Code::OrderNotConfirmable])],
    ),
    row::<OrderStateDto>(
        "order.cancel",
        reads!(orders::read_cancelled),
        &[NO_ORDER, Coded(409, &[Code::OrderNotCancellable])],
    ),
    row::<PageDto<'_, OrderListDto>>("order.list", reads!(read_list_of_requests), &[]),
    row::<AcceptedDto>(
        "replenishment.create",
        reads!(replenishments::read_top_ups),
        &[
            Cards(404, &[Code::CardNotFound]),
            Cards(409, &[Code::CardInRequest, Code::CardNotMain, Code::CardExpired]),
        ],
    )
    .answering(202),
    row::<ReplenishmentStateDto>("replenishment.status", reads!(replenishments::read_asked), &[NO_REQUEST]),
    row::<Data<Vec<ReplenishmentItemDto>>>(
        "replenishment.result",
        reads!(replenishments::read_asked),
        NO_RESULT,
    ),
    row::<ReplenishmentStateDto>(
        "replenishment.status_by_path",
        reads!(replenishments::read_id),
        &[NO_REQUEST],
    ),
    row::<Data<Vec<ReplenishmentItemDto>>>(
        "replenishment.result_by_path",
        reads!(replenishments::read_id),
        NO_RESULT,
    ),
    row::<ReplenishmentStateDto>("replenishment.cancel", reads!(replenishments::read_id), NOT_CANCELLABLE),
    row::<PageDto<'_, ReplenishmentListDto>>("replenishment.list", reads!(read_list_of_requests), &[]),
    row::<LimitChangeAcceptedDto>(
        "limits.set",
        reads!(limits::read_change),
        &[
            Cards(404, &[Code::CardNotFound]),
            Cards(409, &[Code::CardInRequest, Code::CardExpired]),
            Coded(409, &[Code::LimitConflict]),
        ],
    )
    .answering(202),
    row::<LimitChangeStateDto>("limits.status", reads!(limits::read_asked), &[NO_REQUEST]),
    row::<LimitChangeStateDto>("limits.cancel", reads!(limits::read_cancelled), NOT_CANCELLABLE),
    row::<Data<Vec<LimitChangeItemDto>>>("limits.result", reads!(limits::read_id), NO_RESULT),
    row::<PageDto<'_, LimitChangeListDto>>("limits.list", reads!(read_list_of_requests), &[]),
];

const NO_ORDER: Refusal = Coded(404, &[Code::OrderNotFound]);
const NO_REQUEST: Refusal = Coded(404, &[Code::RequestNotFound]);
const NO_RESULT: &[Refusal] = &[NO_REQUEST, Coded(409, &[Code::RequestNotProcessed, Code::RequestCancelled])];
const NOT_CANCELLABLE: &[Refusal] = &[NO_REQUEST, Coded(409, &[Code::RequestNotCancellable])];
