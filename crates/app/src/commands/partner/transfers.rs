//! `kopeck partner deposit`, `reverse-deposit`, `withdraw`.

use std::sync::Arc;

use kopeck_audit::{Entry, Outcome};
use kopeck_service::partners::{self, DepositOrigin, TransferOutcome};

use super::{change, confirm, existing_application};
use crate::cli::{DepositArgs, ReverseArgs, WithdrawArgs};
use crate::command_output::say;

/// Books a deposit.
pub(super) fn deposit(args: DepositArgs) -> anyhow::Result<()> {
    let DepositArgs { store, id, amount, reference, confirm } = args;
    confirm::amount(confirm, amount, "Deposit")?;
    let application = existing_application(&store)?;
    let env = Arc::clone(&application.env);
    let origin = DepositOrigin::Operator(reference.clone());
    let named = reference.clone();
    let outcome = change(&application, "partner.deposit", Some(id), move |unit, entry| {
        entry.subject = format!("transfer:{}", named.as_str());
        let outcome = partners::deposit(unit, &env, id, amount, &origin)?;
        note(entry, outcome);
        Ok::<_, partners::PartnerError>(outcome)
    })?;
    match outcome {
        TransferOutcome::Booked => say!("deposited {amount} on partner {id}"),
        TransferOutcome::AlreadyBooked => {
            say!("reference {} had deposited this before: nothing changed", reference.as_str())
        }
    }
}

/// Takes a deposit back.
pub(super) fn reverse_deposit(args: ReverseArgs) -> anyhow::Result<()> {
    let application = existing_application(&args.partner.store)?;
    let ReverseArgs { partner, reference, reason } = args;
    let (id, env, named) = (partner.id, Arc::clone(&application.env), reference.clone());
    let amount = change(&application, "partner.reverse_deposit", Some(id), move |unit, entry| {
        entry.subject = format!("transfer:{} reason:{reason}", named.as_str());
        partners::reverse_deposit(unit, &env, id, &named)
    })?;
    say!("took {amount} of deposit {} back from partner {id}", reference.as_str())
}

/// Books a payment to the partner.
pub(super) fn withdraw(args: WithdrawArgs) -> anyhow::Result<()> {
    let WithdrawArgs { partner, amount, reference, confirm } = args;
    confirm::amount(confirm, amount, "Withdraw")?;
    let application = existing_application(&partner.store)?;
    let (id, env) = (partner.id, Arc::clone(&application.env));
    let named = reference.clone();
    let outcome = change(&application, "partner.withdraw", Some(id), move |unit, entry| {
        entry.subject = format!("transfer:{}", named.as_str());
        let outcome = partners::withdraw(unit, &env, id, amount, &named)?;
        note(entry, outcome);
        Ok::<_, partners::PartnerError>(outcome)
    })?;
    match outcome {
        TransferOutcome::Booked => say!("withdrew {amount} from partner {id}"),
        TransferOutcome::AlreadyBooked => {
            say!("reference {} had withdrawn this before: nothing changed", reference.as_str())
        }
    }
}

fn note(entry: &mut Entry, outcome: TransferOutcome) {
    if outcome == TransferOutcome::AlreadyBooked {
        entry.outcome = Outcome::Repeated;
    }
}
