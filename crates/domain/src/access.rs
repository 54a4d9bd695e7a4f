//! Who acts, and what they may do: actors, scopes, and the roles of people.

use crate::ids::{CredentialId, UserId};
use crate::invalid::Invalid;
use crate::string_enum::serde_enum;

serde_enum! {
    /// What an operation needs: a kind of thing, read or written. Each operation of the API names one.
    Scope {
        /// Employees.
        EmployeesRead = "employees:read",
        /// Add, change and erase employees.
        EmployeesWrite = "employees:write",
        /// Categories.
        CategoriesRead = "categories:read",
        /// Create, rename and delete categories.
        CategoriesWrite = "categories:write",
        /// Cards, their balances at the bank, and whether they pay.
        CardsRead = "cards:read",
        /// Link, switch, unlink, freeze and unfreeze cards.
        CardsWrite = "cards:write",
        /// Orders, without activation codes.
        OrdersRead = "orders:read",
        /// Order cards, confirm and cancel orders; their results with activation codes, which activate a card for anyone.
        OrdersWrite = "orders:write",
        /// Top-ups.
        ReplenishmentsRead = "replenishments:read",
        /// Top up cards, and cancel that.
        ReplenishmentsWrite = "replenishments:write",
        /// Withdrawals.
        WithdrawalsRead = "withdrawals:read",
        /// Take money back from cards, and cancel that.
        WithdrawalsWrite = "withdrawals:write",
        /// Limit changes.
        LimitsRead = "limits:read",
        /// Change the limits of cards, and cancel that.
        LimitsWrite = "limits:write",
        /// Closings.
        ClosingsRead = "closings:read",
        /// Close cards, and cancel that.
        ClosingsWrite = "closings:write",
        /// The partner's balance, its entries, transactions of cards, statements and reports.
        StatementsRead = "statements:read",
        /// Close the month of a report.
        StatementsWrite = "statements:write",
        /// The feed of events, and the request log.
        EventsRead = "events:read",
        /// As [`EventsRead`](Self::EventsRead): nothing writes to the feed.
        EventsWrite = "events:write",
        /// Webhooks and their deliveries.
        WebhooksRead = "webhooks:read",
        /// Create, change and delete webhooks; their secrets.
        WebhooksWrite = "webhooks:write",
        /// Runs.
        RunsRead = "runs:read",
        /// Prepare and cancel runs. Submitting one needs the scope of what it becomes, too.
        RunsWrite = "runs:write",
        /// What waits for an approval.
        ApprovalsRead = "approvals:read",
        /// Approve and refuse what others submitted.
        ApprovalsWrite = "approvals:write",
        /// Programmes, their forecast, and the settings that they go by.
        ProgrammesRead = "programmes:read",
        /// Create, change, pause and delete programmes; change the settings that they go by.
        ProgrammesWrite = "programmes:write",
        /// Users and scoped credentials, without secrets, and the audit log.
        UsersRead = "users:read",
        /// Create, reset and disable users; create and revoke scoped credentials.
        UsersWrite = "users:write",
        /// The operations of the sandbox.
        SandboxWrite = "sandbox:write",
    }
}

impl Scope {
    /// The scope that holds this one: what may be written may be read.
    const fn writer(self) -> Option<Self> {
        Some(match self {
            Self::EmployeesRead => Self::EmployeesWrite,
            Self::CategoriesRead => Self::CategoriesWrite,
            Self::CardsRead => Self::CardsWrite,
            Self::OrdersRead => Self::OrdersWrite,
            Self::ReplenishmentsRead => Self::ReplenishmentsWrite,
            Self::WithdrawalsRead => Self::WithdrawalsWrite,
            Self::LimitsRead => Self::LimitsWrite,
            Self::ClosingsRead => Self::ClosingsWrite,
            Self::StatementsRead => Self::StatementsWrite,
            Self::EventsRead => Self::EventsWrite,
            Self::WebhooksRead => Self::WebhooksWrite,
            Self::RunsRead => Self::RunsWrite,
            Self::ApprovalsRead => Self::ApprovalsWrite,
            Self::ProgrammesRead => Self::ProgrammesWrite,
            Self::UsersRead => Self::UsersWrite,
            _ => return None,
        })
    }

    /// Whether a scoped credential can have it. Users and the sandbox are for people and the technical login.
    #[must_use]
    pub const fn is_for_credentials(self) -> bool {
        !matches!(self, Self::UsersRead | Self::UsersWrite | Self::SandboxWrite)
    }
}

/// A set of scopes. One to write holds that to read the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Scopes(u64);

impl Scopes {
    /// Every scope: what the technical login of a partner has.
    pub const ALL: Self = Self::of(Scope::ALL);

    /// The set of these scopes.
    #[must_use]
    pub const fn of(scopes: &[Scope]) -> Self {
        let (mut bits, mut rest) = (0, scopes);
        while let [scope, behind @ ..] = rest {
            bits |= 1 << *scope as u32;
            rest = behind;
        }
        Self(bits)
    }

    /// What is in either set.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the set holds the scope.
    #[must_use]
    pub const fn contains(self, scope: Scope) -> bool {
        match scope.writer() {
            Some(writer) if self.names(writer) => true,
            _ => self.names(scope),
        }
    }

    /// Whether the scope is in the set by its own name.
    const fn names(self, scope: Scope) -> bool {
        self.0 & (1 << scope as u32) != 0
    }

    /// The scopes that the set was made of, in the order in which they are declared.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.iter().copied().filter(move |scope| self.names(*scope))
    }
}

/// The scopes' words, separated by commas.
impl std::fmt::Display for Scopes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words: Vec<_> = self.iter().map(Scope::as_str).collect();
        f.write_str(&words.join(","))
    }
}

impl std::fmt::Debug for Scopes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Scopes({self})")
    }
}

/// One or more words, separated by commas; blanks around them do not count.
impl std::str::FromStr for Scopes {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let scopes: Vec<Scope> = text.split(',').map(|word| word.trim().parse()).collect::<Result<_, _>>()?;
        Ok(Self::of(&scopes))
    }
}

serde_enum! {
    /// What a person does for a partner. Operators have a role without a partner.
    Role {
        /// Everything of the partner.
        Owner = "OWNER",
        /// People and their cards; prepares runs.
        Hr = "HR",
        /// Money: top-ups, withdrawals, limits, programmes, runs, statements; approves.
        Finance = "FINANCE",
        /// Reads everything but activation codes.
        Auditor = "AUDITOR",
        /// Runs the service: reads all partners, and changes them by the operators' commands alone.
        Operator = "OPERATOR",
    }
}

/// What every role reads: everything but activation codes.
const READS: Scopes = Scopes::of(&[
    Scope::EmployeesRead,
    Scope::CategoriesRead,
    Scope::CardsRead,
    Scope::OrdersRead,
    Scope::ReplenishmentsRead,
    Scope::WithdrawalsRead,
    Scope::LimitsRead,
    Scope::ClosingsRead,
    Scope::StatementsRead,
    Scope::EventsRead,
    Scope::WebhooksRead,
    Scope::RunsRead,
    Scope::ApprovalsRead,
    Scope::ProgrammesRead,
    Scope::UsersRead,
]);

impl Role {
    /// What the role may do.
    #[must_use]
    pub const fn scopes(self) -> Scopes {
        match self {
            Self::Owner => Scopes::ALL,
            Self::Hr => READS.and(Scopes::of(&[
                Scope::EmployeesWrite,
                Scope::CategoriesWrite,
                Scope::CardsWrite,
                Scope::OrdersWrite,
                Scope::ClosingsWrite,
                Scope::RunsWrite,
            ])),
            Self::Finance => READS.and(Scopes::of(&[
                Scope::ReplenishmentsWrite,
                Scope::WithdrawalsWrite,
                Scope::LimitsWrite,
                Scope::StatementsWrite,
                Scope::RunsWrite,
                Scope::ApprovalsWrite,
                Scope::ProgrammesWrite,
            ])),
            Self::Auditor | Self::Operator => READS,
        }
    }
}

/// Who does something.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Actor {
    /// The technical login of the partner.
    Login,
    /// A scoped credential of the partner.
    Credential(CredentialId),
    /// A user: of the partner, or with the role of an operator.
    User(UserId),
    /// An operator at a shell, by the name of the operating system's user.
    Operator(String),
    /// The service by itself, by a rule that the partner made.
    Service,
}

/// An actor with what it may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    /// Who acts.
    pub actor: Actor,
    /// What it may do.
    pub scopes: Scopes,
}

/// The scope that an actor lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("needs the scope {0}")]
pub struct Forbidden(pub Scope);

impl Authority {
    /// The technical login's: it may do everything.
    pub const LOGIN: Self = Self { actor: Actor::Login, scopes: Scopes::ALL };

    /// The service's own, by a rule that the partner made.
    pub const SERVICE: Self = Self { actor: Actor::Service, scopes: Scopes::ALL };

    /// That of an operator at a shell, who may do everything.
    #[must_use]
    pub const fn operator(name: String) -> Self {
        Self { actor: Actor::Operator(name), scopes: Scopes::ALL }
    }

    /// Refuses an actor without the scope.
    ///
    /// # Errors
    /// [`Forbidden`] with the scope.
    pub const fn require(&self, scope: Scope) -> Result<(), Forbidden> {
        if self.scopes.contains(scope) { Ok(()) } else { Err(Forbidden(scope)) }
    }
}

/// A word, and after a colon the identifier or name: `login`, `credential:…`, `user:…`, `operator:…`, `service`.
impl std::fmt::Display for Actor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Login => f.write_str("login"),
            Self::Credential(id) => write!(f, "credential:{id}"),
            Self::User(id) => write!(f, "user:{id}"),
            Self::Operator(name) => write!(f, "operator:{name}"),
            Self::Service => f.write_str("service"),
        }
    }
}

/// As it is displayed.
impl std::str::FromStr for Actor {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || Invalid::new("is not an actor");
        match text.split_once(':') {
            None if text == "login" => Ok(Self::Login),
            None if text == "service" => Ok(Self::Service),
            Some(("credential", id)) => id.parse().map(Self::Credential).map_err(|_| invalid()),
            Some(("user", id)) => id.parse().map(Self::User).map_err(|_| invalid()),
            Some(("operator", name)) => Ok(Self::Operator(name.to_owned())),
            _ => Err(invalid()),
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_set_of_scopes_is_read_as_it_is_written() {
        let read = |text: &str| text.parse::<Scopes>();
        assert_eq!(read(&Scopes::ALL.to_string()), Ok(Scopes::ALL));
        assert_eq!(Scopes::ALL.iter().collect::<Vec<_>>(), Scope::ALL);
        let two = read(" orders:write , employees:read,orders:write").unwrap();
        assert_eq!(two.to_string(), "employees:read,orders:write");
        assert!(two.contains(Scope::OrdersWrite) && !two.contains(Scope::EmployeesWrite));
        for text in ["", "orders", "orders:write,", "ORDERS:WRITE", "orders:write;employees:read"] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn what_may_be_written_may_be_read() {
        for read in Scope::ALL {
            let Some((kind, "read")) = read.as_str().split_once(':') else { continue };
            let writer = Scope::ALL.iter().find(|scope| scope.as_str() == format!("{kind}:write"));
            assert_eq!(read.writer().as_ref(), writer, "{read}");
            assert!(writer.is_none_or(|writer| Scopes::of(&[*writer]).contains(*read)), "{read}");
        }
        let writes = Scopes::of(&[Scope::OrdersWrite]);
        assert!(writes.contains(Scope::OrdersRead) && !writes.contains(Scope::CardsRead));
        assert_eq!(writes.to_string(), "orders:write");
    }

    #[test]
    fn roles_of_money_and_of_people_differ() {
        let writers = |scope| {
            let has = |role: &&Role| role.scopes().contains(scope);
            Role::ALL.iter().filter(has).copied().collect::<Vec<_>>()
        };
        assert_eq!(writers(Scope::EmployeesWrite), [Role::Owner, Role::Hr]);
        assert_eq!(writers(Scope::ReplenishmentsWrite), [Role::Owner, Role::Finance]);
        assert_eq!(writers(Scope::ApprovalsWrite), [Role::Owner, Role::Finance]);
        assert_eq!(writers(Scope::UsersWrite), [Role::Owner]);
        assert_eq!(writers(Scope::OrdersWrite), [Role::Owner, Role::Hr]);
        assert_eq!(writers(Scope::StatementsRead), Role::ALL);
    }

    #[test]
    fn an_auditor_and_an_operator_change_nothing() {
        for role in [Role::Auditor, Role::Operator] {
            assert!(role.scopes().iter().all(|scope| scope.as_str().ends_with(":read")), "{role}");
        }
    }

    #[test]
    fn an_actor_without_the_scope_is_refused() {
        let authority = Authority { actor: Actor::Login, scopes: Scopes::of(&[Scope::OrdersRead]) };
        assert_eq!(authority.require(Scope::OrdersRead), Ok(()));
        assert_eq!(authority.require(Scope::OrdersWrite), Err(Forbidden(Scope::OrdersWrite)));
    }

    #[test]
    fn an_actor_is_read_as_it_is_displayed() {
        let id = Uuid::from_u128(7);
        let operator = Actor::Operator("root:0".to_owned());
        for actor in
            [Actor::Login, Actor::Credential(id.into()), Actor::User(id.into()), operator, Actor::Service]
        {
            assert_eq!(actor.to_string().parse(), Ok(actor));
        }
        for text in ["", "login:", "user:7", "partner", "service:x"] {
            assert!(text.parse::<Actor>().is_err(), "{text:?}");
        }
    }
}
