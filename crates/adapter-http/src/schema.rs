//! JSON schemas of the types that requests and responses consist of.

mod types;

use kopeck_api::{Field, HasShape as _, PageMeta, Shape};
use kopeck_domain::request::RequestReference;
use time::{Date, OffsetDateTime};

use self::types::uuid;
use crate::json::{Json, object};
use crate::patterns;

/// A type with a JSON schema.
pub(crate) trait HasSchema {
    /// Its schema. Those with a name are put among `components` and referred to.
    fn schema(components: &mut Components) -> Json;
}

/// A field of an object.
pub(crate) struct Property {
    pub(crate) name: String,
    /// Whether it is always there.
    pub(crate) required: bool,
    /// The schema of its value.
    pub(crate) schema: Json,
}

/// The schemas with a name, in the order in which they were first met.
#[derive(Default)]
pub(crate) struct Components(Vec<(String, Json)>);

impl Components {
    /// A reference to the schema with this name, which `build` makes where it is met first.
    pub(crate) fn named(&mut self, name: &str, build: impl FnOnce(&mut Self) -> Json) -> Json {
        if !self.0.iter().any(|(other, _)| other == name) {
            // Takes its place before those that it refers to.
            let place = self.0.len();
            self.0.push((name.to_owned(), Json::Null));
            let schema = build(self);
            if let Some((_, reserved)) = self.0.get_mut(place) {
                *reserved = schema;
            }
        }
        reference("schemas", name)
    }

    /// All of them, by name.
    pub(crate) fn into_json(mut self) -> Json {
        self.0.sort_by(|(one, _), (other, _)| one.cmp(other));
        Json::Object(self.0)
    }
}

/// A reference to a component.
pub(crate) fn reference(kind: &str, name: &str) -> Json {
    object! {"$ref": format!("#/components/{kind}/{name}")}
}

/// An object with these fields. What is always there is required.
pub(crate) fn object_of(properties: Vec<Property>) -> Json {
    let required: Vec<&str> =
        properties.iter().filter(|field| field.required).map(|field| field.name.as_str()).collect();
    let schema = object! {"type": "object"};
    let schema = if required.is_empty() { schema } else { schema.with("required", Json::list(required)) };
    schema.with(
        "properties",
        Json::Object(properties.into_iter().map(|field| (field.name, field.schema)).collect()),
    )
}

pub(crate) fn or_null(schema: Json) -> Json {
    match (schema.get("type"), schema.get("enum")) {
        (Some(Json::Text(kind)), None) => {
            let kinds = [kind.as_str(), "null"];
            schema.clone().with("type", kinds)
        }
        (Some(Json::List(kinds)), None) => {
            let kinds = kinds.iter().cloned().chain([Json::from("null")]);
            schema.clone().with("type", Json::list(kinds))
        }
        _ => object! {"anyOf": vec![schema, object! {"type": "null"}]},
    }
}

/// A string enum.
pub(crate) fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Json {
    object! {"type": "string", "enum": Json::list(words)}
}

/// A string with a pattern, and `form`, its description for people.
pub(crate) fn pattern(pattern: &str, form: &str) -> Json {
    object! {"type": "string", "pattern": pattern, "x-form": form}
}

/// A text of 1 to `most` characters, not all blank.
pub(crate) fn free_text(most: usize) -> Json {
    let rule =
        "No control, format (bidirectional, zero-width), invisible or unassigned characters. Stored in NFC.";
    chars(1, most)
        .with("pattern", patterns::free_text())
        .with("x-form", "not blank")
        .with("description", rule)
}

/// A text of `least` to `most` characters.
pub(crate) fn chars(least: usize, most: usize) -> Json {
    object! {"type": "string", "minLength": integer(least), "maxLength": integer(most)}
}

/// The component that a schema refers to; of a list, that of its items.
fn component_name(schema: &Json) -> &str {
    match (schema.get("$ref"), schema.get("items")) {
        (Some(Json::Text(to)), _) => to.rsplit('/').next().unwrap_or_default(),
        (_, Some(items)) => component_name(items),
        _ => "",
    }
}

pub(crate) fn integer(number: impl TryInto<i64>) -> Json {
    Json::Integer(number.try_into().unwrap_or(i64::MAX))
}

/// The name of a field of Rust as the interface spells it.
pub(crate) fn camel_case(name: &str) -> String {
    let mut parts = name.split('_');
    let mut camel = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (first, rest) = part.split_at(part.len().min(1));
        camel.push_str(&first.to_uppercase());
        camel.push_str(rest);
    }
    camel
}

/// The lines of a doc comment as one text.
pub(crate) fn prose(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// The schema of a shape of the API crate.
pub(crate) fn of_shape(shape: &Shape, components: &mut Components) -> Json {
    match *shape {
        Shape::Text => String::schema(components),
        Shape::Boolean => bool::schema(components),
        Shape::Integer => i64::schema(components),
        Shape::Count => u64::schema(components),
        Shape::Reference => RequestReference::schema(components),
        Shape::Phone => object! {"type": ["string", "integer"]},
        Shape::Uuid => uuid(),
        Shape::Date => Date::schema(components),
        Shape::Timestamp => OffsetDateTime::schema(components),
        Shape::Moment => object! {"type": "string", "format": "date-time"},
        Shape::Enum { name, about, values } => {
            components.named(name, |_| words(values.iter().copied()).with("description", about))
        }
        Shape::Object { name, about, fields } => components.named(name, |components| {
            let mut properties = Vec::new();
            add_fields(&mut properties, fields, components);
            object_of(properties).with("description", prose(about))
        }),
        Shape::Flattened(inner) | Shape::OrAbsent(inner) => of_shape(inner, components),
        Shape::List(item) => object! {"type": "array", "items": of_shape(item, components)},
        Shape::Page(item) => {
            let data = of_shape(&Shape::List(item), components);
            let name = format!("{}Page", component_name(&data));
            components.named(&name, |components| {
                object_of(vec![
                    required("data", data),
                    required("meta", of_shape(&PageMeta::SHAPE, components)),
                ])
            })
        }
        Shape::Data(inner) => {
            let data = of_shape(inner, components);
            let name = format!("{}Data", component_name(&data));
            components.named(&name, |_| object_of(vec![required("data", data)]))
        }
        Shape::AnyOf(shapes) => {
            let mut schemas: Vec<Json> = Vec::new();
            for schema in shapes.iter().map(|shape| of_shape(shape, components)) {
                if !schemas.contains(&schema) {
                    schemas.push(schema);
                }
            }
            object! {"anyOf": schemas}
        }
        Shape::OrNull(inner) => or_null(of_shape(inner, components)),
    }
}

/// A field that is always there.
fn required(name: &str, schema: Json) -> Property {
    Property { name: name.to_owned(), required: true, schema }
}

/// Adds these fields, and those of flattened ones in their place.
fn add_fields(properties: &mut Vec<Property>, fields: &[Field], components: &mut Components) {
    for Field { field, wire, about, shape } in fields {
        if let Shape::Flattened(Shape::Object { fields, .. }) = shape {
            add_fields(properties, fields, components);
            continue;
        }
        properties.push(Property {
            name: wire.map_or_else(|| camel_case(field), str::to_owned),
            required: !matches!(shape, Shape::OrAbsent(_)),
            schema: of_shape(shape, components).with("description", prose(about)),
        });
    }
}

#[cfg(test)]
mod tests;
