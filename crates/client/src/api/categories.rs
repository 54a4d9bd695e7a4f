//! Categories of employees.

use kopeck_api::{Category, CategoryWithCount, Page, Paging, operations};
use serde::Serialize;
use uuid::Uuid;

use crate::client::Client;
use crate::error::Error;
use crate::records::Records;
use crate::request::Request;
use crate::write::Write;

/// Operations on categories of employees; see [`Client::categories`].
#[derive(Debug, Clone, Copy)]
pub struct Categories<'a> {
    client: &'a Client,
}

impl<'a> Categories<'a> {
    pub(crate) const fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// Creates a category. Names are 1 to 128 characters and unique; letter case does not matter.
    pub fn create(&self, name: &str) -> Write<Category> {
        self.client.write(Request::of(&operations::CATEGORY_CREATE).body(&Body { name_category: name }))
    }

    /// Renames a category.
    pub fn rename(&self, id_category: Uuid, name: &str) -> Write<Category> {
        let request = Request::of(&operations::CATEGORY_RENAME).id(id_category);
        self.client.write(request.body(&Body { name_category: name }))
    }

    /// Deletes a category that no employee has, and returns what it was.
    pub fn delete(&self, id_category: Uuid) -> Write<Category> {
        self.client.write(Request::of(&operations::CATEGORY_DELETE).id(id_category))
    }

    /// Lists categories, the first created first.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn list(&self, paging: Paging) -> Result<Page<CategoryWithCount>, Error> {
        self.all().page(paging).await
    }

    /// All categories, the first created first, page by page on demand.
    pub fn all(&self) -> Records<CategoryWithCount> {
        let request = Request::of(&operations::CATEGORY_LIST);
        Records::new(self.client, request, |one| one.id_category.as_u128())
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    name_category: &'a str,
}
