//! Asynchronous requests: orders, replenishments, limit changes.

use super::ErrorResponse::{self, Cards, Coded};
use super::{OperationDocs, docs, reads};
use crate::code::Code;
use crate::dto::{
    Data, LimitChangeAcceptedDto, LimitChangeItemDto, LimitChangeListDto, LimitChangeStateDto, OrderIdDto,
    OrderListDto, OrderResultDto, OrderStateDto, PageDto, ReplenishmentAcceptedDto, ReplenishmentItemDto,
    ReplenishmentListDto, ReplenishmentStateDto,
};
use crate::handlers::{limits, orders, read_list_of_requests, replenishments};

pub(super) const OPERATIONS: &[OperationDocs] = &[
    docs::<OrderIdDto>("order.plastic", reads!(orders::read_plastic), &[]).with_status(202),
    docs::<OrderIdDto>(
        "order.virtual",
        reads!(orders::read_virtual),
        &[Coded(402, &[Code::InsufficientBalance])],
    )
    .with_status(202),
    docs::<OrderStateDto>("order.status", reads!(orders::read_id), &[NO_ORDER]),
    docs::<OrderResultDto>(
        "order.result",
        reads!(orders::read_id),
        &[Coded(
            404,
            &[Code::OrderNotFound, Code::OrderNotProcessed, Code::OrderCancelled, Code::OrderDeclined],
        )],
    ),
    docs::<OrderStateDto>(
        "order.confirm",
        reads!(orders::read_confirmed),
        &[NO_ORDER, Coded(409, &[Code::OrderNotConfirmable])],
    ),
    docs::<OrderStateDto>(
        "order.cancel",
        reads!(orders::read_cancelled),
        &[NO_ORDER, Coded(409, &[Code::OrderNotCancellable])],
    ),
    docs::<PageDto<'_, OrderListDto>>("order.list", reads!(read_list_of_requests), &[]),
    docs::<ReplenishmentAcceptedDto>(
        "replenishment.create",
        reads!(replenishments::read_top_ups),
        &[
            Cards(404, &[Code::CardNotFound]),
            Cards(409, &[Code::CardInRequest, Code::CardNotMain, Code::CardExpired]),
        ],
    )
    .with_status(202),
    docs::<ReplenishmentStateDto>("replenishment.status", reads!(replenishments::read_asked), &[NO_REQUEST]),
    docs::<Data<Vec<ReplenishmentItemDto>>>(
        "replenishment.result",
        reads!(replenishments::read_asked),
        NO_RESULT,
    ),
    docs::<ReplenishmentStateDto>(
        "replenishment.status_by_path",
        reads!(replenishments::read_id),
        &[NO_REQUEST],
    ),
    docs::<Data<Vec<ReplenishmentItemDto>>>(
        "replenishment.result_by_path",
        reads!(replenishments::read_id),
        NO_RESULT,
    ),
    docs::<ReplenishmentStateDto>("replenishment.cancel", reads!(replenishments::read_id), NOT_CANCELLABLE),
    docs::<PageDto<'_, ReplenishmentListDto>>("replenishment.list", reads!(read_list_of_requests), &[]),
    docs::<LimitChangeAcceptedDto>(
        "limits.set",
        reads!(limits::read_change),
        &[
            Cards(404, &[Code::CardNotFound]),
            Cards(409, &[Code::CardInRequest, Code::CardExpired]),
            Coded(409, &[Code::LimitConflict]),
        ],
    )
    .with_status(202),
    docs::<LimitChangeStateDto>("limits.status", reads!(limits::read_asked), &[NO_REQUEST]),
    docs::<LimitChangeStateDto>("limits.cancel", reads!(limits::read_cancelled), NOT_CANCELLABLE),
    docs::<Data<Vec<LimitChangeItemDto>>>("limits.result", reads!(limits::read_id), NO_RESULT),
    docs::<PageDto<'_, LimitChangeListDto>>("limits.list", reads!(read_list_of_requests), &[]),
];

const NO_ORDER: ErrorResponse = Coded(404, &[Code::OrderNotFound]);
const NO_REQUEST: ErrorResponse = Coded(404, &[Code::RequestNotFound]);
const NO_RESULT: &[ErrorResponse] =
    &[NO_REQUEST, Coded(409, &[Code::RequestNotProcessed, Code::RequestCancelled])];
const NOT_CANCELLABLE: &[ErrorResponse] = &[NO_REQUEST, Coded(409, &[Code::RequestNotCancellable])];
