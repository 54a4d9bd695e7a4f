//! The service as a role of PostgreSQL that owns no table.

use std::sync::Arc;

use kopeck_adapter_store_diesel::testing::Roles;

use crate::coverage::call_every_operation;
use crate::deployment::{Deployment, Plan};
use crate::process::Installation;
use crate::server::{START, TestServer};

#[test]
fn every_operation_succeeds_as_a_role_that_only_serves() {
    let server = TestServer::open(Arc::new(Deployment::as_service_role(START)), Plan::default());
    call_every_operation(&server);
    server.refresh_accounts();
}

#[tokio::test]
async fn one_role_migrates_and_another_runs_every_other_command() {
    let roles = Roles::empty();
    let installation = Installation::on_a_server();
    let command = |arguments: &[&str], url: &str| {
        let mut command = installation.command(arguments);
        command.env("KOPECK_DATABASE_URL", url);
        command
    };
    let run = |arguments: &[&str], url: &str| {
        let output = command(arguments, url).output().unwrap();
        (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let (well, said) = run(&serve, &roles.service);
    assert!(!well && said.contains("with the URL of the role that owns the tables"), "{said}");
    let (well, said) = run(&["migrate", "--service-role", &roles.service_role], &roles.owner);
    assert!(well && said.contains("has the privileges of a service"), "{said}");
    // Without anything to apply it grants all the same.
    assert!(run(&["migrate", "--service-role", &roles.service_role], &roles.owner).0);

    let create = ["partner", "create", "--name", "Test", "--deposit", "0.07", "--json"];
    let output = command(&create, &roles.service).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let partner = Installation::secrets(&String::from_utf8(output.stdout).unwrap());
    let running = installation.start_command(command(&serve, &roles.service));
    assert_eq!(running.client(&partner).balance().await.unwrap().available, 7);
    for arguments in [
        &["partner", "rotate-keys", &partner.id][..],
        &["partner", "rotate-api-key", &partner.id],
        &["partner", "suspend", &partner.id],
        &["partner", "list"],
        &["requests", "stuck"],
        &["check"],
        &["audit", "list"],
        &["audit", "verify"],
        &["migrate"],
        &["check", "--accept-history"],
    ] {
        let (well, said) = run(arguments, &roles.service);
        assert!(well, "{arguments:?}: {said}");
    }
    let unknown = "01980000-0000-7000-0000-000000000000";
    let rewrite = ["employee", "erase", &partner.id, unknown, "--rewrite"];
    assert!(run(&rewrite, &roles.service).1.contains("does not own the tables"));
    assert!(!run(&rewrite, &roles.owner).1.contains("does not own the tables"));
    let (_, well) = running.stop("TERM");
    assert!(well, "{}", installation.log());
}
