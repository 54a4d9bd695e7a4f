//! Programmes: rules that make a run for each period.

use kopeck_api::wire::WireText as _;
use kopeck_api::{Data, Page, Paging, Programme, ProgrammeForecast, ProgrammeTerms, Run, operations};
use serde::Serialize;
use serde_json::json;
use time::Date;
use uuid::Uuid;

use crate::client::Client;
use crate::error::Error;
use crate::records::Records;
use crate::request::Request;
use crate::write::Write;

/// The body of a preview.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Preview<'a> {
    #[serde(flatten)]
    terms: &'a ProgrammeTerms,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_programme: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forecast_until: Option<String>,
}

/// Operations on programmes; see [`Client::programmes`].
#[derive(Debug, Clone, Copy)]
pub struct Programmes<'a> {
    client: &'a Client,
}

impl<'a> Programmes<'a> {
    pub(crate) const fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// Creates a programme. It waits for an approval if a period of it can move more than your threshold.
    pub fn create(&self, terms: &ProgrammeTerms) -> Write<Programme> {
        self.client.write(Request::of(&operations::PROGRAMME_CREATE).body(terms))
    }

    /// Lists programmes, the first created first; there are 100 at most.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn list(&self, paging: Paging) -> Result<Page<Programme>, Error> {
        self.all().page(paging).await
    }

    /// All programmes, the first created first.
    pub fn all(&self) -> Records<Programme> {
        let request = Request::of(&operations::PROGRAMME_LIST);
        Records::new(self.client, request, |one| one.id_programme.as_u128())
    }

    /// The programme with this identifier.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn get(&self, id_programme: Uuid) -> Result<Programme, Error> {
        self.client.read(Request::of(&operations::PROGRAMME_GET).id(id_programme)).await
    }

    /// Gives a programme other terms, for the periods that have no run yet.
    pub fn change(&self, id_programme: Uuid, terms: &ProgrammeTerms) -> Write<Programme> {
        self.client.write(Request::of(&operations::PROGRAMME_CHANGE).id(id_programme).body(terms))
    }

    /// Deletes a programme. Its runs stay.
    pub fn delete(&self, id_programme: Uuid) -> Write<Programme> {
        self.client.write(Request::of(&operations::PROGRAMME_DELETE).id(id_programme))
    }

    /// Pauses a programme: it makes no run until it is resumed.
    pub fn pause(&self, id_programme: Uuid) -> Write<Programme> {
        self.client.write(Request::of(&operations::PROGRAMME_PAUSE).id(id_programme))
    }

    /// Resumes a programme. What was due meanwhile is not made up for.
    pub fn resume(&self, id_programme: Uuid) -> Write<Programme> {
        self.client.write(Request::of(&operations::PROGRAMME_RESUME).id(id_programme))
    }

    /// Approves a programme that another has created, or the change of it that waits.
    pub fn approve(&self, id_programme: Uuid) -> Write<Programme> {
        self.client.write(Request::of(&operations::PROGRAMME_APPROVE).id(id_programme).body(&json!({})))
    }

    /// Refuses a programme, or the change of it that waits.
    pub fn refuse(&self, id_programme: Uuid) -> Write<Programme> {
        self.client.write(Request::of(&operations::PROGRAMME_REFUSE).id(id_programme).body(&json!({})))
    }

    /// The runs of a programme, newest first, page by page on demand.
    pub fn runs(&self, id_programme: Uuid) -> Records<Run> {
        let request = Request::of(&operations::PROGRAMME_RUNS).id(id_programme);
        Records::new(self.client, request, |one| one.id_run.as_u128())
    }

    /// What all programmes will do up to and on a day, if nothing else changes until then; at most 366 days ahead.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn forecast(&self, until: Date) -> Result<Vec<ProgrammeForecast>, Error> {
        let request = Request::of(&operations::PROGRAMME_FORECAST).query("until", Some(until.text()));
        let whole: Data<Vec<ProgrammeForecast>> = self.client.read(request).await?;
        Ok(whole.data)
    }

    /// As [`forecast`](Self::forecast), as if these terms were in force: those of a new programme, whose identifier is nil, or in the
    /// place of those of `instead_of`. Nothing is changed. `until` is 92 days ahead by default.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn preview(
        &self,
        terms: &ProgrammeTerms,
        instead_of: Option<Uuid>,
        until: Option<Date>,
    ) -> Result<Vec<ProgrammeForecast>, Error> {
        let body = Preview { terms, id_programme: instead_of, forecast_until: until.map(|day| day.text()) };
        let request = Request::of(&operations::PROGRAMME_PREVIEW).body(&body);
        let whole: Data<Vec<ProgrammeForecast>> = self.client.read(request).await?;
        Ok(whole.data)
    }
}
