//! When each fault strikes: drawn from the seed alone, before the run.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::fault_kind::FaultKind;
use crate::fleet::Role;
use kopeck_test_support::Random;

/// Time between two faults, in milliseconds.
const GAP: (u64, u64) = (1_500, 5_000);
/// Time at the start without faults, in milliseconds.
const QUIET: u64 = 1_000;

/// The targets of faults.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene {
    pub(crate) apis: usize,
    /// 0, where the API process works itself.
    pub(crate) workers: usize,
    /// Whether the database is a server.
    pub(crate) has_database: bool,
    pub(crate) bank_doubles: bool,
}

/// A fault that is to come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedFault {
    /// When, from the start.
    pub(crate) at: Duration,
    /// How long until it is undone.
    pub(crate) lasts: Duration,
    pub(crate) kind: FaultKind,
    /// The process that it strikes, if it strikes one.
    pub(crate) role: Option<Role>,
    /// How severe the faults of a bank or a receiver are: in percent of its requests, or of its longest latency.
    pub(crate) percent: u64,
}

/// A resource that one fault at a time uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Process(Role),
    Database,
    WayToBank,
    Partners,
    Receiver,
}

/// The faults of a run in the order of their time; all of them are undone by its end.
///
/// Kinds come in rounds, each kind once a round, so that none of them is left out by chance.
pub(crate) fn plan(scene: Scene, seed: u64, duration: Duration) -> Vec<PlannedFault> {
    let random = Random::new(seed).part(0);
    let mut busy: BTreeMap<Target, u64> = BTreeMap::new();
    let (mut planned, mut round) = (Vec::new(), Vec::new());
    let end = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut at = QUIET;
    while at < end {
        if round.is_empty() {
            round = FaultKind::ALL.into_iter().filter(|kind| kind.is_possible(scene)).collect();
            random.shuffle(&mut round);
        }
        // The first of the round whose target is free and that is over in time.
        let found = round.iter().enumerate().find_map(|(place, &kind)| {
            let (target, role) = kind.target(scene, &random);
            let lasts = kind.lasts(&random);
            let free = busy.get(&target).is_none_or(|until| *until <= at);
            (free && at + lasts < end).then_some((place, kind, target, role, lasts))
        });
        if let Some((place, kind, target, role, lasts)) = found {
            round.remove(place);
            // A moment to come back before the next fault.
            busy.insert(target, at + lasts + 2_000);
            let percent = random.between(10, 50);
            let (at, lasts) = (Duration::from_millis(at), Duration::from_millis(lasts));
            planned.push(PlannedFault { at, lasts, kind, role, percent });
        } else if round.iter().all(|kind| at + kind.shortest() >= end) {
            round.clear();
        }
        at += random.between(GAP.0, GAP.1);
    }
    planned
}

impl FaultKind {
    fn is_possible(self, scene: Scene) -> bool {
        match self {
            Self::KillWorker | Self::StopWorker => scene.workers > 0,
            Self::CrashDatabase | Self::CutDatabase | Self::BlockDatabase => scene.has_database,
            Self::BankDoubles => scene.bank_doubles,
            _ => true,
        }
    }

    fn target(self, scene: Scene, random: &Random) -> (Target, Option<Role>) {
        let one_of = |count: usize| usize::try_from(random.below(count as u64)).unwrap_or(0);
        let role = match self {
            Self::KillApi | Self::StopApi => Role::Api(one_of(scene.apis)),
            Self::KillWorker | Self::StopWorker => Role::Worker(one_of(scene.workers)),
            Self::CrashDatabase | Self::CutDatabase | Self::BlockDatabase => return (Target::Database, None),
            Self::CutBank | Self::BlockBank => return (Target::WayToBank, None),
            Self::CutPartners => return (Target::Partners, None),
            Self::ReceiverDown | Self::ReceiverSlow | Self::ReceiverMute => return (Target::Receiver, None),
            Self::KillBank
            | Self::BankDown
            | Self::BankSlow
            | Self::BankFails
            | Self::BankMute
            | Self::BankDoubles => Role::Bank,
        };
        (Target::Process(role), Some(role))
    }

    /// The shortest and the longest time that it lasts, in milliseconds.
    const fn span(self) -> (u64, u64) {
        match self {
            Self::KillApi | Self::KillWorker | Self::KillBank => (100, 3_000),
            Self::StopApi => (2_000, 7_000),
            // A lease is 30 s; with the longest request to the bank, 40 s.
            Self::StopWorker => (42_000, 48_000),
            Self::CrashDatabase => (500, 5_000),
            Self::CutDatabase | Self::CutBank | Self::CutPartners => (0, 0),
            Self::BlockDatabase | Self::BlockBank => (1_000, 6_000),
            Self::BankDown
            | Self::BankSlow
            | Self::BankFails
            | Self::BankMute
            | Self::BankDoubles
            | Self::ReceiverDown
            | Self::ReceiverSlow
            | Self::ReceiverMute => (3_000, 9_000),
        }
    }

    const fn shortest(self) -> u64 {
        self.span().0
    }

    fn lasts(self, random: &Random) -> u64 {
        let (shortest, longest) = self.span();
        random.between(shortest, longest)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const SCENE: Scene = Scene { apis: 2, workers: 3, has_database: true, bank_doubles: false };
    const THREE_MINUTES: Duration = Duration::from_secs(180);

    #[test]
    fn a_seed_names_its_faults() {
        assert_eq!(plan(SCENE, 7, THREE_MINUTES), plan(SCENE, 7, THREE_MINUTES));
        assert_ne!(plan(SCENE, 7, THREE_MINUTES), plan(SCENE, 8, THREE_MINUTES));
    }

    #[test]
    fn three_minutes_hold_every_kind_and_all_is_undone_in_time() {
        for seed in 0..200 {
            let planned = plan(SCENE, seed, THREE_MINUTES);
            let kinds: BTreeSet<FaultKind> = planned.iter().map(|fault| fault.kind).collect();
            let all = FaultKind::ALL.into_iter().filter(|kind| *kind != FaultKind::BankDoubles);
            assert_eq!(kinds, all.collect(), "seed {seed}");
            assert!(planned.iter().all(|fault| fault.at + fault.lasts < THREE_MINUTES), "seed {seed}");
        }
    }

    #[test]
    fn no_process_meets_two_faults_at_once() {
        for seed in 0..200 {
            let planned = plan(Scene { bank_doubles: true, ..SCENE }, seed, THREE_MINUTES);
            for (place, first) in planned.iter().enumerate() {
                let overlaps = |second: &&PlannedFault| {
                    second.role == first.role && second.role.is_some() && second.at < first.at + first.lasts
                };
                assert_eq!(planned.iter().skip(place + 1).find(overlaps), None, "seed {seed}: {first:?}");
            }
        }
    }

    #[test]
    fn an_embedded_database_and_its_server_are_spared_what_they_do_not_have() {
        let scene = Scene { apis: 1, workers: 0, has_database: false, bank_doubles: false };
        for fault in plan(scene, 1, THREE_MINUTES) {
            assert!(!matches!(fault.role, Some(Role::Worker(_))));
            assert!(!matches!(
                fault.kind,
                FaultKind::CrashDatabase | FaultKind::CutDatabase | FaultKind::BlockDatabase
            ));
        }
    }
}
