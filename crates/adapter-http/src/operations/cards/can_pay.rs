//! Tells whether a card would pay an amount.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_domain::ids::CardId;
use kopeck_service::payments::{self, Forecast, Question};

use super::{ANY_ZONE, NO_CARD_OR_BANK, merchant_text, read_id};
use crate::dto::local;
use crate::input::field_types::{amount, text};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CARD_CAN_PAY, Needs::One(Scope::CardsRead), handler!(can_pay))
        .reads(reads!(read, ANY_ZONE))
        .responds::<api::PaymentAnswer>(200)
        .refuses(NO_CARD_OR_BANK);

fn read(r: &mut Reader<'_>, zone: Zone) -> Option<(CardId, Question)> {
    let card = read_id(r);
    let amount = r.needed("amount", amount().about("Kopecks."));
    let about = "When the payment would be made; now, if absent.";
    let at = r.param("at", text(move |at| zone.parse_moment(at)).about(about));
    let mcc = r.param("mcc", merchant_text("The merchant's category code, for limits by merchant."));
    Some((card?, Question { amount: amount?, at, mcc }))
}

async fn can_pay(mut ctx: HandlerContext) -> HandlerResult {
    let zone = ctx.zone();
    let (card, question) = ctx.values(|r| read(r, zone))?;
    let prepared = ctx.ask_bank(move |shared, partner| {
        let parts = &shared.parts;
        payments::prepare(&*parts.store, &*parts.bank, &parts.env, partner, card)
    });
    prepared.await??;
    let forecast = ctx
        .read(Ok(question), move |unit, env, partner, question| {
            payments::can_pay(unit, env, partner, card, question)
        })
        .await?;
    ctx.respond(&body(&forecast, zone))
}

fn body(forecast: &Forecast, zone: Zone) -> api::PaymentAnswer {
    let Forecast { refusal, remaining, resets_at } = forecast;
    api::PaymentAnswer {
        allowed: refusal.is_none(),
        reason: refusal.map(|refusal| refusal.to_string()),
        code: refusal.map(|refusal| refusal.code().to_owned()),
        remaining: remaining.map(Kopecks::get),
        resets_at: resets_at.map(|at| local(at, zone)),
    }
}
