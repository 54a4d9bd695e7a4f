//! Which argument of a command a field of its request came from, for people, and how numbers are read.

use std::ffi::OsString;
use std::fmt::Display;
use std::str::FromStr;

use clap::Command;

/// Fields that the interface calls otherwise than the command line.
const OTHER_NAMES: [(&str, &str); 7] = [
    ("idCategory", "category"),
    ("idEmployee", "employee"),
    ("idCard", "card"),
    ("statusCard", "status"),
    ("customIdCard", "number"),
    ("merchantId", "merchant"),
    ("nameCategory", "name"),
];

/// The argument as it is typed: `--error-rate`, or `<STATUS>` of one without a name. `call` is the command, `typed` the
/// command line of this process. `None` if the command has no such argument.
pub(crate) fn argument_of(
    field: &str,
    call: Command,
    typed: impl Iterator<Item = OsString>,
) -> Option<String> {
    let mut command = call;
    for word in typed.skip_while(|word| word != "call").skip(1) {
        let below = word.to_str().and_then(|word| command.find_subcommand(word)).cloned();
        command = below.unwrap_or(command);
    }
    let field = field.split(['.', '[']).next().unwrap_or(field);
    let other = OTHER_NAMES.iter().find(|(name, _)| *name == field).map(|(_, other)| (*other).to_owned());
    let names = [Some(snake_case(field)), other].into_iter().flatten();
    let mut found =
        names.filter_map(|name| command.get_arguments().find(|argument| *argument.get_id() == *name));
    let argument = found.next()?;
    Some(argument.get_long().map_or_else(
        || format!("<{}>", argument.get_id().as_str().to_uppercase()),
        |long| format!("--{long}"),
    ))
}

/// `errorRate` as `error_rate`, which is how arguments are identified.
fn snake_case(field: &str) -> String {
    let mut snake = String::with_capacity(field.len() + 4);
    for c in field.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// Reads a whole number of at least `least` and, if there is one, at most `most`.
pub(crate) fn whole<T>(least: T, most: Option<T>) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display + Copy,
{
    move |text| {
        let within = |number: &T| *number >= least && most.is_none_or(|most| *number <= most);
        text.parse().ok().filter(within).ok_or_else(|| match most {
            Some(most) => format!("must be a number from {least} to {most}"),
            None => format!("must be a number from {least}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Args as _;

    use super::*;
    use crate::commands::args::CallArgs;

    #[test]
    fn a_fault_is_named_by_the_argument_that_was_typed() {
        for (typed, field, name) in [
            ("kopeck call sandbox bank --error-rate 2", "errorRate", Some("--error-rate")),
            ("kopeck call --json cards switch T-1 9201709941 FROZEN", "statusCard", Some("<STATUS>")),
            ("kopeck call cards link T-1 9201709941 --status FROZEN", "statusCard", Some("--status")),
            ("kopeck call cards link T-1 9201709941", "customIdCard", Some("<NUMBER>")),
            ("kopeck call events list --types nope", "types", Some("--types")),
            ("kopeck call --profile acme employees add T-1 --phone 1", "phone", Some("--phone")),
            ("kopeck call employees add T/1", "customId", Some("<CUSTOM_ID>")),
            ("kopeck call categories create x", "nameCategory", Some("<NAME>")),
            ("kopeck call sandbox purchase 9201709941 1.00 --merchant x", "merchantId", Some("--merchant")),
            ("kopeck call statement 2999-01", "month", Some("<MONTH>")),
            ("kopeck call balance", "month", None),
            ("it -- something", "errorRate", None),
        ] {
            let typed = typed.split(' ').map(OsString::from);
            let call = CallArgs::augment_args(Command::new("call"));
            assert_eq!(argument_of(field, call, typed).as_deref(), name, "{field}");
        }
    }

    #[test]
    fn numbers_say_what_they_have_to_be() {
        assert_eq!(whole(1_u64, None)("7"), Ok(7));
        for bad in ["abc", "", "0", "-1", "1.5", "99999999999999999999"] {
            assert_eq!(whole(1_u64, None)(bad).unwrap_err(), "must be a number from 1", "{bad}");
        }
        assert_eq!(whole(1_u64, Some(500))("501").unwrap_err(), "must be a number from 1 to 500");
    }
}
