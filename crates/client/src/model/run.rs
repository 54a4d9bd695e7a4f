//! Items of runs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kopeck_api::wire::{self, WireText as _};
use kopeck_api::{CardLimit, RunKind, RunState};
use serde::{Serialize, Serializer};
use time::{Date, PrimitiveDateTime};
use uuid::Uuid;

use crate::model::card_batch::CardRef;
use crate::model::employee::NewEmployee;
use crate::model::order::VirtualItem;
use crate::request::Request;

/// A run to create.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewRun {
    /// What it does.
    pub kind: RunKind,
    /// Of what it is made.
    #[serde(flatten)]
    pub rows: RunRows,
    /// Your own name for it, which no other run of its kind has unless that run came to nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// When it is carried out, once it is submitted; at once, if absent.
    #[serde(skip_serializing_if = "Option::is_none", with = "wire::text_or_null")]
    pub at: Option<PrimitiveDateTime>,
    /// Whether categories that do not exist are created.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub create_categories: bool,
}

/// Of what a run is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum RunRows {
    /// Items, 1 to 10,000, all of its kind.
    Items(Vec<NewRunItem>),
    /// The bytes of a file: CSV in UTF-8, UTF-16 or Windows-1251, or an XLSX workbook. Its first row names the columns. Not for
    /// `LIMIT`. Within a body it is sealed as everything else, and a third larger.
    File(#[serde(serialize_with = "base64")] Vec<u8>),
}

impl NewRun {
    /// A run that is carried out at once.
    #[must_use]
    pub fn new(kind: RunKind, items: impl IntoIterator<Item = NewRunItem>) -> Self {
        Self::of(kind, RunRows::Items(items.into_iter().collect()))
    }

    /// A run of a file that is carried out at once.
    #[must_use]
    pub fn of_file(kind: RunKind, file: impl Into<Vec<u8>>) -> Self {
        Self::of(kind, RunRows::File(file.into()))
    }

    const fn of(kind: RunKind, rows: RunRows) -> Self {
        Self { kind, rows, reference: None, at: None, create_categories: false }
    }
}

/// Within a body a file is a text.
fn base64<S: Serializer>(file: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(file))
}

/// An item of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct NewRunItem(Inner);

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum Inner {
    Card {
        #[serde(flatten)]
        card: CardRef,
        #[serde(skip_serializing_if = "Option::is_none")]
        amount: Option<i64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<CardLimit>,
    },
    Order(VirtualItem),
    Employee(NewEmployee),
}

impl NewRunItem {
    /// Tops a card up by so many kopecks.
    #[must_use]
    pub fn top_up(card: impl Into<CardRef>, amount: i64) -> Self {
        Self(Inner::Card { card: card.into(), amount: Some(amount), limit: None })
    }

    /// Takes so many kopecks from a card, or all that is on it.
    #[must_use]
    pub fn withdrawal(card: impl Into<CardRef>, amount: Option<i64>) -> Self {
        Self(Inner::Card { card: card.into(), amount, limit: None })
    }

    /// Gives a card a limit.
    #[must_use]
    pub fn limit(card: impl Into<CardRef>, limit: CardLimit) -> Self {
        Self(Inner::Card { card: card.into(), amount: None, limit: Some(limit) })
    }

    /// Orders virtual cards.
    #[must_use]
    pub const fn order(cards: VirtualItem) -> Self {
        Self(Inner::Order(cards))
    }

    /// Adds an employee, or changes the fields that are set.
    #[must_use]
    pub const fn employee(employee: NewEmployee) -> Self {
        Self(Inner::Employee(employee))
    }
}

/// Which runs to list; the default lists all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only those of this kind.
    pub kind: Option<RunKind>,
    /// Only those in this state.
    pub state: Option<RunState>,
    /// Only those with exactly this reference.
    pub reference: Option<String>,
    /// Only those that this programme made.
    pub id_programme: Option<Uuid>,
    /// Only those created on this day or later.
    pub from: Option<Date>,
    /// Only those created on this day or earlier.
    pub to: Option<Date>,
}

impl RunFilter {
    pub(crate) fn add_to(&self, request: Request) -> Request {
        request
            .query("kind", self.kind.as_ref().map(RunKind::as_str))
            .query("status", self.state.as_ref().map(RunState::as_str))
            .query("reference", self.reference.as_deref())
            .query("idProgramme", self.id_programme.map(|id| id.to_string()))
            .query("from", self.from.map(|day| day.text()))
            .query("to", self.to.map(|day| day.text()))
    }
}
