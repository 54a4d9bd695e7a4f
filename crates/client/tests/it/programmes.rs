//! Operations on programmes: what each sends, and that its response is read.

use kopeck_client::{
    Paging, ProgrammeAmount, ProgrammeAudience, ProgrammePeriod, ProgrammeState, ProgrammeTerms, RunFilter,
};

use crate::operations::{ID, lines, noon};

/// The response to a read; `run` is that of one.
pub(crate) fn answer(path: &str, run: &str) -> String {
    if path.ends_with("/forecast") {
        return format!(
            r#"{{"data":[{{"date":"05.03.2026","idProgramme":"{ID}","period":"2026-03","people":2,"needed":500,
                "availableAfter":4,"short":0}}]}}"#
        );
    }
    let listed = match path {
        "/v1/programmes" => programme(),
        _ if path.ends_with("/runs") => run.to_owned(),
        _ => return programme(),
    };
    format!(
        r#"{{"data":[{listed}],"meta":{{"current_page":1,"from":1,"to":1,"total":1,"last_page":1,"per_page":15,
            "path":"{path}"}}}}"#
    )
}

pub(crate) fn programme() -> String {
    format!(
        r#"{{"idProgramme":"{ID}","status":"ACTIVE","createdAt":"07.02.2026 09:05","createdBy":"login",
            "nextAt":"05.03.2026 09:00","name":"Meals","for":{{"all":true}},"statuses":["WORK"],
            "amount":{{"upTo":500}},"every":"MONTH","day":5,"month":null,"time":"09:00","shift":"BEFORE",
            "proRata":false,"onShortage":"PART","from":null,"until":"31.12.2026","reference":null,
            "proposed":null,"proposedBy":null}}"#
    )
}

#[tokio::test]
async fn programmes() {
    let sent = lines(async |client| {
        let programmes = client.programmes();
        let amount = ProgrammeAmount { up_to: Some(500), ..ProgrammeAmount::default() };
        let terms = ProgrammeTerms::new("Meals", amount, ProgrammePeriod::Month, 5);
        assert_eq!(programmes.create(&terms).await?.id_programme, ID);
        let audience = ProgrammeAudience { id_category: Some(vec![ID]), ..ProgrammeAudience::default() };
        let changed = ProgrammeTerms { audience, until: Some(noon().date()), ..terms };
        assert_eq!(programmes.change(ID, &changed).await?.terms.amount.up_to, Some(500));
        assert_eq!(programmes.list(Paging::default()).await?.data[0].state, ProgrammeState::Active);
        assert!(programmes.get(ID).await?.next_at.is_some());
        programmes.pause(ID).await?;
        programmes.resume(ID).await?;
        programmes.approve(ID).await?;
        programmes.refuse(ID).await?;
        assert_eq!(programmes.runs(ID).page(Paging::default()).await?.data[0].id_run, ID);
        assert_eq!(programmes.forecast(noon().date()).await?[0].needed, 500);
        assert_eq!(programmes.preview(&changed, None, None).await?[0].needed, 500);
        programmes.preview(&changed, Some(ID), Some(noon().date())).await?;
        programmes.delete(ID).await?;
        let filter = RunFilter { id_programme: Some(ID), ..RunFilter::default() };
        client.runs().list(&filter, Paging::default()).await?;
        Ok(())
    })
    .await;
    assert_eq!(
        sent,
        [
            r#"POST /v1/programmes {"name":"Meals","for":{"all":true},"statuses":["WORK","VACATION","MEDICAL"],"amount":{"upTo":500},"every":"MONTH","day":5,"month":null,"time":"09:00","shift":"NONE","proRata":false,"onShortage":"NOTHING","from":null,"until":null,"reference":null}"#,
            r#"PUT /v1/programme/ID {"name":"Meals","for":{"idCategory":["ID"]},"statuses":["WORK","VACATION","MEDICAL"],"amount":{"upTo":500},"every":"MONTH","day":5,"month":null,"time":"09:00","shift":"NONE","proRata":false,"onShortage":"NOTHING","from":null,"until":"07.02.2026","reference":null}"#,
            "GET /v1/programmes",
            "GET /v1/programme/ID",
            "POST /v1/programme/ID/pause",
            "POST /v1/programme/ID/resume",
            "POST /v1/programme/ID/approve {}",
            "POST /v1/programme/ID/refuse {}",
            "GET /v1/programme/ID/runs",
            "GET /v1/programmes/forecast?until=07.02.2026",
            r#"POST /v1/programmes/forecast {"name":"Meals","for":{"idCategory":["ID"]},"statuses":["WORK","VACATION","MEDICAL"],"amount":{"upTo":500},"every":"MONTH","day":5,"month":null,"time":"09:00","shift":"NONE","proRata":false,"onShortage":"NOTHING","from":null,"until":"07.02.2026","reference":null}"#,
            r#"POST /v1/programmes/forecast {"name":"Meals","for":{"idCategory":["ID"]},"statuses":["WORK","VACATION","MEDICAL"],"amount":{"upTo":500},"every":"MONTH","day":5,"month":null,"time":"09:00","shift":"NONE","proRata":false,"onShortage":"NOTHING","from":null,"until":"07.02.2026","reference":null,"idProgramme":"ID","forecastUntil":"07.02.2026"}"#,
            "DELETE /v1/programme/ID",
            "GET /v1/runs?idProgramme=ID",
        ]
    );
}
