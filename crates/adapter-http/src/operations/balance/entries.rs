//! Lists the entries of the balance.

use kopeck_domain::calendar::Zone;
use kopeck_domain::ledger::EntryType;
use kopeck_port_store::BookedMovement;
use kopeck_port_store::page::Page;
use kopeck_service::entries::{self, EntryFilter};

use crate::dto::{self, entry};
use crate::input::field_types::string_enum;
use crate::input::period::{self, Period};
use crate::operations::cards::ANY_ZONE;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::BALANCE_ENTRIES, Needs::One(Scope::StatementsRead), handler!(list))
        .reads(reads!(read, ANY_ZONE))
        .responds::<api::BalanceEntries>(200);

fn read(r: &mut Reader<'_>, zone: Zone) -> Option<(Page, EntryFilter)> {
    let page = r.page();
    let Period { from, before } = period::read(r, zone);
    let entry_type = r.param("type", string_enum::<EntryType>().about("Only of this type."));
    Some((page?, EntryFilter { from, before, kind: entry_type.map(EntryType::kind) }))
}

async fn list(mut ctx: HandlerContext) -> HandlerResult {
    let zone = ctx.zone();
    let (page, filter) = ctx.values(|r| read(r, zone))?;
    let found = ctx
        .read(Ok(page), move |unit, _env, partner, page| {
            let found = entries::list(unit, partner, filter, *page)?;
            let shown: Vec<api::BalanceEntry> = found
                .entries
                .items
                .iter()
                .map(|booked: &BookedMovement| entry::body(booked, zone))
                .collect::<Result<_, _>>()?;
            Ok::<_, kopeck_port_store::StoreError>((found, shown))
        })
        .await?;
    let (found, data) = found;
    let api::Page { meta, .. } = dto::page(&found.entries, page, &ctx.input.path, |_| ());
    ctx.respond(&api::BalanceEntries {
        opening: found.opening.balance.get(),
        closing: found.closing.balance.get(),
        opening_hold: found.opening.hold.get(),
        opening_available: found.opening.available.get(),
        closing_hold: found.closing.hold.get(),
        closing_available: found.closing.available.get(),
        data,
        meta,
    })
}
