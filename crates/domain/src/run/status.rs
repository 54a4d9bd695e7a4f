//! What runs do, and where they stand.

use crate::access::Scope;
use crate::ids::RunId;
use crate::request::RequestReference;
use crate::string_enum::serde_enum;

serde_enum! {
    /// What a run does.
    RunKind {
        /// Tops cards up.
        TopUp = "TOP_UP",
        /// Takes money back from cards.
        Withdraw = "WITHDRAW",
        /// Gives cards their limits.
        Limit = "LIMIT",
        /// Orders virtual cards.
        VirtualOrder = "VIRTUAL_ORDER",
        /// Adds and updates employees.
        Employees = "EMPLOYEES",
    }
}

impl RunKind {
    /// What an actor needs to submit it, beside the scope of runs: the scope of what it becomes.
    #[must_use]
    pub const fn scope(self) -> Scope {
        match self {
            Self::TopUp => Scope::ReplenishmentsWrite,
            Self::Withdraw => Scope::WithdrawalsWrite,
            Self::Limit => Scope::LimitsWrite,
            Self::VirtualOrder => Scope::OrdersWrite,
            Self::Employees => Scope::EmployeesWrite,
        }
    }

    /// Whether its items name cards or their holders.
    #[must_use]
    pub const fn names_cards(self) -> bool {
        matches!(self, Self::TopUp | Self::Withdraw | Self::Limit)
    }
}

serde_enum! {
    /// Where a run stands.
    RunState {
        /// Made, checked and shown; nobody has submitted it.
        Draft = "DRAFT",
        /// Submitted; another person has to approve it.
        WaitingApproval = "WAITING_APPROVAL",
        /// To be carried out later.
        Scheduled = "SCHEDULED",
        /// Being carried out.
        InProcess = "IN_PROCESS",
        /// Every item without a fault was carried out.
        Success = "SUCCESS",
        /// Some of them were.
        PartSuccess = "PART_SUCCESS",
        /// None of them was.
        Decline = "DECLINE",
        /// Cancelled, or refused by an approver.
        Rejected = "REJECTED",
        /// Not submitted, or not approved, in time.
        Expired = "EXPIRED",
    }
}

impl RunState {
    /// Whether it has not begun, and may never begin.
    #[must_use]
    pub const fn is_waiting(self) -> bool {
        matches!(self, Self::Draft | Self::WaitingApproval | Self::Scheduled)
    }
}

/// Where a run stands now, for its event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RunStatus {
    /// The run.
    pub id: RunId,
    /// What it does.
    pub kind: RunKind,
    /// Its new state.
    pub state: RunState,
    /// What the partner calls it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub reference: Option<RequestReference>,
}
