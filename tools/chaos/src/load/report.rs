//! The report of a month as its readers see it.

use kopeck_client::{Client, Error, FileFormat, Language, ReportFilter};
use sha2::{Digest as _, Sha256};

/// The SHA-256 of the report's plain file, in hexadecimal digits.
pub(crate) async fn sum_of_report(client: &Client, month: &str) -> Result<String, Error> {
    let (statements, filter) = (client.statements(), ReportFilter::default());
    let mut file = statements.report_file(month, &filter, FileFormat::Csv, &Language::English).await?;
    let mut sum = Sha256::new();
    while let Some(chunk) = file.chunk().await? {
        sum.update(chunk);
    }
    Ok(sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
