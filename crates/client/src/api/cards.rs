//! Cards.

use kopeck_api::{
    AvailableCard, Card, CardBalance, CardStatus, CardType, Data, LinkedCard, Page, Paging, PaymentAnswer,
    Transaction, UnlinkedCard, operations,
};
use serde::Serialize;
use uuid::Uuid;

use crate::client::Client;
use crate::error::Error;
use crate::model::card::{CardFilter, PaymentQuestion, TransactionFilter};
use crate::records::Records;
use crate::request::Request;
use crate::write::Write;

/// Operations on cards; see [`Client::cards`].
#[derive(Debug, Clone, Copy)]
pub struct Cards<'a> {
    client: &'a Client,
}

impl<'a> Cards<'a> {
    pub(crate) const fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// Reads a card.
    ///
    /// # Errors
    ///
    /// 404 if there is no such card; see [`Error`].
    pub async fn info(&self, id_card: Uuid) -> Result<Card, Error> {
        let request = Request::of(&operations::CARD_INFO).id(id_card);
        self.client.read(request).await.map(|Data { data }| data)
    }

    /// Reads a card's balance.
    ///
    /// # Errors
    ///
    /// 404 if there is no such card; see [`Error`].
    pub async fn balance(&self, id_card: Uuid) -> Result<CardBalance, Error> {
        self.client.read(Request::of(&operations::CARD_BALANCE).id(id_card)).await
    }

    /// Lists a card's transactions, the newest first.
    ///
    /// # Errors
    ///
    /// 404 if there is no such card, 503 if the bank is unreachable and the service has no earlier data; see
    /// [`Error`].
    pub async fn transactions(
        &self,
        id_card: Uuid,
        filter: &TransactionFilter,
        paging: Paging,
    ) -> Result<Page<Transaction>, Error> {
        self.all_transactions(id_card, filter).page(paging).await
    }

    /// All of a card's transactions that fit the filter, the newest first, page by page on demand.
    pub fn all_transactions(&self, id_card: Uuid, filter: &TransactionFilter) -> Records<Transaction> {
        let request = filter.add_to(Request::of(&operations::CARD_TRANSACTIONS).id(id_card));
        Records::new(self.client, request, |one| u128::from(one.id.cast_unsigned()))
    }

    /// Checks whether a card would make a payment. Nothing is paid or reserved.
    ///
    /// # Errors
    ///
    /// 404 if there is no such card, 503 if the check needs the card's payments, the bank is unreachable, and the
    /// service has no earlier data; see [`Error`].
    pub async fn can_pay(&self, id_card: Uuid, payment: &PaymentQuestion) -> Result<PaymentAnswer, Error> {
        self.client.read(Request::of(&operations::CARD_CAN_PAY).id(id_card).body(payment)).await
    }

    /// Lists cards, the first issued first, with the service's own copy of the bank's data.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn list(&self, filter: &CardFilter, paging: Paging) -> Result<Page<Card>, Error> {
        self.all(filter).page(paging).await
    }

    /// All cards that fit the filter, the first issued first, page by page on demand.
    pub fn all(&self, filter: &CardFilter) -> Records<Card> {
        let request = filter.add_to(Request::of(&operations::CARD_LIST));
        Records::new(self.client, request, |one| one.id_card.as_u128())
    }

    /// Lists the cards that are not linked yet, of one kind or of all.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn available(
        &self,
        type_card: Option<&CardType>,
        paging: Paging,
    ) -> Result<Page<AvailableCard>, Error> {
        self.all_available(type_card).page(paging).await
    }

    /// All cards that are not linked yet, of one kind or of all, page by page on demand; cards that are
    /// linked meanwhile hide no other.
    pub fn all_available(&self, type_card: Option<&CardType>) -> Records<AvailableCard> {
        let request =
            Request::of(&operations::CARD_AVAILABLE).query("typeCard", type_card.map(CardType::as_str));
        Records::new(self.client, request, |one| one.id_card.as_u128())
    }

    /// Links an unassigned card, by its number at the bank, to an employee.
    pub fn link(&self, id_employee: Uuid, custom_id_card: &str, status: &CardStatus) -> Write<LinkedCard> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Body<'a> {
            custom_id_card: &'a str,
            status_card: &'a CardStatus,
        }
        let request = Request::of(&operations::CARD_LINK).id(id_employee);
        self.client.write(request.body(&Body { custom_id_card, status_card: status }))
    }

    /// Changes the status of a card.
    pub fn switch(&self, id_employee: Uuid, id_card: Uuid, status: &CardStatus) -> Write<LinkedCard> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Body<'a> {
            id_card: Uuid,
            status_card: &'a CardStatus,
        }
        let request = Request::of(&operations::CARD_SWITCH).id(id_employee);
        self.client.write(request.body(&Body { id_card, status_card: status }))
    }

    /// Unlinks a card from its employee: one that is closed or has expired, or that was never activated and holds no
    /// money, which is free again.
    pub fn unlink(&self, id_employee: Uuid, id_card: Uuid) -> Write<UnlinkedCard> {
        self.client.write(Request::of(&operations::CARD_UNLINK).id(id_employee).id(id_card))
    }
}
