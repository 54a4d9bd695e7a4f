//! The operations of the service, in groups.

mod cards;
mod categories;
mod closings;
mod employees;
mod events;
mod limits;
mod orders;
mod replenishments;
mod sandbox;
mod statements;
mod webhooks;
mod withdrawals;

pub use cards::Cards;
pub use categories::Categories;
pub use closings::Closings;
pub use employees::Employees;
pub use events::{EventFollower, Events};
pub use limits::Limits;
pub use orders::Orders;
pub use replenishments::Replenishments;
pub use sandbox::Sandbox;
pub use statements::{StatementFile, Statements, TransactionReader};
pub use webhooks::Webhooks;
pub use withdrawals::Withdrawals;

#[cfg(test)]
mod tests {
    use kopeck_api::operations;

    /// Operations that ask what another one asks in another spelling.
    const OTHER_SPELLINGS: [&str; 2] = ["replenishment.status_by_path", "replenishment.result_by_path"];

    #[test]
    fn every_operation_has_a_method() {
        let source = [
            include_str!("api/cards.rs"),
            include_str!("api/categories.rs"),
            include_str!("api/closings.rs"),
            include_str!("api/employees.rs"),
            include_str!("api/events.rs"),
            include_str!("api/limits.rs"),
            include_str!("api/orders.rs"),
            include_str!("api/replenishments.rs"),
            include_str!("api/sandbox.rs"),
            include_str!("api/statements.rs"),
            include_str!("api/webhooks.rs"),
            include_str!("api/withdrawals.rs"),
            include_str!("client.rs"),
            include_str!("session.rs"),
        ]
        .concat();
        for operation in operations::ALL {
            let constant = format!("&operations::{}", operation.name.to_uppercase().replace('.', "_"));
            let used = [")", ","].iter().any(|end| source.contains(&format!("{constant}{end}")));
            assert_eq!(used, !OTHER_SPELLINGS.contains(&operation.name), "{}", operation.name);
        }
    }
}
