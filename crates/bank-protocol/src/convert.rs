//! Conversions both ways between a wire type and its counterpart.

/// Between structs with the same fields.
macro_rules! same_fields {
    ($dto:ident, $value:ident; $($field:ident),+) => {
        impl From<$value> for $dto {
            fn from(value: $value) -> Self {
                let $value { $($field),+ } = value;
                Self { $($field),+ }
            }
        }

        impl From<$dto> for $value {
            fn from(dto: $dto) -> Self {
                let $dto { $($field),+ } = dto;
                Self { $($field),+ }
            }
        }
    };
}

/// Between enums, value by value.
macro_rules! same_values {
    ($dto:ident, $other:ident; $($name:ident = ($($value:tt)+),)+) => {
        impl From<$other> for $dto {
            fn from(value: $other) -> Self {
                match value {
                    $($($value)+ => Self::$name,)+
                }
            }
        }

        impl From<$dto> for $other {
            fn from(dto: $dto) -> Self {
                match dto {
                    $($dto::$name => $($value)+,)+
                }
            }
        }
    };
}

pub(crate) use {same_fields, same_values};
