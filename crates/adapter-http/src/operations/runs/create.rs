//! Creates a run: reads and checks its items, and answers with the preview.

use actix_web::web::Bytes;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use kopeck_domain::Invalid;
use kopeck_domain::access::Actor;
use kopeck_domain::calendar::Zone;
use kopeck_domain::employee::Change;
use kopeck_domain::limit::Limit;
use kopeck_domain::run::row::{Cell, CellValue};
use kopeck_domain::run::{Fault, FaultCode, MAX_ITEMS, RunKind};
use kopeck_fair_queue::Rank;
use kopeck_service::runs::{self, InputRow, RunInput, RunView};

use super::file::{FORMS, GivenFile};
use super::{authority, body};
use crate::input::faults::Faults;
use crate::input::field_types::{FieldEncoding, FieldType, InputValue, boolean, string_enum, text};
use crate::input::limit::{self, LimitConflict};
use crate::input::reader::Fields;
use crate::json::object;
use crate::operations::cards::ANY_ZONE;
use crate::operations::prelude::*;
use crate::operations::requests::read_reference;
use crate::request_source::RequestSource;
use crate::schema::Components;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::RUN_CREATE, Needs::One(Scope::RunsWrite), handler!(create))
        .reads(reads!(read, ANY_ZONE))
        .responds::<api::Run>(201)
        .takes_files(&FORMS)
        .refuses(&[Code::ReferenceTaken]);

/// The names of the three places of items.
const ITEMS: &str = "items";
const FILE: &str = "file";
const BODY: &str = "body";

/// The fields of an item that are texts or numbers, each with what it says.
const FIELDS: [(&str, &str); 16] = [
    (
        "customId",
        "Your own identifier of an employee. Exactly one of the first four names the person or the card.",
    ),
    ("idEmployee", "The employee."),
    ("idCard", "The card."),
    ("customIdCard", "The bank's number of the card."),
    ("amount", "Kopecks."),
    ("rubles", "The same in roubles, in the place of `amount`."),
    ("typeCard", "Of VIRTUAL_ORDER: the product."),
    ("numberCards", "Of VIRTUAL_ORDER: how many cards."),
    ("surname", "Of EMPLOYEES, as in the request that adds one."),
    ("name", "Of EMPLOYEES."),
    ("patronymic", "Of EMPLOYEES."),
    ("phone", "Of EMPLOYEES."),
    ("email", "Of EMPLOYEES."),
    ("status", "Of EMPLOYEES."),
    ("category", "Of EMPLOYEES: the name of a category."),
    ("idCategory", "Of EMPLOYEES: a category, in the place of `category`."),
];

/// A new run, and where its items are.
struct NewRun {
    input: RunInput,
    file: Option<GivenFile>,
}

fn read(r: &mut Reader<'_>, zone: Zone) -> Option<NewRun> {
    let upload = r.upload().map(|bytes| GivenFile { bytes, field: BODY });
    let mut fields = r.body();
    let kind = fields.required("kind", string_enum::<RunKind>());
    let about = "In the place of `items`: a file as of `text/csv`, in base64, so that it can be sealed.";
    let given = fields.optional(FILE, base64().about(about)).map(|bytes| GivenFile { bytes, field: FILE });
    let rows = if upload.is_none() && !fields.has(FILE) {
        let mut line = 0;
        fields.loose_items(ITEMS, 1..=MAX_ITEMS, |item| {
            line += 1;
            item.map_or_else(|| no_object(line), |item| read_item(item, line))
        })
    } else {
        Some(Vec::new())
    };
    for second in [upload.as_ref().map(|_| FILE), Some(ITEMS)].into_iter().flatten() {
        if (upload.is_some() || fields.has(FILE)) && fields.has(second) {
            fields.fault(second, "is given beside a file");
        }
    }
    let reference = read_reference(&mut fields);
    let about = "When it is carried out, once it is submitted; at once, if absent or over.";
    let at = fields.optional("at", text(move |at| zone.parse_moment(at)).about(about));
    let about = "Of EMPLOYEES: whether categories that do not exist are created; `false` if absent.";
    let creates_categories = fields.optional("createCategories", boolean().about(about)).unwrap_or(false);
    let file = upload.or(given);
    if file.is_some() && kind == Some(RunKind::Limit) {
        fields.fault("kind", "has no file: give the limits as items");
    }
    Some(NewRun { input: RunInput { kind: kind?, reference, at, creates_categories, rows: rows? }, file })
}

/// Base64 with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A file in base64.
fn base64() -> FieldType<impl Fn(InputValue<'_>) -> Result<Bytes, Invalid>> {
    let schema = |_: &mut Components| object! {"type": "string", "contentEncoding": "base64"};
    FieldType::new(schema, FieldEncoding::Text, |given: InputValue<'_>| {
        let bytes = given.as_text().and_then(|text| BASE64.decode(text.as_bytes()).ok());
        bytes.map(Bytes::from).ok_or_else(|| Invalid::new("must be a file in base64"))
    })
}

/// An item that is no object.
fn no_object(line: u32) -> InputRow {
    let fault = Fault::new("customId", FaultCode::Invalid, "must be an object");
    InputRow { line, cells: Vec::new(), limit: None, fault: Some(fault) }
}

/// Nothing in an item is a fault of the request.
fn read_item(item: &mut Fields<'_>, line: u32) -> InputRow {
    let mut cells = Vec::new();
    for (name, about) in FIELDS {
        let value = match item.change(name, cell().about(about)) {
            Change::Keep => continue,
            Change::Clear => CellValue::Blank,
            Change::Set(value) => value,
        };
        cells.push(Cell { name: name.to_owned(), value });
    }
    let limit = item.apart("limit", limit::schema, |limit, faults| limit::draft(limit).read("limit", faults));
    InputRow { line, cells, limit: limit.map(limit_of), fault: None }
}

fn limit_of(read: Result<Result<Limit, LimitConflict>, Faults>) -> Result<Limit, Fault> {
    let conflict = |_| Fault::new("limit", FaultCode::LimitConflict, Code::LimitConflict.message());
    match read {
        Ok(limit) => limit.map_err(conflict),
        Err(faults) => {
            let detail = faults.as_slice().first().map_or_else(String::new, |fault| {
                format!(
                    "{} {}",
                    fault.field.trim_start_matches("limit").trim_start_matches('.'),
                    fault.detail
                )
            });
            Err(Fault::new("limit", FaultCode::Invalid, detail.trim()))
        }
    }
}

/// A text, or a number as it is written.
fn cell() -> FieldType<impl Fn(InputValue<'_>) -> Result<CellValue, Invalid>> {
    let schema = |_: &mut Components| object! {"type": ["string", "number"]};
    FieldType::new(schema, FieldEncoding::Json, |given: InputValue<'_>| {
        Ok(CellValue::Text(match given {
            InputValue::Text(text) => text.to_owned(),
            InputValue::Json(value) => {
                value.string().map_or_else(|| value.as_str().to_owned(), std::borrow::Cow::into_owned)
            }
        }))
    })
}

/// Reads the file on a blocking thread: a small workbook may hold much.
async fn with_rows_of(
    ctx: &HandlerContext,
    input: RunInput,
    file: GivenFile,
) -> Result<Result<RunInput, Faults>, ApiError> {
    let source = RequestSource::Partner(ctx.partner());
    let read = move || {
        let kind = input.kind;
        Ok(RunInput { rows: file.rows(kind)?, ..input })
    };
    ctx.shared.spreadsheets.run(source, Rank::First, read).await
}

async fn create(mut ctx: HandlerContext) -> HandlerResult {
    let (zone, by) = (ctx.zone(), authority(&ctx).actor);
    let values = match ctx.values_of_list(move |r| read(r, zone)).await? {
        Ok(NewRun { input, file: Some(file) }) => with_rows_of(&ctx, input, file).await?,
        Ok(NewRun { input, file: None }) => Ok(input),
        Err(faults) => Err(faults),
    };
    let mutation = ctx.begin_mutation().await?;
    if let Some(answer) = mutation.replay().await? {
        return Ok(answer);
    }
    let input = values?;
    let (input, refreshed) = mutation
        .context()
        .ask_bank(move |shared, partner| {
            let parts = &shared.parts;
            let refreshed = runs::refresh(&*parts.store, &*parts.bank, &parts.env, partner, &input);
            (input, refreshed)
        })
        .await?;
    refreshed?;
    mutation
        .once((input, by), move |unit, env, partner, values: &(RunInput, Actor)| {
            let (input, by) = values;
            let run = runs::create(unit, env, partner, by, input)?;
            Ok::<_, ApiError>(body::of_run(&RunView { run, requests: Vec::new() }, zone))
        })
        .await
}
