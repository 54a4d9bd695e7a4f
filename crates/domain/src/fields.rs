//! The fields of an aggregate: a plain record, and methods that read them.

/// Declares the fields of an aggregate `struct A(Fields)` once: the record with all of them, the ways between the two, and a
/// method of the aggregate for each, which returns a copy, or a borrow of the type behind `as`.
macro_rules! fields {
    (
        $(#[$attribute:meta])*
        $fields:ident of $aggregate:ident $(<$kind:ident: $bound:ident>)? {
            $(
                $(#[doc = $doc:literal])*
                $(#[cfg_attr($($form:tt)*)])?
                $field:ident: $type:ty $(as $read:ty)?,
            )*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $fields $(<$kind: $bound>)? {
            $($(#[doc = $doc])* $(#[cfg_attr($($form)*)])? pub $field: $type,)*
        }

        impl $(<$kind: $bound>)? $aggregate $(<$kind>)? {
            /// The aggregate with these fields, unchecked: what a store kept. Needs the feature `stored`.
            #[cfg(any(test, feature = "stored"))]
            #[must_use]
            pub const fn from_stored(fields: $fields $(<$kind>)?) -> Self {
                Self(fields)
            }

            /// Its fields.
            #[must_use]
            pub fn into_fields(self) -> $fields $(<$kind>)? {
                self.0
            }

            $($crate::fields::reader! { $(#[doc = $doc])* $field: $type $(as $read)? })*
        }
    };
}

macro_rules! reader {
    ($(#[doc = $doc:literal])* $field:ident: $type:ty) => {
        $(#[doc = $doc])*
        #[must_use]
        pub const fn $field(&self) -> $type {
            self.0.$field
        }
    };
    ($(#[doc = $doc:literal])* $field:ident: $type:ty as $read:ty) => {
        $(#[doc = $doc])*
        #[must_use]
        pub fn $field(&self) -> $read {
            (&self.0.$field).into()
        }
    };
}

pub(crate) use {fields, reader};
