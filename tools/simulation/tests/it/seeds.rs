//! Many seeds, in all of which everything holds.

use std::collections::BTreeSet;
use std::thread;

use simulation::Simulation;

/// Plays seeds and fails with the first that does not hold. Returns the ends that requests came to.
fn all_hold(seeds: std::ops::Range<u64>) -> BTreeSet<String> {
    let simulation = Simulation::open(None).unwrap();
    let mut ends = BTreeSet::new();
    for seed in seeds {
        let report = simulation.run(seed, false);
        assert_eq!(report.violation, None, "replay it with: cargo run -p simulation -- --seed {seed}");
        ends.extend(report.requests.into_keys());
    }
    ends
}

/// A simulation in which some way is never taken proves nothing of it. Where one is rare, play more seeds.
#[test]
fn everything_holds_and_every_kind_of_request_comes_to_every_end() {
    // In two halves, so that two cores share them.
    let halves = [0..125, 125..250].map(|seeds| thread::spawn(|| all_hold(seeds)));
    let ends: BTreeSet<String> = halves.into_iter().flat_map(|half| half.join().unwrap()).collect();
    for kind in ["REPLENISHMENT", "LIMIT_CHANGE", "CLOSING", "WITHDRAWAL", "RUN", "PROGRAMME"] {
        for end in ["SUCCESS", "PART_SUCCESS", "DECLINE", "REJECTED"] {
            assert!(ends.contains(&format!("{kind} {end}")), "{kind} {end}");
        }
    }
    assert!(ends.contains("PREVIEW UNTOUCHED"), "nothing came between a preview and its run");
    for end in ["SUCCESS", "CONFIRMED", "DECLINE", "REJECTED"] {
        assert!(ends.contains(&format!("ORDER {end}")), "ORDER {end}");
    }
}

/// Else no seed could be replayed. Nor does it matter what was played before on the same database.
#[test]
fn one_seed_is_one_run() {
    let (simulation, another) = (Simulation::open(None).unwrap(), Simulation::open(None).unwrap());
    for seed in [3, 17, 99] {
        let (first, second) = (simulation.run(seed, true), another.run(seed, true));
        assert!(first.trace.len() > 50, "something happens");
        assert_eq!(first, second);
        assert_ne!(first.trace, simulation.run(seed + 1, true).trace);
        assert_eq!(simulation.run(seed, true), first);
        assert_eq!(simulation.run(seed, false).requests, first.requests, "whether it is watched or not");
    }
}
