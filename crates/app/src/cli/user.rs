//! Options of `kopeck user …`.

use clap::{Args, Subcommand};
use kopeck_domain::access::Role;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::user::UserLogin;

use super::{StoreArgs, examples, partner_id};

/// Commands for users: the people who work with a partner's programme, and operators.
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Create a user and show its first password, only this once. The first login sets up the second factor.
    #[command(after_help = examples::USER_CREATE)]
    Create(UserCreateArgs),
    /// List users: those of a partner, or all of them.
    #[command(after_help = examples::USER_LIST)]
    List(UserListArgs),
    /// Take a user's password and second factor away, end its sessions, and show a new first password, only this once.
    #[command(after_help = examples::USER_RESET)]
    Reset(UserResetArgs),
    /// End a user's sessions and refuse its logins from now on.
    #[command(after_help = examples::USER_DISABLE)]
    Disable(UserArgs),
    /// Accept a disabled user again.
    Enable(UserArgs),
    /// Give a user another role, and end its sessions.
    #[command(after_help = examples::USER_SET_ROLE)]
    SetRole(UserRoleArgs),
    /// Permanently delete a user; the audit log keeps the identifier.
    #[command(after_help = examples::USER_DELETE)]
    Delete(UserDeleteArgs),
}

/// A new user.
#[derive(Debug, Args)]
pub struct UserCreateArgs {
    /// The location of the data.
    #[command(flatten)]
    pub store: StoreArgs,
    /// The partner whose programme the user works with; an OPERATOR has none.
    #[arg(long, value_name = "ID", value_parser = partner_id)]
    pub partner: Option<PartnerId>,
    /// What the user may do: `OWNER`, `HR`, `FINANCE`, `AUDITOR`, or `OPERATOR`.
    #[arg(long)]
    pub role: Role,
    /// The e-mail address by which the user logs in; letter case does not matter.
    #[arg(long, value_name = "EMAIL")]
    pub login: UserLogin,
    /// Read the first password from a prompt at a terminal, else from the first line of standard input. Without it, it is
    /// generated. The user has to replace it within seven days.
    #[arg(long)]
    pub password_stdin: bool,
    /// Print JSON and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// Options of the list.
#[derive(Debug, Args)]
pub struct UserListArgs {
    /// The location of the data.
    #[command(flatten)]
    pub store: StoreArgs,
    /// Only users of this partner.
    #[arg(long, value_name = "ID", value_parser = partner_id)]
    pub partner: Option<PartnerId>,
    /// Print JSON and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// A user.
#[derive(Debug, Args)]
pub struct UserArgs {
    /// The location of the data.
    #[command(flatten)]
    pub store: StoreArgs,
    /// The e-mail address by which the user logs in.
    pub login: UserLogin,
}

/// A user to reset.
#[derive(Debug, Args)]
pub struct UserResetArgs {
    /// The user.
    #[command(flatten)]
    pub user: UserArgs,
    /// Only the password.
    #[arg(long, conflicts_with = "second_factor")]
    pub password: bool,
    /// Only the second factor and the recovery codes: the next login sets up new ones.
    #[arg(long)]
    pub second_factor: bool,
    /// Read the new password from a prompt at a terminal, else from the first line of standard input. Without it, it is
    /// generated.
    #[arg(long, conflicts_with = "second_factor")]
    pub password_stdin: bool,
    /// Print JSON and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// A user's new role.
#[derive(Debug, Args)]
pub struct UserRoleArgs {
    /// The user.
    #[command(flatten)]
    pub user: UserArgs,
    /// `OWNER`, `HR`, `FINANCE` or `AUDITOR`.
    pub role: Role,
}

/// A user to delete.
#[derive(Debug, Args)]
pub struct UserDeleteArgs {
    /// The user.
    #[command(flatten)]
    pub user: UserArgs,
    /// Do not prompt. Without a terminal there is no prompt anyway.
    #[arg(long)]
    pub yes: bool,
}
