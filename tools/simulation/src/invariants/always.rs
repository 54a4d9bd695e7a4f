//! What must hold whenever something was committed.

use std::collections::{BTreeMap, HashMap};
use std::str::FromStr;

use kopeck_domain::ids::PartnerId;
use kopeck_domain::request::RequestState;
use kopeck_port_store::StoreError;
use kopeck_service::reconciliation;

use crate::violation::Violation;
use crate::world::World;

/// Rules, and queries that find what breaks them.
const RULES: [(&str, &str); 2] = [
    (
        "accounts add up to zero, and none but DEPOSITED is below it",
        "SELECT format('deposited %d, available %d, held %d, spent %d', deposited, available, held, spent) AS answer
         FROM balances WHERE deposited + available + held + spent <> 0 OR min(available, held, spent) < 0",
    ),
    (
        "a card that is being closed as lost stays blocked",
        "SELECT 'card ' || hex(c.id) || ' is not blocked' AS answer
         FROM card_batches b
         JOIN card_batch_items i ON i.partner_id = b.partner_id AND i.batch_id = b.id
         JOIN cards c ON c.partner_id = i.partner_id AND c.id = i.card_id
         WHERE b.kind = 'CLOSING' AND b.state IN ('NEW', 'IN_PROCESS') AND i.state = 'OPEN' AND i.is_urgent
             AND c.block_state IN ('OPEN', 'UNBLOCKING')",
    ),
];

/// Every request and run and its state. What has expired counts as rejected.
const STATES: &str = "
    SELECT 'ORDER ' || hex(id) || ' ' || state AS answer FROM orders
    UNION ALL SELECT kind || ' ' || hex(id) || ' ' || state FROM card_batches
    UNION ALL SELECT CASE WHEN programme_id IS NULL THEN 'RUN ' ELSE 'PROGRAMME ' END || hex(id) || ' '
        || CASE state WHEN 'DRAFT' THEN 'NEW' WHEN 'EXPIRED' THEN 'REJECTED' ELSE state END FROM runs";

/// Takes the partners of whom something was changed since the last look.
const CHANGED: &str = "DELETE FROM changed RETURNING lower(hex(partner)) AS answer";

/// Looks at the store after every step, and remembers the states that requests had.
#[derive(Default)]
pub(crate) struct Watch {
    states: HashMap<String, RequestState>,
}

impl Watch {
    /// Checks the books of those partners of whom something was changed since the last time.
    pub(crate) fn look(&mut self, world: &World, partners: &[PartnerId]) -> Result<(), Violation> {
        let answers = |query| world.stored.answers(query).map_err(|error| Violation::unreadable(&error));
        let changed = answers(CHANGED)?;
        if changed.is_empty() {
            return Ok(());
        }
        for (rule, query) in RULES {
            if let Some(what) = answers(query)?.pop() {
                return Err(Violation { rule, what });
            }
        }
        let of = |partner: &PartnerId| changed.contains(&partner.uuid().simple().to_string());
        let changed: Vec<PartnerId> = partners.iter().copied().filter(of).collect();
        let found = world.look(move |unit| {
            let checked = changed.iter().map(|partner| reconciliation::check(unit, *partner));
            checked.collect::<Result<Vec<_>, StoreError>>()
        });
        if let Some(discrepancy) =
            found.map_err(|error| Violation::unreadable(&error))?.iter().flatten().next()
        {
            return Err(Violation {
                rule: "the check of the books finds nothing",
                what: discrepancy.to_string(),
            });
        }
        answers(STATES)?.iter().try_for_each(|request| self.moves_forward(request))
    }

    /// How many requests of each kind were seen in each state last. `PROGRAMME` are the runs that programmes made.
    pub(crate) fn tally(&self) -> BTreeMap<String, u64> {
        let mut tally = BTreeMap::new();
        for (request, state) in &self.states {
            let kind = request.split(' ').next().unwrap_or_default();
            *tally.entry(format!("{kind} {state}")).or_default() += 1;
        }
        tally
    }

    /// `request`: its kind, its identifier, its state.
    fn moves_forward(&mut self, request: &str) -> Result<(), Violation> {
        let state = |word| RequestState::from_str(word).ok();
        let Some((request, state)) =
            request.rsplit_once(' ').and_then(|(request, word)| Some((request, state(word)?)))
        else {
            return Err(Violation::unreadable(&StoreError::Corrupt(request.to_owned())));
        };
        let before = self.states.insert(request.to_owned(), state).unwrap_or(RequestState::New);
        // A run of a programme is tried again, which is looked at where it is done.
        let is_again = request.starts_with("PROGRAMME ")
            && (before, state) == (RequestState::Decline, RequestState::InProcess);
        if state != before && rank(state) <= rank(before) && !is_again {
            let what = format!("{request} was {before} and is {state}");
            return Err(Violation { rule: "states only move forward", what });
        }
        Ok(())
    }
}

/// How far along a request is.
const fn rank(state: RequestState) -> u8 {
    match state {
        RequestState::New => 0,
        RequestState::InProcess => 1,
        RequestState::Success
        | RequestState::PartSuccess
        | RequestState::Decline
        | RequestState::Rejected => 2,
        RequestState::Confirmed => 3,
    }
}
