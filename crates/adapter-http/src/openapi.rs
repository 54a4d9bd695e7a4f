//! The OpenAPI 3.1 document, generated from the declarations of the operations, their readers and response types, and
//! the enums and bounds of the domain. Prose and examples come from `docs/API.md`, whose examples a test executes.

mod components;
mod guide;
mod operation;
mod webhooks;

use crate::json::{Json, object};
use crate::operation::Operation;
use crate::operations;
use crate::schema::Components;
use guide::Guide;

/// The document as JSON, with a final line break. It always contains the operations of the sandbox, marked with
/// `x-sandbox`.
#[must_use]
pub fn openapi() -> String {
    let guide = Guide::read();
    let mut components = Components::default();
    let paths = paths(&guide, &mut components);
    let webhooks = webhooks::webhooks(&mut components);
    let document = object! {
        "openapi": "3.1.0",
        "info": object! {
            "title": "Kopeck",
            "summary": "Employee-benefit payment-card programmes: employees, cards, top-ups, limits.",
            "version": env!("CARGO_PKG_VERSION"),
            "contact": object! {"name": "The operator of this service"},
            "license": object! {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            "description": guide.introduction(),
        },
        "servers": vec![object! {"url": "/", "description": "The service that serves this document."}],
        "externalDocs": object! {"url": "/docs", "description": "The same to read, with a form to try each call."},
        "tags": Json::list(guide.tags().map(|(name, about)| object! {"name": name, "description": about})),
        "paths": paths,
        "webhooks": webhooks,
        "components": components::components(components, &guide),
    };
    // Serialization fails only for maps with keys other than strings.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

/// All operations by path and method, in the order of the table.
fn paths(guide: &Guide<'_>, components: &mut Components) -> Json {
    let mut paths: Vec<(String, Json)> = Vec::new();
    let sandbox = operations::sandbox().map(|operation| (operation, true));
    for (operation, sandbox) in operations::interface().map(|operation| (operation, false)).chain(sandbox) {
        for method in operation.methods() {
            let described = operation::describe(operation, sandbox, guide, components);
            let item = match paths.iter_mut().find(|(path, _)| path == operation.path) {
                Some((_, item)) => item,
                None => {
                    paths.push((operation.path.to_owned(), object! {}));
                    let Some((_, item)) = paths.last_mut() else { continue };
                    item
                }
            };
            let name = method.as_str().to_lowercase();
            *item = std::mem::replace(item, Json::Null).with(&name, alias(described, operation, &name));
        }
    }
    Json::Object(paths)
}

/// `PATCH` equals `PUT`, with another operation id, as OpenAPI requires.
fn alias(described: Json, operation: &Operation, method: &str) -> Json {
    if method != "patch" {
        return described;
    }
    described.with("operationId", format!("{}.patch", operation.name)).with("x-alias-of", operation.name)
}

#[cfg(test)]
mod tests;
