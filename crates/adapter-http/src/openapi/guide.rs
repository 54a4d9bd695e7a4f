//! Parses `docs/API.md` and `docs/SEALING.md`: introduction, groups of operations, prose and examples of each
//! operation. A test executes the examples.

use kopeck_api::Code;

use crate::json::Json;
use crate::markdown::{self, without_directions};
use crate::operation::Operation;

const PAGE: &str = include_str!("../../../../docs/API.md");
const SEALING: &str = include_str!("../../../../docs/SEALING.md");

/// The chapters before the operations.
const INTRODUCTION: [&str; 2] = ["First requests", "Conventions"];

/// The parsed pages.
pub(super) struct Guide<'a> {
    chapters: Vec<Chapter<'a>>,
    examples: Vec<Example<'a>>,
}

/// A chapter: a heading of the second level.
struct Chapter<'a> {
    title: &'a str,
    text: &'a str,
    sections: Vec<Section<'a>>,
}

/// A section: a heading of the third level.
struct Section<'a> {
    title: &'a str,
    text: &'a str,
}

/// A request with its response.
pub(super) struct Example<'a> {
    method: &'a str,
    path: &'a str,
    /// The request body.
    pub(super) body: Option<Json>,
    /// The status code of the response.
    pub(super) status: u16,
    /// The response body.
    pub(super) answer: Json,
}

impl Guide<'static> {
    /// Parses the pages.
    pub(super) fn read() -> Self {
        let chapters = split(PAGE, "\n## ").into_iter().skip(1).map(chapter).collect();
        Self { chapters, examples: examples(PAGE) }
    }
}

impl<'a> Guide<'a> {
    /// First requests, conventions, and sealing.
    pub(super) fn introduction(&self) -> String {
        let chapters = self.chapters.iter().filter(|chapter| INTRODUCTION.contains(&chapter.title));
        let mut text: String =
            chapters.map(|chapter| format!("## {}\n{}\n", chapter.title, chapter.text)).collect();
        let (_, sealing) = SEALING.split_once("# Sealing\n").unwrap_or_default();
        text.push_str("## How to seal\n");
        text.push_str(&sealing.replace("\n## ", "\n### "));
        linked(&without_directions(&text))
    }

    /// The groups of operations with their introductions.
    pub(super) fn tags(&self) -> impl Iterator<Item = (&'a str, String)> {
        let chapters = self.chapters.iter().filter(|chapter| !INTRODUCTION.contains(&chapter.title));
        chapters.map(|chapter| {
            let own = chapter.text.split_once("\n### ").map_or(chapter.text, |(own, _)| own);
            (
                chapter.title,
                linked(&without_directions(own.split("```http").next().unwrap_or_default().trim())),
            )
        })
    }

    /// Group, title and prose of an operation. A section on two paths has a title for each.
    pub(super) fn operation(&self, operation: &Operation) -> (&'a str, String, String) {
        let signature = format!("`{} {}`", operation.method, operation.path);
        let sections = self
            .chapters
            .iter()
            .flat_map(|chapter| chapter.sections.iter().map(move |section| (chapter, section)));
        let found =
            sections.into_iter().find(|(_, section)| section.text.lines().any(|line| line == signature));
        found.map_or(("", String::new(), String::new()), |(chapter, section)| {
            let title = match section.text.lines().filter(|line| is_signature(line)).count() {
                0 | 1 => section.title.to_owned(),
                _ if operation.path.contains('{') => format!("{} by path", section.title),
                _ => format!("{} by query", section.title),
            };
            (chapter.title, title, prose(section.text))
        })
    }

    /// The examples of an operation, in the order of the page.
    pub(super) fn examples(&self, operation: &Operation) -> impl Iterator<Item = &Example<'a>> {
        let pattern = operation.path;
        self.examples.iter().filter(move |example| {
            let fits = |(pattern, segment): (&str, &str)| pattern == segment || pattern.starts_with('{');
            let path = example.path.split('?').next().unwrap_or_default().trim_end_matches('/');
            operation.methods().iter().any(|method| method.as_str() == example.method)
                && path.split('/').count() == pattern.split('/').count()
                && pattern.split('/').zip(path.split('/')).all(fits)
                // A literal segment of another path is no identifier.
                && !crate::operations::all().any(|other| other.path == path && path != pattern)
        })
    }

    /// Meaning and advice of an error code, from the table of codes.
    pub(super) fn code(&self, status: u16, code: Code) -> Option<String> {
        let row = format!("| `{}` | {status} | ", code.as_str());
        let mut conventions = self.chapters.iter().flat_map(|chapter| chapter.text.lines());
        let (meaning, advice) = conventions.find_map(|line| line.strip_prefix(&row))?.split_once(" | ")?;
        Some(format!("{meaning}; {}", advice.trim_end_matches(" |")))
    }

    /// The scopes in the section of an operation, from its line `Scope: …`.
    #[cfg(test)]
    pub(super) fn scopes(&self, operation: &Operation) -> Vec<&'a str> {
        let signature = format!("`{} {}`", operation.method, operation.path);
        let mut sections = self.chapters.iter().flat_map(|chapter| &chapter.sections);
        let section = sections.find(|section| section.text.lines().any(|line| line == signature)).unwrap();
        let line = section.text.lines().find_map(|line| line.strip_prefix("Scope: "));
        line.into_iter().flat_map(|line| line.split(", ")).map(|word| word.trim_matches('`')).collect()
    }

    /// The errors in the section of an operation: `Errors: 404 `code`, 422`.
    #[cfg(test)]
    pub(super) fn errors(&self, operation: &Operation) -> Vec<(u16, String)> {
        let signature = format!("`{} {}`", operation.method, operation.path);
        let mut sections = self.chapters.iter().flat_map(|chapter| &chapter.sections);
        let section = sections.find(|section| section.text.lines().any(|line| line == signature)).unwrap();
        let paragraph = section.text.split("\n\n").find_map(|paragraph| paragraph.strip_prefix("Errors: "));
        let (mut status, mut errors) = (0, Vec::new());
        for word in paragraph.unwrap_or_default().split([' ', ',', ';', '\n']) {
            match word.parse() {
                Ok(number) => status = number,
                Err(_) if word.starts_with('`') => errors.push((status, word.trim_matches('`').to_owned())),
                Err(_) => {}
            }
        }
        errors
    }
}

fn chapter(text: &str) -> Chapter<'_> {
    let (title, text) = text.split_once('\n').unwrap_or((text, ""));
    let sections = split(text, "\n### ").into_iter().skip(1).map(|text| {
        let (title, text) = text.split_once('\n').unwrap_or((text, ""));
        Section { title, text }
    });
    Chapter { title, text, sections: sections.collect() }
}

fn split<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
    text.split(heading).collect()
}

fn is_signature(line: &str) -> bool {
    line.starts_with('`') && line.ends_with('`') && line.contains(" /")
}

/// The prose before the first example, without signatures, tables of fields and errors, which the document has
/// elsewhere.
fn prose(text: &str) -> String {
    let before = text.split("```http").next().unwrap_or_default();
    let told = |paragraph: &&str| {
        let fields = ["| field | type | rule |\n", "| field | type | what", "| parameter |"]
            .iter()
            .any(|head| paragraph.starts_with(head));
        !(is_signature(paragraph)
            || fields
            || paragraph.starts_with("Errors:")
            || paragraph.trim().is_empty())
    };
    let mut paragraphs: Vec<&str> = before.split("\n\n").map(str::trim).filter(told).collect();
    // A last line with a colon introduces an example, which is not here.
    if text.contains("```http")
        && paragraphs.len() > 1
        && paragraphs.last().is_some_and(|last| last.ends_with(':'))
    {
        paragraphs.pop();
    }
    linked(&without_directions(&paragraphs.join("\n\n")))
}

/// Points links to the reference page and the files served with it. Links to other files of the project become plain
/// text.
fn linked(text: &str) -> String {
    markdown::linked(text, address)
}

/// The served address of a link target.
fn address(target: &str) -> Option<String> {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    match file {
        "SEALING.md" if heading.is_empty() => Some("/docs#how-to-seal".to_owned()),
        "" | "API.md" | "SEALING.md" => Some(format!("/docs#{heading}")),
        "openapi.json" => Some("/openapi.json".to_owned()),
        _ => {
            let name = file.rsplit('/').next().unwrap_or_default();
            file.contains("sealing/tests/data/").then(|| format!("/docs/{name}"))
        }
    }
}

fn examples(page: &str) -> Vec<Example<'_>> {
    let blocks: Vec<&str> =
        split(page, "```http\n").into_iter().skip(1).filter_map(|block| block.split("```").next()).collect();
    blocks
        .windows(2)
        .filter_map(|pair| <&[&str; 2]>::try_from(pair).ok().and_then(|[call, answer]| example(call, answer)))
        .collect()
}

/// The example of two blocks, if they are a request and its response.
fn example<'a>(call: &'a str, answer: &str) -> Option<Example<'a>> {
    let status = answer.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    let (_, answer) = answer.split_once("\n\n")?;
    let (head, body) = call.split_once("\n\n").unwrap_or((call, ""));
    let (method, path) = head.lines().next()?.split_once(' ')?;
    let body = if body.is_empty() { None } else { Some(serde_json::from_str(body).ok()?) };
    Some(Example { method, path, body, status, answer: serde_json::from_str(answer).ok()? })
}
