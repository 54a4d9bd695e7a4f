//! The operations of the interface: a folder for each group, a file for each operation.
//!
//! A file declares an [`Operation`]: name, method, path, reader, response, errors and handler. Its title,
//! description and examples are in `docs/API.md`. The router, the OpenAPI document, the reference page and the tests of
//! all operations use these lists.

mod balance;
mod card_batches;
mod cards;
mod categories;
mod closings;
mod employees;
mod events;
mod limits;
mod orders;
mod prelude;
mod programmes;
mod replenishments;
mod reports;
mod request_log;
mod requests;
mod runs;
mod sandbox;
mod sessions;
mod settings;
mod statement;
pub(crate) mod tokens;
mod transactions;
mod webhooks;
mod withdrawals;

use kopeck_api::Code;
use kopeck_domain::access::Scopes;

use crate::operation::Operation;

/// The operations of the interface. Where two paths match, the one with fewer placeholders wins.
static INTERFACE: [&[&Operation]; 20] = [
    &tokens::OPERATIONS,
    &sessions::OPERATIONS,
    &employees::OPERATIONS,
    &categories::OPERATIONS,
    &cards::OPERATIONS,
    &orders::OPERATIONS,
    &replenishments::OPERATIONS,
    &limits::OPERATIONS,
    &closings::OPERATIONS,
    &withdrawals::OPERATIONS,
    &runs::OPERATIONS,
    &settings::OPERATIONS,
    &programmes::OPERATIONS,
    &balance::OPERATIONS,
    &[&statement::OPERATION],
    &reports::OPERATIONS,
    &[&transactions::OPERATION],
    &[&events::OPERATION],
    &[&request_log::OPERATION],
    &webhooks::OPERATIONS,
];

/// The operations of the interface, without those of the sandbox.
pub(crate) fn interface() -> impl Iterator<Item = &'static Operation> {
    INTERFACE.into_iter().flatten().copied()
}

/// The operations of the sandbox.
pub(crate) fn sandbox() -> impl Iterator<Item = &'static Operation> {
    sandbox::OPERATIONS.into_iter()
}

/// All operations.
pub(crate) fn all() -> impl Iterator<Item = &'static Operation> {
    interface().chain(sandbox())
}

/// The operation with this name.
#[cfg(test)]
pub(crate) fn named(name: &str) -> Option<&'static Operation> {
    all().find(|operation| operation.name == name)
}

/// An operation of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationInfo {
    /// Its unique name.
    pub name: &'static str,
    /// Its method. `PUT` includes `PATCH`.
    pub method: &'static str,
    /// Its path, with `{placeholders}` and without a final slash.
    pub path: &'static str,
    /// Whether it changes data. Such requests have an idempotency key.
    pub changes: bool,
    /// The scopes that its actor needs, all of them.
    pub scopes: Scopes,
}

impl OperationInfo {
    /// Its methods.
    pub fn methods(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.method).chain((self.method == "PUT").then_some("PATCH"))
    }

    /// The placeholders of its path, in their order.
    pub fn placeholders(&self) -> impl Iterator<Item = &'static str> + use<> {
        kopeck_api::placeholders(self.path)
    }

    /// The names of the fields of its body; for a read, of its parameters.
    pub fn fields(&self) -> impl Iterator<Item = &'static str> + use<> {
        let operation = all().find(|operation| operation.name == self.name);
        operation.into_iter().flat_map(Operation::fields).map(|field| field.name)
    }
}

/// Every operation, those of the sandbox last. Where two paths match, the one with fewer placeholders wins.
pub fn operations() -> impl Iterator<Item = OperationInfo> {
    all().map(|operation| OperationInfo {
        name: operation.name,
        method: operation.method.as_str(),
        path: operation.path,
        changes: operation.is_mutation(),
        scopes: Scopes::of(&operation.needs.scopes().collect::<Vec<_>>()),
    })
}

/// Every error code.
pub fn codes() -> impl Iterator<Item = &'static str> {
    Code::ALL.iter().map(|code| code.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::schema::Location;

    #[test]
    fn every_operation_of_the_api_is_there_once() {
        let mut served: Vec<&str> = all().map(|operation| operation.name).collect();
        let mut told: Vec<&str> =
            kopeck_api::operations::ALL.iter().map(|operation| operation.name).collect();
        served.sort_unstable();
        told.sort_unstable();
        assert_eq!(served, told);
    }

    #[test]
    fn an_operation_reads_the_identifiers_of_its_path() {
        let allowed = [
            "idCard",
            "idEmployee",
            "idCategory",
            "idWebhook",
            "idSession",
            "order_id",
            "replenishmentId",
            "setLimitsCardsId",
            "closingId",
            "withdrawalId",
            "idRun",
            "idProgramme",
            "month",
        ];
        for operation in all() {
            let inputs = operation.inputs();
            let read = inputs.iter().filter(|input| input.location == Location::Path);
            let read: Vec<&str> = read.map(|input| input.name).collect();
            assert_eq!(read, operation.placeholders().collect::<Vec<_>>(), "{}", operation.path);
            assert!(read.iter().all(|name| allowed.contains(name)), "{}", operation.path);
        }
    }

    /// Their recorded responses are erased with the employee.
    #[test]
    fn changes_that_respond_with_an_employee_are_marked() {
        for operation in all().filter(|operation| operation.is_mutation()) {
            let response = (operation.response)(&mut crate::schema::Components::default());
            let response = serde_json::to_string(&response).unwrap();
            assert_eq!(operation.holds_person, response.ends_with("/Employee\"}"), "{}", operation.name);
        }
    }

    /// As the interface marks them.
    #[test]
    fn few_fields_may_be_plaintext_beside_sealed_ones() {
        let mut clear = Vec::new();
        for operation in all() {
            let fields = operation.fields().iter().filter(|field| operation.may_be_clear(field.name));
            let names: Vec<&str> = fields.map(|field| field.name).collect();
            if !names.is_empty() {
                clear.push((operation.name, names.join(" ")));
            }
        }
        let paging = "page per_page perPage";
        let lists = [
            "order.list",
            "replenishment.list",
            "limits.list",
            "closing.list",
            "withdrawal.list",
            "run.list",
            "run.items",
            "programme.list",
            "programme.runs",
            "balance.entries",
        ];
        let lists = lists.map(|name| (name, paging.to_owned()));
        let mut expected: Vec<_> =
            ["employee.list", "category.list", "card.list", "card.available", "webhook.list"]
                .map(|name| (name, paging.to_owned()))
                .into_iter()
                .chain(
                    [
                        ("card.switch", "idCard"),
                        ("event.feed", "after limit types wait"),
                        ("transaction.feed", "after limit"),
                        ("request.list", "after limit"),
                    ]
                    .map(|(name, fields)| (name, fields.to_owned())),
                )
                .chain(lists)
                .collect();
        clear.sort();
        expected.sort();
        assert_eq!(clear, expected);
    }
}
