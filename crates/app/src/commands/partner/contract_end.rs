//! `kopeck partner close` and `delete`.

use std::sync::Arc;

use anyhow::bail;
use kopeck_domain::partner::PartnerStatus;
use kopeck_service::partners;
use kopeck_service::partners::contract_end::{self, CardsToClose, ContractEndError};

use super::{change, confirm_partner, existing_application};
use crate::cli::{CloseArgs, DeleteArgs};
use crate::command_output::say;

/// Ends a contract as far as it can be ended now.
pub(super) fn close(args: &CloseArgs) -> anyhow::Result<()> {
    confirm_partner(
        &args.partner,
        args.yes,
        "End the contract of",
        "Its sessions end, and its cards are closed for good.",
    )?;
    let (application, id) = (existing_application(&args.partner.store)?, args.partner.id);
    change(&application, "partner.close", Some(id), move |unit, entry| {
        entry.subject = "suspend".to_owned();
        partners::set_status(unit, id, PartnerStatus::Suspended)
    })?;
    let (mut open, mut requested) = (0, 0);
    for number in 1.. {
        let env = Arc::clone(&application.env);
        let page = contract_end::page(number)?;
        let cards = change(&application, "partner.close", Some(id), move |unit, entry| {
            let cards = contract_end::close_cards(unit, &env, id, page)?;
            entry.subject = format!("cards:{}", cards.requested);
            Ok::<CardsToClose, ContractEndError>(cards)
        })?;
        open += cards.open;
        requested += cards.requested;
        if !cards.has_next {
            break;
        }
    }
    if open > 0 {
        bail!(
            "{open} cards are not closed yet, {requested} of them are in a closing now: run this again later"
        );
    }
    let (env, reference) = (Arc::clone(&application.env), args.reference.clone());
    let paid = change(&application, "partner.close", Some(id), move |unit, entry| {
        entry.subject = format!("transfer:{}", reference.as_str());
        contract_end::pay_out(unit, &env, id, &reference)
    })?;
    match paid {
        Some(amount) => {
            say!(
                "the contract of partner {id} is over: {amount} are booked as paid out under {}",
                args.reference.as_str()
            )
        }
        None => say!("the contract of partner {id} is over"),
    }
}

/// Deletes a closed partner.
pub(super) fn delete(args: &DeleteArgs) -> anyhow::Result<()> {
    confirm_partner(&args.partner, args.yes, "Delete", "All of its records are removed for good.")?;
    let (application, id) = (existing_application(&args.partner.store)?, args.partner.id);
    let (env, retention) = (Arc::clone(&application.env), args.retention);
    change(&application, "partner.delete", Some(id), move |unit, _| {
        contract_end::delete(unit, &env, id, retention)
    })?;
    say!("partner {id} is deleted")
}
