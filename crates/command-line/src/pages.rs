//! Lists: one page or all.

use clap::Args;
use kopeck_client::{Paging, Records};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::arguments::whole;
use crate::failure::Failure;
use crate::output::{Output, json_of};
use crate::table::{self, Column};

/// The most records that the service puts on a page.
pub(crate) const LARGEST_PAGE: u64 = 500;

/// The page of a list.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct PageArgs {
    /// The number of the page, from 1.
    #[arg(long, default_value_t = 1, value_parser = whole(1, None::<u64>))]
    page: u64,
    /// Records on a page, 1 to 500; the default is that of the service.
    #[arg(long, value_parser = whole(1, None::<u64>))]
    per_page: Option<u64>,
    /// All pages, one after the other.
    #[arg(long, conflicts_with_all = ["page", "per_page"])]
    all: bool,
}

impl PageArgs {
    /// Lists records, as the arguments say.
    pub(crate) async fn answer<T: Serialize + DeserializeOwned>(
        self,
        columns: &[Column],
        records: Records<T>,
    ) -> Result<Output, Failure> {
        if self.all {
            let all = records.per_page(LARGEST_PAGE).collect().await?;
            let records = all.iter().map(json_of).collect::<Result<Vec<_>, _>>()?;
            let text = format!("{}{} in all\n", table::list(&records, columns), records.len());
            return Ok(Output::new(json!({ "data": records }), text));
        }
        let paging = Paging { page: Some(self.page), per_page: self.per_page };
        let page = records.page(paging).await?;
        let meta = &page.meta;
        let of_all = meta.total.map(|total| format!(", {total} in all")).unwrap_or_default();
        let place = format!("page {} of {}{of_all}\n", meta.current_page, meta.last_page);
        let records = page.data.iter().map(json_of).collect::<Result<Vec<_>, _>>()?;
        let text = table::list(&records, columns) + &place;
        Ok(Output::new(json!({ "data": records, "meta": json_of(meta)? }), text))
    }
}
