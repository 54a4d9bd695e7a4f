//! Bodies made of the domain's values, for the service and what else has them.

use kopeck_domain::calendar::Zone;
use kopeck_domain::card_batch::BatchState;
use kopeck_domain::event::{
    self, BalanceLow, CardAtBank, CardDeclined, CardHolder, CardIssued, CardTransaction, Deposited,
    EmployeeChange, EmployeeErased, Ping, ProgrammeDue, RequestStatus, ReturnOrigin, Returned, RunStatus,
    Transfer, WebhookDisabled,
};
use kopeck_domain::ids::{ClosingId, EmployeeId, LimitChangeId, OrderId, ReplenishmentId, WithdrawalId};
use kopeck_domain::order::OrderState;
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
            data: api::EventData::of(&event.data, zone),
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

// The conversions that the list of events calls: `of` the data of the domain, its days and times those of a zone.

/// The events of requests, each with the name of its identifier.
macro_rules! status_events {
    ($($event:ident { $id:ident: $of:ty, $state:ty })*) => {$(
        impl api::$event {
            pub(crate) fn of(status: &RequestStatus<$of, $state>, _: Zone) -> Self {
                Self {
                    $id: status.id.uuid(),
                    state: RequestState::from(status.state).as_str().into(),
                    reference: reference(status.reference.as_ref()),
                }
            }
        }
    )*};
}

status_events! {
    OrderEvent { order_id: OrderId, OrderState }
    ReplenishmentEvent { replenishment_id: ReplenishmentId, BatchState }
    LimitsEvent { set_limits_cards_id: LimitChangeId, BatchState }
    ClosingEvent { closing_id: ClosingId, BatchState }
    WithdrawalEvent { withdrawal_id: WithdrawalId, BatchState }
}

impl api::ProgrammeDueEvent {
    pub(crate) fn of(due: &ProgrammeDue, zone: Zone) -> Self {
        Self {
            id_programme: due.programme.uuid(),
            period: due.period.to_string(),
            at: local(due.at, zone),
            needed: due.needed.get(),
            available: due.available.get(),
            short: due.short.get(),
        }
    }
}

impl api::RunEvent {
    pub(crate) fn of(status: &RunStatus, _: Zone) -> Self {
        Self {
            id_run: status.id.uuid(),
            kind: status.kind.as_str().into(),
            state: status.state.as_str().into(),
            reference: reference(status.reference.as_ref()),
        }
    }
}

fn reference(reference: Option<&RequestReference>) -> Option<String> {
    reference.map(|reference| reference.as_str().to_owned())
}

impl api::CardIssuedEvent {
    pub(crate) fn of(issued: &CardIssued, _: Zone) -> Self {
        Self {
            id_card: issued.card.uuid(),
            custom_id_card: issued.number.to_string(),
            type_card: issued.kind.as_str().into(),
            order_id: issued.order.uuid(),
            date_until: issued.valid_until,
            bank_status: issued.bank_status.as_str().into(),
        }
    }
}

impl api::CardLinkEvent {
    pub(crate) fn of(holder: &CardHolder, _: Zone) -> Self {
        Self {
            id_card: holder.card.uuid(),
            id_employee: holder.employee.uuid(),
            status_card: holder.status.as_str().into(),
            bank_status: holder.bank_status.as_str().into(),
        }
    }
}

impl api::BankCardEvent {
    pub(crate) fn of(card: &CardAtBank, _: Zone) -> Self {
        Self {
            id_card: card.card.uuid(),
            id_employee: card.employee.map(EmployeeId::uuid),
            bank_status: card.bank_status.as_str().into(),
        }
    }
}

impl api::CardTransactionEvent {
    pub(crate) fn of(moved: &CardTransaction, zone: Zone) -> Self {
        Self {
            id_card: moved.card.uuid(),
            id_employee: moved.employee.map(EmployeeId::uuid),
            transaction: api::Transaction::of(&moved.transaction, zone),
        }
    }
}

impl api::CardDeclinedEvent {
    pub(crate) fn of(declined: &CardDeclined, zone: Zone) -> Self {
        let purchase = &declined.purchase;
        let reason =
            purchase.reason.map_or_else(|| "declined by the bank".to_owned(), |reason| reason.to_string());
        Self {
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
}

impl api::DepositEvent {
    pub(crate) fn of(deposited: &Deposited, _: Zone) -> Self {
        Self {
            amount: deposited.amount.get(),
            reference: deposited.reference.as_ref().map(|reference| reference.as_str().to_owned()),
        }
    }
}

impl api::ReturnEvent {
    pub(crate) fn of(returned: &Returned, _: Zone) -> Self {
        let (closing_id, withdrawal_id) = match returned.by {
            ReturnOrigin::Closing(id) => (Some(id.uuid()), None),
            ReturnOrigin::Withdrawal(id) => (None, Some(id.uuid())),
        };
        let (amount, reference) = (returned.amount.get(), reference(returned.reference.as_ref()));
        Self { amount, reference, closing_id, withdrawal_id }
    }
}

impl api::TransferEvent {
    pub(crate) fn of(transfer: &Transfer, _: Zone) -> Self {
        Self { amount: transfer.amount.get(), reference: transfer.reference.as_str().to_owned() }
    }
}

impl api::BalanceLowEvent {
    pub(crate) fn of(low: &BalanceLow, _: Zone) -> Self {
        Self { available: low.available.get(), threshold: low.threshold.get() }
    }
}

impl api::EmployeeEvent {
    pub(crate) fn of(change: &EmployeeChange, _: Zone) -> Self {
        Self {
            id_employee: change.employee.uuid(),
            custom_id: change.custom_id.as_ref().map(|custom_id| custom_id.as_str().to_owned()),
        }
    }
}

impl api::EmployeeErased {
    pub(crate) fn of(erased: &EmployeeErased, _: Zone) -> Self {
        Self { id_employee: erased.employee.uuid() }
    }
}

impl api::WebhookDisabledEvent {
    pub(crate) fn of(disabled: &WebhookDisabled, _: Zone) -> Self {
        Self { id_webhook: disabled.webhook.uuid(), reason: disabled.reason.as_str().to_owned() }
    }
}

impl api::PingEvent {
    pub(crate) const fn of(_: &Ping, _: Zone) -> Self {
        Self {}
    }
}
