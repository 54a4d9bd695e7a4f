//! Operations on runs: what each sends, and that its response is read.

use kopeck_client::{
    CardLimit, CardRef, Error, FileFormat, NewEmployee, NewRun, NewRunItem, Paging, RunFilter, RunKind,
    RunOutcome, RunState, VirtualItem,
};

use crate::operations::{ID, lines, noon};

#[tokio::test]
async fn runs() {
    let sent = lines(async |client| {
        let runs = client.runs();
        let items = [NewRunItem::top_up(CardRef::custom_id("T-1"), 500)];
        let new = NewRun { reference: Some("R-1".to_owned()), ..NewRun::new(RunKind::TopUp, items) };
        assert_eq!(runs.create(&new).await?.state, RunState::Draft);
        let items = [
            NewRunItem::withdrawal(ID, None),
            NewRunItem::limit(ID, CardLimit::unlimited()),
            NewRunItem::order(VirtualItem::new(2, 5_000)),
            NewRunItem::employee(NewEmployee::new("T-1")),
        ];
        let new = NewRun { at: Some(noon()), create_categories: true, ..NewRun::new(RunKind::Limit, items) };
        runs.create(&new).await?;
        let new = NewRun {
            reference: Some("R-2".to_owned()),
            ..NewRun::of_file(RunKind::TopUp, b"customId".as_slice())
        };
        assert_eq!(runs.create(&new).await?.state, RunState::Draft);
        assert_eq!(runs.get(ID).await?.requests[0].id, ID);
        assert_eq!(
            runs.items(ID, Some(true), Some(RunOutcome::Skipped)).page(Paging::default()).await?.data.len(),
            1
        );
        runs.submit(ID, "ab", true).await?;
        runs.approve(ID, "ab").await?;
        runs.refuse(ID, Some("no")).await?;
        runs.refuse(ID, None).await?;
        runs.cancel(ID).await?;
        assert_eq!(runs.result(ID).await?[0].outcome, Some(RunOutcome::Done));
        assert!(runs.result_file(ID, FileFormat::Csv).await?.chunk().await?.is_some());
        assert!(matches!(runs.result_file(ID, FileFormat::Camt).await, Err(Error::Config(_))));
        let filter = RunFilter { state: Some(RunState::Draft), ..RunFilter::default() };
        assert_eq!(runs.list(&filter, Paging::default()).await?.data[0].id_run, ID);
        Ok(())
    })
    .await;
    assert_eq!(
        sent,
        [
            r#"POST /v1/runs {"kind":"TOP_UP","items":[{"customId":"T-1","amount":500}],"reference":"R-1"}"#,
            r#"POST /v1/runs {"kind":"LIMIT","items":[{"idCard":"ID"},{"idCard":"ID","limit":{"unlimited":true,"amount":null,"period":null,"days":[],"times":[]}},{"numberCards":2,"typeCard":"MLZ","amount":5000},{"customId":"T-1"}],"at":"07.02.2026 12:00","createCategories":true}"#,
            r#"POST /v1/runs {"kind":"TOP_UP","file":"Y3VzdG9tSWQ=","reference":"R-2"}"#,
            "GET /v1/run/ID",
            "GET /v1/run/ID/items?faulty=true&outcome=SKIPPED",
            r#"POST /v1/run/ID/submit {"digest":"ab","skipFaulty":true}"#,
            r#"POST /v1/run/ID/approve {"digest":"ab"}"#,
            r#"POST /v1/run/ID/refuse {"reason":"no"}"#,
            "POST /v1/run/ID/refuse {}",
            "POST /v1/run/ID/cancel",
            "GET /v1/run/ID/result",
            "GET /v1/run/ID/result",
            "GET /v1/runs?status=DRAFT",
        ]
    );
}
