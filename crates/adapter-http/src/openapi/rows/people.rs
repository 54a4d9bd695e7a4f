//! Tokens, categories, employees and the balance.

use super::Refusal::Coded;
use super::{Row, reads, row};
use crate::code::Code;
use crate::dto::{
    BalanceDto, CategoryDto, CategoryUseDto, Data, EmployeeDto, EmployeeWithCardsDto, PageDto, TokensDto,
};
use crate::handlers::{categories, employees};
use crate::pipeline::token_calls;

pub(super) const ROWS: &[Row] = &[
    row::<TokensDto<'_>>(
        "token.access",
        reads!(token_calls::read_login),
        &[Coded(400, &[Code::BadCredentials]), Coded(429, &[Code::TooManyRequests])],
    ),
    row::<TokensDto<'_>>(
        "token.refresh",
        reads!(token_calls::read_token),
        &[Coded(401, &[Code::Unauthorized]), Coded(429, &[Code::TooManyRequests])],
    ),
    row::<EmployeeDto>("employee.add", reads!(employees::read_draft), &[]),
    row::<EmployeeDto>("employee.update", reads!(employees::read_update), NO_EMPLOYEE),
    row::<Data<EmployeeWithCardsDto>>("employee.get", reads!(employees::read_id), NO_EMPLOYEE),
    row::<PageDto<'_, EmployeeDto>>("employee.list", reads!(employees::read_list), &[]),
    row::<CategoryDto>(
        "category.create",
        reads!(categories::read_name),
        &[Coded(409, &[Code::CategoryExists])],
    )
    .answering(201),
    row::<CategoryDto>(
        "category.rename",
        reads!(categories::read_renaming),
        &[Coded(404, &[Code::CategoryNotFound]), Coded(409, &[Code::CategoryExists])],
    ),
    row::<CategoryDto>(
        "category.delete",
        reads!(categories::read_id),
        &[Coded(404, &[Code::CategoryNotFound]), Coded(409, &[Code::CategoryInUse])],
    ),
    row::<PageDto<'_, CategoryUseDto<'_>>>("category.list", reads!(categories::read_list), &[]),
    row::<BalanceDto>("balance", |_| {}, &[]),
];

const NO_EMPLOYEE: &[super::Refusal] = &[Coded(404, &[Code::EmployeeNotFound])];
