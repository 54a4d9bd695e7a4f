//! Reads the values of a request field by field and collects every fault, so that the response names all of them.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use actix_web::web::Bytes;

use crate::input::faults::Faults;
use kopeck_domain::Invalid;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::employee::Change;
use kopeck_domain::ids::{CardId, EmployeeId};
use kopeck_domain::person::CustomId;
use kopeck_port_store::page::Page;
use uuid::Uuid;

use super::field_types::{self, FieldSchema, FieldType, InputValue};
use super::json_text::JsonText;
use super::object::{Object, bound_text};
use super::schema::{InputField, Location, Presence};
use super::{Param, RequestInput};
use crate::json::Json;
use crate::schema::{Components, HasSchema};

const SIZE_NAMES: [&str; 2] = ["per_page", "perPage"];

/// The names of a card: its identifier, its number, and the two identifiers of the employee whose MAIN card it is.
const CARD_NAMES: [&str; 4] = ["idCard", "customIdCard", "idEmployee", "customId"];
const ABOUT_CARD_NAMES: &str =
    "The card: exactly one of `idCard`, `customIdCard`, `idEmployee` and `customId` names it.";
const ABOUT_MAIN_CARD: &str = "The employee whose MAIN card it is.";
/// The fault of the second name of a card.
pub(crate) const TWICE: &str = "stands twice in the request";

/// The name of the field that holds a card's name.
pub(crate) const fn card_field(card: &CardRef) -> &'static str {
    let [id, number, employee, custom_id] = CARD_NAMES;
    match card {
        CardRef::Id(_) => id,
        CardRef::Number(_) => number,
        CardRef::Employee(_) => employee,
        CardRef::CustomId(_) => custom_id,
    }
}

/// The default number of records on a page.
const PAGE_SIZE: u32 = 15;

/// After so many faults the rest of a list is not read: a body of 64 KiB has room for 20,000 faulty items, whose
/// response would keep a thread busy for 20 ms.
const MAX_FAULTS: usize = 1_000;

/// Reads a request. A missing or faulty value is `None`, and its fault is collected.
pub(crate) struct Reader<'a> {
    input: &'a RequestInput,
    faults: Faults,
    /// Set to collect the inputs instead of reading.
    inputs: Option<Vec<InputField>>,
}

impl RequestInput {
    /// The result of `read` with its faults.
    pub(crate) fn gather<T>(&self, read: impl FnOnce(&mut Reader<'_>) -> T) -> (T, Faults) {
        let mut reader = Reader { input: self, faults: Faults::new(), inputs: None };
        let values = read(&mut reader);
        (values, reader.faults)
    }

    /// The result of `read`.
    ///
    /// # Errors
    /// The faults.
    pub(crate) fn values<T>(&self, read: impl FnOnce(&mut Reader<'_>) -> Option<T>) -> Result<T, Faults> {
        let (values, faults) = self.gather(read);
        faults.check()?;
        // A reader without a result has added a fault.
        values.ok_or_else(|| Faults::of("body", "is faulty"))
    }
}

impl<'a> Reader<'a> {
    /// Reads nothing, and collects the inputs.
    pub(super) fn collecting_schema(nothing: &'a RequestInput) -> Self {
        Self { input: nothing, faults: Faults::new(), inputs: Some(Vec::new()) }
    }

    /// The collected inputs.
    pub(super) fn into_inputs(self) -> Vec<InputField> {
        self.inputs.unwrap_or_default()
    }

    /// An identifier of the path.
    pub(crate) fn id<T: HasSchema + From<Uuid>>(&mut self, placeholder: &'static str) -> Option<T> {
        self.path(placeholder, field_types::id::<T>())
    }

    /// A part of the path.
    pub(crate) fn path<T>(
        &mut self,
        placeholder: &'static str,
        field_type: FieldType<impl Fn(InputValue<'_>) -> Result<T, Invalid>>,
    ) -> Option<T> {
        if let Some(inputs) = &mut self.inputs {
            inputs.push(InputField::value(
                placeholder,
                Location::Path,
                Presence::Required,
                field_type.schema,
            ));
            return None;
        }
        let text =
            self.input.ids.iter().find(|(name, _)| *name == placeholder).map(|(_, text)| text.as_str());
        self.faults.take(placeholder, (field_type.read)(InputValue::Text(text.unwrap_or_default())))
    }

    /// Adds a fault.
    pub(crate) fn fault(&mut self, name: &str, detail: impl Into<String>) {
        self.faults.push(name, detail);
    }

    /// The file in the place of a JSON body.
    pub(crate) fn upload(&self) -> Option<Bytes> {
        self.input.upload.clone()
    }

    pub(crate) fn body(&mut self) -> Fields<'_> {
        Fields {
            object: self.input.object(),
            item: None,
            faults: &mut self.faults,
            inputs: self.inputs.as_mut(),
        }
    }

    /// An optional parameter of a read.
    pub(crate) fn param<T>(
        &mut self,
        name: &'static str,
        field_type: FieldType<impl Fn(InputValue<'_>) -> Result<T, Invalid>>,
    ) -> Option<T> {
        if let Some(inputs) = &mut self.inputs {
            inputs.push(InputField::value(name, Location::Parameter, Presence::Optional, field_type.schema));
        }
        let param = self.input.params.get(name)?;
        self.faults.take(name, (field_type.read)(param.into()))
    }

    /// A required parameter of a read.
    pub(crate) fn needed<T>(
        &mut self,
        name: &'static str,
        field_type: FieldType<impl Fn(InputValue<'_>) -> Result<T, Invalid>>,
    ) -> Option<T> {
        if let Some(inputs) = &mut self.inputs {
            inputs.push(InputField::value(name, Location::Parameter, Presence::Required, field_type.schema));
            return None;
        }
        let parsed = match self.input.params.get(name) {
            Some(param) => (field_type.read)(param.into()),
            None => Err(Invalid::new("is required")),
        };
        self.faults.take(name, parsed)
    }

    /// A required parameter with two names.
    pub(crate) fn required_param<T>(
        &mut self,
        names: [&'static str; 2],
        field_type: FieldType<impl Fn(InputValue<'_>) -> Result<T, Invalid>>,
    ) -> Option<T> {
        let [first, second] = names;
        if let Some(inputs) = &mut self.inputs {
            let input = InputField::value(first, Location::Parameter, Presence::Required, field_type.schema);
            inputs.push(input.or_as(second));
            return None;
        }
        match self.either(names)? {
            Some((name, param)) => self.faults.take(name, (field_type.read)(param)),
            None => {
                self.faults.push(first, "is required");
                None
            }
        }
    }

    /// The page number and size of a list of records.
    pub(crate) fn page(&mut self) -> Option<Page> {
        let numbers = field_types::page_number().may_be_clear();
        self.page_of(numbers, field_types::page_size().may_be_clear(), PAGE_SIZE)
    }

    /// The page number and size of transactions: the interface marks the paging of this list alone as encrypted.
    pub(crate) fn sealed_page(&mut self, default_size: u32) -> Option<Page> {
        self.page_of(field_types::page_number(), field_types::page_size(), default_size)
    }

    fn page_of(
        &mut self,
        numbers: FieldType<impl Fn(InputValue<'_>) -> Result<u32, Invalid>>,
        sizes: FieldType<impl Fn(InputValue<'_>) -> Result<u32, Invalid>>,
        default_size: u32,
    ) -> Option<Page> {
        if let Some(inputs) = &mut self.inputs {
            let input =
                |name, schema| InputField::value(name, Location::Parameter, Presence::Optional, schema);
            let [_, also] = SIZE_NAMES;
            inputs.push(input("page", numbers.schema).by_default(1));
            inputs.push(input("per_page", sizes.schema).by_default(default_size).or_as(also));
            return None;
        }
        let number = match self.input.params.get("page") {
            Some(page) => self.faults.take("page", (numbers.read)(page.into())),
            None => Some(1),
        };
        let size = match self.size()? {
            Some((name, size)) => self.faults.take(name, (sizes.read)(size)),
            None => Some(default_size),
        };
        // Both are in range already.
        Page::new(number?, size?).ok()
    }

    /// The page size under either name. Of one in the query and one in the body the query wins, as it does under one
    /// name.
    fn size(&mut self) -> Option<Option<(&'static str, InputValue<'a>)>> {
        let [first, second] = SIZE_NAMES;
        let input = self.input;
        match (input.params.get(first), input.params.get(second)) {
            (Some(size @ Param::Text(_)), Some(Param::Json(_))) => Some(Some((first, size.into()))),
            (Some(Param::Json(_)), Some(size @ Param::Text(_))) => Some(Some((second, size.into()))),
            _ => self.either(SIZE_NAMES),
        }
    }

    /// The parameter under either name; `None` if both are given and differ.
    fn either<'n>(&mut self, names: [&'n str; 2]) -> Option<Option<(&'n str, InputValue<'a>)>> {
        let [first, second] = names;
        let input = self.input;
        match (input.params.get(first), input.params.get(second)) {
            (Some(one), Some(other)) if plain(one) != plain(other) => {
                self.faults.push(second, format!("contradicts {first}"));
                None
            }
            (Some(param), _) => Some(Some((first, param.into()))),
            (None, Some(param)) => Some(Some((second, param.into()))),
            (None, None) => Some(None),
        }
    }
}

/// A value as text, to compare one in the body with one in the query.
fn plain(param: &Param) -> String {
    match param {
        Param::Text(text) => text.clone(),
        Param::Json(value) => bound_text(value.text()),
    }
}

/// The fields of an object: the body, or an item of a list in it.
pub(crate) struct Fields<'a> {
    object: Object<'a>,
    /// List and index of an item.
    item: Option<(&'a str, usize)>,
    faults: &'a mut Faults,
    /// Set to collect the inputs instead of reading.
    inputs: Option<&'a mut Vec<InputField>>,
}

impl<'a> Fields<'a> {
    /// An optional field; `null` means absent.
    pub(crate) fn optional<T>(
        &mut self,
        name: &'static str,
        field_type: FieldType<impl Fn(InputValue<'_>) -> Result<T, Invalid>>,
    ) -> Option<T> {
        self.note(name, Presence::Optional, field_type.schema);
        self.given(name, field_type)
    }

    /// A required field.
    pub(crate) fn required<T>(
        &mut self,
        name: &'static str,
        field_type: FieldType<impl Fn(InputValue<'_>) -> Result<T, Invalid>>,
    ) -> Option<T> {
        self.note(name, Presence::Required, field_type.schema);
        match self.object.get(name).filter(|value| !value.is_null()) {
            Some(value) => {
                let parsed = (field_type.read)(InputValue::Json(value));
                self.take(name, parsed)
            }
            None => self.take(name, Err(Invalid::new("is required"))),
        }
    }

    /// Whether the field has a value, right or wrong.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.object.get(name).is_some_and(|value| !value.is_null())
    }

    /// A field of an update: absent keeps the value, `null` clears it.
    pub(crate) fn change<T>(
        &mut self,
        name: &'static str,
        field_type: FieldType<impl Fn(InputValue<'_>) -> Result<T, Invalid>>,
    ) -> Change<T> {
        self.note(name, Presence::Optional, field_type.schema);
        match self.object.get(name) {
            None => Change::Keep,
            Some(value) if value.is_null() => Change::Clear,
            Some(_) => self.given(name, field_type).map_or(Change::Keep, Change::Set),
        }
    }

    /// A field of an update that cannot be cleared.
    pub(crate) fn replacement<T>(
        &mut self,
        name: &'static str,
        field_type: FieldType<impl Fn(InputValue<'_>) -> Result<T, Invalid>>,
    ) -> Option<T> {
        self.note(name, Presence::NeverNull, field_type.schema);
        if self.object.get(name).is_some_and(JsonText::is_null) {
            return self.take(name, Err(Invalid::new("cannot be cleared")));
        }
        self.given(name, field_type)
    }

    /// A required list of objects with a length in `lengths`, each read by `item`.
    pub(crate) fn items<T>(
        &mut self,
        name: &'static str,
        lengths: RangeInclusive<usize>,
        mut item: impl FnMut(&mut Fields<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        if let Some(inputs) = self.inputs.as_deref_mut() {
            let (mut faults, mut asked) = (Faults::new(), Vec::new());
            let object = Object::default();
            item(&mut Fields { object, item: None, faults: &mut faults, inputs: Some(&mut asked) });
            inputs.push(InputField::list(name, lengths, asked));
            return None;
        }
        let list = self.list(name, &lengths)?;
        let mut values = Vec::with_capacity(list.len());
        for (index, value) in list.iter().enumerate() {
            match value.object() {
                Some(object) => values.extend(item(&mut Fields {
                    object,
                    item: Some((name, index)),
                    faults: &mut *self.faults,
                    inputs: None,
                })),
                None => self.faults.push(format!("{name}[{index}]"), "must be an object"),
            }
            if self.faults.as_slice().len() >= MAX_FAULTS && index + 1 < list.len() {
                let rest = format!(
                    "is not checked from item {} on: the items before have {MAX_FAULTS} faults",
                    index + 1
                );
                return self.take(name, Err(Invalid::new(rest)));
            }
        }
        (values.len() == list.len()).then_some(values)
    }

    /// A list of objects which another field may stand for. What is in an item, or that it is no object, is no fault.
    pub(crate) fn loose_items<T>(
        &mut self,
        name: &'static str,
        lengths: RangeInclusive<usize>,
        mut item: impl FnMut(Option<&mut Fields<'_>>) -> T,
    ) -> Option<Vec<T>> {
        let mut apart = Faults::new();
        if let Some(inputs) = self.inputs.as_deref_mut() {
            let mut asked = Vec::new();
            let object = Object::default();
            item(Some(&mut Fields { object, item: None, faults: &mut apart, inputs: Some(&mut asked) }));
            inputs.push(InputField::list(name, lengths, asked).optional());
            return None;
        }
        let list = self.list(name, &lengths)?;
        let mut values = Vec::with_capacity(list.len());
        for value in list {
            let object = value.object();
            let mut fields =
                object.map(|object| Fields { object, item: None, faults: &mut apart, inputs: None });
            values.push(item(fields.as_mut()));
        }
        Some(values)
    }

    /// Adds a fault.
    pub(crate) fn fault(&mut self, name: &str, detail: impl Into<String>) {
        self.take::<()>(name, Err(Invalid::new(detail)));
    }

    /// A required object that adds its own faults.
    pub(crate) fn object<T>(
        &mut self,
        name: &'static str,
        schema: fn(&mut Components) -> Json,
        read: impl FnOnce(&Object<'_>, &mut Faults) -> Option<T>,
    ) -> Option<T> {
        if let Some(inputs) = self.inputs.as_deref_mut() {
            inputs.push(InputField::object(name, schema));
        }
        let Some(value) = self.object.get(name).filter(|value| !value.is_null()) else {
            return self.take(name, Err(Invalid::new("is required")));
        };
        match value.object() {
            Some(object) => read(&object, self.faults),
            None => self.take(name, Err(Invalid::new("must be an object"))),
        }
    }

    /// An optional object whose faults are not those of the request.
    pub(crate) fn apart<T>(
        &mut self,
        name: &'static str,
        schema: fn(&mut Components) -> Json,
        read: impl FnOnce(&Object<'_>, &mut Faults) -> Option<T>,
    ) -> Option<Result<T, Faults>> {
        if let Some(inputs) = self.inputs.as_deref_mut() {
            inputs.push(InputField::object(name, schema).optional());
        }
        let value = self.object.get(name).filter(|value| !value.is_null())?;
        let Some(object) = value.object() else { return Some(Err(Faults::of(name, "must be an object"))) };
        let mut faults = Faults::new();
        let read = read(&object, &mut faults);
        Some(read.ok_or(faults))
    }

    /// The card of an item, under exactly one of its names; a name in `seen` is a fault of its second place.
    pub(crate) fn card_ref(&mut self, seen: &mut HashSet<CardRef>) -> Option<CardRef> {
        let id = self.optional(CARD_NAMES[0], field_types::id::<CardId>().about(ABOUT_CARD_NAMES));
        let number = self.optional(CARD_NAMES[1], field_types::text(CardNumber::parse));
        let employee = self.optional(CARD_NAMES[2], field_types::id::<EmployeeId>().about(ABOUT_MAIN_CARD));
        let custom_id =
            self.optional(CARD_NAMES[3], field_types::text(CustomId::parse).about(ABOUT_MAIN_CARD));
        let mut given = CARD_NAMES.into_iter().filter(|name| self.has(name));
        let Some(name) = given.next() else {
            return self.take(CARD_NAMES[0], Err(Invalid::new("is required, or another name of the card")));
        };
        if let Some(other) = given.next() {
            return self
                .take(other, Err(Invalid::new(format!("is given beside {name}: name the card once"))));
        }
        let card = id.map(CardRef::Id).or(number.map(CardRef::Number));
        let card = card.or(employee.map(CardRef::Employee)).or(custom_id.map(CardRef::CustomId))?;
        if !seen.insert(card.clone()) {
            return self.take(name, Err(Invalid::new(TWICE)));
        }
        Some(card)
    }

    /// The values of a required list.
    fn list(&mut self, name: &str, lengths: &RangeInclusive<usize>) -> Option<Vec<JsonText<'a>>> {
        let Some(list) = self.object.get(name).filter(|list| !list.is_null()) else {
            return self.take(name, Err(Invalid::new("is required")));
        };
        let list = list.list(*lengths.end()).filter(|list| lengths.contains(&list.len()));
        let detail = || format!("must be a list of {} to {} items", lengths.start(), lengths.end());
        self.take(name, list.ok_or_else(|| Invalid::new(detail())))
    }

    /// The value, unless absent or `null`.
    fn given<T>(
        &mut self,
        name: &'static str,
        field_type: FieldType<impl Fn(InputValue<'_>) -> Result<T, Invalid>>,
    ) -> Option<T> {
        let value = self.object.get(name).filter(|value| !value.is_null())?;
        let parsed = (field_type.read)(InputValue::Json(value));
        self.take(name, parsed)
    }

    fn note(&mut self, name: &'static str, presence: Presence, schema: FieldSchema) {
        if let Some(inputs) = self.inputs.as_deref_mut() {
            inputs.push(InputField::value(name, Location::Body, presence, schema));
        }
    }

    fn take<T>(&mut self, name: &str, parsed: Result<T, Invalid>) -> Option<T> {
        match self.item {
            None => self.faults.take(name, parsed),
            // Formatted only for a fault: a list may have 10,000 items.
            Some((list, index)) if parsed.is_err() => {
                self.faults.take(&format!("{list}[{index}].{name}"), parsed)
            }
            Some(_) => parsed.ok(),
        }
    }
}

#[cfg(test)]
mod tests;
