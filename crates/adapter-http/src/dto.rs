//! The bodies of answers, spelt as the interface spells them.

mod balance;
mod cards;
mod categories;
mod employees;
mod orders;
mod page;
mod replenishments;
mod tokens;
mod transactions;

pub(crate) use balance::BalanceDto;
pub(crate) use cards::{CardBalanceDto, CardDto, FreeCardDto, LinkDto};
pub(crate) use categories::{CategoryDto, CategoryUseDto};
pub(crate) use employees::{EmployeeDto, EmployeeWithCardsDto, PhoneAs};
pub(crate) use orders::{OrderIdDto, OrderListDto, OrderResultDto, OrderStateDto};
pub(crate) use page::PageDto;
pub(crate) use replenishments::{
    AcceptedDto, ReplenishmentItemDto, ReplenishmentListDto, ReplenishmentStateDto,
};
pub(crate) use tokens::TokensDto;
pub(crate) use transactions::TransactionDto;

use serde::Serialize;

/// An answer that stands in a `data` of its own.
#[derive(Serialize)]
pub(crate) struct Data<T> {
    pub(crate) data: T,
}

/// An answer that says nothing but that it came.
#[derive(Serialize)]
pub(crate) struct Done {
    success: bool,
}

impl Done {
    pub(crate) const fn new() -> Self {
        Self { success: true }
    }
}
