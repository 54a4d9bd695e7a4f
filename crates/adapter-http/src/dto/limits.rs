//! Limits of cards, and their changes.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_domain::ids::{CardId, LimitChangeId};
use kopeck_domain::limit::{Limit, Period, Window};
use kopeck_domain::limit_change::{ItemState, LimitChange, LimitChangeItem, LimitChangeRefusal};
use kopeck_domain::request::RequestState;
use serde::Serialize;

/// What a card may be spent on. Always of all five fields.
#[derive(Serialize)]
pub(crate) struct LimitDto {
    unlimited: bool,
    amount: Option<Kopecks>,
    period: Option<Period>,
    days: Vec<u8>,
    times: Vec<WindowDto>,
}

#[derive(Serialize)]
struct WindowDto {
    from: String,
    to: String,
}

impl From<&Limit> for LimitDto {
    fn from(limit: &Limit) -> Self {
        let allowance = limit.allowance();
        Self {
            unlimited: limit.is_unlimited(),
            amount: allowance.map(|allowance| allowance.amount()),
            period: allowance.map(|allowance| allowance.period()),
            days: limit.days().numbers().collect(),
            times: limit.windows().iter().map(WindowDto::from).collect(),
        }
    }
}

impl From<&Window> for WindowDto {
    fn from(window: &Window) -> Self {
        Self { from: window.from().to_string(), to: window.to().to_string() }
    }
}

/// A change that was accepted.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LimitChangeAcceptedDto {
    message: &'static str,
    set_limits_cards_id: LimitChangeId,
}

impl From<LimitChange> for LimitChangeAcceptedDto {
    fn from(request: LimitChange) -> Self {
        Self { message: super::ACCEPTED, set_limits_cards_id: request.id }
    }
}

/// Where a change stands.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LimitChangeStateDto {
    message: RequestState,
    set_limits_cards_id: LimitChangeId,
}

impl From<LimitChange> for LimitChangeStateDto {
    fn from(request: LimitChange) -> Self {
        Self { message: request.state, set_limits_cards_id: request.id }
    }
}

/// What became of one card of a change.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LimitChangeItemDto {
    id_card: CardId,
    result_limit: bool,
    error_limit: Option<&'static str>,
}

impl From<&LimitChangeItem> for LimitChangeItemDto {
    fn from(item: &LimitChangeItem) -> Self {
        let (done, refusal) = match item.state {
            ItemState::Done => (true, None),
            ItemState::Refused(refusal) => (false, Some(refusal)),
            // Not seen from here: a result is shown once every card of it is decided.
            ItemState::Open => (false, None),
        };
        Self { id_card: item.card, result_limit: done, error_limit: refusal.map(LimitChangeRefusal::text) }
    }
}

/// A change in a list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LimitChangeListDto {
    set_limits_cards_id: LimitChangeId,
    status: RequestState,
    number_cards: u32,
    created_at: String,
    status_updated_at: String,
}

impl LimitChangeListDto {
    pub(crate) fn new(request: &LimitChange, zone: Zone) -> Self {
        Self {
            set_limits_cards_id: request.id,
            status: request.state,
            number_cards: request.cards,
            created_at: zone.moment_text(request.created_at),
            status_updated_at: zone.moment_text(request.state_since),
        }
    }
}

#[cfg(test)]
mod tests {
    use kopeck_domain::limit::{LimitDraft, WindowDraft};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_limit_has_all_five_fields() {
        let shown = |limit: &Limit| serde_json::to_value(LimitDto::from(limit)).unwrap();
        assert_eq!(
            shown(&Limit::Unlimited),
            json!({"unlimited": true, "amount": null, "period": null, "days": [], "times": []})
        );
        let night = WindowDraft { from: Some(Ok("22:00".to_owned())), to: Some(Ok("06:00".to_owned())) };
        let draft = LimitDraft {
            unlimited: None,
            amount: Some(Ok(500_000)),
            period: Some(Ok("CQUARTET".to_owned())),
            days: Some(Ok(vec![7, 1])),
            times: Some(Ok(vec![Ok(night)])),
        };
        assert_eq!(
            shown(&Limit::parse(&draft, "limit").unwrap()),
            json!({"unlimited": false, "amount": 500_000, "period": "CQUARTET", "days": [1, 7],
                "times": [{"from": "22:00", "to": "06:00"}]})
        );
    }
}
