//! Shows a card.

use kopeck_domain::calendar::Zone;
use kopeck_port_store::CardRecord;

use super::{NO_CARD, read_card, read_id};
use crate::operations::limits;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CARD_INFO, Needs::One(Scope::CardsRead), handler!(info))
        .reads(reads!(read_id))
        .responds::<api::Data<api::Card>>(200)
        .refuses(NO_CARD);

async fn info(mut ctx: HandlerContext) -> HandlerResult {
    let record = read_card(&mut ctx).await?;
    ctx.respond(&api::Data { data: body(&record, ctx.zone()) })
}

/// The body of a card.
pub(super) fn body(record: &CardRecord, zone: Zone) -> api::Card {
    let CardRecord { card, bank, account, limit, .. } = record;
    api::Card {
        id_card: card.id().uuid(),
        id_employee: card.link().map(|link| link.employee.uuid()),
        custom_card_id: card.number().get(),
        card_type: card.kind().as_str().into(),
        status_card: card.link().map(|link| link.status.as_str().into()),
        bank_status: card.bank_status(bank.standing).as_str().into(),
        date_until: card.valid_until(),
        balance_account: super::account(account, zone),
        balance: bank.balance.get(),
        can_to_up: bank.remaining_top_up.get(),
        limit: limits::body(limit),
        activated: bank.activated_at.is_some(),
        activated_at: bank.activated_at.map(|at| zone.day(at)),
        success: true,
    }
}

#[cfg(test)]
mod tests {
    use kopeck_domain::Kopecks;
    use kopeck_domain::card::{
        AccountBalance, BankView, Card, CardFields, CardLink, CardStatus, CardType, Standing,
    };
    use kopeck_domain::card_number::CardNumber;
    use kopeck_domain::ids::{CardId, EmployeeId, OrderId};
    use kopeck_domain::limit::Limit;
    use serde_json::json;
    use time::OffsetDateTime;
    use time::macros::{date, datetime};
    use uuid::Uuid;

    use super::*;

    const SEEN: OffsetDateTime = datetime!(2026-01-31 22:30 UTC);

    fn record(link: Option<CardLink>, activated_at: Option<OffsetDateTime>) -> CardRecord {
        let card = Card::from_stored(CardFields {
            id: CardId::new(Uuid::nil()),
            number: CardNumber::parse("4006381333931").unwrap(),
            kind: CardType::Mp4,
            order: OrderId::new(Uuid::nil()),
            valid_until: date!(2029 - 01 - 31),
            link,
            block: kopeck_domain::card::PartnerBlock::default(),
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
            "statusCard": "MAIN", "bankStatus": "OPEN", "dateUntil": "31.01.2029",
            "balanceAccount": {"updateAt": "01.02.2026 01:30", "value": 7},
            "balance": 125_000, "canToUp": 1_375_000,
            "limit": {"unlimited": true, "amount": null, "period": null, "days": [], "times": []},
            "activated": true, "activatedAt": "01.02.2026", "success": true,
        });
        let shown = body(&record(Some(link), Some(SEEN)), zone);
        assert_eq!(serde_json::to_value(shown).unwrap(), expected);

        let nulls = ["idEmployee", "statusCard", "activatedAt"];
        nulls.iter().for_each(|name| expected[*name] = json!(null));
        expected["activated"] = json!(false);
        assert_eq!(serde_json::to_value(body(&record(None, None), zone)).unwrap(), expected);
    }
}
