//! How cost grows.

use super::results::{Figure, Results};

/// Curves over one axis.
pub(super) struct Family {
    pub(super) title: &'static str,
    /// What the axis counts.
    pub(super) axis: &'static str,
    /// The unit of all curves.
    pub(super) unit: &'static str,
    pub(super) curves: &'static [Curve],
}

/// A curve and its name.
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
        unit: "calls a second",
        curves: &[
            curve("read an employee", "by-partners", "read", "per_second"),
            curve("add an employee", "by-partners", "add", "per_second"),
        ],
    },
    Family {
        title: "Employees of one partner; one connection",
        axis: "employees",
        unit: "µs, median",
        curves: &[
            curve("read an employee", "by-employees", "read", "p50_us"),
            curve("first page", "by-employees", "first", "p50_us"),
            curve("last page", "by-employees", "last", "p50_us"),
        ],
    },
    Family {
        title: "Connections, reading an employee",
        axis: "connections",
        unit: "calls a second",
        curves: &[curve("read an employee", "by-connections", "read", "per_second")],
    },
    Family {
        title: "Connections, reading an employee",
        axis: "connections",
        unit: "µs, p99",
        curves: &[curve("read an employee", "by-connections", "read", "p99_us")],
    },
    Family {
        title: "Instances of the service on one machine; 32 connections",
        axis: "instances",
        unit: "calls a second",
        curves: &[
            curve("read an employee", "by-instances", "read", "per_second"),
            curve("add an employee", "by-instances", "add", "per_second"),
        ],
    },
];

/// Whether any was measured.
pub(super) fn any(results: &Results) -> bool {
    FAMILIES.iter().flat_map(|family| family.curves).any(|curve| !results.curve(curve.figure).is_empty())
}
