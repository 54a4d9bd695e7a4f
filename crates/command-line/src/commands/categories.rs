//! `kopeck call categories …`.

use clap::Subcommand;
use kopeck_client::Client;

use super::shown;
use crate::context::IdempotencyArgs;
use crate::failure::Failure;
use crate::names::CategoryName;
use crate::output::Output;
use crate::pages::PageArgs;
use crate::table::{Column, number, text};

/// Commands for categories.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum CategoriesCommand {
    /// List categories, the first created first.
    List {
        #[command(flatten)]
        page: PageArgs,
    },
    /// Create a category.
    Create {
        /// Its name, 1 to 128 characters.
        name: String,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// Rename a category.
    Rename {
        /// The category.
        category: CategoryName,
        /// Its new name.
        name: String,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
    /// Delete a category that no employee has.
    Delete {
        /// The category.
        category: CategoryName,
        #[command(flatten)]
        repeat: IdempotencyArgs,
    },
}

const COLUMNS: [Column; 3] =
    [text("idCategory", "/idCategory"), text("name", "/nameCategory"), number("employees", "/employees")];

pub(super) async fn run(client: &Client, command: CategoriesCommand) -> Result<Output, Failure> {
    let categories = client.categories();
    match command {
        CategoriesCommand::List { page } => page.answer(&COLUMNS, categories.all()).await,
        CategoriesCommand::Create { name, repeat } => {
            shown(&repeat.send(categories.create(&name)).await?, &COLUMNS[..2])
        }
        CategoriesCommand::Rename { category, name, repeat } => {
            let id = category.resolve(client).await?;
            shown(&repeat.send(categories.rename(id, &name)).await?, &COLUMNS[..2])
        }
        CategoriesCommand::Delete { category, repeat } => {
            let id = category.resolve(client).await?;
            shown(&repeat.send(categories.delete(id)).await?, &COLUMNS[..2])
        }
    }
}
