//! How cost grows.

use super::results::{Figure, Results};

/// Curves over one axis.
pub(super) struct Family {
    pub(super) title: &'static str,
    /// What the axis counts.
    pub(super) axis: &'static str,
    pub(super) curves: &'static [Curve],
}

/// A curve, and its name with the unit.
pub(super) struct Curve {
    pub(super) name: &'static str,
    pub(super) figure: Figure,
}

const fn curve(name: &'static str, row: &'static str, side: &'static str, figure: &'static str) -> Curve {
    Curve { name, figure: Figure { row, side, figure } }
}

/// All of them, on PostgreSQL.
pub(super) const FAMILIES: &[Family] = &[
    Family {
        title: "Partners, each with 100 employees; 32 connections",
        axis: "partners",
        curves: &[
            curve("read, calls a second", "by-partners", "read", "per_second"),
            curve("add, calls a second", "by-partners", "add", "per_second"),
        ],
    },
    Family {
        title: "Employees of one partner; one connection",
        axis: "employees",
        curves: &[
            curve("read, median µs", "by-employees", "read", "p50_us"),
            curve("first page, median µs", "by-employees", "first", "p50_us"),
            curve("last page, median µs", "by-employees", "last", "p50_us"),
        ],
    },
    Family {
        title: "Connections, reading an employee",
        axis: "connections",
        curves: &[
            curve("calls a second", "by-connections", "read", "per_second"),
            curve("p99, µs", "by-connections", "read", "p99_us"),
        ],
    },
    Family {
        title: "Instances of the service on one machine; 32 connections",
        axis: "instances",
        curves: &[
            curve("read, calls a second", "by-instances", "read", "per_second"),
            curve("add, calls a second", "by-instances", "add", "per_second"),
        ],
    },
];

/// Whether any was measured.
pub(super) fn any(results: &Results) -> bool {
    FAMILIES.iter().flat_map(|family| family.curves).any(|curve| !results.curve(curve.figure).is_empty())
}
