//! Settings from the environment: an empty variable counts as absent, and an unknown one is probably misspelt.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _};

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

/// A secret on the command line.
#[derive(Debug, PartialEq, Eq)]
pub struct ExposedSecret {
    /// The option, such as `--master-key`.
    pub option: String,
    /// The replacement.
    pub instead: String,
}

/// The secrets among the arguments of a command line: each user of the machine sees them in the list of processes.
pub fn exposed_secrets(line: impl IntoIterator<Item = OsString>) -> Vec<ExposedSecret> {
    let (command, mut exposed) = (command(), Vec::new());
    if let Ok(given) = command.clone().try_get_matches_from(line) {
        gather_exposed(&command, &given, &mut exposed);
    }
    exposed
}

fn gather_exposed(command: &clap::Command, given: &ArgMatches, into: &mut Vec<ExposedSecret>) {
    for argument in command.get_arguments() {
        let name = argument.get_id().as_str();
        let instead = match argument.get_env().and_then(OsStr::to_str) {
            _ if name == "password" => "--password-stdin",
            Some(variable) if argument.is_hide_env_values_set() => variable,
            _ => continue,
        };
        // The URL of a database is a secret only with a password in it.
        let is_typed = given.value_source(name) == Some(ValueSource::CommandLine);
        let has_secret =
            || name != "database_url" || given.get_one::<String>(name).is_some_and(|url| has_password(url));
        if is_typed && has_secret() {
            let option = format!("--{}", argument.get_long().unwrap_or(name));
            into.push(ExposedSecret { option, instead: instead.to_owned() });
        }
    }
    if let Some((below, given)) = given.subcommand()
        && let Some(command) = command.find_subcommand(below)
    {
        gather_exposed(command, given, into);
    }
}

/// Whether a database URL holds a password: behind the user, or as a parameter.
fn has_password(url: &str) -> bool {
    let (_, rest) = url.split_once("://").unwrap_or_default();
    let (before, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let user = before.split('/').next().and_then(|authority| authority.rsplit_once('@'));
    user.and_then(|(user, _)| user.split_once(':')).is_some_and(|(_, password)| !password.is_empty())
        || parameters.split('&').any(|one| one.starts_with("password=") || one.starts_with("sslpassword="))
}

/// The `names` that begin with `KOPECK_` and are no setting.
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

    const WEBHOOK_SECRET: &str = "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";

    fn exposed(line: &[&str]) -> Vec<(String, String)> {
        let line = ["kopeck"].iter().chain(line).map(OsString::from);
        exposed_secrets(line).into_iter().map(|each| (each.option, each.instead)).collect()
    }

    #[test]
    fn a_secret_on_the_command_line_is_found_with_what_to_use_instead() {
        let bank = ["--bank-url", "https://bank.example", "--bank-secret", "s"];
        for (line, option, instead) in [
            (&["check", "--master-key", "x"][..], "--master-key", "KOPECK_MASTER_KEY"),
            (&["serve", "--master-keys-accepted=x"], "--master-keys-accepted", "KOPECK_MASTER_KEYS_ACCEPTED"),
            (&[&["worker"][..], &bank].concat(), "--bank-secret", "KOPECK_BANK_SECRET"),
            (&["bank-simulator", "--secret", "x"], "--secret", "KOPECK_BANK_SECRET"),
            (&["partner", "create", "--name", "A", "--password", "x"], "--password", "--password-stdin"),
            (
                &["partner", "list", "--database-url", "postgres://kopeck:x@db/kopeck"],
                "--database-url",
                "KOPECK_DATABASE_URL",
            ),
            (
                &["migrate", "--database-url=postgres://db/k?password=x"],
                "--database-url",
                "KOPECK_DATABASE_URL",
            ),
            (
                &[
                    "call",
                    "webhooks",
                    "listen",
                    "--forward-to",
                    "http://127.0.0.1:1",
                    "--secret",
                    WEBHOOK_SECRET,
                ],
                "--secret",
                "KOPECK_WEBHOOK_SECRET",
            ),
        ] {
            assert_eq!(exposed(line), [(option.to_owned(), instead.to_owned())], "{line:?}");
        }
        let without_password =
            ["sqlite://kopeck.sqlite", "postgres://kopeck@db/kopeck", "postgres://db/k?sslmode=require"];
        for url in without_password {
            assert_eq!(exposed(&["check", "--database-url", url]), [], "{url}");
        }
        assert_eq!(exposed(&["serve", "--listen", "127.0.0.1:0"]), []);
        assert_eq!(exposed(&["no such command"]), []);
    }

    /// An option that is called like a secret is known as one, or names what holds it.
    #[test]
    fn no_option_with_a_secret_is_forgotten() {
        fn check(command: &clap::Command) {
            for argument in command.get_arguments().filter(|argument| argument.get_action().takes_values()) {
                let name = argument.get_id().as_str();
                let is_secret = ["password", "secret", "token"].iter().any(|word| name.contains(word))
                    || name.starts_with("master_key");
                let is_known =
                    name == "password" || argument.is_hide_env_values_set() || name.ends_with("_file");
                assert!(!is_secret || is_known, "--{name} of {}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
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
            // Parts for the shell: variables before the command, and redirections.
            let line = example.split(['<', '>', '|']).next().unwrap();
            let words = line.split_whitespace().skip_while(|word| *word != "kopeck");
            // The secret of the bank simulator is in the variable.
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
