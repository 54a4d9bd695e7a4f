//! Users by the operators' commands, and their logins at the service behind them: two processes on one database.

use std::io::{BufRead as _, BufReader};
use std::net::Ipv4Addr;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kopeck::compose::{Application, SystemAdapters};
use kopeck_audit::{Actor, Entry};
use kopeck_domain::access::{Authority, Role, Scope, Scopes};
use kopeck_domain::ids::PartnerId;
use kopeck_domain::user::UserLogin;
use kopeck_port_store::{Access, Done, Store, Work, transact};
use kopeck_service::partners::{self, CredentialDraft, NewCredential, PartnerError};
use kopeck_service::users::{
    self, Confirmation, NewSession, PasswordAttempt, PendingLogin, SecondFactorAttempt, UserError,
    UserSession,
};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use time::OffsetDateTime;
use totp_rs::{Builder, Secret};

use crate::process::Installation;
use crate::raw_http::{RawRequest, exchange, get, login_call};

const LOGIN: &str = "anna@example.ru";

/// A user as `user create` made it.
struct Created {
    login: String,
    password: SecretString,
}

fn create(installation: &Installation, arguments: &[&str]) -> Created {
    let shown = installation.succeed(&[&["user", "create", "--json"], arguments].concat());
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let text = |name: &str| shown[name].as_str().unwrap().to_owned();
    assert_eq!(text("userId").len(), 36);
    Created { login: text("login"), password: text("password").into() }
}

fn begin(application: &Application, user: &Created) -> Result<PendingLogin, UserError> {
    let attempt =
        PasswordAttempt { login: user.login.clone(), password: user.password.clone(), address: None };
    application.users.begin(&*application.store, attempt)
}

fn finish(
    application: &Application,
    store: &dyn Store,
    pending: &PendingLogin,
    code: SecretString,
) -> Result<NewSession, UserError> {
    application.users.finish(
        store,
        SecondFactorAttempt {
            token: pending.token.clone(),
            code,
            address: None,
            former: None,
            entry: entry("user.login"),
        },
    )
}

fn now() -> OffsetDateTime {
    SystemAdapters::real().wall.now()
}

fn entry(action: &'static str) -> Entry {
    Entry::new(now(), "127.0.0.1", action)
}

/// What an authenticator app shows now.
fn app_code(pending: &PendingLogin) -> SecretString {
    let secret = pending.setup.as_ref().unwrap().secret.expose_secret();
    let app = Builder::new().with_secret(Secret::try_from_base32(secret).unwrap()).build().unwrap();
    let seconds = now().unix_timestamp().cast_unsigned();
    app.generate(seconds).to_string().into()
}

/// The first login, which sets up the second factor.
fn first_login(application: &Application, user: &Created) -> NewSession {
    let pending = begin(application, user).unwrap();
    finish(application, &*application.store, &pending, app_code(&pending)).unwrap()
}

fn look_up(application: &Application, session: &NewSession) -> Option<UserSession> {
    session_of(application, &session.token)
}

fn session_of(application: &Application, token: &SecretString) -> Option<UserSession> {
    let (users, token) = (application.users.clone(), token.clone());
    transact(&*application.store, Access::Read, move |unit| users.look_up(unit, &token)).unwrap()
}

fn refusal(installation: &Installation, arguments: &[&str]) -> String {
    let output = installation.run(arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn an_operator_creates_users_resets_and_disables_them() {
    let installation = Installation::new();
    let partner = installation.create_partner(&[]);
    let of_partner = ["--partner", &partner.id];
    let anna = create(
        &installation,
        &[&of_partner[..], &["--role", "FINANCE", "--login", "Anna@Example.ru"]].concat(),
    );
    let duty = create(&installation, &["--role", "OPERATOR", "--login", "duty@example.ru"]);
    assert_eq!(anna.login, LOGIN);
    let again = [&["user", "create"], &of_partner[..], &["--role", "HR", "--login", LOGIN]].concat();
    assert!(refusal(&installation, &again).contains("the login is taken"));
    let without = ["user", "create", "--role", "HR", "--login", "boris@example.ru"];
    assert!(refusal(&installation, &without).contains("only OPERATOR is a role without a partner"));

    let application = installation.application();
    let (session, operator) = (first_login(&application, &anna), first_login(&application, &duty));
    assert!(session.must_change_password && session.recovery_codes.as_ref().unwrap().len() == 10);
    assert_eq!(look_up(&application, &operator).unwrap().user.role, Role::Operator);
    let listed: Value = serde_json::from_str(&installation.succeed(&["user", "list", "--json"])).unwrap();
    let shown: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|user| json!([user["login"], user["partnerId"], user["secondFactor"], user["sessions"]]))
        .collect();
    assert_eq!(shown, [json!(["duty@example.ru", null, true, 1]), json!([LOGIN, partner.id, true, 1])]);
    let shown = installation.succeed(&["partner", "show", &partner.id]);
    assert!(shown.contains(LOGIN) && !shown.contains("duty"), "{shown}");

    assert!(installation.succeed(&["user", "set-role", LOGIN, "AUDITOR"]).contains("sessions ended: 1"));
    assert!(look_up(&application, &session).is_none());
    let codes = session.recovery_codes.unwrap();
    let by_code = |user: &Created, code: usize| {
        let pending = begin(&application, user).unwrap();
        finish(&application, &*application.store, &pending, codes[code].clone())
    };
    assert_eq!(by_code(&anna, 0).unwrap().user.role, Role::Auditor);
    assert!(matches!(by_code(&anna, 0), Err(UserError::WrongCode)), "a recovery code works once");
    installation.succeed(&["user", "disable", LOGIN]);
    assert!(matches!(begin(&application, &anna), Err(UserError::BadCredentials)));
    installation.succeed(&["user", "enable", LOGIN]);
    let shown = installation.succeed(&["user", "reset", LOGIN, "--password", "--json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert!(matches!(begin(&application, &anna), Err(UserError::BadCredentials)));
    let anna = Created { password: shown["password"].as_str().unwrap().into(), ..anna };
    let session = by_code(&anna, 1).unwrap();
    installation.succeed(&["partner", "suspend", &partner.id]);
    installation.succeed(&["partner", "resume", &partner.id]);
    assert!(look_up(&application, &session).is_none(), "ended for good");
    installation.succeed(&["user", "reset", LOGIN, "--second-factor"]);
    assert!(begin(&application, &anna).unwrap().setup.is_some());
    installation.succeed(&["user", "delete", LOGIN]);
    assert!(matches!(begin(&application, &anna), Err(UserError::BadCredentials)));

    let log = installation.succeed(&["audit", "list", "--json"]);
    for action in ["create", "set_role", "disable", "enable", "reset", "delete"] {
        assert!(log.contains(&format!("\"user.{action}\"")), "{action}: {log}");
    }
    for secret in [LOGIN, anna.password.expose_secret(), codes[2].expose_secret()] {
        assert!(!log.contains(secret));
    }
    installation.succeed(&["audit", "verify"]);
}

#[test]
fn a_first_password_comes_from_standard_input_and_has_to_be_replaced() {
    let installation = Installation::new();
    installation.create_partner(&[]);
    let run = |password: &str| {
        let mut command = installation.command(&[
            "user",
            "create",
            "--role",
            "OPERATOR",
            "--login",
            LOGIN,
            "--password-stdin",
        ]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that fails before it reads closes the pipe.
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), password.as_bytes());
        child.wait_with_output().unwrap()
    };
    assert!(!run("anna@example.ru-1\n").status.success(), "the policy holds");
    assert!(run("first-Harbour-19x\n").status.success());
    let application = installation.application();
    let anna = Created { login: LOGIN.to_owned(), password: "first-Harbour-19x".into() };
    let (one, pending) = (first_login(&application, &anna), begin(&application, &anna).unwrap());
    let session = look_up(&application, &one).unwrap();
    let confirmation = |password: &str| Confirmation {
        password: password.into(),
        address: None,
        entry: entry("user.change_password"),
    };
    let change = |current: &str| {
        let new = "second-Harbour-19x".into();
        application.users.change_password(&*application.store, &session, &new, confirmation(current))
    };
    assert!(matches!(change("another-Harbour-19x"), Err(UserError::BadCredentials)));
    let renewed = change("first-Harbour-19x").unwrap();
    assert_eq!(renewed.ended, 1, "the login that waited has ended");
    assert!(look_up(&application, &one).is_none(), "the session has another token");
    assert!(!session_of(&application, &renewed.token).unwrap().must_change_password);
    let code = one.recovery_codes.unwrap().remove(0);
    assert!(matches!(finish(&application, &*application.store, &pending, code), Err(UserError::Expired)));
}

/// What a process says that has done everything and not committed yet.
const WRITTEN: &str = "everything is written";

/// Waits for its end instead of committing.
struct WaitingStore(Arc<dyn Store>);

impl Store for WaitingStore {
    fn submit(&self, access: Access, mut work: Work, done: Done) {
        let waiting: Work = Box::new(move |unit| {
            work(unit);
            println!("{WRITTEN}");
            loop {
                std::thread::park();
            }
        });
        self.0.submit(access, waiting, done);
    }
}

/// Completes a login in another process, and kills it between the writes and the commit.
fn die_at_the_commit(installation: &Installation, pending: &PendingLogin, code: &SecretString) {
    // This program, wherever it lies.
    let mut child = Command::new("/proc/self/exe")
        .args(["--exact", "--ignored", "--nocapture", "users::a_login_that_is_killed"])
        .env("TEST_DATABASE_OF_LOGIN", installation.database_url())
        .env("TEST_FOLDER_OF_LOGIN", installation.path())
        .env("TEST_LOGIN", format!("{} {}", pending.token.expose_secret(), code.expose_secret()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains(WRITTEN)), "it ended by itself");
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
}

#[test]
#[ignore = "run in a separate process by the test below"]
fn a_login_that_is_killed() {
    let text = |name: &str| std::env::var(name).unwrap();
    let folder = text("TEST_FOLDER_OF_LOGIN");
    let application = Installation::application_at(&text("TEST_DATABASE_OF_LOGIN"), Path::new(&folder));
    let login = text("TEST_LOGIN");
    let (token, code) = login.split_once(' ').unwrap();
    let pending = PendingLogin { token: token.into(), setup: None };
    let waiting = WaitingStore(application.store());
    finish(&application, &waiting, &pending, code.into()).unwrap();
}

#[test]
fn a_killed_process_leaves_neither_the_second_factor_nor_the_session() {
    let installation = Installation::new();
    installation.create_partner(&[]);
    let anna = create(&installation, &["--role", "OPERATOR", "--login", LOGIN]);
    let application = installation.application();
    let pending = begin(&application, &anna).unwrap();
    let code = app_code(&pending);
    die_at_the_commit(&installation, &pending, &code);
    let left = || {
        let login = UserLogin::parse(LOGIN).unwrap();
        transact(&*application.store, Access::Read, move |unit| -> Result<_, UserError> {
            let user = users::find(unit, &login)?;
            let record = unit.users().get(None, user.id)?.unwrap();
            let sessions = unit.users().sessions(None, user.id)?.len();
            Ok((record.second_factor.is_some(), unit.users().recovery_codes(None, user.id)?, sessions))
        })
        .unwrap()
    };
    assert_eq!(left(), (false, 0, 1), "the login still waits");
    let session = finish(&application, &*application.store, &pending, code.clone()).unwrap();
    assert_eq!(left(), (true, 10, 1));
    let pending = begin(&application, &anna).unwrap();
    assert!(matches!(finish(&application, &*application.store, &pending, code), Err(UserError::WrongCode)));
    let recovery = session.recovery_codes.unwrap().remove(0);
    die_at_the_commit(&installation, &pending, &recovery);
    assert_eq!(left(), (true, 10, 2));
    finish(&application, &*application.store, &pending, recovery).unwrap();
    assert_eq!(left(), (true, 9, 2));
}

/// In one browser, one after the other: their sessions are of a partner and of none, which no other unit of work has at once.
#[test]
fn a_login_ends_the_session_of_another_user_in_its_browser() {
    let installation = Installation::new();
    let partner = installation.create_partner(&[]);
    let anna = create(&installation, &["--partner", &partner.id, "--role", "HR", "--login", LOGIN]);
    let duty = create(&installation, &["--role", "OPERATOR", "--login", "duty@example.ru"]);
    let application = installation.application();
    let former = first_login(&application, &duty);
    let pending = begin(&application, &anna).unwrap();
    let attempt = SecondFactorAttempt {
        token: pending.token.clone(),
        code: app_code(&pending),
        address: None,
        former: Some(former.token.clone()),
        entry: entry("user.login"),
    };
    let session = application.users.finish(&*application.store, attempt).unwrap();
    assert!(look_up(&application, &session).is_some() && look_up(&application, &former).is_none());
}

#[test]
fn the_access_log_names_user_and_route_of_a_page() {
    let installation = Installation::new();
    let partner = installation.create_partner(&[]);
    let of_partner = ["--partner", &partner.id, "--role", "HR", "--login", LOGIN];
    let anna = create(&installation, &of_partner);
    let running = installation.serve(&[]);
    let session = first_login(&installation.application(), &anna);
    let cookie = format!("__Host-kopeck={}", session.token.expose_secret());
    let ask = |path: &str, cookie: &str| {
        let request = RawRequest::new("GET", &format!("/console{path}")).with("cookie", cookie);
        exchange(&running.base_url, Ipv4Addr::LOCALHOST, &request.to_bytes())
    };
    assert_eq!(ask("/login?done=saved", "").status, 200);
    assert_eq!(ask("/person/Ivanov/cards?q=Looking-For", &cookie).status, 303, "its password is a first one");
    assert!(running.stop("TERM").1);
    let log = installation.log();
    let line = |route: &str| {
        let route = format!(" route=/console{route} ");
        log.lines().find(|line| line.contains(&route)).unwrap_or_else(|| panic!("{route} in {log}"))
    };
    assert!(line("/login").contains(" partner=-") && !line("/login").contains(" user="));
    let page = line("/person/{}/{}");
    assert!(page.contains(&format!(" partner={}", partner.id)), "{page}");
    assert!(page.contains(&format!(" user={}", session.user.id)), "{page}");
    for secret in [LOGIN, "Ivanov", "Looking-For", session.token.expose_secret()] {
        assert!(!log.contains(secret), "{secret}");
    }
}

/// For its partner, by the use cases that the commands have; the audit log names it. Nobody else who may log in does.
#[test]
fn an_owner_makes_and_revokes_credentials() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let running = installation.serve(&[]);
    let application = installation.application();
    let id: PartnerId = partner.id.parse().unwrap();
    let may = |role: &str| {
        let login = format!("{}@example.ru", role.to_lowercase());
        let user = create(&installation, &["--partner", &partner.id, "--role", role, "--login", &login]);
        let first = first_login(&application, &user);
        let session = look_up(&application, &first).unwrap();
        let before = session.authority();
        let confirmation =
            Confirmation { password: user.password, address: None, entry: entry("user.password") };
        let new = "second-Harbour-19x".into();
        let renewed =
            application.users.change_password(&*application.store, &session, &new, confirmation).unwrap();
        [before, session_of(&application, &renewed.token).unwrap().authority()]
    };
    let new = NewCredential { name: None, scopes: Scopes::of(&[Scope::StatementsRead]), addresses: None };
    let CredentialDraft { record, secrets } = application.partners.prepare_credential(id, new).unwrap();
    let credential = record.credential.id;
    let by = |action: &'static str, authority: &Authority| {
        let entry = entry(action).by(Actor::of(&authority.actor, None), Some(id));
        Entry { subject: format!("credential:{credential}"), ..entry }
    };
    let make = |authority: Authority| {
        let (record, entry) = (record.clone(), by("partner.credential.create", &authority));
        transact(&*application.store, Access::Write, move |unit| -> Result<(), PartnerError> {
            partners::create_credential(unit, &authority, id, &record)?;
            Ok(unit.audit().append(&entry)?)
        })
    };
    let [owner_with_a_first_password, owner] = may("OWNER");
    for refused in [owner_with_a_first_password].into_iter().chain(may("HR")) {
        assert!(matches!(make(refused), Err(PartnerError::Forbidden(_))));
    }
    make(owner.clone()).unwrap();
    let log_in = || {
        let (key, password) = (secrets.api_key.expose_secret(), secrets.password.expose_secret());
        login_call(key, &record.login, password).send_to(&running.base_url)
    };
    let token = log_in().text_of("accessToken");
    let balance = || get("/v1/balance").token(&token).send_to(&running.base_url).status;
    assert_eq!(balance(), 200);
    let (env, entry, revoker) =
        (application.env.clone(), by("partner.credential.revoke", &owner), owner.clone());
    let ended = transact(&*application.store, Access::Write, move |unit| -> Result<u64, PartnerError> {
        let ended = partners::revoke_credential(unit, &env, &revoker, id, credential)?;
        unit.audit().append(&entry)?;
        Ok(ended)
    });
    assert_eq!((ended.unwrap(), log_in().status), (1, 400));
    let deadline = Instant::now() + Duration::from_secs(5);
    while balance() != 401 {
        assert!(Instant::now() < deadline, "the token is still accepted");
    }
    drop((running, application));
    let log = installation.succeed(&["audit", "list", "--json"]);
    let of_owner = format!("\"{}\"", owner.actor.to_string().trim_start_matches("user:"));
    for action in ["create", "revoke"] {
        let action = format!("\"partner.credential.{action}\"");
        let lines: Vec<_> = log.lines().filter(|line| line.contains(&action)).collect();
        assert!(lines.len() == 1 && lines[0].contains(&of_owner), "{action}: {log}");
    }
}

/// Fifty threads look the session up without a pause, at this process, while another one disables the user.
#[test]
fn no_look_up_that_begins_after_a_user_was_disabled_finds_the_session() {
    let installation = Installation::new();
    installation.create_partner(&[]);
    let anna = create(&installation, &["--role", "OPERATOR", "--login", LOGIN]);
    let application = installation.application();
    let session = first_login(&application, &anna);
    let (disabled, found, late) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..50 {
            scope.spawn(|| {
                loop {
                    let is_late = disabled.load(Ordering::SeqCst);
                    if look_up(&application, &session).is_some() {
                        found.fetch_add(1, Ordering::SeqCst);
                        late.fetch_add(usize::from(is_late), Ordering::SeqCst);
                    }
                    if is_late {
                        return;
                    }
                }
            });
        }
        while found.load(Ordering::SeqCst) < 50 {
            std::thread::yield_now();
        }
        installation.succeed(&["user", "disable", LOGIN]);
        disabled.store(true, Ordering::SeqCst);
    });
    assert_eq!(late.load(Ordering::SeqCst), 0);
    installation.succeed(&["user", "enable", LOGIN]);
    assert!(look_up(&application, &session).is_none(), "ended for good");
}

/// The digest that logins are looked up by is made under the master key, and follows it.
#[test]
fn users_follow_the_master_key() {
    let installation = Installation::embedded();
    installation.create_partner(&[]);
    let anna = create(&installation, &["--role", "OPERATOR", "--login", LOGIN]);
    let session = first_login(&installation.application(), &anna);
    installation.succeed(&["master-key", "rotate"]);
    installation.age_keys();
    installation.succeed(&["master-key", "retire"]);
    let application = installation.application();
    let pending = begin(&application, &anna).unwrap();
    assert!(pending.setup.is_none(), "the second factor can be read");
    let code = session.recovery_codes.unwrap().remove(0);
    finish(&application, &*application.store, &pending, code).unwrap();
    installation.succeed(&["user", "disable", LOGIN]);
}
