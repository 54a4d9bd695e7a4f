//! Connections of the binary to its database and from its callers, and the warnings about them.

use kopeck_adapter_store_diesel::testing::TlsServer;

use crate::certificates::Authority;
use crate::process::Installation;

const UNVERIFIED: &str = "the connection to the database can be read or impersonated";
const PERMITTED_BY: &str = "KOPECK_DATABASE_ALLOW_UNVERIFIED=true";
const PLAIN: &str = "requests can be read on their way";
const ANY_HEADER: &str = "clients can choose their address by sending Forwarded";

#[test]
fn every_command_refuses_a_database_that_is_not_verified_unless_it_is_permitted() {
    let installation = Installation::on_a_server();
    let said = |command: &[&str], url: &str, permitted: &str| {
        let mut command = installation.command(command);
        command.env("KOPECK_DATABASE_URL", url).env("KOPECK_DATABASE_ALLOW_UNVERIFIED", permitted);
        let output = command.output().unwrap();
        assert!(!output.status.success(), "there is no such server");
        String::from_utf8(output.stderr).unwrap()
    };
    let open = "postgres://kopeck:hunter2@db.invalid/kopeck?sslmode=require";
    for command in [
        &["serve", "--listen", "127.0.0.1:0"][..],
        &["worker"],
        &["migrate"],
        &["check"],
        &["partner", "list"],
        &["requests", "stuck"],
        &["audit", "list"],
        &["audit", "verify"],
    ] {
        let [refused, warned] = ["false", "true"].map(|permitted| said(command, open, permitted));
        assert_eq!(refused.matches(UNVERIFIED).count(), 1, "{command:?}: {refused}");
        assert!(refused.contains(PERMITTED_BY) && !refused.contains("db.invalid"), "{refused}");
        assert_eq!(warned.matches(UNVERIFIED).count(), 1, "{command:?}: {warned}");
        assert!(!warned.contains(PERMITTED_BY), "{warned}");
        assert!(!format!("{refused}{warned}").contains("hunter2"));
    }
    let verified = said(&["check"], "postgres://kopeck@db.invalid/kopeck?sslrootcert=system", "");
    assert!(!verified.contains(UNVERIFIED), "{verified}");
    let local = installation.run(&["check"]);
    assert!(!String::from_utf8(local.stderr).unwrap().contains(UNVERIFIED));
}

/// By a certificate authority that the machine trusts.
#[tokio::test]
async fn the_service_verifies_its_database_server() {
    let installation = Installation::on_a_server();
    let authorities = [Authority::new("Ours"), Authority::new("Foreign")];
    let [ours, foreign] = ["ours.pem", "foreign.pem"].map(|name| installation.path().join(name));
    for (file, authority) in [&ours, &foreign].into_iter().zip(&authorities) {
        std::fs::write(file, authority.certificate()).unwrap();
    }
    let own = authorities[0].certify("db.internal");
    let server = TlsServer::start(&own.certificate, &own.key, &authorities[0].certificate());
    let url = server.url("db.internal", "sslrootcert=system");
    let command = |arguments: &[&str], trusted| {
        let mut command = installation.command(arguments);
        command.env("KOPECK_DATABASE_URL", &url).env("SSL_CERT_FILE", trusted);
        command
    };
    let refused = command(&["migrate"], &foreign).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("certificate verify failed"), "{said}");

    let create = ["partner", "create", "--name", "Test", "--deposit", "0.07", "--json"];
    let output = command(&create, &ours).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let partner = Installation::secrets(&String::from_utf8(output.stdout).unwrap());
    let running = installation.start_command(command(&["serve", "--listen", "127.0.0.1:0"], &ours));
    assert_eq!(running.client(&partner).balance().await.unwrap().available, 7);
    let (_, well) = running.stop("TERM");
    assert!(well, "{}", installation.log());
}

#[test]
fn plain_http_beyond_this_machine_is_warned_of() {
    let installation = Installation::new();
    let (_, well) = installation.serve(&[]).stop("TERM");
    assert!(well && !installation.log().contains(PLAIN), "{}", installation.log());
    let beyond = installation.command(&["serve", "--listen", "0.0.0.0:0", "--sandbox", "false"]);
    let (_, well) = installation.start_command(beyond).stop("TERM");
    assert!(well && installation.log().contains(PLAIN), "{}", installation.log());
    let behind = ["serve", "--listen", "0.0.0.0:0", "--sandbox", "false", "--trusted-proxies", "10.0.0.0/8"];
    let (_, well) = installation.start_command(installation.command(&behind)).stop("TERM");
    assert!(well && !installation.log().contains(PLAIN), "{}", installation.log());
}

#[test]
fn trusted_proxies_without_the_name_of_their_header_are_warned_of() {
    let behind = ["--trusted-proxies", "10.0.0.0/8"];
    for (arguments, warned) in [
        (&behind[..0], false),
        (&behind[..], true),
        (&[&behind[..], &["--proxy-header", "x-forwarded-for"]].concat(), false),
        (&[&behind[..], &["--proxy-header", "forwarded"]].concat(), false),
    ] {
        let installation = Installation::new();
        let (_, well) = installation.serve(arguments).stop("TERM");
        let log = installation.log();
        assert!(well, "{log}");
        assert_eq!(log.contains(ANY_HEADER), warned, "{arguments:?}: {log}");
    }
}
