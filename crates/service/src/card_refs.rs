//! Finds the cards that requests name: by themselves, or as the MAIN cards of employees.

use std::collections::HashSet;

use kopeck_domain::card_ref::CardRef;
use kopeck_domain::employee::EmployeeStatus;
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_port_store::{CardAndHolder, CardHolder, CardView, StoreError, UnitOfWork};

use crate::card_batches::{CardConflict, ConflictReason, CreateBatchError};

/// A card that was found under its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCard {
    /// The card and the bank's view of it.
    pub view: CardView,
    /// Who has it; `None` for an unassigned card, and for one whose holder was erased.
    pub holder: Option<CardHolder>,
}

impl FoundCard {
    /// Whether its holder has left the partner.
    #[must_use]
    pub fn holder_has_left(&self) -> bool {
        self.holder.as_ref().is_some_and(has_left)
    }
}

/// Whether an employee has left the partner.
#[must_use]
pub fn has_left(holder: &CardHolder) -> bool {
    holder.status == EmployeeStatus::DontWork
}

/// Why a name leads to no card.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CardRefError {
    /// The partner has no such employee.
    #[error("no such employee")]
    UnknownEmployee,
    /// The partner has no such card.
    #[error("no such card")]
    UnknownCard,
    /// The employee has no MAIN card.
    #[error("the employee has no main card")]
    NoMainCard(CardHolder),
}

/// The card that each of `references` names, in their order, by a few statements for each kind of name.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn find(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    references: &[CardRef],
) -> Result<Vec<Result<FoundCard, CardRefError>>, StoreError> {
    let found = unit.cards().by_references(partner, references)?;
    Ok(references.iter().zip(found).map(|(reference, found)| card_of(reference, found)).collect())
}

fn card_of(reference: &CardRef, found: Option<CardAndHolder>) -> Result<FoundCard, CardRefError> {
    match found {
        Some(CardAndHolder { card: Some(view), holder }) => Ok(FoundCard { view, holder }),
        Some(CardAndHolder { card: None, holder: Some(holder) }) => Err(CardRefError::NoMainCard(holder)),
        Some(CardAndHolder { card: None, holder: None }) | None if reference.is_person() => {
            Err(CardRefError::UnknownEmployee)
        }
        Some(CardAndHolder { card: None, holder: None }) | None => Err(CardRefError::UnknownCard),
    }
}

/// The cards of a new batch as the request names them, each with its identifier; `None` for an employee without MAIN card.
pub(crate) struct NamedCards<'a>(Vec<(&'a CardRef, Option<CardId>)>);

impl<'a> NamedCards<'a> {
    /// Finds the named cards. Identifiers stay as they are, unless another name may lead to the same card.
    ///
    /// # Errors
    /// [`CreateBatchError::Twice`] before [`CreateBatchError::UnknownCards`], as 422 comes before 404.
    pub(crate) fn find<T>(
        unit: &mut dyn UnitOfWork,
        partner: PartnerId,
        references: impl Iterator<Item = &'a CardRef>,
    ) -> Result<Self, CreateBatchError<T>> {
        let references: Vec<&CardRef> = references.collect();
        let id_of = |reference: &&'a CardRef| match reference {
            CardRef::Id(card) => Some((*reference, Some(*card))),
            CardRef::Number(_) | CardRef::Employee(_) | CardRef::CustomId(_) => None,
        };
        if let Some(named) = references.iter().map(id_of).collect() {
            return Ok(Self(named));
        }
        let owned: Vec<CardRef> = references.iter().copied().cloned().collect();
        let (mut named, mut unknown, mut twice) = (Vec::new(), Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        for (place, (reference, found)) in
            references.into_iter().zip(find(unit, partner, &owned)?).enumerate()
        {
            let card = match found {
                Ok(found) => Some(found.view.card.id()),
                Err(CardRefError::NoMainCard(_)) => None,
                Err(CardRefError::UnknownEmployee | CardRefError::UnknownCard) => {
                    unknown.push(reference.clone());
                    continue;
                }
            };
            if card.is_some_and(|card| !seen.insert(card)) {
                twice.push((place, reference.clone()));
            }
            named.push((reference, card));
        }
        if !twice.is_empty() {
            return Err(CreateBatchError::Twice(twice));
        }
        if unknown.is_empty() { Ok(Self(named)) } else { Err(CreateBatchError::UnknownCards(unknown)) }
    }

    /// The cards, in the order of the request.
    pub(crate) fn ids(&self) -> Vec<CardId> {
        self.0.iter().filter_map(|(_, card)| *card).collect()
    }

    /// Each name with its card.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'a CardRef, Option<CardId>)> {
        self.0.iter().copied()
    }

    /// The conflict of each card for which `reason` has one, in the order of the request.
    pub(crate) fn conflicts(
        &self,
        mut reason: impl FnMut(CardId) -> Option<ConflictReason>,
    ) -> Vec<CardConflict> {
        let conflict = |(named, card): (&CardRef, Option<CardId>)| {
            let reason = card.map_or(Some(ConflictReason::NoMainCard), &mut reason)?;
            Some(CardConflict { named: named.clone(), card, reason })
        };
        self.iter().filter_map(conflict).collect()
    }
}

#[cfg(test)]
mod tests;
