//! What a page consists of. The templates turn it into HTML, and escape every value.

use std::borrow::Cow;

use askama::Template;

use crate::chart::Chart;
use crate::texts::{Language, Text};

/// A page below the navigation.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) title: String,
    /// The part of the console that it belongs to: the first segment of its path.
    pub(crate) section: &'static str,
    pub(crate) blocks: Vec<Block>,
    /// The status code.
    pub(crate) status: u16,
}

/// A part of a page.
#[derive(Debug)]
pub(crate) enum Block {
    Heading(String),
    Text(String),
    Notice(Notice),
    Facts(Vec<(String, Cell)>),
    Table(Table),
    /// A chart with the table of its values.
    Chart(Box<Chart>, Table),
    /// When a card pays: the name and the path of a picture of a week, and the table that says the same.
    Week(String, String, Table),
    Form(Form),
    Links(Vec<Cell>),
    /// Set-up of an authenticator app.
    Setup(Setup),
    /// Recovery codes.
    Codes(Vec<String>),
    /// A part that the script replaces.
    Region(Box<Region>),
}

/// A part of a page that the script fetches anew. Without the script it is as good as the blocks in it.
#[derive(Debug, Template)]
#[template(path = "region.html")]
pub(crate) struct Region {
    /// Its `id`.
    pub(crate) id: &'static str,
    /// Where it is fetched from.
    pub(crate) source: String,
    /// The seconds after which it is fetched anew; not at all if absent.
    pub(crate) poll: Option<u32>,
    /// What a screen reader says after it was replaced.
    pub(crate) says: String,
    pub(crate) parts: Vec<Part>,
}

/// A part of a region.
#[derive(Debug)]
pub(crate) enum Part {
    Facts(Vec<(String, Cell)>),
    /// What it is about, how much of it is done, and of how much.
    Progress(String, u64, u64),
    Table(Table),
    Links(Vec<Cell>),
}

/// How many runs wait for an approval, in the navigation.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "waiting.html")]
pub(crate) struct Waiting(pub(crate) u64);

/// What a page asks by itself where it asks nothing else: whether its session still goes on.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "session.html")]
pub(crate) struct StillOpen;

/// A message about what was done or not.
#[derive(Debug)]
pub(crate) struct Notice {
    pub(crate) is_problem: bool,
    pub(crate) lines: Vec<String>,
}

/// A text, perhaps with a link.
#[derive(Debug, Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) link: Option<String>,
    /// Whether the link opens a tab of its own.
    pub(crate) opens_tab: bool,
    pub(crate) is_number: bool,
}

/// A table with its pages.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) caption: String,
    pub(crate) columns: Vec<Cell>,
    pub(crate) rows: Vec<Vec<Cell>>,
    /// What stands in its place if it has no rows.
    pub(crate) empty: String,
    pub(crate) pages: Option<Pages>,
}

/// The way to other pages of a table.
#[derive(Debug)]
pub(crate) struct Pages {
    pub(crate) label: String,
    pub(crate) previous: Option<Cell>,
    pub(crate) next: Option<Cell>,
}

/// A form. One that changes something is sent by `POST`, with its token and its idempotency key among the hidden fields.
#[derive(Debug, Default)]
pub(crate) struct Form {
    pub(crate) action: String,
    pub(crate) is_post: bool,
    pub(crate) title: String,
    pub(crate) hidden: Vec<(Cow<'static, str>, String)>,
    pub(crate) fields: Vec<Field>,
    /// Controls in a table, below the fields.
    pub(crate) table: Option<ControlTable>,
    pub(crate) submit: String,
    pub(crate) is_danger: bool,
    /// While it has text, the script shows what a search finds in the region of this `id`.
    pub(crate) searches: Option<&'static str>,
}

/// A table with controls of a form.
#[derive(Debug, Default)]
pub(crate) struct ControlTable {
    pub(crate) caption: String,
    pub(crate) columns: Vec<Cell>,
    pub(crate) rows: Vec<Vec<Control>>,
}

/// What stands in a cell of such a table.
#[derive(Debug)]
pub(crate) enum Control {
    Cell(Cell),
    /// A text, by the names for the form and for people, with its value.
    Input(String, String, String),
    Check(String, String),
    /// As an input, with values and their labels.
    Select(String, String, String, Vec<(String, String)>),
}

/// A field of a form.
#[derive(Debug, Default)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) label: String,
    pub(crate) hint: String,
    pub(crate) value: String,
    pub(crate) kind: FieldKind,
    pub(crate) is_required: bool,
    /// The value of `autocomplete`.
    pub(crate) autocomplete: &'static str,
    /// The longest value in characters.
    pub(crate) max: usize,
}

/// The control of a field.
#[derive(Debug, Default)]
pub(crate) enum FieldKind {
    #[default]
    Text,
    Email,
    Password,
    /// A code of digits.
    Code,
    Search,
    Month,
    Area,
    Check,
    /// A file; the value of `accept` is that of tables.
    File,
    /// Values with their labels, of which one is chosen.
    Select(Vec<(String, String)>),
    /// Values with their labels, of which any are chosen; the field's value has those, with blanks between.
    Many(Vec<(String, String)>),
}

/// The secret of an authenticator app, as a QR code and as text.
#[derive(Debug)]
pub(crate) struct Setup {
    /// The side of the code in modules, its quiet zone included.
    pub(crate) side: usize,
    /// The path of an SVG.
    pub(crate) path: String,
    pub(crate) secret: String,
    pub(crate) label: String,
}

impl FieldKind {
    /// The type of its `<input>`.
    pub(crate) const fn input_type(&self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Password => "password",
            Self::Search => "search",
            Self::Month => "month",
            Self::File => "file",
            Self::Text | Self::Code | Self::Area | Self::Check | Self::Select(_) | Self::Many(_) => "text",
        }
    }

    /// Whether it takes a file.
    pub(crate) const fn is_file(&self) -> bool {
        matches!(self, Self::File)
    }

    /// Whether it takes a password: the browser cuts none, the service refuses what is too long.
    pub(crate) const fn is_password(&self) -> bool {
        matches!(self, Self::Password)
    }

    /// Whether it takes a code.
    pub(crate) const fn is_code(&self) -> bool {
        matches!(self, Self::Code)
    }
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    pub(crate) fn number(text: impl Into<String>) -> Self {
        Self { is_number: true, ..Self::text(text) }
    }

    /// A link to a page of the console; `path` begins with a slash.
    pub(crate) fn link(text: impl Into<String>, path: &str) -> Self {
        Self { link: Some(format!("/console{path}")), ..Self::text(text) }
    }

    /// The same link, but this page stays.
    pub(crate) fn in_new_tab(self) -> Self {
        Self { opens_tab: true, ..self }
    }
}

impl Field {
    /// Whether this value of many is chosen.
    pub(crate) fn has(&self, value: &str) -> bool {
        self.value.split(' ').any(|chosen| chosen == value)
    }

    pub(crate) fn new(name: &'static str, label: impl Into<String>, kind: FieldKind) -> Self {
        Self { name, label: label.into(), kind, autocomplete: "off", max: 512, ..Self::default() }
    }

    pub(crate) fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    pub(crate) fn value(self, value: impl Into<String>) -> Self {
        Self { value: value.into(), ..self }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    pub(crate) fn max(self, max: usize) -> Self {
        Self { max, ..self }
    }

    pub(crate) fn autocomplete(self, autocomplete: &'static str) -> Self {
        Self { autocomplete, ..self }
    }
}

impl Form {
    /// A form that only reads.
    pub(crate) fn search(action: &str, submit: impl Into<String>) -> Self {
        Self { action: format!("/console{action}"), submit: submit.into(), ..Self::default() }
    }

    pub(crate) fn titled(self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self }
    }

    pub(crate) fn field(mut self, field: Field) -> Self {
        self.fields.push(field);
        self
    }

    pub(crate) fn hide(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        self.hidden.push((name.into(), value.into()));
        self
    }

    /// Whether it is sent with a file.
    pub(crate) fn has_file(&self) -> bool {
        self.fields.iter().any(|field| field.kind.is_file())
    }

    /// It undoes or destroys something.
    pub(crate) fn dangerous(self) -> Self {
        Self { is_danger: true, ..self }
    }
}

impl Table {
    /// A table of these columns, none of numbers.
    pub(crate) fn new(caption: impl Into<String>, columns: Vec<Cell>, empty: impl Into<String>) -> Self {
        Self { caption: caption.into(), columns, empty: empty.into(), ..Self::default() }
    }
}

impl Page {
    pub(crate) fn new(title: impl Into<String>, section: &'static str) -> Self {
        Self { title: title.into(), section, blocks: Vec::new(), status: 200 }
    }

    pub(crate) fn push(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// The same with a message above everything else.
    pub(crate) fn noting(mut self, notice: Option<Notice>) -> Self {
        if let Some(notice) = notice {
            self.blocks.insert(0, Block::Notice(notice));
        }
        self
    }
}

/// An entry of the navigation.
#[derive(Debug)]
pub(crate) struct NavigationLink {
    pub(crate) text: &'static str,
    pub(crate) path: &'static str,
    pub(crate) is_current: bool,
    /// How much waits behind it.
    pub(crate) waiting: Option<Waiting>,
}

/// The whole document.
#[derive(Template)]
#[template(path = "page.html")]
pub(crate) struct Document<'a> {
    pub(crate) language: Language,
    pub(crate) page: &'a Page,
    pub(crate) navigation: Vec<NavigationLink>,
    /// The login of the user, and the form that logs out.
    pub(crate) user: Option<(String, Form)>,
    /// Whether the page asks if the session goes on.
    pub(crate) asks: bool,
}

impl Document<'_> {
    fn t(&self, text: Text) -> &'static str {
        text.of(self.language)
    }
}
