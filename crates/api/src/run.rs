//! Runs: lists of changes for many people.

use time::PrimitiveDateTime;
use uuid::Uuid;

use crate::open_enum::open_enum;
use crate::shape::{OrAbsent, body};
use crate::wire;

open_enum! {
    /// What a run does.
    pub enum RunKind as "RunKind",
        "TOP_UP: one replenishment. WITHDRAW: one withdrawal. LIMIT: one limit change for each different limit. VIRTUAL_ORDER: one order. EMPLOYEES: adds and updates employees."
    {
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

open_enum! {
    /// Where a run stands.
    pub enum RunState as "RunState",
        "DRAFT: checked and shown, not submitted. WAITING_APPROVAL: submitted, another person has to approve it. SCHEDULED: is carried out later. IN_PROCESS: being carried out. SUCCESS, PART_SUCCESS, DECLINE: all, some or none of the items without a fault were carried out. REJECTED: cancelled or refused. EXPIRED: not submitted within 7 days, or not approved within 72 hours."
    {
        /// Checked and shown, not submitted.
        Draft = "DRAFT",
        /// Another person has to approve it.
        WaitingApproval = "WAITING_APPROVAL",
        /// Carried out later.
        Scheduled = "SCHEDULED",
        /// Being carried out.
        InProcess = "IN_PROCESS",
        /// All items without a fault were carried out.
        Success = "SUCCESS",
        /// Some were.
        PartSuccess = "PART_SUCCESS",
        /// None was.
        Decline = "DECLINE",
        /// Cancelled or refused.
        Rejected = "REJECTED",
        /// Not submitted, or not approved, in time.
        Expired = "EXPIRED",
    }
}

impl RunState {
    /// Whether the service is done with the run. A state that the client does not know is not final.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        match self {
            Self::Success | Self::PartSuccess | Self::Decline | Self::Rejected | Self::Expired => true,
            Self::Draft | Self::WaitingApproval | Self::Scheduled | Self::InProcess | Self::Unknown(_) => {
                false
            }
        }
    }
}

open_enum! {
    /// What became of an item of a run.
    pub enum RunOutcome as "RunOutcome",
        "DONE: carried out. REFUSED: not carried out, by the service or the bank. SKIPPED: it had a fault, or the employee has left."
    {
        /// Carried out.
        Done = "DONE",
        /// Not carried out.
        Refused = "REFUSED",
        /// Passed over.
        Skipped = "SKIPPED",
    }
}

open_enum! {
    /// The kind of a request that a run became.
    pub enum RunRequestKind as "RunRequestKind", "The kind of a request that a run became." {
        /// A replenishment.
        Replenishment = "replenishment",
        /// A withdrawal.
        Withdrawal = "withdrawal",
        /// A limit change.
        Limits = "limits",
        /// An order.
        Order = "order",
    }
}

body! {
    /// A request that a run became.
    pub struct RunRequest as "RunRequest" {
        /// What it is.
        kind: RunRequestKind,
        /// Its identifier.
        id: Uuid,
    }
}

body! {
    /// A run.
    pub struct Run as "Run" {
        /// The run.
        id_run: Uuid,
        /// What it does.
        kind: RunKind,
        /// Its state.
        state: RunState = "status",
        /// Your own name for it; `null` if you gave none.
        reference: Option<String>,
        /// When it is carried out, once it is submitted; `null` for at once.
        #[serde(with = "wire::text_or_null")]
        at: Option<PrimitiveDateTime>,
        /// All items.
        number: u64,
        /// The money that the items without a fault move, kopecks.
        amount: i64,
        /// Items with a fault.
        faulty: u64,
        /// Names all that the run does; you submit and approve it by this.
        digest: String,
        /// What you could spend when it was created, kopecks.
        available: i64,
        /// What you could spend after it, kopecks.
        available_after: i64,
        /// When it was created.
        #[serde(with = "wire::text")]
        created_at: PrimitiveDateTime,
        /// Who created it.
        created_by: String,
        /// Who submitted it.
        submitted_by: Option<String>,
        /// Who approved it.
        approved_by: Option<String>,
        /// Why an approver refused it.
        reason: Option<String>,
        /// The programme that made it; `null` if a person or a program did.
        id_programme: Option<Uuid>,
        /// The period of the programme.
        period: Option<String>,
        /// The requests that it became.
        requests: Vec<RunRequest>,
    }
}

body! {
    /// What is wrong with an item.
    pub struct RunFault as "RunFault" {
        /// The field or column.
        field: String,
        /// What is wrong, as a stable word.
        code: String,
        /// The same in words.
        detail: String,
    }
}

body! {
    /// An item of a run.
    pub struct RunItem as "RunItem" {
        /// Its place in the list, from 1, or the line of the file.
        line: u64,
        /// The employee's identifier of your own.
        custom_id: Option<String>,
        /// The employee.
        id_employee: Option<Uuid>,
        /// The card that it led to when the run was created.
        id_card: Option<Uuid>,
        /// Kopecks.
        amount: Option<i64>,
        /// What the card held when its programme decided on the amount, kopecks; `null` in other runs.
        #[serde(default)]
        balance_seen: Option<i64>,
        /// What is wrong with it; `null` if nothing is.
        fault: Option<RunFault>,
        /// What became of it; `null` before.
        outcome: Option<RunOutcome>,
        /// Why it was not carried out.
        reason: Option<String>,
    }
}

body! {
    /// The state of a run.
    pub struct RunEvent as "RunEvent" {
        /// The run.
        id_run: Uuid,
        /// What it does.
        kind: RunKind,
        /// Its new state.
        state: RunState = "status",
        /// Your own name for it; absent if you gave none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<String> as OrAbsent<String>,
    }
}
