//! JSON schemas of the types that requests and responses consist of.

mod types;

use std::marker::PhantomData;

use kopeck_api::{Field, HasShape, PageMeta, Shape};
use serde::Serialize;
use time::{Date, OffsetDateTime};

use self::types::uuid;
use crate::json::{Json, object};
use crate::patterns;

/// A type with a JSON schema.
pub(crate) trait HasSchema {
    /// Its schema. Those with a name are put among `components` and referred to.
    fn schema(components: &mut Components) -> Json;
}

/// A response body: a type of the API crate, or one that [`api_type!`] declares.
pub(crate) trait BodySchema {
    /// Its schema.
    fn body_schema(components: &mut Components) -> Json;
}

impl<T: HasShape> BodySchema for T {
    fn body_schema(components: &mut Components) -> Json {
        of_shape(&T::SHAPE, components)
    }
}

/// A type that is a JSON object.
pub(crate) trait Properties {
    /// Its fields, in their order.
    fn properties(components: &mut Components) -> Vec<Property>;
}

/// A list that is written behind the other fields of its object, row by row (see [`crate::list_stream`]): the object is
/// serialised without it, and described with it.
#[derive(Serialize)]
pub(crate) struct Following<T>(PhantomData<T>);

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

/// Declares a response body: the serialized type, and its named schema. Its doc comments appear in the OpenAPI
/// document.
macro_rules! api_type {
    (
        $(#[doc = $about:literal])*
        $(#[derive($($derived:ident),*)])?
        $vis:vis struct $name:ident $(<$life:lifetime>)? as $title:literal {
            $(
                $(#[doc = $what:literal])*
                $(#[serde($($serde:tt)*)])?
                $field:ident: $type:ty,
            )*
        }
    ) => {
        $(#[doc = $about])*
        $(#[derive($($derived),*)])?
        #[derive(serde::Serialize)]
        #[serde(rename_all = "camelCase")]
        $vis struct $name $(<$life>)? {
            $($(#[doc = $what])* $(#[serde($($serde)*)])? $field: $type,)*
        }

        impl $(<$life>)? $crate::schema::Properties for $name $(<$life>)? {
            fn properties(
                components: &mut $crate::schema::Components,
            ) -> Vec<$crate::schema::Property> {
                let mut all = Vec::new();
                $($crate::schema::property!(
                    all, components, $field: $type, [$($what),*], ($($($serde)*)?)
                );)*
                all
            }
        }

        impl $(<$life>)? $crate::schema::HasSchema for $name $(<$life>)? {
            fn schema(components: &mut $crate::schema::Components) -> $crate::json::Json {
                use $crate::schema::{Properties as _, object_of, prose};
                components.named($title, |components| {
                    object_of(Self::properties(components)).with("description", prose(&[$($about),*]))
                })
            }
        }

        impl $(<$life>)? $crate::schema::BodySchema for $name $(<$life>)? {
            fn body_schema(components: &mut $crate::schema::Components) -> $crate::json::Json {
                <Self as $crate::schema::HasSchema>::schema(components)
            }
        }
    };
}
pub(crate) use api_type;

/// Adds a field to `$all`, or those of a flattened one.
macro_rules! property {
    ($all:ident, $components:ident, $field:ident: $type:ty, [$($what:literal),*], (flatten)) => {
        $all.extend(<$type as $crate::schema::Properties>::properties($components));
    };
    ($all:ident, $components:ident, $field:ident: $type:ty, [$($what:literal),*], (rename = $name:literal)) => {
        $crate::schema::property!(@ $all, $components, $name.to_owned(), $type, [$($what),*]);
    };
    ($all:ident, $components:ident, $field:ident: $type:ty, [$($what:literal),*], (with = $form:literal)) => {
        $crate::schema::property!($all, $components, $field: $type, [$($what),*], ());
    };
    ($all:ident, $components:ident, $field:ident: $type:ty, [$($what:literal),*], (skip_serializing_if = "Option::is_none")) => {
        $all.push($crate::schema::Property {
            name: $crate::schema::camel_case(stringify!($field)),
            required: false,
            schema: <$type as $crate::schema::MayBeAbsent>::schema($components)
                .with("description", $crate::schema::prose(&[$($what),*])),
        });
    };
    ($all:ident, $components:ident, $field:ident: $type:ty, [$($what:literal),*], (skip_serializing_if = $later:literal)) => {
        $crate::schema::property!($all, $components, $field: $type, [$($what),*], ());
    };
    ($all:ident, $components:ident, $field:ident: $type:ty, [$($what:literal),*], ()) => {
        let name = $crate::schema::camel_case(stringify!($field));
        $crate::schema::property!(@ $all, $components, name, $type, [$($what),*]);
    };
    (@ $all:ident, $components:ident, $name:expr, $type:ty, [$($what:literal),*]) => {
        $all.push($crate::schema::Property {
            name: $name,
            required: true,
            schema: <$type as $crate::schema::HasSchema>::schema($components)
                .with("description", $crate::schema::prose(&[$($what),*])),
        });
    };
}
pub(crate) use property;

impl<T: HasSchema> HasSchema for Option<T> {
    fn schema(components: &mut Components) -> Json {
        or_null(T::schema(components))
    }
}

/// A field that is absent where it has no value, and never `null`.
pub(crate) trait MayBeAbsent {
    /// The schema of its value.
    fn schema(components: &mut Components) -> Json;
}

impl<T: HasSchema> MayBeAbsent for Option<T> {
    fn schema(components: &mut Components) -> Json {
        T::schema(components)
    }
}

/// A flattened object that may be missing.
impl<T: Properties> Properties for Option<T> {
    fn properties(components: &mut Components) -> Vec<Property> {
        let optional = |field| Property { required: false, ..field };
        T::properties(components).into_iter().map(optional).collect()
    }
}

impl<T: HasSchema> HasSchema for Vec<T> {
    fn schema(components: &mut Components) -> Json {
        object! {"type": "array", "items": T::schema(components)}
    }
}

impl<T> Default for Following<T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T> Following<T> {
    /// Always true: leaves the list out of its object.
    #[expect(clippy::unused_self, reason = "serde passes the value")]
    pub(crate) const fn comes_later(&self) -> bool {
        true
    }
}

impl<T: HasSchema> HasSchema for Following<T> {
    fn schema(components: &mut Components) -> Json {
        Vec::<T>::schema(components)
    }
}

/// The schema of a shape of the API crate.
pub(crate) fn of_shape(shape: &Shape, components: &mut Components) -> Json {
    match *shape {
        Shape::Text => String::schema(components),
        Shape::Boolean => bool::schema(components),
        Shape::Integer => i64::schema(components),
        Shape::Count => u64::schema(components),
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
