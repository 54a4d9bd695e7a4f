use std::sync::Arc;

use kopeck_domain::Kopecks;
use kopeck_port_bank::{BankError, BankGateway as _, BankKey, DeclineReason, Instruction, MockBankGateway};
use kopeck_port_bank::{Submission, Verdict};

use super::*;
use crate::operations::InstrumentedBank;

async fn text(metrics: &Metrics) -> String {
    String::from_utf8(metrics.text(&Health::default()).await.unwrap()).unwrap()
}

#[track_caller]
fn shows(text: &str, line: &str) {
    assert!(text.lines().any(|other| other == line), "{line} is not in {text}");
}

#[actix_web::test]
async fn calls_are_counted_by_route_and_status() {
    let metrics = Metrics::new().unwrap();
    let millis = Duration::from_millis;
    metrics.record_response("balance", 200, millis(3));
    metrics.record_response("balance", 200, millis(30));
    metrics.record_response("balance", 401, millis(1));
    metrics.record_response("card.info", 418, millis(1));
    metrics.record_response("-", 404, millis(1));
    metrics.record_response("unheard of", 200, millis(1));
    let text = text(&metrics).await;
    let labels = r#"method="GET",route="/v1/balance""#;
    shows(&text, &format!("kopeck_http_requests_total{{{labels},status=\"200\"}} 2"));
    shows(&text, &format!("kopeck_http_requests_total{{{labels},status=\"401\"}} 1"));
    shows(&text, r#"kopeck_http_requests_total{method="GET",route="/v1/card/{idCard}",status="other"} 1"#);
    shows(&text, r#"kopeck_http_requests_total{method="-",route="-",status="404"} 1"#);
    shows(&text, &format!("kopeck_http_request_seconds_bucket{{{labels},le=\"0.005\"}} 2"));
    shows(&text, &format!("kopeck_http_request_seconds_count{{{labels}}} 3"));
    assert!(!text.contains("unheard of"));
}

#[actix_web::test]
async fn refusals_and_the_database_are_counted() {
    let metrics = Metrics::new().unwrap();
    metrics.record_refusal(RefusalKind::Sealing);
    metrics.record_refusal(RefusalKind::Login);
    metrics.record_refusal(RefusalKind::Refresh);
    metrics.record_refusal(RefusalKind::Rate);
    metrics.record_refusal(RefusalKind::Rate);
    metrics.record_refusal(RefusalKind::Memory);
    metrics.record_refusal(RefusalKind::Connection);
    metrics.began(Access::Write, Duration::from_micros(200));
    metrics.ended(Access::Write, Duration::from_millis(2));
    metrics.failed(Access::Read, Outage::Locked);
    metrics.failed(Access::Write, Outage::Locked);
    metrics.certificate_changed(false);
    let seconds = time::Duration::seconds;
    metrics.clock_seen(ClockLabel::Machine, seconds(-18_000), Some(seconds(-18_000)));
    metrics.clock_seen(ClockLabel::Database, seconds(18_001), Some(seconds(4)));
    metrics.clock_seen(ClockLabel::Database, seconds(18_000), None);
    metrics.audit_heads_sent(true);
    metrics.audit_heads_sent(false);
    metrics.audit_heads_sent(false);
    AuditQueueObserver::written(&metrics, 500);
    metrics.summarised(30);
    AuditQueueObserver::dropped(&metrics, 2);
    RequestLogObserver::written(&metrics, 9);
    RequestLogObserver::dropped(&metrics, 4);
    metrics.record_login(LoginKind::Operator, LoginOutcome::WrongCode);
    let text = text(&metrics).await;
    for line in [
        "kopeck_refused_seals_total 1",
        r#"kopeck_request_log_rows_total{outcome="written"} 9"#,
        r#"kopeck_request_log_rows_total{outcome="dropped"} 4"#,
        r#"kopeck_logins_total{actor="operator",outcome="wrong_code"} 1"#,
        r#"kopeck_logins_total{actor="login",outcome="granted"} 0"#,
        r#"kopeck_clock_steps_total{clock="machine",direction="ahead"} 0"#,
        r#"kopeck_clock_steps_total{clock="machine",direction="back"} 1"#,
        r#"kopeck_clock_steps_total{clock="database",direction="ahead"} 1"#,
        r#"kopeck_clock_steps_total{clock="database",direction="back"} 0"#,
        "kopeck_clock_offset_seconds -18000",
        "kopeck_database_clock_offset_seconds 18000",
        "kopeck_throttled_logins_total 1",
        "kopeck_throttled_refreshes_total 1",
        "kopeck_rate_limited_total 2",
        "kopeck_refused_bodies_total 1",
        "kopeck_refused_connections_total 1",
        r#"kopeck_database_wait_seconds_count{access="read"} 0"#,
        r#"kopeck_database_wait_seconds_bucket{access="write",le="0.00025"} 1"#,
        r#"kopeck_database_use_seconds_bucket{access="write",le="0.0025"} 1"#,
        r#"kopeck_database_failures_total{reason="locked"} 2"#,
        r#"kopeck_database_failures_total{reason="file_gone"} 0"#,
        "kopeck_database_disk_free_bytes 0",
        r#"kopeck_certificate_reloads_total{outcome="refused"} 1"#,
        r#"kopeck_audit_notes_total{outcome="written"} 500"#,
        r#"kopeck_audit_notes_total{outcome="summarised"} 30"#,
        r#"kopeck_audit_notes_total{outcome="dropped"} 2"#,
        r#"kopeck_audit_heads_total{outcome="sent"} 1"#,
        r#"kopeck_audit_heads_total{outcome="failed"} 2"#,
        "kopeck_database_up 0",
        "kopeck_work_due 0",
    ] {
        shows(&text, line);
    }
}

#[actix_web::test]
async fn calls_of_the_bank_are_counted_by_outcome() {
    let metrics = Arc::new(Metrics::new().unwrap());
    let mut bank = MockBankGateway::new();
    bank.expect_submit().returning(|_| {
        let unknown = || BankError::Unknown("the answer was lost".to_owned());
        let declined = Verdict::Declined(DeclineReason::Blocked);
        vec![Ok(Verdict::Done), Ok(Verdict::Done), Ok(declined), Err(unknown())]
    });
    bank.expect_query().returning(|_| Err(BankError::Unavailable("it is down".to_owned())));
    bank.expect_card().returning(|_| Ok(None));
    let bank = InstrumentedBank::new(Arc::new(bank), Arc::clone(&metrics));
    let number = kopeck_domain::card_number::CardNumber::parse("1000000007").unwrap();
    let submission = Submission {
        key: BankKey::new("k").unwrap(),
        instruction: Instruction::TopUp { card: number, amount: Kopecks::new(1) },
    };
    assert_eq!(bank.submit(&[submission]).len(), 4, "what the bank says passes through");
    assert!(bank.query(&[BankKey::new("k").unwrap()]).is_err());
    assert_eq!(bank.card(number), Ok(None));
    let text = text(&metrics).await;
    for line in [
        r#"kopeck_bank_calls_total{call="submit",outcome="done"} 2"#,
        r#"kopeck_bank_calls_total{call="submit",outcome="declined"} 1"#,
        r#"kopeck_bank_calls_total{call="submit",outcome="unknown"} 1"#,
        r#"kopeck_bank_calls_total{call="query",outcome="unavailable"} 1"#,
        r#"kopeck_bank_calls_total{call="card",outcome="done"} 1"#,
        r#"kopeck_bank_call_seconds_count{call="submit"} 1"#,
    ] {
        shows(&text, line);
    }
}
