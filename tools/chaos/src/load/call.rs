//! Calls that change something, and their responses.

use kopeck_client::{
    ActivationCode, CardClosing, CardLimit, CardStatus, CardType, CardWithdrawal, Client, Error,
    IdempotencyKey, NewEmployee, NewRun, PlasticItem, Purchase, RequestState, RunKind, TopUp, Uuid,
    VirtualItem,
};

/// The kinds of asynchronous requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RequestKind {
    Order,
    TopUp,
    Limit,
    Closing,
    Withdrawal,
}

impl RequestKind {
    /// All of them.
    pub(crate) const ALL: [Self; 5] =
        [Self::Order, Self::TopUp, Self::Limit, Self::Closing, Self::Withdrawal];
}

/// A request that changes something, as it is made and made again.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    AddEmployee { custom_id: String },
    OrderVirtual { count: u32, amount: i64 },
    OrderPlastic { count: u32, declined: bool },
    Link { employee: Uuid, number: String, status: CardStatus },
    Activate { card: Uuid, code: Option<ActivationCode> },
    TopUp(Vec<TopUp>),
    Limit { cards: Vec<Uuid>, limit: CardLimit },
    Close(Vec<CardClosing>),
    Withdraw(Vec<CardWithdrawal>),
    Cancel(RequestKind, Uuid),
    Confirm { order: Uuid },
    Purchase { card: Uuid, amount: i64 },
    Deposit { amount: i64 },
    CloseMonth { month: String },
    Run { file: String, reference: String },
}

/// The part of a response that every retry has to get again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Employee(Uuid),
    Accepted(Uuid),
    Linked(Uuid),
    State(RequestState),
    Purchase {
        approved: bool,
        transaction: Option<i64>,
    },
    Balance(i64),
    /// The SHA-256 of its report.
    Closed(String),
    Run(Uuid),
    Done,
}

impl Change {
    /// The name in tables.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::AddEmployee { .. } => "add employee",
            Self::OrderVirtual { .. } => "order virtual",
            Self::OrderPlastic { .. } => "order plastic",
            Self::Link { .. } => "link card",
            Self::Activate { .. } => "activate card",
            Self::TopUp(_) => "top up",
            Self::Limit { .. } => "set limits",
            Self::Close(_) => "close",
            Self::Withdraw(_) => "withdraw",
            Self::Cancel(..) => "cancel",
            Self::Confirm { .. } => "confirm order",
            Self::Purchase { .. } => "purchase",
            Self::Deposit { .. } => "deposit",
            Self::CloseMonth { .. } => "close month",
            Self::Run { .. } => "run",
        }
    }

    /// Which request it makes, if it makes one.
    pub(crate) const fn request(&self) -> Option<RequestKind> {
        match self {
            Self::OrderVirtual { .. } | Self::OrderPlastic { .. } => Some(RequestKind::Order),
            Self::TopUp(_) => Some(RequestKind::TopUp),
            Self::Limit { .. } => Some(RequestKind::Limit),
            Self::Close(_) => Some(RequestKind::Closing),
            Self::Withdraw(_) => Some(RequestKind::Withdrawal),
            _ => None,
        }
    }

    /// Whether the service may refuse it with 409: another open request has a card, or it is too late to cancel.
    pub(crate) const fn may_conflict(&self) -> bool {
        matches!(
            self,
            Self::TopUp(_) | Self::Limit { .. } | Self::Close(_) | Self::Withdraw(_) | Self::Cancel(..)
        )
    }

    /// Makes the request under `key`.
    pub(crate) async fn make(&self, client: &Client, key: IdempotencyKey) -> Result<Answer, Error> {
        match self {
            Self::AddEmployee { custom_id } => {
                let new = NewEmployee::new(custom_id.as_str());
                let added = client.employees().add(&new).idempotency_key(key).await?;
                Ok(Answer::Employee(added.id_employee))
            }
            Self::OrderVirtual { count, amount } => {
                let items = [VirtualItem::new(*count, *amount)];
                let created = client.orders().virtual_cards(&items).idempotency_key(key).await?;
                Ok(Answer::Accepted(created.order_id))
            }
            Self::OrderPlastic { count, declined } => {
                let items = [plastic(*count, *declined)];
                let created = client.orders().plastic(&items).idempotency_key(key).await?;
                Ok(Answer::Accepted(created.order_id))
            }
            Self::Link { employee, number, status } => {
                let linked = client.cards().link(*employee, number, status).idempotency_key(key).await?;
                Ok(Answer::Linked(linked.id_card))
            }
            Self::Activate { card, code } => {
                client.sandbox().activate(*card, code.as_ref()).idempotency_key(key).await?;
                Ok(Answer::Done)
            }
            Self::TopUp(cards) => {
                let created = client.replenishments().create(cards).idempotency_key(key).await?;
                Ok(Answer::Accepted(created.replenishment_id))
            }
            Self::Limit { cards, limit } => {
                let created = client.limits().set(cards, limit).idempotency_key(key).await?;
                Ok(Answer::Accepted(created.set_limits_cards_id))
            }
            Self::Close(cards) => {
                let created = client.closings().create(cards).idempotency_key(key).await?;
                Ok(Answer::Accepted(created.closing_id))
            }
            Self::Withdraw(cards) => {
                let created = client.withdrawals().create(cards).idempotency_key(key).await?;
                Ok(Answer::Accepted(created.withdrawal_id))
            }
            Self::Cancel(kind, id) => {
                let cancelled = match kind {
                    RequestKind::Order => client.orders().cancel(*id),
                    RequestKind::TopUp => client.replenishments().cancel(*id),
                    RequestKind::Limit => client.limits().cancel(*id),
                    RequestKind::Closing => client.closings().cancel(*id),
                    RequestKind::Withdrawal => client.withdrawals().cancel(*id),
                };
                Ok(Answer::State(cancelled.idempotency_key(key).await?.state))
            }
            Self::Confirm { order } => {
                Ok(Answer::State(client.orders().confirm(*order).idempotency_key(key).await?.state))
            }
            Self::Purchase { card, amount } => {
                let purchase = Purchase::new(*amount);
                let bought = client.sandbox().purchase(*card, &purchase).idempotency_key(key).await?;
                Ok(Answer::Purchase { approved: bought.approved, transaction: bought.transaction_id })
            }
            Self::Deposit { amount } => {
                Ok(Answer::Balance(client.sandbox().deposit(*amount).idempotency_key(key).await?.balance))
            }
            Self::CloseMonth { month } => {
                let closed = client.statements().close_report(month).idempotency_key(key).await?;
                Ok(Answer::Closed(closed.sha256))
            }
            Self::Run { file, reference } => make_run(client, key, file, reference).await,
        }
    }
}

fn plastic(count: u32, declined: bool) -> PlasticItem {
    PlasticItem {
        number_cards: count,
        type_card: CardType::Mp4,
        // The simulator refuses an address with this word.
        delivery_address: if declined { "DECLINE street 1" } else { "Main street 1" }.to_owned(),
        recipient: "Anna Petrova".to_owned(),
        phone: "9031234567".to_owned(),
    }
}

/// Creates the run of a file under `key`, and submits it, however often that was done before.
async fn make_run(
    client: &Client,
    key: IdempotencyKey,
    file: &str,
    reference: &str,
) -> Result<Answer, Error> {
    let new = NewRun { reference: Some(reference.to_owned()), ..NewRun::of_file(RunKind::TopUp, file) };
    let made = client.runs().create(&new).idempotency_key(key).await?;
    client.runs().submit(made.id_run, &made.digest, true).await?;
    Ok(Answer::Run(made.id_run))
}
