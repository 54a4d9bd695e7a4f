//! Finds the operation of a request by path and method.
//!
//! A radix tree (`matchit`): actix tries one regular expression after the other, which took a sixth of the time of a
//! request.

use actix_web::http::Method;
use matchit::Router;

use crate::operation::Operation;

/// An operation and the identifiers in its path.
pub(crate) struct RouteMatch {
    /// The operation.
    pub(crate) operation: &'static Operation,
    /// The identifiers by their placeholder, unparsed.
    pub(crate) ids: Vec<(&'static str, String)>,
}

/// The result of a lookup.
pub(crate) enum RouteLookup<'p> {
    /// An operation.
    Match(RouteMatch),
    /// At least one operation with another method.
    OtherMethods(&'p [&'static Operation]),
    /// No operation.
    NotFound,
}

/// The routes by path.
pub(crate) struct RouteTable(Router<Vec<&'static Operation>>);

impl RouteTable {
    /// The table of these operations.
    #[expect(clippy::expect_used, reason = "a test makes them of every operation there is")]
    pub(crate) fn of(routes: impl Iterator<Item = &'static Operation>) -> Self {
        let mut paths: Vec<(&'static str, Vec<&'static Operation>)> = Vec::new();
        for operation in routes {
            match paths.iter_mut().find(|(path, _)| *path == operation.path) {
                Some((_, same)) => same.push(operation),
                None => paths.push((operation.path, vec![operation])),
            }
        }
        let mut router = Router::new();
        for (path, routes) in paths {
            router.insert(path, routes).expect("no two paths are alike");
        }
        Self(router)
    }

    /// Finds a path, with or without a final slash. Where two match, the one with fewer placeholders wins.
    pub(crate) fn find(&self, method: &Method, path: &str) -> RouteLookup<'_> {
        let Ok(at) = self.0.at(path.strip_suffix('/').unwrap_or(path)) else { return RouteLookup::NotFound };
        let Some(operation) = at.value.iter().find(|operation| operation.takes(method)) else {
            return RouteLookup::OtherMethods(at.value);
        };
        let id = |name| (name, at.params.get(name).unwrap_or_default().to_owned());
        RouteLookup::Match(RouteMatch { operation, ids: operation.placeholders().map(id).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations;

    fn paths() -> RouteTable {
        RouteTable::of(operations::all())
    }

    fn found(method: Method, path: &str) -> String {
        match paths().find(&method, path) {
            RouteLookup::Match(RouteMatch { operation, ids }) => {
                let ids = ids.iter().map(|(name, id)| format!(" {name}={id}"));
                format!("{}{}", operation.name, ids.collect::<String>())
            }
            RouteLookup::OtherMethods(routes) => routes
                .iter()
                .map(|operation| format!("not {}", operation.name))
                .collect::<Vec<_>>()
                .join(", "),
            RouteLookup::NotFound => "nothing".to_owned(),
        }
    }

    #[test]
    fn every_operation_is_found_at_its_path() {
        for operation in operations::all() {
            for method in operation.allowed() {
                let path = operation.path.replace(['{', '}'], "");
                let ids: String = operation.placeholders().map(|name| format!(" {name}={name}")).collect();
                assert_eq!(found(method.clone(), &path), format!("{}{ids}", operation.name));
                assert_eq!(found(method, &format!("{path}/")), format!("{}{ids}", operation.name));
            }
        }
    }

    #[test]
    fn a_literal_segment_wins_over_a_placeholder() {
        assert_eq!(found(Method::GET, "/v1/replenishment/status"), "replenishment.status");
        assert_eq!(
            found(Method::GET, "/v1/replenishment/7/status"),
            "replenishment.status_by_path replenishmentId=7"
        );
        assert_eq!(found(Method::PUT, "/v1/employee/7"), "employee.update idEmployee=7");
    }

    #[test]
    fn a_wrong_method_is_no_unknown_path() {
        let others = "not employee.update, not employee.get, not employee.erase";
        assert_eq!(found(Method::POST, "/v1/employee/7"), others);
        for path in ["", "/", "/v1", "/v1/employee", "/v1/employee//", "/v1/employee/7//", "/v1/balances"] {
            assert_eq!(found(Method::GET, path), "nothing", "{path:?}");
        }
    }
}
