//! Events on the wire.

use kopeck_api as api;
use kopeck_domain::event::{CardHolder, EmployeeChange, EventData};
use kopeck_domain::request::RequestState;
use kopeck_port_store::FeedEvent;
use time::UtcOffset;

/// The body of an event.
pub(crate) fn body(appended: &FeedEvent) -> api::Event {
    let event = &appended.event;
    let at = event.created_at.to_offset(UtcOffset::UTC);
    api::Event {
        id: event.id.uuid(),
        seq: appended.seq,
        created_at: at.replace_nanosecond(0).unwrap_or(at),
        data: data(&event.data),
    }
}

fn data(data: &EventData) -> api::EventData {
    match data {
        EventData::OrderStatus(order) => api::EventData::OrderStatus(api::OrderEvent {
            order_id: order.id.uuid(),
            status: state(order.state),
        }),
        EventData::ReplenishmentStatus(replenishment) => {
            api::EventData::ReplenishmentStatus(api::ReplenishmentEvent {
                replenishment_id: replenishment.id.uuid(),
                status: state(replenishment.state),
            })
        }
        EventData::LimitsStatus(change) => api::EventData::LimitsStatus(api::LimitsEvent {
            set_limits_cards_id: change.id.uuid(),
            status: state(change.state),
        }),
        EventData::CardIssued(issued) => api::EventData::CardIssued(api::CardIssuedEvent {
            id_card: issued.card.uuid(),
            custom_id_card: issued.number.to_string(),
            type_card: issued.kind.as_str().into(),
            order_id: issued.order.uuid(),
            date_until: issued.valid_until,
        }),
        EventData::CardLinked(holder) => api::EventData::CardLinked(link(holder)),
        EventData::CardStatus(holder) => api::EventData::CardStatus(link(holder)),
        EventData::BalanceDeposited(deposited) => api::EventData::BalanceDeposited(api::DepositEvent {
            amount: deposited.amount.get(),
            reference: deposited.reference.as_ref().map(|reference| reference.as_str().to_owned()),
        }),
        EventData::EmployeeCreated(change) => api::EventData::EmployeeCreated(employee(change)),
        EventData::EmployeeUpdated(change) => api::EventData::EmployeeUpdated(employee(change)),
    }
}

fn state(state: impl Into<RequestState>) -> api::RequestState {
    state.into().as_str().into()
}

fn link(holder: &CardHolder) -> api::CardLinkEvent {
    api::CardLinkEvent {
        id_card: holder.card.uuid(),
        id_employee: holder.employee.uuid(),
        status_card: holder.status.as_str().into(),
    }
}

fn employee(change: &EmployeeChange) -> api::EmployeeEvent {
    api::EmployeeEvent {
        id_employee: change.employee.uuid(),
        custom_id: change.custom_id.as_str().to_owned(),
    }
}
