//! The bodies of answers, spelt as the interface spells them.

mod balance;
mod cards;
mod categories;
mod employees;
mod limits;
mod orders;
mod page;
mod payments;
mod replenishments;
mod sandbox;
mod tokens;
mod transactions;

pub(crate) use balance::BalanceDto;
pub(crate) use cards::{CardBalanceDto, CardDto, FreeCardDto, LinkDto};
pub(crate) use categories::{CategoryDto, CategoryUseDto};
pub(crate) use employees::{EmployeeDto, EmployeeWithCardsDto, PhoneAs};
pub(crate) use limits::{
    LimitChangeAcceptedDto, LimitChangeItemDto, LimitChangeListDto, LimitChangeStateDto, LimitDto,
};
pub(crate) use orders::{OrderIdDto, OrderListDto, OrderResultDto, OrderResultItemDto, OrderStateDto};
pub(crate) use page::PageDto;
pub(crate) use payments::ForecastDto;
pub(crate) use replenishments::{
    AcceptedDto, ReplenishmentItemDto, ReplenishmentListDto, ReplenishmentStateDto,
};
pub(crate) use sandbox::{PurchaseDto, RefundDto};
pub(crate) use tokens::TokensDto;
pub(crate) use transactions::TransactionDto;

use serde::Serialize;

/// What is said of a request that was taken in.
const ACCEPTED: &str = "the request is accepted and awaits execution";

/// An answer that stands in a `data` of its own.
#[derive(Serialize)]
pub(crate) struct Data<T> {
    pub(crate) data: T,
}

/// An answer that says nothing but that it came.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Done {
    success: bool,
}

impl Done {
    pub(crate) const fn new() -> Self {
        Self { success: true }
    }
}
