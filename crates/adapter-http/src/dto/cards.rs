//! Cards.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::{Zone, date_text};
use kopeck_domain::card::{AccountBalance, Card, CardStatus, CardType};
use kopeck_domain::ids::{CardId, EmployeeId};
use kopeck_port_store::CardRecord;
use serde::Serialize;

use super::LimitDto;

/// A card.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CardDto {
    id_card: CardId,
    id_employee: Option<EmployeeId>,
    custom_card_id: u64,
    #[serde(rename = "type")]
    kind: CardType,
    status_card: Option<CardStatus>,
    date_until: String,
    balance_account: AccountDto,
    balance: Kopecks,
    can_to_up: Kopecks,
    limit: LimitDto,
    activated: bool,
    activated_at: Option<String>,
    success: bool,
}

/// The card's account at the bank as of the last daily refresh.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AccountDto {
    update_at: String,
    value: Kopecks,
}

impl AccountDto {
    fn new(account: &AccountBalance, zone: Zone) -> Self {
        Self { update_at: zone.moment_text(account.updated_at), value: account.value }
    }
}

impl CardDto {
    pub(crate) fn new(record: &CardRecord, zone: Zone) -> Self {
        let CardRecord { card, bank, account, limit, .. } = record;
        Self {
            id_card: card.id,
            id_employee: card.link.map(|link| link.employee),
            custom_card_id: card.number.get(),
            kind: card.kind,
            status_card: card.link.map(|link| link.status),
            date_until: date_text(card.valid_until),
            balance_account: AccountDto::new(account, zone),
            balance: bank.balance,
            can_to_up: bank.can_to_up,
            limit: LimitDto::from(limit),
            activated: bank.activated_at.is_some(),
            activated_at: bank.activated_at.map(|at| zone.date_text(at)),
            success: true,
        }
    }
}

/// The balance of a card.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CardBalanceDto {
    id_card: CardId,
    balance_account: AccountDto,
    balance: Kopecks,
    can_to_up: Kopecks,
}

impl CardBalanceDto {
    pub(crate) fn new(record: &CardRecord, zone: Zone) -> Self {
        Self {
            id_card: record.card.id,
            balance_account: AccountDto::new(&record.account, zone),
            balance: record.bank.balance,
            can_to_up: record.bank.can_to_up,
        }
    }
}

/// A free card in a list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FreeCardDto {
    id_card: CardId,
    custom_id_card: String,
    type_card: CardType,
    date_until: String,
}

impl From<&Card> for FreeCardDto {
    fn from(card: &Card) -> Self {
        Self {
            id_card: card.id,
            custom_id_card: card.number.to_string(),
            type_card: card.kind,
            date_until: date_text(card.valid_until),
        }
    }
}

/// What a card is to its employee.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LinkDto {
    id_employee: EmployeeId,
    id_card: CardId,
    status_card: CardStatus,
}

impl LinkDto {
    pub(crate) const fn new(employee: EmployeeId, card: CardId, status: CardStatus) -> Self {
        Self { id_employee: employee, id_card: card, status_card: status }
    }
}

#[cfg(test)]
mod tests {
    use kopeck_domain::card::{BankView, CardLink, Standing};
    use kopeck_domain::card_number::CardNumber;
    use kopeck_domain::ids::OrderId;
    use kopeck_domain::limit::Limit;
    use serde_json::json;
    use time::OffsetDateTime;
    use time::macros::{date, datetime};
    use uuid::Uuid;

    use super::*;

    const SEEN: OffsetDateTime = datetime!(2026-01-31 22:30 UTC);

    fn record(link: Option<CardLink>, activated_at: Option<OffsetDateTime>) -> CardRecord {
        let card = Card {
            id: CardId::new(Uuid::nil()),
            number: CardNumber::parse("4006381333931").unwrap(),
            kind: CardType::Mp4,
            order: OrderId::new(Uuid::nil()),
            valid_until: date!(2029 - 01 - 31),
            link,
        };
        let bank = BankView {
            balance: Kopecks::new(125_000),
            can_to_up: Kopecks::new(1_375_000),
            activated_at,
            standing: Standing::Open,
            seen_at: SEEN,
        };
        let account = AccountBalance { value: Kopecks::new(7), updated_at: SEEN };
        CardRecord { card, bank, account, transactions_seen_at: None, limit: Limit::Unlimited }
    }

    #[test]
    fn a_card_has_the_fields_of_the_interface() {
        let zone = Zone::parse("+03:00").unwrap();
        let link = CardLink { employee: EmployeeId::new(Uuid::max()), status: CardStatus::Main };
        let mut expected = json!({
            "idCard": Uuid::nil(), "idEmployee": Uuid::max(), "customCardId": 4_006_381_333_931_u64, "type": "MP4",
            "statusCard": "MAIN", "dateUntil": "31.01.2029",
            "balanceAccount": {"updateAt": "01.02.2026 01:30", "value": 7},
            "balance": 125_000, "canToUp": 1_375_000,
            "limit": {"unlimited": true, "amount": null, "period": null, "days": [], "times": []},
            "activated": true, "activatedAt": "01.02.2026", "success": true,
        });
        let shown = CardDto::new(&record(Some(link), Some(SEEN)), zone);
        assert_eq!(serde_json::to_value(shown).unwrap(), expected);

        let nulls = ["idEmployee", "statusCard", "activatedAt"];
        nulls.iter().for_each(|name| expected[*name] = json!(null));
        expected["activated"] = json!(false);
        assert_eq!(serde_json::to_value(CardDto::new(&record(None, None), zone)).unwrap(), expected);
    }
}
