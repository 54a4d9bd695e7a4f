//! Reads the transactions of all cards.

use kopeck_domain::calendar::Zone;
use kopeck_domain::ids::{CardId, EmployeeId};
use kopeck_domain::transaction::TransactionType;
use kopeck_port_store::{PartnerTransaction, TransactionFilter, TransactionQuery};
use kopeck_service::transactions;

use crate::input::field_types::{id, integer_from, string_enum};
use crate::input::period::{self, Period};
use crate::operations::cards::ANY_ZONE;
use crate::operations::prelude::*;

/// The most transactions of a response.
const MOST: i64 = 1_000;
/// The transactions of a response by default.
const LIMIT: i64 = 100;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::TRANSACTION_FEED, Needs::One(Scope::StatementsRead), handler!(feed))
        .reads(reads!(read, ANY_ZONE))
        .responds::<api::TransactionFeed>(200);

fn read(r: &mut Reader<'_>, zone: Zone) -> Option<TransactionQuery> {
    let number = |least, most| integer_from(least, most).may_be_clear();
    let after =
        r.param("after", number(0, i64::MAX).about("The number after which to begin. Default 0: the first."));
    let limit = r.param("limit", number(1, MOST).about("The most transactions. Default 100."));
    let Period { from, before } = period::read(r, zone);
    let kind = r.param("type", string_enum::<TransactionType>().about("Only of this type."));
    let card = r.param("idCard", id::<CardId>().about("Only of this card."));
    let employee = r.param("idEmployee", id::<EmployeeId>().about("Only of cards that this employee has."));
    Some(TransactionQuery {
        after: after.unwrap_or(0),
        limit: limit.unwrap_or(LIMIT).try_into().ok()?,
        filter: TransactionFilter { from, before, kind },
        card,
        employee,
    })
}

async fn feed(mut ctx: HandlerContext) -> HandlerResult {
    let zone = ctx.zone();
    let query = ctx.values(|r| read(r, zone))?;
    let page =
        ctx.read(Ok(query), |unit, _env, partner, query| transactions::after(unit, partner, query)).await?;
    let data = page.transactions.iter().map(|one| body(one, zone)).collect();
    ctx.respond(&api::TransactionFeed { data, next: page.next })
}

fn body(one: &PartnerTransaction, zone: Zone) -> api::PartnerTransaction {
    api::PartnerTransaction {
        seq: one.seq,
        id_card: one.card.uuid(),
        id_employee: one.holder.as_ref().map(|(employee, _)| employee.uuid()),
        custom_id: one
            .holder
            .as_ref()
            .and_then(|(_, custom_id)| Some(custom_id.as_ref()?.as_str().to_owned())),
        transaction: api::Transaction::of(&one.transaction, zone),
    }
}
