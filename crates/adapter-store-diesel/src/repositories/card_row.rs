//! The row of a card, and its way to and from the domain.

use diesel::prelude::*;
use kopeck_domain::Kopecks;
use kopeck_domain::card::{
    AccountBalance, BankView, Card, CardFields, CardLink, PartnerBlock, expiry_notice_due,
};
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Activation, CardRecord, ColumnCipher, NewCard, OrderResultItem, StoreError};

use crate::convert::{AsKey, card_number, corrupt, natural, number, word};
use crate::encryption::RowCipher;
use crate::limit_text;
use crate::schema::cards;
use crate::sql_types::{Day, Id, UtcTimestamp};
use crate::statements::row;

/// A card as its table has it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = cards)]
pub(super) struct CardRow {
    partner_id: Id,
    seq: i64,
    ordinal: i64,
    #[diesel(embed)]
    card: PlainRow,
    #[diesel(embed)]
    activation: ActivationRow,
    #[diesel(embed)]
    bank: BankRow,
    account_value: i64,
    account_updated_at: UtcTimestamp,
    transactions_seen_at: Option<UtcTimestamp>,
    spending_limit: String,
    expiry_due: Option<Day>,
}

/// What the domain's [`Card`] holds.
#[derive(Queryable, QueryableByName, Selectable)]
#[diesel(table_name = cards)]
pub(super) struct PlainRow {
    id: Id,
    number: i64,
    kind: String,
    order_id: Id,
    valid_until: Day,
    employee_id: Option<Id>,
    link_status: Option<String>,
    block_state: String,
    block_change: i64,
}

/// The bank's view of a card.
#[derive(Queryable, QueryableByName, Selectable)]
#[diesel(table_name = cards)]
pub(super) struct BankRow {
    balance: i64,
    remaining_top_up: i64,
    activated_at: Option<UtcTimestamp>,
    standing: String,
    seen_at: UtcTimestamp,
}

/// What activates a virtual card: all of it, or nothing if the card is plastic, or the code is used or over.
#[derive(Queryable, Selectable)]
#[diesel(table_name = cards)]
pub(super) struct ActivationRow {
    activation_code: Option<Vec<u8>>,
    activation_valid_until: Option<Day>,
    first_top_up: Option<i64>,
}

/// A card of an order's result.
#[derive(Queryable, Selectable)]
#[diesel(table_name = cards)]
pub(super) struct ResultRow {
    id: Id,
    ordinal: i64,
    kind: String,
    number: i64,
    #[diesel(embed)]
    activation: ActivationRow,
}

/// Encrypts and decrypts columns of the card with this key.
fn row_cipher<'a>(cipher: &'a dyn ColumnCipher, partner: PartnerId, row: &'a [u8]) -> RowCipher<'a> {
    RowCipher { cipher, table: "cards", partner, row }
}

impl CardRow {
    pub(super) fn new(
        partner: PartnerId,
        seq: i64,
        new: &NewCard,
        cipher: &dyn ColumnCipher,
    ) -> Result<Self, StoreError> {
        let record = &new.record;
        let key = record.card.id().key();
        Ok(Self {
            partner_id: partner.key(),
            seq,
            ordinal: i64::from(new.ordinal),
            card: PlainRow::new(&record.card),
            activation: ActivationRow::new(
                new.activation.as_ref(),
                &row_cipher(cipher, partner, key.bytes()),
            )?,
            bank: BankRow::new(&record.bank),
            account_value: record.account.value.get(),
            account_updated_at: UtcTimestamp::of(record.account.updated_at),
            transactions_seen_at: record.transactions_seen_at.map(UtcTimestamp::of),
            spending_limit: record.limit.to_string(),
            expiry_due: Some(Day::of(expiry_notice_due(record.card.valid_until()))),
        })
    }

    pub(super) fn record(self) -> Result<CardRecord, StoreError> {
        Ok(CardRecord {
            card: self.card.card()?,
            bank: self.bank.view()?,
            account: AccountBalance {
                value: Kopecks::new(self.account_value),
                updated_at: self.account_updated_at.time("cards.account_updated_at")?,
            },
            transactions_seen_at: UtcTimestamp::optional(
                self.transactions_seen_at,
                "cards.transactions_seen_at",
            )?,
            limit: limit_text::parse(&self.spending_limit, "cards.spending_limit")?,
        })
    }
}

row!(CardRow, cards:
    partner_id, seq, ordinal, account_value, account_updated_at, transactions_seen_at, spending_limit, expiry_due;
    bank: balance, remaining_top_up, activated_at, standing, seen_at;
    card: id, number, kind, order_id, valid_until, employee_id, link_status, block_state, block_change;
    activation: activation_code, activation_valid_until, first_top_up);

impl PlainRow {
    fn new(card: &Card) -> Self {
        Self {
            id: card.id().key(),
            number: number(card.number()),
            kind: card.kind().as_str().to_owned(),
            order_id: card.order().key(),
            valid_until: Day::of(card.valid_until()),
            employee_id: card.link().map(|link| link.employee.key()),
            link_status: card.link().map(|link| link.status.as_str().to_owned()),
            block_state: card.block().state.as_str().to_owned(),
            block_change: card.block().change.into(),
        }
    }

    pub(super) fn card(self) -> Result<Card, StoreError> {
        let link = match (self.employee_id, self.link_status) {
            (None, None) => None,
            (Some(employee), Some(status)) => {
                Some(CardLink { employee: employee.to(), status: word(&status, "cards.link_status")? })
            }
            (Some(_), None) | (None, Some(_)) => return Err(corrupt("cards.link_status")),
        };
        Ok(Card::from_stored(CardFields {
            id: self.id.to(),
            number: card_number(self.number, "cards.number")?,
            kind: word(&self.kind, "cards.kind")?,
            order: self.order_id.to(),
            valid_until: self.valid_until.date("cards.valid_until")?,
            link,
            block: PartnerBlock {
                state: word(&self.block_state, "cards.block_state")?,
                change: natural(self.block_change, "cards.block_change")?,
            },
        }))
    }
}

impl BankRow {
    fn new(view: &BankView) -> Self {
        Self {
            balance: view.balance.get(),
            remaining_top_up: view.remaining_top_up.get(),
            activated_at: view.activated_at.map(UtcTimestamp::of),
            standing: view.standing.as_str().to_owned(),
            seen_at: UtcTimestamp::of(view.seen_at),
        }
    }

    pub(super) fn view(self) -> Result<BankView, StoreError> {
        Ok(BankView {
            balance: Kopecks::new(self.balance),
            remaining_top_up: Kopecks::new(self.remaining_top_up),
            activated_at: UtcTimestamp::optional(self.activated_at, "cards.activated_at")?,
            standing: word(&self.standing, "cards.standing")?,
            seen_at: self.seen_at.time("cards.seen_at")?,
        })
    }
}

impl ActivationRow {
    fn new(activation: Option<&Activation>, cipher: &RowCipher<'_>) -> Result<Self, StoreError> {
        let code = activation.and_then(|activation| activation.code.as_ref());
        let code = code.map(|code| cipher.encrypt("activation_code", code.as_bytes()));
        Ok(Self {
            activation_code: code.transpose()?,
            activation_valid_until: activation.map(|activation| Day::of(activation.valid_until)),
            first_top_up: activation.map(|activation| activation.first_top_up.get()),
        })
    }

    fn activation(self, cipher: &RowCipher<'_>) -> Result<Option<Activation>, StoreError> {
        match (self.activation_valid_until, self.first_top_up) {
            (None, None) if self.activation_code.is_none() => Ok(None),
            (Some(until), Some(first_top_up)) => Ok(Some(Activation {
                code: self.activation_code.map(|code| cipher.text("activation_code", &code)).transpose()?,
                valid_until: until.date("cards.activation_valid_until")?,
                first_top_up: Kopecks::new(first_top_up),
            })),
            _ => Err(corrupt("cards.activation_code")),
        }
    }
}

impl ResultRow {
    pub(super) fn item(
        self,
        partner: PartnerId,
        cipher: &dyn ColumnCipher,
    ) -> Result<OrderResultItem, StoreError> {
        Ok(OrderResultItem {
            ordinal: natural(self.ordinal, "cards.ordinal")?,
            card_type: word(&self.kind, "cards.kind")?,
            number: card_number(self.number, "cards.number")?,
            activation: self.activation.activation(&row_cipher(cipher, partner, self.id.bytes()))?,
        })
    }
}
