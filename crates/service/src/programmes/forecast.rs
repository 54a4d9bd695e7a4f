//! What the partner's programmes will do: by the people, categories, cards and balances of now.

use std::collections::HashMap;

use kopeck_domain::access::Actor;
use kopeck_domain::employee::EmployeeStatus;
use kopeck_domain::ids::{CardId, PartnerId, ProgrammeId};
use kopeck_domain::programme::{
    self, Audience, ForecastCard, ForecastRow, PlannedProgramme, Programme, ProgrammeState, Terms,
};
use kopeck_domain::run::RunKind;
use kopeck_port_store::{CardClaims, StoreError, UnitOfWork};
use time::Date;
use uuid::Uuid;

use super::{ProgrammeError, payees};
use crate::runs::obstacle;
use crate::{Env, money};

/// How many days ahead a forecast goes at most.
pub const FORECAST_DAYS: i64 = 366;

/// What a programme will do in a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgrammeForecast {
    /// The programme.
    pub programme: ProgrammeId,
    /// What it will do.
    pub row: ForecastRow,
}

/// What all programmes in force will do up to the end of `until`, in the order of time.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn forecast(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    until: Date,
) -> Result<Vec<ProgrammeForecast>, StoreError> {
    let programmes = super::all(unit, partner)?;
    rows(unit, env, partner, programmes, until)
}

/// The identifier of a programme in a forecast that there is not yet.
pub const NOT_YET: ProgrammeId = ProgrammeId::new(Uuid::nil());

/// As [`forecast`], as if `terms` were in force: those of a programme that there is not yet, or in the place of those of
/// `instead_of`. Nothing is changed.
///
/// # Errors
/// [`ProgrammeError`].
pub fn preview(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    terms: &Terms,
    instead_of: Option<ProgrammeId>,
    until: Date,
) -> Result<Vec<ProgrammeForecast>, ProgrammeError> {
    let (mut programmes, now) = (super::all(unit, partner)?, env.now());
    super::check(unit, partner, terms, instead_of, &programmes)?;
    match instead_of {
        None => programmes.push(Programme::new(NOT_YET, terms.clone(), Actor::Service, false, now)),
        Some(id) => {
            let own = programmes.iter_mut().find(|programme| programme.id() == id);
            let own = own.ok_or(ProgrammeError::NotFound)?;
            *own = own.clone().change(terms.clone(), Actor::Service, false, now).resume(now)?;
        }
    }
    Ok(rows(unit, env, partner, programmes, until)?)
}

/// What those of the programmes that are in force will do.
fn rows(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    mut programmes: Vec<Programme>,
    until: Date,
) -> Result<Vec<ProgrammeForecast>, StoreError> {
    programmes.retain(|programme| programme.state() == ProgrammeState::Active);
    let mut cards = Cards::default();
    let planned = programmes
        .iter()
        .map(|programme| cards.plan(unit, env, partner, programme))
        .collect::<Result<Vec<_>, _>>()?;
    let workdays = unit.programmes().workdays()?;
    let available = unit.ledger().sheet(partner)?.ok_or_else(money::no_accounts)?.balances.available;
    let (times, zone) = ((env.now(), until), env.settings.zone);
    let rows = programme::forecast(&planned, cards.cards, available, times, &workdays, zone)
        .map_err(payees::overflow)?;
    let named =
        |row: ForecastRow| Some(ProgrammeForecast { programme: programmes.get(row.programme)?.id(), row });
    Ok(rows.into_iter().filter_map(named).collect())
}

/// The cards of all programmes, each once.
#[derive(Default)]
struct Cards {
    cards: Vec<ForecastCard>,
    places: HashMap<CardId, usize>,
    /// The places of those whom a programme pays, by whom it names: many programmes name the same people.
    paid: Vec<(Named, Vec<usize>)>,
}

type Named = (Audience, Vec<EmployeeStatus>, RunKind);

impl Cards {
    fn plan(
        &mut self,
        unit: &mut dyn UnitOfWork,
        env: &Env,
        partner: PartnerId,
        programme: &Programme,
    ) -> Result<PlannedProgramme, StoreError> {
        let terms = programme.terms();
        let fields = terms.fields();
        let named = (fields.audience.clone(), fields.statuses.clone(), payees::kind(terms));
        let known = self.paid.iter().find(|(those, _)| *those == named).map(|(_, cards)| cards.clone());
        let cards = match known {
            Some(cards) => cards,
            None => {
                let cards = self.of(unit, env, partner, terms)?;
                self.paid.push((named, cards.clone()));
                cards
            }
        };
        Ok(PlannedProgramme {
            schedule: *terms.schedule(),
            validity: programme.validity(),
            last: programme.last(),
            grant: fields.grant,
            pro_rata: fields.pro_rata,
            on_shortage: fields.on_shortage,
            cards,
        })
    }

    /// The places of the cards that a programme of these terms can pay.
    fn of(
        &mut self,
        unit: &mut dyn UnitOfWork,
        env: &Env,
        partner: PartnerId,
        terms: &Terms,
    ) -> Result<Vec<usize>, StoreError> {
        let (kind, today) = (payees::kind(terms), env.today());
        let mut cards = Vec::new();
        for payee in payees::find(unit, env, partner, terms)? {
            if obstacle(kind, &payee.found, CardClaims::default(), today).is_some() {
                continue;
            }
            let place = *self.places.entry(payee.found.view.card.id()).or_insert(self.cards.len());
            if place == self.cards.len() {
                self.cards.push(payee.card);
            }
            cards.push(place);
        }
        Ok(cards)
    }
}
