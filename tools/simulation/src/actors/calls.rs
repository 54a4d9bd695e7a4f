//! Calls of partners, as the service carries them out behind its front door.

use std::convert::Infallible;

use kopeck_domain::Kopecks;
use kopeck_domain::access::{Actor, Authority, Scopes};
use kopeck_domain::approval::Digest;
use kopeck_domain::card::CardStatus;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::closing::Closings;
use kopeck_domain::employee::NewEmployee;
use kopeck_domain::ids::{
    CardId, ClosingId, EmployeeId, LimitChangeId, OrderId, PartnerId, ProgrammeId, ReplenishmentId, RunId,
    WithdrawalId,
};
use kopeck_domain::ledger::TransferReference;
use kopeck_domain::limit::Limit;
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::money::AmountOverflow;
use kopeck_domain::order::{OrderKind, OrderLine};
use kopeck_domain::person::CustomId;
use kopeck_domain::programme::Terms;
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::run::{CancelRunError, SubmitError};
use kopeck_domain::withdrawal::Withdrawals;
use kopeck_port_store::{StoreError, UnitOfWork};
use kopeck_service::card_batches::{CancelBatchError, CreateBatchError};
use kopeck_service::cards::{LinkCardError, SwitchCardError, UnlinkCardError};
use kopeck_service::closings::CardClosing;
use kopeck_service::employees::{AddEmployeeError, EraseEmployeeError};
use kopeck_service::idempotency::PlaintextResponse;
use kopeck_service::orders::{ChangeOrderError, PlaceOrderError};
use kopeck_service::partners::{DepositOrigin, PartnerError};
use kopeck_service::programmes::ProgrammeError;
use kopeck_service::replenishments::TopUp;
use kopeck_service::runs::{ChangeRunError, CreateRunError, RunInput};
use kopeck_service::withdrawals::CardWithdrawal;
use kopeck_service::{
    Env, card_batches, cards, closings, employees, limits, orders, partners, programmes, replenishments,
    runs, withdrawals,
};
use time::OffsetDateTime;

/// What a call asks for. Everything that the bank is to do carries a mark of its own, an amount or an address, so that
/// what the bank did can be distinguished without the service's keys.
#[derive(Debug, Clone)]
pub(crate) enum Command {
    /// Money arrives; the operator's command, repeated by its own reference.
    Deposit { reference: TransferReference, amount: Kopecks },
    /// Money is paid out to the partner; the operator's command, repeated by its own reference.
    PayOut { reference: TransferReference, amount: Kopecks },
    /// The deposit under this reference was a mistake; the operator's command, which has its effect once.
    ReverseDeposit(TransferReference),
    /// A new employee.
    Hire { custom_id: CustomId },
    /// New cards.
    Order { kind: OrderKind, lines: Vec<OrderLine> },
    /// A card for an employee.
    Link { employee: EmployeeId, number: CardNumber, status: CardStatus },
    /// Another status for a card.
    Switch { employee: EmployeeId, card: CardId, status: CardStatus },
    /// A card leaves its employee.
    Unlink { employee: EmployeeId, card: CardId },
    /// An employee's personal data is no longer to be stored.
    Erase(EmployeeId),
    /// Money onto cards.
    TopUp(Vec<TopUp>),
    /// A limit for cards.
    SetLimits { cards: Vec<CardRef>, limit: Limit },
    /// Cards that shall be no more.
    Close(Vec<CardClosing>),
    /// Money back from cards.
    Withdraw(Vec<CardWithdrawal>),
    /// An order is no longer wanted.
    CancelOrder(OrderId),
    /// A top-up is no longer wanted.
    CancelTopUp(ReplenishmentId),
    /// A limit is no longer wanted.
    CancelLimits(LimitChangeId),
    /// A closing is no longer wanted.
    CancelClosing(ClosingId),
    /// Money is no longer wanted back.
    CancelWithdrawal(WithdrawalId),
    /// The cards of an order have arrived.
    Confirm(OrderId),
    /// A list of changes, to be looked at.
    DraftRun(RunInput),
    /// A run is to be carried out as it was shown, without its faulty items.
    SubmitRun { run: RunId, digest: Digest },
    /// A run is no longer wanted.
    CancelRun(RunId),
    /// A rule that pays people in each period.
    MakeProgramme(Terms),
    /// Other terms for it.
    ChangeProgramme { programme: ProgrammeId, terms: Terms },
    /// It makes no run for now.
    PauseProgramme(ProgrammeId),
    /// It makes runs again.
    ResumeProgramme(ProgrammeId),
    /// It is no longer wanted.
    DeleteProgramme(ProgrammeId),
}

impl Command {
    /// Whether an operator gives it: it has no idempotency key, and is repeated by its reference.
    pub(crate) const fn is_by_operator(&self) -> bool {
        matches!(self, Self::Deposit { .. } | Self::PayOut { .. } | Self::ReverseDeposit(_))
    }
}

/// A call under its idempotency key.
#[derive(Debug, Clone)]
pub(crate) struct KeyedCommand {
    /// The idempotency key of the partner.
    pub(crate) key: String,
    pub(crate) fingerprint: [u8; 32],
    pub(crate) command: Command,
    pub(crate) known: ClientView,
    /// The requests in which it was sent sealed; none if it travels clear.
    pub(crate) sealed: Vec<SealedRequest>,
    /// The keys of copies that an attacker sent; `None` is a copy without one.
    pub(crate) copies: Vec<Option<String>>,
    /// The key under which it had its effect, if that is known: its own or that of a copy.
    pub(crate) effect_under: Option<Option<String>>,
}

/// A sealed request in transit, which an attacker may copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SealedRequest {
    pub(crate) nonce: String,
    pub(crate) sealed_at: OffsetDateTime,
}

/// What the partner knows of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClientView {
    /// It has no response, or lost it.
    Nothing,
    /// It was refused and had no effect; it may be accepted another time.
    Refused,
    /// It had its effect.
    Answered(PlaintextResponse),
}

/// Why a call had no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommandError {
    /// A rule of the service says so.
    Refused(String),
    /// The store failed.
    Store(StoreError),
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

type CreateReplenishmentError = CreateBatchError<AmountOverflow>;
type SubmitRunError = ChangeRunError<SubmitError>;
type StopRunError = ChangeRunError<CancelRunError>;
type CloseCardsError = CreateBatchError<Infallible>;

macro_rules! refusals {
    ($($error:ident),*) => {
        $(impl From<$error> for CommandError {
            fn from(error: $error) -> Self {
                match error {
                    $error::Store(error) => Self::Store(error),
                    refusal => Self::Refused(refusal.to_string()),
                }
            }
        })*
    };
}

refusals! {
    AddEmployeeError, EraseEmployeeError, PlaceOrderError, LinkCardError, SwitchCardError, UnlinkCardError,
    CreateReplenishmentError, CloseCardsError,
    ChangeOrderError, CancelBatchError, PartnerError, CreateRunError, SubmitRunError, StopRunError,
    ProgrammeError
}

/// Carries out an command within a unit of work.
///
/// # Errors
/// [`CommandError`]; then nothing of it is kept.
pub(super) fn carry_out(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    command: &Command,
) -> Result<PlaintextResponse, CommandError> {
    match command {
        Command::Deposit { reference, amount } => {
            partners::deposit(unit, env, partner, *amount, &DepositOrigin::Operator(reference.clone()))?;
            Ok(answer(200, reference.as_str()))
        }
        Command::PayOut { reference, amount } => {
            partners::withdraw(unit, env, partner, *amount, reference)?;
            Ok(answer(200, reference.as_str()))
        }
        Command::ReverseDeposit(reference) => {
            match partners::reverse_deposit(unit, env, partner, reference) {
                // A caller that lost the response learns from this that it was done.
                Ok(_) | Err(PartnerError::AlreadyReversed) => Ok(answer(200, reference.as_str())),
                Err(error) => Err(error.into()),
            }
        }
        Command::Hire { custom_id } => {
            let employee = employees::add(unit, env, partner, custom_id, &NewEmployee::default())?;
            Ok(PlaintextResponse { employee: Some(employee.id()), ..answer(201, employee.id()) })
        }
        Command::Order { kind, lines } => {
            let order = orders::place(unit, env, partner, *kind, lines, None)?;
            Ok(answer(202, order.id()))
        }
        Command::Link { employee, number, status } => {
            let card = cards::link(unit, env, partner, *employee, *number, *status)?;
            Ok(answer(200, card.id()))
        }
        Command::Switch { employee, card, status } => {
            let card = cards::switch(unit, env, partner, *employee, *card, *status)?;
            Ok(answer(200, card.id()))
        }
        Command::Unlink { employee, card } => {
            let card = cards::unlink(unit, env, partner, *employee, *card)?;
            Ok(answer(200, card.id()))
        }
        Command::Erase(employee) => Ok(answer(200, employees::erase(unit, env, partner, *employee)?)),
        Command::TopUp(top_ups) => {
            let request = replenishments::create(unit, env, partner, top_ups, None)?;
            Ok(answer(202, request.id()))
        }
        Command::SetLimits { cards, limit } => {
            let request = limits::set(unit, env, partner, cards, limit, None)?;
            Ok(answer(202, request.id()))
        }
        Command::Close(cards) => Ok(answer(202, closings::create(unit, env, partner, cards, None)?.id())),
        Command::Withdraw(cards) => {
            Ok(answer(202, withdrawals::create(unit, env, partner, cards, None)?.id()))
        }
        Command::CancelOrder(_)
        | Command::CancelTopUp(_)
        | Command::CancelLimits(_)
        | Command::CancelClosing(_)
        | Command::CancelWithdrawal(_) => cancel(unit, env, partner, command),
        Command::Confirm(id) => Ok(answer(200, orders::confirm(unit, env, partner, *id)?.id())),
        Command::DraftRun(input) => {
            Ok(answer(201, runs::create(unit, env, partner, &Actor::Login, input)?.id()))
        }
        Command::SubmitRun { run, digest } => {
            Ok(answer(200, runs::submit(unit, env, partner, &login(), *run, *digest, true)?.run.id()))
        }
        Command::CancelRun(run) => Ok(answer(200, runs::cancel(unit, env, partner, *run)?.run.id())),
        Command::MakeProgramme(_)
        | Command::ChangeProgramme { .. }
        | Command::PauseProgramme(_)
        | Command::ResumeProgramme(_)
        | Command::DeleteProgramme(_) => change_programme(unit, env, partner, command),
    }
}

fn cancel(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    command: &Command,
) -> Result<PlaintextResponse, CommandError> {
    match command {
        Command::CancelOrder(id) => Ok(answer(200, orders::cancel(unit, env, partner, *id)?.id())),
        Command::CancelTopUp(id) => {
            Ok(answer(200, card_batches::cancel::<TopUps>(unit, env, partner, *id)?.id()))
        }
        Command::CancelLimits(id) => {
            Ok(answer(200, card_batches::cancel::<LimitChanges>(unit, env, partner, *id)?.id()))
        }
        Command::CancelClosing(id) => {
            Ok(answer(200, card_batches::cancel::<Closings>(unit, env, partner, *id)?.id()))
        }
        Command::CancelWithdrawal(id) => {
            Ok(answer(200, card_batches::cancel::<Withdrawals>(unit, env, partner, *id)?.id()))
        }
        _ => Err(CommandError::Refused("cancels nothing".to_owned())),
    }
}

fn change_programme(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    command: &Command,
) -> Result<PlaintextResponse, CommandError> {
    let changed = match command {
        Command::MakeProgramme(terms) => programmes::create(unit, env, partner, &login(), terms)?,
        Command::ChangeProgramme { programme, terms } => {
            programmes::change(unit, env, partner, &login(), *programme, terms)?
        }
        Command::PauseProgramme(id) => programmes::pause(unit, env, partner, *id)?,
        Command::ResumeProgramme(id) => programmes::resume(unit, env, partner, *id)?,
        Command::DeleteProgramme(id) => programmes::delete(unit, env, partner, *id)?,
        _ => return Err(CommandError::Refused("not about a programme".to_owned())),
    };
    Ok(answer(200, changed.programme.id()))
}

/// Who calls.
const fn login() -> Authority {
    Authority { actor: Actor::Login, scopes: Scopes::ALL }
}

fn answer(status: u16, made: impl ToString) -> PlaintextResponse {
    PlaintextResponse { status, body: made.to_string().into_bytes(), employee: None }
}
