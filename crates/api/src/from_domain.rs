//! Bodies made of the domain's values, for the service and what else has them.

use kopeck_domain::calendar::Zone;
use kopeck_domain::event::{
    self, CardAtBank, CardDeclined, CardHolder, EmployeeChange, ReturnOrigin, Transfer,
};
use kopeck_domain::ids::EmployeeId;
use kopeck_domain::request::{RequestReference, RequestState};
use kopeck_domain::transaction;
use time::{OffsetDateTime, PrimitiveDateTime, UtcOffset};

use crate as api;

impl api::Event {
    /// The event with the number `seq` of its partner's feed. Days and times of its data are those of `zone`.
    #[must_use]
    pub fn of(seq: i64, event: &event::Event, zone: Zone) -> Self {
        Self {
            id: event.id.uuid(),
            seq,
            created_at: to_the_second(event.created_at),
            data: data(&event.data, zone),
        }
    }

    /// The event as webhooks deliver it: JSON, as in the feed. `seal` encrypts its data, which then stand under `sealed`.
    #[must_use]
    pub fn to_delivery(&self, seal: Option<impl FnOnce(&[u8]) -> String>) -> Vec<u8> {
        // The data consist of texts, numbers and lists, which are JSON.
        let mut body = serde_json::to_value(self).unwrap_or_default();
        if let (Some(seal), Some(fields)) = (seal, body.as_object_mut()) {
            let data = fields.remove("data").unwrap_or_default();
            fields.insert("sealed".to_owned(), seal(data.to_string().as_bytes()).into());
        }
        body.to_string().into_bytes()
    }
}

impl api::Transaction {
    /// A transaction with its date and time in `zone`.
    #[must_use]
    pub fn of(transaction: &transaction::Transaction, zone: Zone) -> Self {
        let at = local(transaction.executed_at, zone);
        Self {
            id: transaction.id,
            date_execution_at: at.date(),
            time_execution_at: at.time(),
            transaction_type: transaction.kind.as_str().into(),
            amount: transaction.amount.get(),
            place: transaction.place.clone(),
            mcc: transaction.mcc.clone(),
            merchant_id: transaction.merchant_id.clone(),
        }
    }
}

/// The date and time of the zone.
#[must_use]
pub fn local(moment: OffsetDateTime, zone: Zone) -> PrimitiveDateTime {
    let local = moment.to_offset(zone.offset());
    PrimitiveDateTime::new(local.date(), local.time())
}

/// A timestamp as events show it: UTC, without fractions.
#[must_use]
pub fn to_the_second(at: OffsetDateTime) -> OffsetDateTime {
    let at = at.to_offset(UtcOffset::UTC);
    at.replace_nanosecond(0).unwrap_or(at)
}

#[expect(clippy::too_many_lines, reason = "one short arm a type of event")]
fn data(data: &event::EventData, zone: Zone) -> api::EventData {
    match data {
        event::EventData::OrderStatus(order) => api::EventData::OrderStatus(api::OrderEvent {
            order_id: order.id.uuid(),
            state: state(order.state),
            reference: reference(order.reference.as_ref()),
        }),
        event::EventData::ReplenishmentStatus(replenishment) => {
            api::EventData::ReplenishmentStatus(api::ReplenishmentEvent {
                replenishment_id: replenishment.id.uuid(),
                state: state(replenishment.state),
                reference: reference(replenishment.reference.as_ref()),
            })
        }
        event::EventData::LimitsStatus(change) => api::EventData::LimitsStatus(api::LimitsEvent {
            set_limits_cards_id: change.id.uuid(),
            state: state(change.state),
            reference: reference(change.reference.as_ref()),
        }),
        event::EventData::ClosingStatus(closing) => api::EventData::ClosingStatus(api::ClosingEvent {
            closing_id: closing.id.uuid(),
            state: state(closing.state),
            reference: reference(closing.reference.as_ref()),
        }),
        event::EventData::WithdrawalStatus(withdrawal) => {
            api::EventData::WithdrawalStatus(api::WithdrawalEvent {
                withdrawal_id: withdrawal.id.uuid(),
                state: state(withdrawal.state),
                reference: reference(withdrawal.reference.as_ref()),
            })
        }
        event::EventData::CardIssued(issued) => api::EventData::CardIssued(api::CardIssuedEvent {
            id_card: issued.card.uuid(),
            custom_id_card: issued.number.to_string(),
            type_card: issued.kind.as_str().into(),
            order_id: issued.order.uuid(),
            date_until: issued.valid_until,
            bank_status: issued.bank_status.as_str().into(),
        }),
        event::EventData::CardLinked(holder) => api::EventData::CardLinked(link(holder)),
        event::EventData::CardUnlinked(holder) => api::EventData::CardUnlinked(link(holder)),
        event::EventData::CardStatus(holder) => api::EventData::CardStatus(link(holder)),
        event::EventData::CardBankStatus(card) => api::EventData::CardBankStatus(at_bank(card)),
        event::EventData::CardActivated(card) => api::EventData::CardActivated(at_bank(card)),
        event::EventData::CardExpiring(card) => api::EventData::CardExpiring(at_bank(card)),
        event::EventData::CardExpired(card) => api::EventData::CardExpired(at_bank(card)),
        event::EventData::CardTransaction(moved) => {
            api::EventData::CardTransaction(api::CardTransactionEvent {
                id_card: moved.card.uuid(),
                id_employee: moved.employee.map(EmployeeId::uuid),
                transaction: api::Transaction::of(&moved.transaction, zone),
            })
        }
        event::EventData::CardDeclined(declined) => {
            api::EventData::CardDeclined(self::declined(declined, zone))
        }
        event::EventData::BalanceDeposited(deposited) => {
            api::EventData::BalanceDeposited(api::DepositEvent {
                amount: deposited.amount.get(),
                reference: deposited.reference.as_ref().map(|reference| reference.as_str().to_owned()),
            })
        }
        event::EventData::BalanceReturned(returned) => {
            let (closing_id, withdrawal_id) = match returned.by {
                ReturnOrigin::Closing(id) => (Some(id.uuid()), None),
                ReturnOrigin::Withdrawal(id) => (None, Some(id.uuid())),
            };
            let amount = returned.amount.get();
            api::EventData::BalanceReturned(api::ReturnEvent {
                amount,
                reference: reference(returned.reference.as_ref()),
                closing_id,
                withdrawal_id,
            })
        }
        event::EventData::BalanceWithdrawn(paid) => api::EventData::BalanceWithdrawn(transfer(paid)),
        event::EventData::BalanceCorrected(taken) => api::EventData::BalanceCorrected(transfer(taken)),
        event::EventData::BalanceLow(low) => api::EventData::BalanceLow(api::BalanceLowEvent {
            available: low.available.get(),
            threshold: low.threshold.get(),
        }),
        event::EventData::EmployeeCreated(change) => api::EventData::EmployeeCreated(employee(change)),
        event::EventData::EmployeeUpdated(change) => api::EventData::EmployeeUpdated(employee(change)),
        event::EventData::EmployeeErased(erased) => {
            api::EventData::EmployeeErased(api::EmployeeErased { id_employee: erased.employee.uuid() })
        }
        event::EventData::WebhookDisabled(disabled) => {
            api::EventData::WebhookDisabled(api::WebhookDisabledEvent {
                id_webhook: disabled.webhook.uuid(),
                reason: disabled.reason.as_str().to_owned(),
            })
        }
        event::EventData::Ping(_) => api::EventData::Ping(api::PingEvent {}),
    }
}

fn reference(reference: Option<&RequestReference>) -> Option<String> {
    reference.map(|reference| reference.as_str().to_owned())
}

fn state(state: impl Into<RequestState>) -> api::RequestState {
    state.into().as_str().into()
}

fn transfer(transfer: &Transfer) -> api::TransferEvent {
    api::TransferEvent { amount: transfer.amount.get(), reference: transfer.reference.as_str().to_owned() }
}

fn link(holder: &CardHolder) -> api::CardLinkEvent {
    api::CardLinkEvent {
        id_card: holder.card.uuid(),
        id_employee: holder.employee.uuid(),
        status_card: holder.status.as_str().into(),
        bank_status: holder.bank_status.as_str().into(),
    }
}

fn at_bank(card: &CardAtBank) -> api::BankCardEvent {
    api::BankCardEvent {
        id_card: card.card.uuid(),
        id_employee: card.employee.map(EmployeeId::uuid),
        bank_status: card.bank_status.as_str().into(),
    }
}

fn declined(declined: &CardDeclined, zone: Zone) -> api::CardDeclinedEvent {
    let purchase = &declined.purchase;
    let reason =
        purchase.reason.map_or_else(|| "declined by the bank".to_owned(), |reason| reason.to_string());
    api::CardDeclinedEvent {
        id_card: declined.card.uuid(),
        id_employee: declined.employee.map(EmployeeId::uuid),
        amount: purchase.amount.get(),
        reason,
        code: purchase.reason.map(|reason| reason.code().to_owned()),
        place: purchase.place.clone(),
        mcc: purchase.mcc.clone(),
        merchant_id: purchase.merchant_id.clone(),
        date: local(purchase.at, zone),
    }
}

fn employee(change: &EmployeeChange) -> api::EmployeeEvent {
    api::EmployeeEvent {
        id_employee: change.employee.uuid(),
        custom_id: change.custom_id.as_ref().map(|custom_id| custom_id.as_str().to_owned()),
    }
}
