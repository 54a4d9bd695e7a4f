//! A chapter taken apart.

use std::fmt::Write as _;

/// A part of a chapter.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    Prose(&'a str),
    Block(Block<'a>),
}

/// A fenced block.
#[derive(Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// The text behind the fence.
    pub info: &'a str,
    /// Without its last line feed.
    pub text: &'a str,
}

/// The purpose of a block.
#[derive(Debug, PartialEq, Eq)]
pub enum BlockKind<'a> {
    /// A reader pastes it into the terminal of the chapter, if they have these tools.
    Paste(Vec<&'a str>),
    /// A reader leaves it running in a separate terminal.
    Server,
    /// The output of the paste before it.
    Output,
    /// For the eye alone.
    Picture,
    /// Stands in this file, line for line.
    File(&'a str),
}

impl<'a> Block<'a> {
    /// Panics for a block that says nothing about itself, so that nothing is left out in silence.
    pub fn kind(&self) -> BlockKind<'a> {
        let words: Vec<&str> = self.info.split(' ').collect();
        match words[..] {
            ["sh"] => BlockKind::Paste(Vec::new()),
            ["sh", "server"] => BlockKind::Server,
            ["text" | "json"] => BlockKind::Output,
            ["text", "picture"] => BlockKind::Picture,
            [language, word] => match (language, word.split_once('=')) {
                ("sh", Some(("needs", tools))) => BlockKind::Paste(tools.split(',').collect()),
                (_, Some(("file", path))) => BlockKind::File(path),
                _ => panic!("no such block: {}", self.info),
            },
            _ => panic!("this block does not say what it is there for: ```{}\n{}", self.info, self.text),
        }
    }

    pub fn write(&self, page: &mut String) {
        let Self { info, text } = self;
        writeln!(page, "```{info}\n{text}\n```").unwrap();
    }
}

/// The blocks of a chapter, and what lies between.
pub fn pieces(page: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = page;
    while let Some((prose, block)) = rest.split_once("```") {
        let (block, behind) = block.split_once("\n```\n").unwrap_or_else(|| panic!("an open block: {block}"));
        let (info, text) = block.split_once('\n').unwrap_or_else(|| panic!("an empty block: {block}"));
        pieces.extend([Piece::Prose(prose), Piece::Block(Block { info, text })]);
        rest = behind;
    }
    pieces.push(Piece::Prose(rest));
    pieces
}

/// Whether a page shows what was printed. `…` on the page is anything within a line, and alone on its line any lines.
pub fn fits(page: &str, printed: &str) -> bool {
    lines_fit(&page.lines().collect::<Vec<_>>(), &printed.lines().collect::<Vec<_>>())
}

fn lines_fit(page: &[&str], printed: &[&str]) -> bool {
    match (page, printed) {
        ([], printed) => printed.is_empty(),
        (["…", page @ ..], _) => (0..=printed.len()).any(|skip| lines_fit(page, &printed[skip..])),
        ([first, page @ ..], [line, printed @ ..]) => line_fits(first, line) && lines_fit(page, printed),
        (_, []) => false,
    }
}

fn line_fits(page: &str, line: &str) -> bool {
    let mut pieces = page.split('…');
    let Some(mut rest) = pieces.next().and_then(|start| line.strip_prefix(start)) else {
        return false;
    };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(end) = pieces.pop() else {
        return rest.is_empty();
    };
    for piece in pieces {
        match rest.split_once(piece) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(end)
}

#[test]
fn dots_stand_for_what_varies() {
    assert!(fits("one\n…\nlast", "one\ntwo\nthree\nlast"));
    assert!(fits("one\n…", "one"));
    assert!(fits("eyJ…x, eyJ…y.", "eyJabcx, eyJdefy."));
    for (page, printed) in
        [("one", "one\ntwo"), ("one\ntwo", "one"), ("a…a", "a"), ("a…b…c", "abdc…"), ("a", "b")]
    {
        assert!(!fits(page, printed), "{page} is not {printed}");
    }
}

#[test]
fn a_chapter_comes_together_again() {
    let page = "# One\n\n```sh\nls\n```\n\n```text\na\nb\n```\nend\n";
    let pieces = pieces(page);
    let mut whole = String::new();
    for piece in &pieces {
        match piece {
            Piece::Prose(prose) => whole.push_str(prose),
            Piece::Block(block) => block.write(&mut whole),
        }
    }
    assert_eq!((pieces.len(), whole.as_str()), (5, page));
}

#[test]
#[should_panic(expected = "does not say what it is there for")]
fn a_block_that_no_test_runs_is_refused() {
    Block { info: "python", text: "print(1)" }.kind();
}
