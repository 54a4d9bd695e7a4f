//! Makes a purchase with a card.

use kopeck_domain::calendar::Zone;
use kopeck_port_bank::sandbox::{Purchase, PurchaseOutcome};

use super::{on_card, with_card};
use crate::input::field_types::{amount, text};
use crate::operations::cards::{ANY_ZONE, NO_CARD_OR_BANK, merchant_text};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::SANDBOX_PURCHASE, Needs::One(Scope::SandboxWrite), handler!(purchase))
        .reads(reads!(with_card, |r| read(r, ANY_ZONE)))
        .responds::<api::PurchaseResult>(200)
        .refuses(NO_CARD_OR_BANK);

fn read(r: &mut Reader<'_>, zone: Zone) -> Option<Purchase> {
    let mut body = r.body();
    let amount = body.required("amount", amount().about("Kopecks."));
    let [place, mcc, merchant_id] = ["place", "mcc", "merchantId"]
        .map(|name| body.optional(name, merchant_text("Shown in the card's transactions.")));
    let about = "When it happens, in the past or in the future; now, if absent.";
    let at = body.optional("at", text(move |at| zone.parse_moment(at)).about(about));
    Some(Purchase { amount: amount?, place, mcc, merchant_id, at, key: None })
}

async fn purchase(ctx: HandlerContext) -> HandlerResult {
    let zone = ctx.zone();
    on_card(
        ctx,
        |r| read(r, zone),
        |sandbox, card, purchase, key| {
            let purchase = Purchase { key: Some(key.clone()), ..purchase };
            sandbox.bank.purchase(card, &purchase).map(body)
        },
    )
    .await
}

fn body(outcome: PurchaseOutcome) -> api::PurchaseResult {
    match outcome {
        PurchaseOutcome::Approved(id) => {
            api::PurchaseResult { approved: true, reason: None, code: None, transaction_id: Some(id) }
        }
        PurchaseOutcome::Declined(refusal) => {
            let (reason, code) = (Some(refusal.to_string()), Some(refusal.code().to_owned()));
            api::PurchaseResult { approved: false, reason, code, transaction_id: None }
        }
    }
}
