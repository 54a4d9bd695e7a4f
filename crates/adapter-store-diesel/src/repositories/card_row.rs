//! The row of a card, and its way to and from the domain.

use diesel::prelude::*;
use kopeck_domain::Kopecks;
use kopeck_domain::card::{AccountBalance, BankView, Card, CardLink};
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Activation, CardRecord, ColumnCipher, NewCard, OrderResultItem, StoreError};

use crate::convert::{AsKey, card_number, corrupt, natural, number, word};
use crate::encryption::RowCipher;
use crate::limit_text;
use crate::schema::cards;
use crate::sql_types::{Day, Id, Moment};

/// A card as its table has it.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = cards, treat_none_as_default_value = false)]
pub(crate) struct CardRow {
    pub(crate) partner_id: Id,
    pub(crate) seq: i64,
    pub(crate) ordinal: i64,
    #[diesel(embed)]
    pub(crate) card: PlainRow,
    #[diesel(embed)]
    pub(crate) activation: ActivationRow,
    #[diesel(embed)]
    pub(crate) bank: BankRow,
    pub(crate) account_value: i64,
    pub(crate) account_updated_at: Moment,
    pub(crate) transactions_seen_at: Option<Moment>,
    pub(crate) spending_limit: String,
}

/// What the domain's [`Card`] holds.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = cards, treat_none_as_default_value = false)]
pub(crate) struct PlainRow {
    pub(crate) id: Id,
    pub(crate) number: i64,
    pub(crate) kind: String,
    pub(crate) order_id: Id,
    pub(crate) valid_until: Day,
    pub(crate) employee_id: Option<Id>,
    pub(crate) link_status: Option<String>,
}

/// What activates a virtual card: all of it, or nothing if the card is plastic, or the code is used or over.
#[derive(Default, Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = cards, treat_none_as_null = true, treat_none_as_default_value = false)]
pub(crate) struct ActivationRow {
    pub(crate) activation_code: Option<Vec<u8>>,
    pub(crate) activation_valid_until: Option<Day>,
    pub(crate) first_top_up: Option<i64>,
}

/// What the bank last said.
#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = cards, treat_none_as_null = true, treat_none_as_default_value = false)]
pub(crate) struct BankRow {
    pub(crate) balance: i64,
    pub(crate) remaining_top_up: i64,
    pub(crate) activated_at: Option<Moment>,
    pub(crate) standing: String,
    pub(crate) seen_at: Moment,
}

/// A card of an order's result.
#[derive(Queryable, Selectable)]
#[diesel(table_name = cards)]
pub(crate) struct ResultRow {
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
        let key = record.card.id.key();
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
            account_updated_at: Moment::of(record.account.updated_at),
            transactions_seen_at: record.transactions_seen_at.map(Moment::of),
            spending_limit: limit_text::text(&record.limit),
        })
    }

    pub(super) fn record(self) -> Result<CardRecord, StoreError> {
        let seen = self.transactions_seen_at.map(|at| at.time("cards.transactions_seen_at"));
        Ok(CardRecord {
            card: self.card.card()?,
            bank: self.bank.view()?,
            account: AccountBalance {
                value: Kopecks::new(self.account_value),
                updated_at: self.account_updated_at.time("cards.account_updated_at")?,
            },
            transactions_seen_at: seen.transpose()?,
            limit: limit_text::parse(&self.spending_limit, "cards.spending_limit")?,
        })
    }
}

impl PlainRow {
    fn new(card: &Card) -> Self {
        Self {
            id: card.id.key(),
            number: number(card.number),
            kind: card.kind.as_str().to_owned(),
            order_id: card.order.key(),
            valid_until: Day::of(card.valid_until),
            employee_id: card.link.map(|link| link.employee.key()),
            link_status: card.link.map(|link| link.status.as_str().to_owned()),
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
        Ok(Card {
            id: self.id.to(),
            number: card_number(self.number, "cards.number")?,
            kind: word(&self.kind, "cards.kind")?,
            order: self.order_id.to(),
            valid_until: self.valid_until.date("cards.valid_until")?,
            link,
        })
    }
}

impl ActivationRow {
    fn new(activation: Option<&Activation>, cipher: &RowCipher<'_>) -> Result<Self, StoreError> {
        let code = activation.map(|activation| cipher.encrypt("activation_code", activation.code.as_bytes()));
        Ok(Self {
            activation_code: code.transpose()?,
            activation_valid_until: activation.map(|activation| Day::of(activation.valid_until)),
            first_top_up: activation.map(|activation| activation.first_top_up.get()),
        })
    }

    fn activation(self, cipher: &RowCipher<'_>) -> Result<Option<Activation>, StoreError> {
        match (self.activation_code, self.activation_valid_until, self.first_top_up) {
            (None, None, None) => Ok(None),
            (Some(code), Some(until), Some(first_top_up)) => Ok(Some(Activation {
                code: cipher.text("activation_code", &code)?,
                valid_until: until.date("cards.activation_valid_until")?,
                first_top_up: Kopecks::new(first_top_up),
            })),
            (Some(_), ..) | (_, Some(_), _) | (.., Some(_)) => Err(corrupt("cards.activation_code")),
        }
    }
}

impl BankRow {
    pub(super) fn new(view: &BankView) -> Self {
        Self {
            balance: view.balance.get(),
            remaining_top_up: view.remaining_top_up.get(),
            activated_at: view.activated_at.map(Moment::of),
            standing: view.standing.as_str().to_owned(),
            seen_at: Moment::of(view.seen_at),
        }
    }

    fn view(self) -> Result<BankView, StoreError> {
        let activated = self.activated_at.map(|at| at.time("cards.activated_at"));
        Ok(BankView {
            balance: Kopecks::new(self.balance),
            remaining_top_up: Kopecks::new(self.remaining_top_up),
            activated_at: activated.transpose()?,
            standing: word(&self.standing, "cards.standing")?,
            seen_at: self.seen_at.time("cards.seen_at")?,
        })
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
