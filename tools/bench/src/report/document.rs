//! The parts of a document between markers.

use anyhow::Context as _;

/// `page` with `text` between the markers of `part`; what stands around them is kept.
///
/// # Errors
/// If the markers are not there.
pub(super) fn replace(page: &str, part: &str, text: &str) -> anyhow::Result<String> {
    let (begin, end) = (format!("<!-- {part}: measured -->"), format!("<!-- {part}: end -->"));
    let missing = || format!("the document has no part {part:?}");
    let (before, rest) = page.split_once(&begin).with_context(missing)?;
    let (_, after) = rest.split_once(&end).with_context(missing)?;
    Ok(format!("{before}{begin}\n\n{}\n\n{end}{after}", text.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::replace;

    #[test]
    fn the_text_around_the_table_is_kept() {
        let page = "# A\n<!-- x: measured -->\nold\n<!-- x: end -->\nB\n";
        let new = replace(page, "x", "new\n").unwrap();
        assert_eq!(new, "# A\n<!-- x: measured -->\n\nnew\n\n<!-- x: end -->\nB\n");
        assert_eq!(replace(&new, "x", "new\n").unwrap(), new);
        assert!(replace(page, "y", "new").is_err());
    }
}
