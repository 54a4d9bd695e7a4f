//! `kopeck user …`.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use kopeck_audit::Entry;
use kopeck_domain::calendar::Zone;
use kopeck_domain::partner::Partner;
use kopeck_domain::user::{User, UserLogin, UserStatus};
use kopeck_port_store::{Access, UnitOfWork, transact};
use kopeck_service::partners;
use kopeck_service::users::{self, NewUser, Reset, UserError, UserOverview};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use super::audited::change;
use super::{confirm, existing_application, password};
use crate::cli::{
    UserArgs, UserCommand, UserCreateArgs, UserDeleteArgs, UserListArgs, UserResetArgs, UserRoleArgs,
};
use crate::command_output::{aligned, print, say};
use crate::compose::Application;

/// Runs a `user` command.
pub(super) fn run(command: UserCommand) -> anyhow::Result<()> {
    match command {
        UserCommand::Create(args) => create(args),
        UserCommand::List(args) => list(&args),
        UserCommand::Reset(args) => reset(args),
        UserCommand::Disable(args) => set_status(args, UserStatus::Disabled),
        UserCommand::Enable(args) => set_status(args, UserStatus::Active),
        UserCommand::SetRole(args) => set_role(args),
        UserCommand::Delete(args) => delete(args),
    }
}

fn create(args: UserCreateArgs) -> anyhow::Result<()> {
    let UserCreateArgs { store, partner, role, login, password_stdin, json } = args;
    let application = existing_application(&store)?;
    let partner = partner
        .map(|id| transact(&*application.store, Access::Read, move |unit| partners::find(unit, id)))
        .transpose()?;
    let password = if password_stdin { Some(password::read()?) } else { None };
    let owner = partner.as_ref().map(|partner| partner.id);
    let draft = application.users.prepare(NewUser { partner, role, login, password })?;
    let users = application.users.clone();
    let (user, password) = change(&application, "user.create", owner, move |unit, entry| {
        let (user, password) = users.create(unit, &draft)?;
        entry.subject = format!("user:{} role:{role}", user.id);
        Ok::<_, UserError>((user, password))
    })?;
    show_password(&user, &password, json)
}

fn show_password(user: &User, password: &SecretString, json: bool) -> anyhow::Result<()> {
    let shown = json!({
        "userId": user.id.to_string(),
        "login": user.login.as_str(),
        "password": password.expose_secret(),
    });
    if json {
        return say!("{shown}");
    }
    say!("Keep the password now: it is not shown again. The user has to replace it within seven days.\n")?;
    say!("{}", serde_json::to_string_pretty(&shown)?)
}

fn list(args: &UserListArgs) -> anyhow::Result<()> {
    let (application, partner) = (existing_application(&args.store)?, args.partner);
    let env = Arc::clone(&application.env);
    let found = transact(&*application.store, Access::Read, move |unit| -> anyhow::Result<_> {
        if let Some(partner) = partner {
            partners::find(unit, partner)?;
            return Ok(users::list(unit, &env, Some(partner))?);
        }
        let mut all = users::list(unit, &env, None)?;
        for partner in partners::list(unit)? {
            all.extend(users::list(unit, &env, Some(partner.id))?);
        }
        Ok(all)
    })?;
    let zone = args.store.utc_offset;
    if args.json {
        let shown: Vec<Value> = found.iter().map(|user| as_json(user, zone)).collect();
        return say!("{}", serde_json::to_string_pretty(&shown)?);
    }
    let head = ["user", "partner", "role", "status", "second factor", "last login", "login"];
    let lines = std::iter::once(head.map(str::to_owned)).chain(found.iter().map(|user| row(user, zone)));
    print(format_args!("{}", aligned(&lines.collect::<Vec<_>>())))
}

fn row(overview: &UserOverview, zone: Zone) -> [String; 7] {
    let user = &overview.user;
    [
        user.id.to_string(),
        user.partner.map_or_else(|| "-".to_owned(), |partner| partner.to_string()),
        user.role.to_string(),
        user.status.to_string(),
        if overview.has_second_factor { "yes" } else { "no" }.to_owned(),
        overview.last_login_at.map_or_else(|| "never".to_owned(), |at| zone.moment_text(at)),
        user.login.as_str().to_owned(),
    ]
}

/// A user as programs get it.
pub(super) fn as_json(overview: &UserOverview, zone: Zone) -> Value {
    let UserOverview { user, has_second_factor, recovery_codes, initial_until, last_login_at, sessions } =
        overview;
    let User { id, partner, login, role, status, created_at } = user;
    json!({
        "userId": id.to_string(),
        "partnerId": partner.map(|partner| partner.to_string()),
        "login": login.as_str(),
        "role": role.as_str(),
        "status": status.as_str(),
        "secondFactor": has_second_factor,
        "recoveryCodes": recovery_codes,
        "firstPasswordUntil": initial_until.map(|until| zone.moment_text(until)),
        "createdAt": zone.moment_text(*created_at),
        "lastLoginAt": last_login_at.map(|at| zone.moment_text(at)),
        "sessions": sessions,
    })
}

/// A user and its partner as they are now.
fn find(application: &Application, login: &UserLogin) -> anyhow::Result<(User, Option<Partner>)> {
    let login = login.clone();
    transact(&*application.store, Access::Read, move |unit| {
        let user = users::find(unit, &login)?;
        let partner = user.partner.map(|id| partners::find(unit, id)).transpose()?;
        Ok((user, partner))
    })
}

/// Changes a user within a unit of work that has an audit entry.
fn change_user<T: Send + 'static>(
    application: &Application,
    action: &'static str,
    user: &User,
    mut body: impl FnMut(&mut dyn UnitOfWork, &User, &mut Entry) -> Result<T, UserError> + Send + 'static,
) -> anyhow::Result<T> {
    let changed = user.clone();
    Ok(change(application, action, user.partner, move |unit, entry| {
        entry.subject = format!("user:{}", changed.id);
        body(unit, &changed, entry)
    })?)
}

fn reset(args: UserResetArgs) -> anyhow::Result<()> {
    let UserResetArgs { user: UserArgs { store, login }, password, second_factor, password_stdin, json } =
        args;
    let application = existing_application(&store)?;
    let (user, partner) = find(&application, &login)?;
    let given = if password_stdin { Some(password::read()?) } else { None };
    let new = if second_factor {
        None
    } else {
        Some(application.users.new_password(&user, partner.as_ref(), given)?)
    };
    let shown = new.as_ref().map(|new| new.password.clone());
    let reset = Reset { password: new, second_factor: !password };
    let ended = change_user(&application, "user.reset", &user, move |unit, user, entry| {
        let what = [
            reset.password.as_ref().map(|_| " password"),
            Some(" second-factor").filter(|_| reset.second_factor),
        ];
        entry.subject.extend(what.into_iter().flatten());
        users::reset(unit, user, &reset)
    })?;
    match shown {
        Some(password) => show_password(&user, &password, json),
        None if json => say!("{}", json!({"userId": user.id.to_string(), "login": login.as_str()})),
        None => {
            say!("user {login} sets up a new second factor; sessions ended: {ended}", login = login.as_str())
        }
    }
}

fn set_status(args: UserArgs, status: UserStatus) -> anyhow::Result<()> {
    let application = existing_application(&args.store)?;
    let (user, _) = find(&application, &args.login)?;
    let action = match status {
        UserStatus::Disabled => "user.disable",
        UserStatus::Active => "user.enable",
    };
    let ended =
        change_user(&application, action, &user, move |unit, user, _| users::set_status(unit, user, status))?;
    say!("user {} is {status}; sessions ended: {ended}", user.login.as_str())
}

fn set_role(args: UserRoleArgs) -> anyhow::Result<()> {
    let UserRoleArgs { user: UserArgs { store, login }, role } = args;
    let application = existing_application(&store)?;
    let (user, _) = find(&application, &login)?;
    let ended = change_user(&application, "user.set_role", &user, move |unit, user, entry| {
        entry.subject.push_str(&format!(" role:{role}"));
        users::set_role(unit, user, role)
    })?;
    say!("user {} is {role}; sessions ended: {ended}", login.as_str())
}

fn delete(args: UserDeleteArgs) -> anyhow::Result<()> {
    let UserDeleteArgs { user: UserArgs { store, login }, yes } = args;
    let application = existing_application(&store)?;
    let (user, _) = find(&application, &login)?;
    if !yes && io::stdin().is_terminal() {
        confirm::ask(format_args!("Delete the user {}? It cannot be undone.", login.as_str()))?;
    }
    change_user(&application, "user.delete", &user, |unit, user, _| users::delete(unit, user))?;
    say!("user {} is deleted", login.as_str())
}
