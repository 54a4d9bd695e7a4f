//! The sandbox: what a partner can make happen where a simulator stands for the bank.

use actix_web::http::StatusCode;
use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::draft::Invalid;
use kopeck_domain::ids::CardId;
use kopeck_domain::ledger::DepositReference;
use kopeck_service::cards::{self, CardKey};
use kopeck_service::{balance, partners};

use crate::dto::{BalanceDto, Done};
use crate::error::ApiError;
use crate::exchange::Exchange;
use crate::input::kinds::{integer, text};
use crate::input::reader::Reader;
use crate::route::Outcome;
use crate::sandbox::{SandboxPower, SandboxRefusal};

/// What is told to the simulator about a card.
type Command = Box<dyn FnOnce(&dyn SandboxPower, CardNumber) -> Result<(), SandboxRefusal> + Send>;

pub(crate) async fn deposit(x: Exchange) -> Outcome {
    let amount = x.call.values(|r| r.body().required("amount", integer(positive)));
    x.mutate(StatusCode::OK, amount, |unit, env, partner, amount| {
        let reference = DepositReference::parse(&format!("sandbox-{}", env.ids.next_id()))
            .map_err(|error| ApiError::internal(error.to_string()))?;
        partners::deposit(unit, env, partner, *amount, &reference)?;
        let sheet = balance::get(unit, partner)?;
        BalanceDto::new(&sheet, env.settings.zone).map_err(|error| ApiError::internal(error.to_string()))
    })
    .await
}

pub(crate) async fn block(x: Exchange) -> Outcome {
    command(x, |_| Some(Box::new(|power, card| power.block(card)))).await
}

pub(crate) async fn unblock(x: Exchange) -> Outcome {
    command(x, |_| Some(Box::new(|power, card| power.unblock(card)))).await
}

pub(crate) async fn expire(x: Exchange) -> Outcome {
    command(x, |_| Some(Box::new(|power, card| power.expire(card)))).await
}

pub(crate) async fn activate(x: Exchange) -> Outcome {
    command(x, |r| {
        let code = r.body().optional("activationCode", text(|code| Ok(code.to_owned())));
        Some(Box::new(move |power, card| power.activate(card, code.as_deref())))
    })
    .await
}

/// Tells the simulator something about the card of the path, and brings the copy of the card up to date.
async fn command(x: Exchange, read: impl FnOnce(&mut Reader<'_>) -> Option<Command>) -> Outcome {
    let values = x.call.values(|r| {
        let id = r.id::<CardId>("idCard");
        let command = read(r);
        Some((id?, command?))
    });
    let turn = x.turn().await?;
    if let Some(answer) = turn.replay().await? {
        return Ok(answer);
    }
    let (id, command) = values?;
    let x = turn.exchange();
    let look = x.read(Ok(id), |unit, env, partner, id| cards::look(unit, env, partner, *id)).await?;
    let number = look.record.card.number;
    x.command_bank(move |power| command(power, number)).await?;
    x.prepare_card(CardKey::Id(id)).await?;
    turn.once(StatusCode::OK, (), |_unit, _env, _partner, ()| Ok::<_, ApiError>(Done::new())).await
}

fn positive(kopecks: i64) -> Result<Kopecks, Invalid> {
    if kopecks > 0 { Ok(Kopecks::new(kopecks)) } else { Err(Invalid::new("must be a positive integer")) }
}
