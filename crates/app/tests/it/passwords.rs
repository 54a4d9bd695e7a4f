//! Setting a partner's password by command: typed unseen or piped in, and held to the policy.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use rustix::termios::{LocalModes, tcgetattr};

use crate::http_sessions::StolenCredentials;
use crate::process::{Installation, PartnerSecrets, Running, pseudo_terminal};
use crate::raw_http::login_call;

const NEW: &str = "tractor-v7Q-rain";

/// Runs a command with `input` on standard input.
fn piped(installation: &Installation, arguments: &[&str], input: &str) -> Output {
    let mut command = installation.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that fails before it reads closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn login(running: &Running, partner: &PartnerSecrets, password: &str) -> u16 {
    login_call(&partner.api_key, &partner.login, password).send_to(&running.base_url).status
}

#[test]
fn a_stolen_password_can_be_replaced() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--sealing", "optional", "--login", "bakery-login"]);
    let running = installation.serve(&[]);
    let stolen = StolenCredentials::from_login(&running, &partner);
    assert_eq!(stolen.status(&running), 200);
    let set = ["partner", "set-password", &partner.id];
    for (refused, why) in [
        ("short\n", "at least 12 characters"),
        ("QwertyUiop123\n", "most common"),
        ("bakery-login-1\n", "beside the login"),
        ("aaaaaaaaaaaa\n", "most common"),
        ("жжжжжжжжжжжж\n", "must not repeat"),
        ("            \n", "begins or ends with a blank"),
        ("", "holds no password"),
    ] {
        let output = piped(&installation, &set, refused);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(why), "{refused}: {said}");
    }
    assert_eq!((stolen.status(&running), login(&running, &partner, &partner.password)), (200, 200));

    let output = piped(&installation, &set, &format!("{NEW}\r\nnot a part of it\n"));
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success() && out.contains("sessions ended: 2"), "{out}{err}");
    assert!(!format!("{out}{err}").contains(NEW), "{out}{err}");
    assert_eq!((login(&running, &partner, &partner.password), login(&running, &partner, NEW)), (400, 200));
    stolen.must_end(&running);
    assert_eq!(stolen.refresh(&running, &partner.api_key), 401);

    installation.succeed(&["partner", "suspend", &partner.id]);
    assert!(piped(&installation, &set, "another-v7Q-tractor").status.success());
    installation.succeed(&["partner", "resume", &partner.id]);
    let logins = ["another-v7Q-tractor", NEW].map(|password| login(&running, &partner, password));
    assert_eq!(logins, [200, 400], "of a suspended partner too");
    let entries = installation.succeed(&["audit", "list", "--action", "partner.set_password"]);
    assert_eq!(entries.lines().filter(|line| line.contains("partner.set_password")).count(), 2, "{entries}");
}

#[test]
fn a_first_password_is_held_to_the_policy_too() {
    let installation = Installation::new();
    let create = ["partner", "create", "--name", "Bakery", "--sealing", "optional", "--login", "bakery"];
    for extra in [
        &["--password", "short"][..],
        &["--password", "aaaaaaaaaaaa"],
        &["--password", NEW, "--password-stdin"],
    ] {
        assert!(!installation.run(&[&create[..], extra].concat()).status.success(), "{extra:?}");
    }
    let from_stdin = [&create[..], &["--password-stdin", "--json"]].concat();
    assert!(!piped(&installation, &from_stdin, "kopeck-bakery\n").status.success());
    let output = piped(&installation, &from_stdin, &format!("{NEW}\n"));
    let made: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&made["login"], &made["password"]), (&"bakery".into(), &NEW.into()));
}

/// Types a response as soon as the terminal shows `question` and has stopped to show what is typed.
fn type_unseen(terminal: &mut File, shown: &mut String, question: &str, answer: &str) {
    let patience = Instant::now() + Duration::from_secs(30);
    let mut bytes = [0; 256];
    while !shown.ends_with(question) {
        let count = terminal.read(&mut bytes).unwrap();
        shown.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
    }
    while tcgetattr(&*terminal).unwrap().local_modes.contains(LocalModes::ECHO) {
        assert!(Instant::now() < patience, "what is typed would be shown");
        std::thread::yield_now();
    }
    writeln!(terminal, "{answer}").unwrap();
}

#[test]
fn at_a_terminal_a_password_is_prompted_for_twice_and_not_shown() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    for (second, good) in [("tractor-v7Q-rian", false), (NEW, true)] {
        let (mut ours, theirs) = pseudo_terminal();
        let mut command = installation.command(&["partner", "set-password", &partner.id]);
        command.stdin(theirs.try_clone().unwrap()).stderr(theirs).stdout(Stdio::piped());
        let child = command.spawn().unwrap();
        // It holds the other end of the terminal, whose closing tells of the end of the command.
        drop(command);
        let mut shown = String::new();
        type_unseen(&mut ours, &mut shown, "New password: ", NEW);
        type_unseen(&mut ours, &mut shown, "The same again: ", second);
        let mut rest = Vec::new();
        // Linux tells the end of a terminal by an error.
        let _ = ours.read_to_end(&mut rest);
        shown.push_str(std::str::from_utf8(&rest).unwrap());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.success(), good);
        let said = if good { "" } else { "kopeck: the two passwords differ\r\n" };
        assert_eq!(shown, format!("New password: \r\nThe same again: \r\n{said}"));
    }
    let running = installation.serve(&[]);
    assert_eq!(login(&running, &partner, NEW), 200);
}
