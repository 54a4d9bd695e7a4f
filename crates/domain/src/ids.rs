//! Identifiers, one type each: a [`CardId`] is never taken for an [`OrderId`].

use uuid::Uuid;

macro_rules! identifiers {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
        pub struct $name(Uuid);

        impl $name {
            /// Names an existing or fresh identifier.
            #[must_use]
            pub const fn new(id: Uuid) -> Self {
                Self(id)
            }

            /// The plain uuid.
            #[must_use]
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }

        impl From<$name> for Uuid {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

identifiers! {
    /// A company that runs a card programme through the service.
    PartnerId;
    /// An employee of a partner.
    EmployeeId;
    /// A category of employees.
    CategoryId;
    /// A payment card.
    CardId;
    /// A card order.
    OrderId;
    /// A replenishment (top-up) request.
    ReplenishmentId;
    /// A request to change the limits of cards.
    LimitChangeId;
    /// A request to close cards.
    ClosingId;
    /// A request to take money from cards.
    WithdrawalId;
    /// A run: a list of changes for many people.
    RunId;
    /// A programme: a rule that makes a run for each period.
    ProgrammeId;
    /// A file that a user has sent.
    UploadId;
    /// A login: all tokens that grew from it form one family.
    SessionId;
    /// An event of a partner's feed.
    EventId;
    /// An address of a partner that receives events.
    WebhookId;
    /// An event on its way to a webhook.
    DeliveryId;
    /// An access and a refresh token that were issued together.
    TokenPairId;
    /// A scoped credential of a partner, for a program.
    CredentialId;
    /// A person who works with a partner's programme, or an operator.
    UserId;
}
