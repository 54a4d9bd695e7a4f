//! The operations of the service, in groups.

mod card_batches;
mod cards;
mod categories;
mod employees;
mod events;
mod orders;
mod programmes;
mod request_log;
mod requests;
mod runs;
mod sandbox;
mod sessions;
mod settings;
mod statements;
mod webhooks;

pub use card_batches::{CardBatchKind, Closings, Limits, Replenishments, Withdrawals};
pub use cards::Cards;
pub use categories::Categories;
pub use employees::Employees;
pub use events::{EventFollower, Events};
pub use orders::Orders;
pub use programmes::Programmes;
pub use request_log::{RequestFollower, RequestLog};
pub use requests::{RequestKind, Requests};
pub use runs::Runs;
pub use sandbox::Sandbox;
pub use sessions::Sessions;
pub use settings::Settings;
pub use statements::{StatementFile, Statements, TransactionReader};
pub use webhooks::Webhooks;

use crate::client::Client;

impl Client {
    /// Employees.
    #[must_use]
    pub const fn employees(&self) -> Employees<'_> {
        Employees::new(self)
    }

    /// Categories of employees.
    #[must_use]
    pub const fn categories(&self) -> Categories<'_> {
        Categories::new(self)
    }

    /// The feed of events.
    #[must_use]
    pub const fn events(&self) -> Events<'_> {
        Events::new(self)
    }

    /// Webhooks.
    #[must_use]
    pub const fn webhooks(&self) -> Webhooks<'_> {
        Webhooks::new(self)
    }

    /// Orders of cards.
    #[must_use]
    pub const fn orders(&self) -> Orders<'_> {
        Orders::new(self)
    }

    /// Cards.
    #[must_use]
    pub const fn cards(&self) -> Cards<'_> {
        Cards::new(self)
    }

    /// Top-ups of cards.
    #[must_use]
    pub const fn replenishments(&self) -> Replenishments<'_> {
        Replenishments::new(self)
    }

    /// Changes of cards' limits.
    #[must_use]
    pub const fn limits(&self) -> Limits<'_> {
        Limits::new(self)
    }

    /// Closings of cards.
    #[must_use]
    pub const fn closings(&self) -> Closings<'_> {
        Closings::new(self)
    }

    /// Withdrawals: money back from cards.
    #[must_use]
    pub const fn withdrawals(&self) -> Withdrawals<'_> {
        Withdrawals::new(self)
    }

    /// Runs: lists of changes for many people, checked before anything happens.
    #[must_use]
    pub const fn runs(&self) -> Runs<'_> {
        Runs::new(self)
    }

    /// Programmes: rules that make a run for each period.
    #[must_use]
    pub const fn programmes(&self) -> Programmes<'_> {
        Programmes::new(self)
    }

    /// Movements of the partner's balance and of its cards.
    #[must_use]
    pub const fn statements(&self) -> Statements<'_> {
        Statements::new(self)
    }

    /// The partner's settings.
    #[must_use]
    pub const fn settings(&self) -> Settings<'_> {
        Settings::new(self)
    }

    /// The sessions of the client's login.
    #[must_use]
    pub const fn sessions(&self) -> Sessions<'_> {
        Sessions::new(self)
    }

    /// The partner's own requests of the last 14 days.
    #[must_use]
    pub const fn request_log(&self) -> RequestLog<'_> {
        RequestLog::new(self)
    }

    /// Operations of a sandbox.
    #[must_use]
    pub const fn sandbox(&self) -> Sandbox<'_> {
        Sandbox::new(self)
    }
}

#[cfg(test)]
mod tests {
    use kopeck_api::operations;

    /// Operations that ask what another one asks in another spelling.
    const OTHER_SPELLINGS: [&str; 2] = ["replenishment.status_by_path", "replenishment.result_by_path"];

    #[test]
    fn every_operation_has_a_method() {
        let source = [
            include_str!("api/card_batches.rs"),
            include_str!("api/cards.rs"),
            include_str!("api/categories.rs"),
            include_str!("api/employees.rs"),
            include_str!("api/events.rs"),
            include_str!("api/orders.rs"),
            include_str!("api/request_log.rs"),
            include_str!("api/programmes.rs"),
            include_str!("api/runs.rs"),
            include_str!("api/sandbox.rs"),
            include_str!("api/sessions.rs"),
            include_str!("api/settings.rs"),
            include_str!("api/statements.rs"),
            include_str!("api/webhooks.rs"),
            include_str!("client.rs"),
            include_str!("session.rs"),
        ]
        .concat();
        for operation in operations::ALL {
            let constant = format!("&operations::{}", operation.name.to_uppercase().replace('.', "_"));
            let used = [")", ",", ";"].iter().any(|end| source.contains(&format!("{constant}{end}")));
            assert_eq!(used, !OTHER_SPELLINGS.contains(&operation.name), "{}", operation.name);
        }
    }
}
