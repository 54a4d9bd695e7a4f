//! The inputs of an operation, collected from the code that reads them: the readers of the handlers run over an empty
//! request and record each field. So the OpenAPI document and the service cannot differ.

use std::ops::RangeInclusive;

use super::RequestInput;
use super::field_types::{FieldEncoding, FieldSchema};
use super::reader::Reader;
use crate::json::{Json, object};
use crate::schema::{Components, Property, integer, object_of, or_null};

/// A field, parameter or path identifier.
pub(crate) struct InputField {
    pub(crate) name: &'static str,
    /// An alias.
    pub(crate) also: Option<&'static str>,
    pub(crate) location: Location,
    /// Whether it may be absent.
    pub(crate) presence: Presence,
    /// The value if it is absent.
    pub(crate) default: Option<i64>,
    what: InputType,
}

/// The location of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Location {
    /// In the path.
    Path,
    /// A parameter of a read: in the query or in the body.
    Parameter,
    /// In the body.
    Body,
}

/// Whether an input may be absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Required.
    Required,
    /// Absent or `null`.
    Optional,
    /// Absent, but not `null`.
    NeverNull,
}

enum InputType {
    Value(FieldSchema),
    List(RangeInclusive<usize>, Vec<InputField>),
    Object(fn(&mut Components) -> Json),
}

impl InputField {
    pub(super) fn value(
        name: &'static str,
        location: Location,
        presence: Presence,
        schema: FieldSchema,
    ) -> Self {
        Self { name, also: None, location, presence, default: None, what: InputType::Value(schema) }
    }

    pub(super) fn list(name: &'static str, lengths: RangeInclusive<usize>, item: Vec<Self>) -> Self {
        let (location, presence) = (Location::Body, Presence::Required);
        Self { name, also: None, location, presence, default: None, what: InputType::List(lengths, item) }
    }

    pub(super) fn object(name: &'static str, schema: fn(&mut Components) -> Json) -> Self {
        let (location, presence) = (Location::Body, Presence::Required);
        Self { name, also: None, location, presence, default: None, what: InputType::Object(schema) }
    }

    /// The same, which may be absent.
    pub(super) fn optional(self) -> Self {
        Self { presence: Presence::Optional, ..self }
    }

    /// The content of a sealed value.
    pub(crate) fn encoding(&self) -> FieldEncoding {
        match &self.what {
            InputType::Value(schema) => schema.encoding,
            InputType::List(..) | InputType::Object(_) => FieldEncoding::Json,
        }
    }

    /// Whether it may be plaintext beside sealed fields.
    pub(crate) fn may_be_clear(&self) -> bool {
        matches!(&self.what, InputType::Value(schema) if schema.may_be_clear)
    }

    /// The fields of the items of a list.
    pub(crate) fn items(&self) -> &[Self] {
        if let InputType::List(_, items) = &self.what { items } else { &[] }
    }

    pub(super) fn or_as(self, also: &'static str) -> Self {
        Self { also: Some(also), ..self }
    }

    pub(super) fn by_default(self, default: u32) -> Self {
        Self { default: Some(default.into()), ..self }
    }

    /// The schema of the value itself.
    pub(crate) fn schema(&self, components: &mut Components) -> Json {
        let schema = match &self.what {
            InputType::Value(schema) => schema.schema(components),
            InputType::List(lengths, item) => object! {
                "type": "array",
                "minItems": integer(*lengths.start()),
                "maxItems": integer(*lengths.end()),
                "items": object_schema(item, components),
            },
            InputType::Object(schema) => schema(components),
        };
        schema.with_some("default", self.default)
    }

    /// Its description.
    pub(crate) fn about(&self) -> String {
        let about = match &self.what {
            InputType::Value(schema) => schema.about,
            InputType::List(..) | InputType::Object(_) => "",
        };
        match self.also {
            Some(also) => format!("{about} `{also}` is accepted too.").trim_start().to_owned(),
            None => about.to_owned(),
        }
    }

    fn property(&self, components: &mut Components) -> Property {
        let schema = self.schema(components);
        let schema = if self.presence == Presence::Optional { or_null(schema) } else { schema };
        let about = self.about();
        let about = (!about.is_empty()).then_some(about);
        Property {
            name: self.name.to_owned(),
            required: self.presence == Presence::Required,
            schema: schema.with_some("description", about),
        }
    }
}

impl FieldSchema {
    fn schema(&self, components: &mut Components) -> Json {
        let schema = (self.schema)(components);
        let Some((least, most)) = self.range else { return schema };
        // The greatest `i64` is no bound.
        schema.with("minimum", least).with_some("maximum", (most < i64::MAX).then_some(most))
    }
}

/// The inputs of `read`, in its order.
pub(crate) fn inputs(read: fn(&mut Reader<'_>)) -> Vec<InputField> {
    let nothing = RequestInput::default();
    let mut reader = Reader::collecting_schema(&nothing);
    read(&mut reader);
    reader.into_inputs()
}

/// The schema of an object with these fields.
pub(crate) fn object_schema<'a>(
    inputs: impl IntoIterator<Item = &'a InputField>,
    components: &mut Components,
) -> Json {
    object_of(inputs.into_iter().map(|input| input.property(components)).collect())
}
