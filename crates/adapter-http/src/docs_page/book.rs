//! The partners' part of the book as Markdown, for readers that are programs, and its table of contents, `/llms.txt`.

use actix_web::web::Bytes;

use super::File;
use crate::markdown::{linked, without_directions};

const MARKDOWN: &str = "text/markdown; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
const PNG: &str = "image/png";

/// Declares pages by their paths below `docs/`, below which they are served too.
macro_rules! pages {
    ($($path:literal),* $(,)?) => {
        const PATHS: &[&str] = &[$($path),*];

        static PAGES: [File; PATHS.len()] = [$(
            File::new(concat!("/docs/", $path), MARKDOWN, || {
                served($path, include_str!(concat!("../../../../docs/", $path))).into()
            }),
        )*];
    };
}

pages! {
    "README.md",
    "guide/first-call.md",
    "guide/sealing.md",
    "guide/requests.md",
    "guide/retries.md",
    "guide/errors.md",
    "guide/events.md",
    "guide/lost-card.md",
    "guide/leaver.md",
    "guide/payday.md",
    "guide/month-end.md",
    "guide/sandbox.md",
    "guide/who-may-do-what.md",
    "guide/console.md",
    "guide/console-first-day.md",
    "guide/console-payday.md",
    "guide/console-month-end.md",
    "guide/limits-of-use.md",
    "guide/firewall.md",
    "guide/reference.md",
    "API.md",
    "SEALING.md",
    "COMMAND-LINE.md",
}

/// Declares pictures by their names in `docs/images/`.
macro_rules! pictures {
    ($($name:literal),* $(,)?) => {
        const PICTURES: &[&str] = &[$($name),*];

        static IMAGES: [File; PICTURES.len()] = [$(
            File::new(concat!("/docs/images/", $name), PNG, || {
                Bytes::from_static(include_bytes!(concat!("../../../../docs/images/", $name)))
            }),
        )*];
    };
}

pictures! {
    "console-month.png",
    "console-person.png",
    "console-preview.png",
    "console-result.png",
    "console-report.png",
    "console-closed.png",
}

static CONTENTS: File =
    File::new("/llms.txt", TEXT, || contents(include_str!("../../../../docs/README.md")).into());

/// The page at this path.
pub(super) fn page(path: &str) -> Option<&'static File> {
    if path == CONTENTS.path {
        return Some(&CONTENTS);
    }
    PAGES.iter().chain(&IMAGES).find(|page| page.path == path)
}

/// A page as it is served.
fn served(path: &str, text: &str) -> String {
    linked(&without_directions(text), |target| address(path, target)) + "\n"
}

/// Where a link of the page at `path` leads: to a served page or file, or to another host. Other files of the project are
/// not served.
fn address(path: &str, target: &str) -> Option<String> {
    if target.starts_with('#') || target.contains("://") {
        return Some(target.to_owned());
    }
    let (file, heading) =
        target.split_once('#').map_or((target, None), |(file, heading)| (file, Some(heading)));
    let address = match resolved(path, file) {
        page if PATHS.contains(&page.as_str()) => format!("/docs/{page}"),
        image if image.strip_prefix("images/").is_some_and(|name| PICTURES.contains(&name)) => {
            format!("/docs/{image}")
        }
        document if document == "openapi.json" => "/openapi.json".to_owned(),
        data => {
            let name = data.strip_prefix("../crates/sealing/tests/data/")?;
            format!("/docs/{name}")
        }
    };
    Some(heading.map_or(address.clone(), |heading| format!("{address}#{heading}")))
}

/// The path below `docs/` that `file` means in the page at `path`.
fn resolved(path: &str, file: &str) -> String {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in file.split('/') {
        match part {
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// The contents of the book in the form of [llms.txt](https://llmstxt.org): a heading, a summary, lists of links.
fn contents(book: &str) -> String {
    let mut text = String::from(
        "# Kopeck\n\n> The HTTP API of an employee-benefit payment-card programme: employees, cards, top-ups, spending limits, \
         withdrawals, statements, events and webhooks.\n\nAmounts are integers of kopecks. Every change takes an idempotency \
         key, so that it can be retried. Bodies may have to be sealed (encrypted): read about sealing before you write a client \
         without one of the ready ones.\n\n## Guide\n\n",
    );
    for line in book.lines() {
        // A chapter: `3. [Title](guide/page.md): what it tells.`
        let Some((_, entry)) = line.split_once(". [").filter(|(number, _)| number.parse::<u8>().is_ok())
        else {
            continue;
        };
        text.push_str(&linked(&format!("- [{entry}\n"), |target| address("README.md", target)));
    }
    text.push_str(
        "\n## Reference\n\n\
         - [OpenAPI 3.1](/openapi.json): every operation, with examples\n\
         - [The API](/docs/API.md): every operation in prose, with examples\n\
         - [The sealed format](/docs/SEALING.md): byte by byte\n\
         - [Test vectors](/docs/vectors.json): sealed values, and [forgeries](/docs/forgeries.json) that have to be refused\n\n\
         ## Optional\n\n\
         - [The command line](/docs/COMMAND-LINE.md): `kopeck call`, each command\n\
         - [The book](/docs/README.md): how the pages belong together\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_served_addresses_or_are_plain_text() {
        for (path, target, expected) in [
            ("guide/errors.md", "retries.md#keys", Some("/docs/guide/retries.md#keys")),
            ("guide/errors.md", "../API.md#codes", Some("/docs/API.md#codes")),
            ("API.md", "guide/retries.md", Some("/docs/guide/retries.md")),
            ("API.md", "#paging", Some("#paging")),
            ("guide/reference.md", "../openapi.json", Some("/openapi.json")),
            ("guide/console.md", "../images/console-month.png", Some("/docs/images/console-month.png")),
            ("SEALING.md", "../crates/sealing/tests/data/vectors.json", Some("/docs/vectors.json")),
            ("guide/sealing.md", "https://rustup.rs", Some("https://rustup.rs")),
            ("README.md", "OPERATIONS.md", None),
            ("guide/reference.md", "../../crates/client/README.md", None),
        ] {
            assert_eq!(address(path, target).as_deref(), expected, "{path}: {target}");
        }
        let text = "See [a](retries.md), [b](../OPERATIONS.md) and\n<!-- advance 1m -->\n[c](#d).";
        let expected = "See [a](/docs/guide/retries.md), b and\n[c](#d).\n";
        assert_eq!(served("guide/errors.md", text), expected);
    }

    #[test]
    fn the_contents_list_each_chapter() {
        let contents = contents(include_str!("../../../../docs/README.md"));
        assert!(contents.starts_with("# Kopeck\n\n> "), "{contents}");
        for path in PATHS.iter().filter(|path| **path != "README.md") {
            assert!(contents.contains(&format!("](/docs/{path})")), "{path} is not in\n{contents}");
        }
    }

    /// The chapters under "Guide" and "Details" of the summary: what partners read.
    #[test]
    fn every_page_for_partners_is_served() {
        let summary = include_str!("../../../../docs/SUMMARY.md");
        let (_, partners) = summary.split_once("[The Kopeck book]").unwrap();
        let (partners, _) = partners.split_once("# For operators").unwrap();
        let links = partners.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
        let mut listed: Vec<&str> = links.collect();
        listed.insert(0, "README.md");
        assert_eq!(listed, PATHS);
    }
}
