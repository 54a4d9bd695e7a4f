//! The registry's entries of a page of cards against the service's records.

use std::collections::{BTreeMap, HashMap, HashSet};

use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::ids::{CardId, OrderId, PartnerId};
use kopeck_domain::transaction::Transaction;
use kopeck_port_bank::RegistryEntry;
use kopeck_port_store::{StoreError, UnitOfWork};

use super::booked::{self, BookedInstruction, Instruction, signed};
use super::seen::SeenKeys;
use super::{BankReconciler, Day, Difference, DifferenceKind, NotHere, Progress, ReconcileError, Unlisted};

/// A card and its owner.
pub(super) type OwnedCard = (CardNumber, PartnerId, CardId);

/// The service's records of a page of cards.
struct Books {
    /// Transactions of the day, by card and id.
    transactions: HashMap<CardId, BTreeMap<i64, Transaction>>,
    /// The instructions that the registry's entries name.
    instructions: HashMap<Instruction, BookedInstruction>,
}

/// What a difference says beside the entry: the amount in the service's records, and what differs.
type Finding = (Option<Kopecks>, DifferenceKind);

impl BankReconciler {
    /// Compares the entries of a page of cards.
    pub(super) fn compare_cards(
        &self,
        day: &Day<'_>,
        page: Vec<OwnedCard>,
        entries: Vec<RegistryEntry>,
        progress: &mut Progress,
        report: &mut dyn FnMut(Difference),
    ) -> Result<(), ReconcileError> {
        let owners: HashMap<CardNumber, (PartnerId, CardId)> =
            page.iter().map(|(number, partner, card)| (*number, (*partner, *card))).collect();
        let mut books = self.books(day, page.clone(), &entries, &owners)?;
        let mut loaded = HashSet::new();
        for entry in entries {
            let owner = owners.get(&entry.card).copied();
            let stored = owner.and_then(|(_, card)| books.transactions.get_mut(&card));
            let stored = stored.and_then(|of_card| of_card.remove(&entry.transaction.id));
            let finding = match instructed(&entry, owner.is_some(), &books, &mut progress.seen, &mut loaded) {
                Some(finding) => Some(finding),
                None => self.moved(day, &entry, owner, stored.as_ref())?,
            };
            if let Some((_, DifferenceKind::WrongCard { here })) = &finding {
                progress.misplaced.insert((*here, entry.transaction.id));
            }
            let Some((here, kind)) = finding else { continue };
            let (number, transaction) = (entry.card, entry.transaction.id);
            // An instruction that no request here gave comes with no feed.
            let is_ours = entry
                .key
                .as_ref()
                .and_then(Instruction::of)
                .is_none_or(|of| books.instructions.contains_key(&of));
            let may_come = kind == DifferenceKind::MissingHere && is_ours && day.date == self.env.today();
            let difference = Difference {
                day: day.date,
                partner: owner.map(|(partner, _)| partner),
                card: number,
                transaction: Some(transaction),
                there: Some(signed(&entry.transaction)),
                key: entry.key,
                here,
                kind,
            };
            match owner.filter(|_| may_come) {
                Some((partner, card)) => {
                    progress.not_here.push(NotHere { partner, card, number, transaction, difference });
                }
                None => report(difference),
            }
        }
        for (card, partner, id) in page {
            let left = books.transactions.remove(&id).unwrap_or_default().into_values();
            progress.unlisted.extend(left.map(|transaction| Unlisted { partner, card, transaction }));
        }
        Ok(())
    }

    /// Reports the transactions that the registry of the day does not have.
    pub(super) fn compare_unlisted(
        &self,
        day: &Day<'_>,
        progress: &Progress,
        report: &mut dyn FnMut(Difference),
    ) -> Result<(), ReconcileError> {
        for Unlisted { partner, card, transaction } in &progress.unlisted {
            if progress.misplaced.contains(&(*card, transaction.id)) {
                continue;
            }
            day.go_on()?;
            let kind = self.not_listed(day, *card, transaction)?;
            let there = matches!(kind, DifferenceKind::WrongDay { .. }).then(|| signed(transaction));
            report(Difference {
                day: day.date,
                partner: Some(*partner),
                card: *card,
                transaction: Some(transaction.id),
                key: None,
                here: Some(signed(transaction)),
                there,
                kind,
            });
        }
        Ok(())
    }

    /// Reads the service's records of these cards, and of the instructions behind the entries.
    fn books(
        &self,
        day: &Day<'_>,
        page: Vec<OwnedCard>,
        entries: &[RegistryEntry],
        owners: &HashMap<CardNumber, (PartnerId, CardId)>,
    ) -> Result<Books, ReconcileError> {
        let mut named: HashMap<Instruction, Option<PartnerId>> = HashMap::new();
        for entry in entries {
            let owner = owners.get(&entry.card).map(|(partner, _)| *partner);
            if let Some(instruction) = entry.key.as_ref().and_then(Instruction::of) {
                named.insert(instruction, owner);
            }
        }
        let mut of_partner: BTreeMap<PartnerId, Vec<CardId>> = BTreeMap::new();
        for (_, partner, card) in page {
            of_partner.entry(partner).or_default().push(card);
        }
        let (period, partners) = (day.period.clone(), day.partners.clone());
        let read = move |unit: &mut dyn UnitOfWork| -> Result<Books, StoreError> {
            let mut books = Books { transactions: HashMap::new(), instructions: HashMap::new() };
            for (partner, cards) in &of_partner {
                for (card, transaction) in unit.reconciliation().transactions(*partner, cards, &period)? {
                    books.transactions.entry(card).or_default().insert(transaction.id, transaction);
                }
            }
            for (instruction, owner) in &named {
                // Hardly ever is it not the owner's.
                let others = partners.iter().copied().filter(|partner| Some(*partner) != *owner);
                if let Some(found) = booked::find(unit, *instruction, owner.iter().copied().chain(others))? {
                    books.instructions.insert(*instruction, found);
                }
            }
            Ok(books)
        };
        Ok(self.read(read)?)
    }

    /// Compares a movement with the copy of the bank's transactions.
    fn moved(
        &self,
        day: &Day<'_>,
        entry: &RegistryEntry,
        owner: Option<(PartnerId, CardId)>,
        stored: Option<&Transaction>,
    ) -> Result<Option<Finding>, ReconcileError> {
        let Some((partner, card)) = owner else { return Ok(Some((None, DifferenceKind::UnknownCard))) };
        if let Some(stored) = stored {
            let here = signed(stored);
            let differs = here != signed(&entry.transaction);
            return Ok(differs.then_some((Some(here), DifferenceKind::Amount)));
        }
        let id = entry.transaction.id;
        let other_day = self.read(move |unit| unit.reconciliation().transaction(partner, card, id))?;
        let Some(stored) = other_day else { return Ok(Some((None, DifferenceKind::MissingHere))) };
        let here = self.env.settings.zone.day(stored.executed_at);
        // A day that is compared too finds it by itself. Of the same day it was stored meanwhile.
        let is_listed = day.all.contains(&here);
        let kind = DifferenceKind::WrongDay { here, there: day.date };
        Ok((!is_listed).then_some((Some(signed(&stored)), kind)))
    }

    /// What is wrong with a transaction that the registry of its day does not have.
    fn not_listed(
        &self,
        day: &Day<'_>,
        card: CardNumber,
        stored: &Transaction,
    ) -> Result<DifferenceKind, ReconcileError> {
        let listed = self.bank.transactions(card, stored.id - 1, 1)?;
        let there = listed.first().filter(|listed| listed.id == stored.id);
        let there = there.map(|listed| self.env.settings.zone.day(listed.executed_at));
        Ok(match there.filter(|there| *there != day.date) {
            Some(there) => DifferenceKind::WrongDay { here: day.date, there },
            None => DifferenceKind::MissingThere,
        })
    }
}

/// Compares a movement with the instruction that caused it, and notes its key.
fn instructed(
    entry: &RegistryEntry,
    is_known_card: bool,
    books: &Books,
    seen: &mut SeenKeys,
    loaded: &mut HashSet<(CardNumber, OrderId)>,
) -> Option<Finding> {
    let instruction = entry.key.as_ref().and_then(Instruction::of)?;
    let is_first = match instruction {
        Instruction::Item { batch, ordinal } => seen.add_item(batch, ordinal),
        Instruction::Order(order) => {
            let is_first = loaded.insert((entry.card, order));
            if is_first {
                seen.add_card(order);
            }
            is_first
        }
    };
    let Some(booked) = books.instructions.get(&instruction) else {
        let kind = if is_known_card { DifferenceKind::MissingHere } else { DifferenceKind::UnknownCard };
        return Some((None, kind));
    };
    let here = booked.amounts.first().copied();
    let there = signed(&entry.transaction);
    let kind = if let Some(card) = booked.card.filter(|card| *card != entry.card) {
        DifferenceKind::WrongCard { here: card }
    } else if let Some(state) = booked.not_done {
        DifferenceKind::End { here: state }
    } else if !is_known_card {
        DifferenceKind::UnknownCard
    } else if !is_first {
        DifferenceKind::Twice
    } else if !booked.amounts.is_empty() && !booked.amounts.contains(&there) {
        DifferenceKind::Amount
    } else {
        return None;
    };
    Some((here, kind))
}
