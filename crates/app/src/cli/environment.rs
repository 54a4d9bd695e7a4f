//! Settings from the environment: an empty variable counts as absent, and an unknown one is probably misspelt.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

use clap::{CommandFactory as _, FromArgMatches as _};

use super::Cli;

/// Variables that the binary reads without an argument for them, and those of the book and the clients' examples.
const BESIDE_ARGUMENTS: [&str; 7] = [
    "KOPECK_API_KEY",
    "KOPECK_LOGIN",
    "KOPECK_PASSWORD",
    "KOPECK_PROFILES",
    "KOPECK_SEALING_KEY",
    "KOPECK_TOKEN",
    "KOPECK_URL",
];

/// Names that are farther apart than this many letters are not taken for one another.
const FARTHEST: usize = 3;

/// The command line of this process. Ends the process if it is not understood.
#[must_use]
pub fn parse() -> Cli {
    let mut matches = without_empty(command(), &|name| std::env::var_os(name)).get_matches();
    Cli::from_arg_matches_mut(&mut matches).unwrap_or_else(|error| error.format(&mut command()).exit())
}

/// The commands, as they are shown: commands without a log hide how it is written.
#[must_use]
pub fn command() -> clap::Command {
    let command = Cli::command();
    let Some(log_format) = command.get_arguments().find(|argument| argument.get_id() == "log_format") else {
        return command;
    };
    let hidden = log_format.clone().hide(true);
    command.mut_subcommands(|below| match below.get_name() {
        "call" | "completion" => below.arg(hidden.clone()),
        _ => below,
    })
}

/// Takes empty variables away from the arguments: compose files and units set what they leave open to an empty text.
fn without_empty(command: clap::Command, get: &impl Fn(&OsStr) -> Option<OsString>) -> clap::Command {
    let is_empty = |name: &OsStr| get(name).is_some_and(|value| value.is_empty());
    command
        .mut_args(
            |argument| if argument.get_env().is_some_and(is_empty) { argument.env(None) } else { argument },
        )
        .mut_subcommands(|below| without_empty(below, get))
}

/// A variable with the name of an unknown setting.
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownVariable {
    /// Its name.
    pub name: String,
    /// The setting that was probably meant.
    pub meant: Option<String>,
}

/// Those of `names` that begin with `KOPECK_` and that nothing here reads.
pub fn unknown_variables(names: impl Iterator<Item = OsString>) -> Vec<UnknownVariable> {
    let mut known = BTreeSet::from(BESIDE_ARGUMENTS.map(str::to_owned));
    gather(&Cli::command(), &mut known);
    let names = names.filter_map(|name| name.into_string().ok());
    let unknown =
        names.filter(|name| name.starts_with("KOPECK_") && !known.contains(name) && !is_of_kubernetes(name));
    let meant = |name: String| {
        let near = known.iter().map(|known| (strsim::damerau_levenshtein(&name, known), known));
        let nearest = near.min().filter(|(distance, _)| *distance <= FARTHEST);
        UnknownVariable { meant: nearest.map(|(_, known)| known.clone()), name }
    };
    unknown.map(meant).collect()
}

/// Kubernetes gives each container the addresses of all services, such as `KOPECK_PORT_8080_TCP` of one called `kopeck`.
fn is_of_kubernetes(name: &str) -> bool {
    let parts = ["_SERVICE_HOST", "_SERVICE_PORT", "_PORT_"];
    name.ends_with("_PORT") || parts.iter().any(|part| name.contains(part))
}

/// The variables of a command and of all below it.
fn gather(command: &clap::Command, into: &mut BTreeSet<String>) {
    let own = command.get_arguments().filter_map(|argument| argument.get_env()?.to_str());
    into.extend(own.map(str::to_owned));
    command.get_subcommands().for_each(|below| gather(below, into));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_variable_is_reported_with_the_nearest_setting() {
        let names = [
            "KOPECK_LISTN",
            "KOPECK_DATABSE_URL",
            "KOPECK_SOMETHING_ELSE",
            "KOPECK_LISTEN",
            "KOPECK_PROFILES",
            "KOPECK_PORT_8080_TCP_ADDR",
            "KOPECK_SERVICE_HOST",
            "KOPECK_PORT",
            "KOPECKS",
            "PATH",
        ];
        let unknown = unknown_variables(names.into_iter().map(OsString::from));
        let unknown: Vec<_> = unknown.iter().map(|each| (&*each.name, each.meant.as_deref())).collect();
        assert_eq!(
            unknown,
            [
                ("KOPECK_LISTN", Some("KOPECK_LISTEN")),
                ("KOPECK_DATABSE_URL", Some("KOPECK_DATABASE_URL")),
                ("KOPECK_SOMETHING_ELSE", None),
            ]
        );
    }

    #[test]
    fn an_empty_variable_is_taken_away_from_every_command_and_no_other() {
        let empty = |name: &OsStr| (name != "KOPECK_LISTEN").then(OsString::new);
        let mut left = BTreeSet::new();
        gather(&without_empty(Cli::command(), &empty), &mut left);
        assert_eq!(left, BTreeSet::from(["KOPECK_LISTEN".to_owned()]));
        let mut all = BTreeSet::new();
        gather(&without_empty(Cli::command(), &|_: &OsStr| Some(OsString::from("x"))), &mut all);
        assert!(all.len() > 30, "{all:?}");
    }

    /// The examples of a command and of all below it.
    fn examples(command: &clap::Command, into: &mut Vec<String>) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        into.extend(help.lines().filter(|line| line.contains("kopeck ")).map(|line| line.trim().to_owned()));
        command.get_subcommands().for_each(|below| examples(below, into));
    }

    #[test]
    fn the_examples_of_the_help_are_understood() {
        let mut all = Vec::new();
        examples(&command(), &mut all);
        assert!(all.len() > 20, "{all:?}");
        for example in all {
            // What a shell takes for itself: variables before the command, and where input and output go.
            let line = example.split(['<', '>', '|']).next().unwrap();
            let words = line.split_whitespace().skip_while(|word| *word != "kopeck");
            // The secret of the bank simulator is given by the variable.
            let secret = line.contains("KOPECK_BANK_SECRET=").then_some("--secret=secret");
            let understood = command().try_get_matches_from(words.chain(secret));
            assert!(understood.is_ok(), "{example}: {}", understood.unwrap_err());
        }
    }

    #[test]
    fn commands_without_a_log_do_not_show_its_format() {
        let help = |words: &[&str]| {
            let mut command = command();
            command.build();
            let of = words.iter().fold(&mut command, |of, word| of.find_subcommand_mut(word).unwrap());
            of.render_long_help().to_string()
        };
        for words in [&["call"][..], &["call", "employees", "list"], &["completion"]] {
            assert!(!help(words).contains("--log-format"), "{words:?}");
        }
        for words in [&[][..], &["serve"], &["partner", "list"]] {
            assert!(help(words).contains("--log-format"), "{words:?}");
        }
        command().debug_assert();
    }
}
