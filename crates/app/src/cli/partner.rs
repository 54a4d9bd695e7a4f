//! Commands for partners.

use clap::{Args, Subcommand};
use kopeck_domain::Kopecks;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::ledger::{self, TransferReference};
use kopeck_domain::partner::{SealingPolicy, parse_name};
use kopeck_service::partners::parse_login;
use secrecy::SecretString;
use time::Duration;

use super::CredentialCommand;
use super::amount::{ConfirmArgs, roubles, roubles_above_zero};
use super::{StoreArgs, duration, examples, partner_id, secret};

/// Commands for partners.
#[derive(Debug, Subcommand)]
pub enum PartnerCommand {
    /// Create a partner and show its secrets, only this once.
    #[command(after_help = examples::PARTNER_CREATE)]
    Create(CreateArgs),
    /// List all partners, with their balances.
    #[command(after_help = examples::PARTNER_LIST)]
    List(PartnerListArgs),
    /// Show one partner: its balance, policy, keys, sessions and open requests.
    #[command(after_help = examples::PARTNER_SHOW)]
    Show(ShowArgs),
    /// End a partner's sessions and refuse its logins from now on.
    #[command(after_help = examples::PARTNER_SUSPEND)]
    Suspend(SuspendArgs),
    /// Accept a suspended partner again.
    Resume(PartnerArgs),
    /// Give a partner another name.
    #[command(after_help = examples::PARTNER_RENAME)]
    Rename(RenameArgs),
    /// End a partner's contract: suspend it, close its cards, and book the payment of what is left. Run it again until it
    /// exits with 0.
    #[command(after_help = examples::PARTNER_CLOSE)]
    Close(CloseArgs),
    /// Permanently delete a closed partner with all of its records, once the retention is over.
    #[command(after_help = examples::PARTNER_DELETE)]
    Delete(DeleteArgs),
    /// Book money that arrived on a partner's balance; a reference deposits once.
    #[command(after_help = examples::PARTNER_DEPOSIT)]
    Deposit(DepositArgs),
    /// Take back a deposit that was booked by mistake, whole and once.
    #[command(after_help = examples::PARTNER_REVERSE_DEPOSIT)]
    ReverseDeposit(ReverseArgs),
    /// Book money that was paid out to a partner; a reference withdraws once.
    #[command(after_help = examples::PARTNER_WITHDRAW)]
    Withdraw(WithdrawArgs),
    /// Set the amount below which a partner gets an event of what it can spend.
    #[command(after_help = examples::PARTNER_SET_THRESHOLD)]
    SetThreshold(ThresholdArgs),
    /// Set the amount above which what a partner's people prepare needs a second person's approval.
    #[command(after_help = examples::PARTNER_SET_APPROVAL)]
    SetApproval(ThresholdArgs),
    /// Set whether a partner's request bodies must be sealed.
    #[command(after_help = examples::PARTNER_SET_POLICY)]
    SetPolicy(PolicyArgs),
    /// Issue a new sealing key; the old one is accepted for another 14 days.
    RotateKeys(RotateKeyArgs),
    /// Issue a new API key; the old one is accepted for another 14 days.
    #[command(after_help = examples::ROTATE_API_KEY)]
    RotateApiKey(RotateKeyArgs),
    /// Scoped credentials of a partner: for programs that may do a part of what it may.
    #[command(subcommand)]
    Credential(CredentialCommand),
    /// Set a partner's password and end all its sessions. At a terminal it prompts for the password, else it is the first
    /// line of standard input.
    SetPassword(PartnerArgs),
    /// End all sessions of a partner: its tokens are refused from now on, and it has to log in again.
    EndSessions(PartnerArgs),
}

/// A new partner.
#[derive(Debug, Args)]
pub struct CreateArgs {
    /// The location of the data.
    #[command(flatten)]
    pub store: StoreArgs,
    /// The partner's name.
    #[arg(long, value_parser = parse_name)]
    pub name: String,
    /// Its login; generated if absent.
    #[arg(long, value_parser = parse_login)]
    pub login: Option<String>,
    /// Its password; generated if absent. Everyone on the machine can see a command line: prefer
    /// `--password-stdin`.
    #[arg(long, value_parser = secret, allow_hyphen_values = true)]
    pub password: Option<SecretString>,
    /// Read its password from a prompt at a terminal, else from the first line of standard input.
    #[arg(long, conflicts_with = "password")]
    pub password_stdin: bool,
    /// Whether its request bodies must be sealed: `required` or `optional`.
    #[arg(long, default_value = "required")]
    pub sealing: SealingPolicy,
    /// A first deposit, in roubles with both digits of kopecks: `1000000.00`.
    #[arg(long, value_name = "ROUBLES", value_parser = roubles_above_zero)]
    pub deposit: Option<Kopecks>,
    /// Whether to ask about a large amount.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
    /// Print JSON and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// Options of the list.
#[derive(Debug, Args)]
pub struct PartnerListArgs {
    /// The location of the data.
    #[command(flatten)]
    pub store: StoreArgs,
    /// Print JSON and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// A partner to suspend.
#[derive(Debug, Args)]
pub struct SuspendArgs {
    /// The partner.
    #[command(flatten)]
    pub partner: PartnerArgs,
    /// Do not prompt. Without a terminal there is no prompt anyway.
    #[arg(long)]
    pub yes: bool,
}

/// A partner to rename.
#[derive(Debug, Args)]
pub struct RenameArgs {
    /// The partner.
    #[command(flatten)]
    pub partner: PartnerArgs,
    /// Its name from now on.
    #[arg(value_parser = parse_name)]
    pub name: String,
}

/// A partner whose contract ends.
#[derive(Debug, Args)]
pub struct CloseArgs {
    /// The partner.
    #[command(flatten)]
    pub partner: PartnerArgs,
    /// Names the payment of what is left to the partner, such as the number of a bank transfer.
    #[arg(long, value_parser = TransferReference::parse)]
    pub reference: TransferReference,
    /// Do not prompt. Without a terminal there is no prompt anyway.
    #[arg(long)]
    pub yes: bool,
}

/// A partner to delete.
#[derive(Debug, Args)]
pub struct DeleteArgs {
    /// The partner.
    #[command(flatten)]
    pub partner: PartnerArgs,
    /// How long its records are kept after its last movement of money. The default is five years.
    #[arg(long, default_value = "1826d", value_parser = duration)]
    pub retention: Duration,
    /// Do not prompt. Without a terminal there is no prompt anyway.
    #[arg(long)]
    pub yes: bool,
}

/// One partner.
#[derive(Debug, Args)]
pub struct PartnerArgs {
    /// The location of the data.
    #[command(flatten)]
    pub store: StoreArgs,
    /// The partner's identifier.
    #[arg(value_parser = partner_id)]
    pub id: PartnerId,
}

/// A partner to show.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The partner.
    #[command(flatten)]
    pub partner: PartnerArgs,
    /// Print JSON and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// A sealing policy.
#[derive(Debug, Args)]
pub struct PolicyArgs {
    /// The partner.
    #[command(flatten)]
    pub partner: PartnerArgs,
    /// `required` or `optional`.
    pub policy: SealingPolicy,
}

/// A partner whose key is to be replaced.
#[derive(Debug, Args)]
pub struct RotateKeyArgs {
    /// The partner.
    #[command(flatten)]
    pub partner: PartnerArgs,
    /// End the old key at once, because it may be in the wrong hands.
    #[arg(long)]
    pub at_once: bool,
    /// Print JSON and nothing else: the new key, and until when the former key is accepted.
    #[arg(long)]
    pub json: bool,
}

/// A deposit.
#[derive(Debug, Args)]
pub struct DepositArgs {
    /// The location of the data.
    #[command(flatten)]
    pub store: StoreArgs,
    /// The partner's identifier.
    #[arg(value_parser = partner_id)]
    pub id: PartnerId,
    /// The amount in roubles, with both digits of kopecks: `500.00`.
    #[arg(value_name = "ROUBLES", value_parser = roubles_above_zero)]
    pub amount: Kopecks,
    /// Names the deposit, such as the number of a bank transfer.
    #[arg(long, value_parser = TransferReference::parse)]
    pub reference: TransferReference,
    /// Whether to ask about a large amount.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}

/// A threshold.
#[derive(Debug, Args)]
pub struct ThresholdArgs {
    /// The partner.
    #[command(flatten)]
    pub partner: PartnerArgs,
    /// The amount in roubles, with both digits of kopecks: `500.00`; `0.00` for none.
    #[arg(value_name = "ROUBLES", value_parser = roubles)]
    pub amount: Kopecks,
    /// Whether to ask about a large amount.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}

/// A deposit to reverse.
#[derive(Debug, Args)]
pub struct ReverseArgs {
    /// The partner.
    #[command(flatten)]
    pub partner: PartnerArgs,
    /// The reference of the deposit.
    #[arg(value_parser = TransferReference::parse)]
    pub reference: TransferReference,
    /// Why, for the audit log: up to 200 characters.
    #[arg(long, value_parser = ledger::parse_reason)]
    pub reason: String,
}

/// A payment to a partner.
#[derive(Debug, Args)]
pub struct WithdrawArgs {
    /// The partner.
    #[command(flatten)]
    pub partner: PartnerArgs,
    /// The amount in roubles, with both digits of kopecks: `500.00`.
    #[arg(value_name = "ROUBLES", value_parser = roubles_above_zero)]
    pub amount: Kopecks,
    /// Names the payment, such as the number of a bank transfer.
    #[arg(long, value_parser = TransferReference::parse)]
    pub reference: TransferReference,
    /// Whether to ask about a large amount.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}
