//! Tokens, categories, employees and the balance.

use super::ErrorResponse::Coded;
use super::{OperationDocs, docs, reads};
use crate::code::Code;
use crate::dto::{
    BalanceDto, CategoryDto, CategoryUseDto, Data, EmployeeDto, EmployeeWithCardsDto, PageDto, TokensDto,
};
use crate::handlers::{categories, employees};
use crate::pipeline::token_calls;

pub(super) const OPERATIONS: &[OperationDocs] = &[
    docs::<TokensDto<'_>>(
        "token.access",
        reads!(token_calls::read_login),
        &[Coded(400, &[Code::BadCredentials]), Coded(429, &[Code::TooManyRequests])],
    ),
    docs::<TokensDto<'_>>(
        "token.refresh",
        reads!(token_calls::read_token),
        &[Coded(401, &[Code::Unauthorized]), Coded(429, &[Code::TooManyRequests])],
    ),
    docs::<EmployeeDto>("employee.add", reads!(employees::read_draft), &[]),
    docs::<EmployeeDto>("employee.update", reads!(employees::read_update), NO_EMPLOYEE),
    docs::<Data<EmployeeWithCardsDto>>("employee.get", reads!(employees::read_id), NO_EMPLOYEE),
    docs::<PageDto<'_, EmployeeDto>>("employee.list", reads!(employees::read_list), &[]),
    docs::<CategoryDto>(
        "category.create",
        reads!(categories::read_name),
        &[Coded(409, &[Code::CategoryExists])],
    )
    .with_status(201),
    docs::<CategoryDto>(
        "category.rename",
        reads!(categories::read_renaming),
        &[Coded(404, &[Code::CategoryNotFound]), Coded(409, &[Code::CategoryExists])],
    ),
    docs::<CategoryDto>(
        "category.delete",
        reads!(categories::read_id),
        &[Coded(404, &[Code::CategoryNotFound]), Coded(409, &[Code::CategoryInUse])],
    ),
    docs::<PageDto<'_, CategoryUseDto<'_>>>("category.list", reads!(categories::read_list), &[]),
    docs::<BalanceDto>("balance", |_| {}, &[]),
];

const NO_EMPLOYEE: &[super::ErrorResponse] = &[Coded(404, &[Code::EmployeeNotFound])];
