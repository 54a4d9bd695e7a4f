//! Pages of `docs/` as the service shows them: in the OpenAPI document, and as Markdown.

/// Removes the comments that steer the tests of the pages.
pub(crate) fn without_directions(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("<!--")).collect::<Vec<_>>().join("\n")
}

/// Points each link to its served address; one without becomes plain text.
pub(crate) fn linked(text: &str, address: impl Fn(&str) -> Option<String>) -> String {
    let mut linked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("](")
        && let Some((target, after)) = behind.split_once(')')
        && let Some((before, words)) = before.rsplit_once('[')
    {
        linked.push_str(before);
        match address(target) {
            Some(address) => linked.push_str(&format!("[{words}]({address})")),
            None => linked.push_str(words),
        }
        rest = after;
    }
    linked + rest
}
