//! Shows a card.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_domain::card::{CardStatus, CardType};
use kopeck_domain::ids::{CardId, EmployeeId};
use kopeck_port_store::CardRecord;

use super::{AccountDto, NO_CARD, read_card, read_id};
use crate::dto::{Data, DateText};
use crate::operations::limits::LimitDto;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation = Operation::of(&operations::CARD_INFO, handler!(info))
    .reads(reads!(read_id))
    .responds::<Data<CardDto>>(200)
    .refuses(NO_CARD);

async fn info(ctx: HandlerContext) -> HandlerResult {
    let record = read_card(&ctx).await?;
    ctx.respond(&Data { data: CardDto::new(&record, ctx.zone()) })
}

api_type! {
    /// A card, free or linked.
    struct CardDto as "Card" {
        /// Our identifier.
        id_card: CardId,
        /// The employee to whom it is linked; `null` for an unassigned card.
        id_employee: Option<EmployeeId>,
        /// The bank's number, the same as `customIdCard` elsewhere.
        custom_card_id: u64,
        /// Its type.
        #[serde(rename = "type")]
        kind: CardType,
        /// Its status; `null` for an unassigned card.
        status_card: Option<CardStatus>,
        /// Its last day.
        date_until: DateText,
        /// Its account at the bank.
        balance_account: AccountDto,
        /// The money on it, kopecks.
        balance: Kopecks,
        /// By how much it can still be topped up, kopecks.
        can_to_up: Kopecks,
        /// What it may be spent on.
        limit: LimitDto,
        /// Whether it can be used.
        activated: bool,
        /// Since when; a plastic card from its issue.
        activated_at: Option<DateText>,
        /// `true`.
        success: bool,
    }
}

impl CardDto {
    fn new(record: &CardRecord, zone: Zone) -> Self {
        let CardRecord { card, bank, account, limit, .. } = record;
        Self {
            id_card: card.id,
            id_employee: card.link.map(|link| link.employee),
            custom_card_id: card.number.get(),
            kind: card.kind,
            status_card: card.link.map(|link| link.status),
            date_until: DateText::new(card.valid_until),
            balance_account: AccountDto::new(account, zone),
            balance: bank.balance,
            can_to_up: bank.remaining_top_up,
            limit: LimitDto::from(limit),
            activated: bank.activated_at.is_some(),
            activated_at: bank.activated_at.map(|at| DateText::of(at, zone)),
            success: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use kopeck_domain::card::StoredCard;
    use kopeck_domain::card::{AccountBalance, BankView, Card, CardLink, Standing};
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
        let card = Card::from_stored(StoredCard {
            id: CardId::new(Uuid::nil()),
            number: CardNumber::parse("4006381333931").unwrap(),
            kind: CardType::Mp4,
            order: OrderId::new(Uuid::nil()),
            valid_until: date!(2029 - 01 - 31),
            link,
        });
        let bank = BankView {
            balance: Kopecks::new(125_000),
            remaining_top_up: Kopecks::new(1_375_000),
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
