//! Cards.

use std::ops::Range;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use kopeck_domain::calendar::CLOCK_SKEW;
use kopeck_domain::card::{
    AccountBalance, BankStatus, BankView, BlockState, Card, CardStatus, Standing, expiry_notice_due,
};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::ids::{CardId, EmployeeId, PartnerId};
use kopeck_domain::limit::Limit;
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{
    AccountDue, AvailableFilter, CardAndHolder, CardFilter, CardRecord, CardRepository, NewCard, StoreError,
};
use time::{Date, OffsetDateTime};

use super::card_refs;
use super::card_row::{CardRow, PlainRow};
use super::look_ups::CardsOf;
use super::{ascending, listed, window};
use crate::connection::MultiBackend;
use crate::convert::{AsKey, card_number, corrupt, number, word};
use crate::counters::List;
use crate::error::{Stored, StoredRows};
use crate::schema::cards;
use crate::sql_types::{Day, Id, UtcTimestamp};
use crate::statements::{self, OneOf, binds};
use crate::transaction::DieselTransaction;

/// The partner's unassigned cards that match `filter`.
fn free(partner: PartnerId, filter: AvailableFilter) -> cards::BoxedQuery<'static, MultiBackend> {
    let query = cards::table
        .filter(cards::partner_id.eq(partner.key()))
        .filter(cards::employee_id.is_null())
        .filter(cards::standing.eq(Standing::Open.as_str()))
        .filter(cards::valid_until.ge(Day::of(filter.today)))
        .into_boxed();
    match filter.kind {
        Some(kind) => query.filter(cards::kind.eq(kind.as_str())),
        None => query,
    }
}

/// The partner's cards that match `filter`.
fn filtered(partner: PartnerId, filter: &CardFilter) -> cards::BoxedQuery<'static, MultiBackend> {
    let CardFilter {
        linked,
        status,
        bank_status,
        kind,
        order,
        employee,
        expires_before,
        number: card_number,
    } = *filter;
    let mut query = cards::table.filter(cards::partner_id.eq(partner.key())).into_boxed();
    if let Some(linked) = linked {
        query = if linked {
            query.filter(cards::employee_id.is_not_null())
        } else {
            query.filter(cards::employee_id.is_null())
        };
    }
    if let Some(status) = status {
        query = query.filter(cards::link_status.eq(status.as_str()));
    }
    if let Some((standing, block)) = bank_status.map(BankStatus::parts) {
        query = query.filter(cards::standing.eq(standing.as_str()));
        if let Some(block) = block {
            query = query.filter(cards::block_state.eq(block.as_str()));
        }
    }
    if let Some(kind) = kind {
        query = query.filter(cards::kind.eq(kind.as_str()));
    }
    if let Some(order) = order {
        query = query.filter(cards::order_id.eq(order.key()));
    }
    if let Some(employee) = employee {
        query = query.filter(cards::employee_id.eq(employee.key()));
    }
    if let Some(day) = expires_before {
        query = query.filter(cards::valid_until.lt(Day::of(day)));
    }
    if let Some(card_number) = card_number {
        query = query.filter(cards::number.eq(number(card_number)));
    }
    query
}

/// Another last day means a new event of its expiry. Replaces an older view, and one of a clock that was ahead and has been set back since.
macro_rules! set_view {
    ($more:literal) => {
        concat!(
            "UPDATE cards SET ",
            $more,
            "balance = ?, remaining_top_up = ?, activated_at = ?, standing = ?, seen_at = ?,
                expiry_due = CASE WHEN valid_until = ? THEN expiry_due ELSE ? END, valid_until = ?
            WHERE partner_id = ? AND id = ? AND (seen_at <= ? OR seen_at > ?)"
        )
    };
}

/// The first condition is that of the index.
const UNCONFIRMED: &str = "block_state <> 'OPEN' AND block_state IN ('BLOCKING', 'UNBLOCKING')";

const BLOCKED: &str = "SELECT id, block_state FROM cards WHERE partner_id = ? AND id ? AND block_state IN ('BLOCKING', 'BLOCKED')";

#[derive(QueryableByName)]
#[diesel(table_name = cards)]
struct BlockedRow {
    id: Id,
    block_state: String,
}

/// By the index of claimed cards; that a lane is above zero says nothing, but without it SQLite reads every item.
const IS_BEING_CLOSED: &str = "
    SELECT EXISTS (
        SELECT 1 FROM card_batch_items i
        WHERE i.partner_id = ? AND i.card_id = ? AND i.claimed
            AND (CASE WHEN i.kind = 'LIMIT_CHANGE' THEN 1 WHEN i.is_urgent THEN 4 ELSE 2 END) > 0
            AND i.state = 'OPEN' AND i.reason IN ('LOST', 'STOLEN')
    ) AS answer";

const SET_LIMIT: &str = "UPDATE cards SET spending_limit = ? WHERE partner_id = ? AND id ?";

/// Timestamps of 1970 are older than any setting allows; what was never fetched stays so. Most cards of a large batch were
/// not looked at for a while: those are not written.
const OUTDATE: &str = "
    UPDATE cards
    SET seen_at = ?, transactions_seen_at = CASE WHEN transactions_seen_at > ? THEN ? ELSE transactions_seen_at END
    WHERE partner_id = ? AND id ? AND (seen_at > ? OR transactions_seen_at > ?)";

fn one_of(cards: &[CardId]) -> OneOf<Id> {
    OneOf(cards.iter().map(AsKey::key).collect())
}

impl CardRepository for DieselTransaction {
    fn insert_issued(&mut self, partner: PartnerId, cards: &[NewCard]) -> Result<(), StoreError> {
        let first = self.next_number(partner, List::Cards)?;
        let mut next = first;
        for cards in cards.chunks(statements::INSERT_CHUNK) {
            let row = |(seq, card)| CardRow::new(partner, seq, card, &*self.cipher);
            let rows: Vec<CardRow> = (next..).zip(cards).map(row).collect::<Result<_, _>>()?;
            statements::insert(self.of(partner)?, &rows).stored()?;
            next += i64::try_from(rows.len()).map_err(|_| corrupt("counters.last"))?;
        }
        self.give_out(partner, List::Cards, next - 1)
    }

    fn get(&mut self, partner: PartnerId, id: CardId) -> Result<Option<CardRecord>, StoreError> {
        cards::table
            .find((partner.key(), id.key()))
            .select(CardRow::as_select())
            .get_result(self.of(partner)?)
            .found(CardRow::record)
    }

    fn by_number(
        &mut self,
        partner: PartnerId,
        card_number: CardNumber,
    ) -> Result<Option<CardRecord>, StoreError> {
        cards::table
            .filter(cards::partner_id.eq(partner.key()))
            .filter(cards::number.eq(number(card_number)))
            .select(CardRow::as_select())
            .get_result(self.of(partner)?)
            .found(CardRow::record)
    }

    fn by_references(
        &mut self,
        partner: PartnerId,
        references: &[CardRef],
    ) -> Result<Vec<Option<CardAndHolder>>, StoreError> {
        card_refs::find(self, partner, references)
    }

    fn main_card(&mut self, partner: PartnerId, employee: EmployeeId) -> Result<Option<CardId>, StoreError> {
        // Not asked for by its status: SQLite plans a statement anew whenever a value is bound that could decide
        // whether an index with a condition fits, and an employee has few cards.
        let linked = self.of_employee(partner, employee)?;
        Ok(linked.into_iter().find(|(_, status)| *status == CardStatus::Main).map(|(card, _)| card))
    }

    fn of_employee(
        &mut self,
        partner: PartnerId,
        employee: EmployeeId,
    ) -> Result<Vec<(CardId, CardStatus)>, StoreError> {
        self.load(partner, CardsOf(employee))
    }

    fn set_link(&mut self, partner: PartnerId, card: &Card) -> Result<(), StoreError> {
        let (employee, status) = card.link().map(|link| (link.employee.key(), link.status.as_str())).unzip();
        let text = "UPDATE cards SET employee_id = ?, link_status = ?, block_state = ?, block_change = ?
            WHERE partner_id = ? AND id = ?";
        let (state, change) = (card.block().state.as_str(), i64::from(card.block().change));
        self.try_change(
            partner,
            text,
            binds![employee, status, state, change, partner.key(), card.id().key()],
        )
    }

    fn blocked(
        &mut self,
        partner: PartnerId,
        cards: &[CardId],
    ) -> Result<Vec<(CardId, BlockState)>, StoreError> {
        let mut blocked = Vec::new();
        for some in cards.chunks(statements::UPDATE_CHUNK as usize) {
            let rows: Vec<BlockedRow> =
                statements::load(self.of(partner)?, BLOCKED, binds![partner.key(), one_of(some)]).stored()?;
            for row in rows {
                blocked.push((row.id.to(), word(&row.block_state, "cards.block_state")?));
            }
        }
        Ok(blocked)
    }

    fn is_being_closed(&mut self, partner: PartnerId, card: CardId) -> Result<bool, StoreError> {
        let values = binds![partner.key(), card.key()];
        statements::is_any(self.of(partner)?, IS_BEING_CLOSED, values).stored()
    }

    fn unconfirmed_blocks(&mut self, limit: u32) -> Result<Vec<(PartnerId, Card)>, StoreError> {
        cards::table
            .filter(sql::<Bool>(UNCONFIRMED))
            .limit(i64::from(limit))
            .select((cards::partner_id, PlainRow::as_select()))
            .load(self.unlocked()?)
            .all(|(partner, row): (Id, PlainRow)| Ok((partner.to(), row.card()?)))
    }

    fn set_bank_view(
        &mut self,
        partner: PartnerId,
        card: CardId,
        view: &BankView,
        valid_until: Date,
    ) -> Result<bool, StoreError> {
        let text = match view.activated_at {
            Some(_) => set_view!("activation_code = NULL, "),
            None => set_view!(""),
        };
        let values = binds![
            view.balance.get(),
            view.remaining_top_up.get(),
            view.activated_at.map(UtcTimestamp::of),
            view.standing.as_str(),
            UtcTimestamp::of(view.seen_at),
            Day::of(valid_until),
            Day::of(expiry_notice_due(valid_until)),
            Day::of(valid_until),
            partner.key(),
            card.key(),
            UtcTimestamp::of(view.seen_at),
            UtcTimestamp::of(view.seen_at + CLOCK_SKEW),
        ];
        Ok(statements::execute(self.of(partner)?, text, values).stored()? > 0)
    }

    fn forget_activation_codes(&mut self, before: Date, limit: u32) -> Result<u64, StoreError> {
        let over = "cards WHERE activation_code IS NOT NULL AND activation_valid_until < ?
            ORDER BY activation_valid_until";
        self.sweep("UPDATE cards SET activation_code = NULL", "partner_id, id", over, Day::of(before), limit)
            .map(u64::from)
    }

    fn outdate_bank_view(
        &mut self,
        partner: PartnerId,
        cards: &[CardId],
        too_old_at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let (epoch, too_old_at) = (UtcTimestamp(0), UtcTimestamp::of(too_old_at));
        for some in cards.chunks(statements::UPDATE_CHUNK as usize) {
            let values = binds![epoch, epoch, epoch, partner.key(), one_of(some), too_old_at, too_old_at];
            self.change(partner, OUTDATE, values)?;
        }
        Ok(())
    }

    fn set_limit(&mut self, partner: PartnerId, cards: &[CardId], limit: &Limit) -> Result<(), StoreError> {
        let limit = limit.to_string();
        for some in cards.chunks(statements::UPDATE_CHUNK as usize) {
            self.change(partner, SET_LIMIT, binds![&limit, partner.key(), one_of(some)])?;
        }
        Ok(())
    }

    fn accounts_due(
        &mut self,
        day: Range<OffsetDateTime>,
        limit: u32,
    ) -> Result<Vec<AccountDue>, StoreError> {
        let first = cards::table.order(cards::account_updated_at).select((
            cards::partner_id,
            cards::id,
            cards::number,
        ));
        let mut rows: Vec<(Id, Id, i64)> = first
            .filter(cards::account_updated_at.lt(UtcTimestamp::of(day.start)))
            .limit(i64::from(limit))
            .load(self.unlocked()?)
            .stored()?;
        let room = i64::from(limit) - i64::try_from(rows.len()).unwrap_or(i64::MAX);
        if room > 0 {
            // A statement of its own, so that each is one look into the index.
            let after = first.filter(cards::account_updated_at.ge(UtcTimestamp::of(day.end))).limit(room);
            rows.append(&mut after.load(self.unlocked()?).stored()?);
        }
        let due = |(partner, card, number): (Id, Id, i64)| {
            Ok(AccountDue {
                partner: partner.to(),
                card: card.to(),
                number: card_number(number, "cards.number")?,
            })
        };
        rows.into_iter().map(due).collect()
    }

    fn owners(&mut self, numbers: &[CardNumber]) -> Result<Vec<(CardNumber, PartnerId, CardId)>, StoreError> {
        let mut owners = Vec::with_capacity(numbers.len());
        for numbers in numbers.chunks(statements::UPDATE_CHUNK as usize) {
            let rows: Vec<(i64, Id, Id)> = cards::table
                .filter(cards::number.eq_any(numbers.iter().copied().map(number)))
                .select((cards::number, cards::partner_id, cards::id))
                .load(self.unlocked()?)
                .stored()?;
            for (number, partner, card) in rows {
                owners.push((card_number(number, "cards.number")?, partner.to(), card.to()));
            }
        }
        Ok(owners)
    }

    fn expiries_due(&mut self, today: Date, limit: u32) -> Result<Vec<(PartnerId, CardId)>, StoreError> {
        cards::table
            .filter(cards::expiry_due.le(Day::of(today)))
            .order(cards::expiry_due)
            .limit(i64::from(limit))
            .select((cards::partner_id, cards::id))
            .load(self.unlocked()?)
            .all(|(partner, card): (Id, Id)| Ok((partner.to(), card.to())))
    }

    fn take_expiry(
        &mut self,
        partner: PartnerId,
        card: CardId,
        today: Date,
        next: Option<Date>,
    ) -> Result<bool, StoreError> {
        let text = "UPDATE cards SET expiry_due = ? WHERE partner_id = ? AND id = ? AND expiry_due <= ?";
        let values = binds![next.map(Day::of), partner.key(), card.key(), Day::of(today)];
        Ok(statements::execute(self.of(partner)?, text, values).stored()? > 0)
    }

    fn set_account(
        &mut self,
        partner: PartnerId,
        card: CardId,
        account: &AccountBalance,
    ) -> Result<(), StoreError> {
        let text =
            "UPDATE cards SET account_value = ?, account_updated_at = ? WHERE partner_id = ? AND id = ?";
        let (value, updated_at) = (account.value.get(), UtcTimestamp::of(account.updated_at));
        self.change(partner, text, binds![value, updated_at, partner.key(), card.key()])
    }

    fn list(
        &mut self,
        partner: PartnerId,
        filter: &CardFilter,
        page: Page,
    ) -> Result<Listed<CardRecord>, StoreError> {
        let own = || filtered(partner, filter).select(CardRow::as_select());
        let (total, rows) = if *filter == CardFilter::default() {
            let total = self.last_number(partner, List::Cards)?.unwrap_or(0);
            let (after, up_to) = ascending(page);
            (total, own().filter(cards::seq.gt(after)).filter(cards::seq.le(up_to)))
        } else {
            let total: i64 = filtered(partner, filter).count().get_result(self.of(partner)?).stored()?;
            let (limit, offset) = window(page);
            (total, own().limit(limit).offset(offset))
        };
        // The cards of an order are numbered in their order, which its index has.
        let rows = match filter.order {
            Some(_) => rows.order(cards::ordinal),
            None => rows.order(cards::seq),
        };
        listed(total, rows.load(self.of(partner)?), CardRow::record)
    }

    fn available(
        &mut self,
        partner: PartnerId,
        filter: AvailableFilter,
        page: Page,
    ) -> Result<Listed<Card>, StoreError> {
        let total: i64 = free(partner, filter).count().get_result(self.of(partner)?).stored()?;
        let (limit, offset) = window(page);
        let rows =
            free(partner, filter).order(cards::seq).limit(limit).offset(offset).select(PlainRow::as_select());
        listed(total, rows.load(self.of(partner)?), PlainRow::card)
    }
}
