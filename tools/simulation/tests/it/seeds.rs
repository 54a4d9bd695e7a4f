//! Many seeds, in all of which everything holds.

use simulation::Simulation;

/// Plays seeds and fails with the first that does not hold.
fn all_hold(seeds: std::ops::Range<u64>) {
    let simulation = Simulation::open(None).unwrap();
    for seed in seeds {
        let violation = simulation.run(seed, false).violation;
        assert_eq!(violation, None, "replay it with: cargo run -p simulation -- --seed {seed}");
    }
}

/// In two halves, so that two cores share them.
#[test]
fn everything_holds_in_the_first_thousand_seeds() {
    all_hold(0..1_000);
}

#[test]
fn everything_holds_in_the_second_thousand_seeds() {
    all_hold(1_000..2_000);
}

/// Else no seed could be replayed.
#[test]
fn one_seed_is_one_run() {
    let simulation = Simulation::open(None).unwrap();
    let run = |seed, traced| simulation.run(seed, traced);
    for seed in [3, 17, 99] {
        let (first, second) = (run(seed, true), run(seed, true));
        assert!(first.trace.len() > 50, "something happens");
        assert_eq!(first, second);
        assert_ne!(first.trace, run(seed + 1, true).trace);
        assert_eq!(run(seed, false).requests, first.requests, "whether it is watched or not");
    }
}

/// A simulation in which some way is never taken proves nothing of it.
#[test]
fn every_kind_of_request_comes_to_every_end() {
    let mut ends = std::collections::BTreeSet::new();
    let simulation = Simulation::open(None).unwrap();
    for seed in 0..1_000 {
        ends.extend(simulation.run(seed, false).requests.into_keys());
    }
    for kind in ["REPLENISHMENT", "LIMIT_CHANGE", "CLOSING", "WITHDRAWAL"] {
        for end in ["SUCCESS", "PART_SUCCESS", "DECLINE", "REJECTED"] {
            assert!(ends.contains(&format!("{kind} {end}")), "{kind} {end}");
        }
    }
    for end in ["SUCCESS", "CONFIRMED", "DECLINE", "REJECTED"] {
        assert!(ends.contains(&format!("ORDER {end}")), "ORDER {end}");
    }
}
