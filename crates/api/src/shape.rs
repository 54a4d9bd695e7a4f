//! The forms of values in bodies, as data: the service makes its OpenAPI document from them.

use std::fmt;

use serde::{Deserialize, Serialize};
use time::{Date, OffsetDateTime, PrimitiveDateTime, Time, Weekday};
use uuid::Uuid;

use crate::page::{Data, Page};

/// The form of a value on the wire.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// A string.
    Text,
    /// `true` or `false`.
    Boolean,
    /// An integer of 64 bits.
    Integer,
    /// An integer that is not negative.
    Count,
    /// A partner's own name for a request.
    Reference,
    /// A telephone number: a string or an integer.
    Phone,
    /// An identifier.
    Uuid,
    /// `DD.MM.YYYY`.
    Date,
    /// `DD.MM.YYYY HH:MM`.
    Timestamp,
    /// A moment by RFC 3339: `2026-01-31T09:30:00Z`.
    Moment,
    /// One of these strings.
    Enum {
        /// The name of the schema.
        name: &'static str,
        /// The meaning of the values.
        about: &'static str,
        /// The values.
        values: &'static [&'static str],
    },
    /// An object with these fields.
    Object {
        /// The name of the schema.
        name: &'static str,
        /// The description, in lines.
        about: &'static [&'static str],
        /// Its fields, in their order.
        fields: &'static [Field],
    },
    /// The fields of this object, in place of the value.
    Flattened(&'static Shape),
    /// A list.
    List(&'static Shape),
    /// A page of a list, with records of this form.
    Page(&'static Shape),
    /// An object with this under `data` alone.
    Data(&'static Shape),
    /// One of these.
    AnyOf(&'static [Shape]),
    /// `null`, or a value.
    OrNull(&'static Shape),
    /// A value, or the field itself is absent.
    OrAbsent(&'static Shape),
}

/// A field of an object, which is always there unless its shape is [`Shape::OrAbsent`].
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its name in Rust.
    pub field: &'static str,
    /// Its name on the wire, unless it is that in Rust in camel case.
    pub wire: Option<&'static str>,
    /// The description, in lines.
    pub about: &'static [&'static str],
    /// Its value.
    pub shape: Shape,
}

/// A type with a form on the wire.
pub trait HasShape {
    /// The form.
    const SHAPE: Shape;
}

macro_rules! shapes {
    ($($type:ty => $shape:ident),*) => {
        $(impl HasShape for $type {
            const SHAPE: Shape = Shape::$shape;
        })*
    };
}

shapes! {
    String => Text,
    bool => Boolean,
    i64 => Integer,
    u64 => Count,
    Uuid => Uuid,
    Date => Date,
    Time => Text,
    PrimitiveDateTime => Timestamp,
    OffsetDateTime => Moment,
    Weekday => Count
}

impl<T: HasShape> HasShape for Option<T> {
    const SHAPE: Shape = Shape::OrNull(&T::SHAPE);
}

impl<T: HasShape> HasShape for Vec<T> {
    const SHAPE: Shape = Shape::List(&T::SHAPE);
}

impl<T: HasShape> HasShape for Page<T> {
    const SHAPE: Shape = Shape::Page(&T::SHAPE);
}

impl<T: HasShape> HasShape for Data<T> {
    const SHAPE: Shape = Shape::Data(&T::SHAPE);
}

/// A `T`, or no field: the shape of an optional one that is not serialised as `null`.
pub(crate) struct OrAbsent<T>(std::marker::PhantomData<T>);

impl<T: HasShape> HasShape for OrAbsent<T> {
    const SHAPE: Shape = Shape::OrAbsent(&T::SHAPE);
}

/// The fields of `T`, in place of a field: the shape of a flattened one.
pub(crate) struct Flat<T>(std::marker::PhantomData<T>);

impl<T: HasShape> HasShape for Flat<T> {
    const SHAPE: Shape = Shape::Flattened(&T::SHAPE);
}

/// A partner's own name for a request, in a field that is absent if there is none.
pub(crate) struct Reference;

impl HasShape for Reference {
    const SHAPE: Shape = Shape::Reference;
}

/// A text that opens something. Its `Debug` output does not show it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretText(pub String);

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText(..)")
    }
}

impl HasShape for SecretText {
    const SHAPE: Shape = Shape::Text;
}

/// Declares a response body, whose doc comments describe it in the OpenAPI document too. A field may have another shape
/// (`as`) and another name on the wire (`=`).
macro_rules! body {
    (
        $(#[doc = $about:literal])*
        $(#[derive($($derived:ident),*)])?
        pub struct $name:ident as $title:literal {
            $(
                $(#[doc = $what:literal])*
                $(#[serde($($serde:tt)*)])?
                $field:ident: $type:ty $(as $shape:ty)? $(= $wire:literal)?,
            )*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize $(, $($derived),*)?)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $(
                $(#[doc = $what])*
                $(#[serde(rename = $wire)])?
                $(#[serde($($serde)*)])?
                pub $field: $type,
            )*
        }

        impl $crate::HasShape for $name {
            const SHAPE: $crate::Shape = $crate::Shape::Object {
                name: $title,
                about: &[$($about),*],
                fields: &[$(
                    $crate::Field {
                        field: stringify!($field),
                        wire: $crate::shape::body!(@wire $($wire)?),
                        about: &[$($what),*],
                        shape: <$crate::shape::body!(@shape $type $(, $shape)?) as $crate::HasShape>::SHAPE,
                    }
                ),*],
            };
        }
    };
    (@wire) => { None };
    (@wire $wire:literal) => { Some($wire) };
    (@shape $type:ty) => { $type };
    (@shape $type:ty, $shape:ty) => { $shape };
}

pub(crate) use body;
