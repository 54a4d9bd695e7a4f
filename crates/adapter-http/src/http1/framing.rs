//! The end of a request: of its head the empty line, of its body the announced length or the last chunk.
//!
//! This only counts bytes. What a request means is decided by the dispatcher's parser, and both read the same bytes in
//! the same order, so a difference between the two cannot smuggle a request: it ends the connection.

use actix_web::dev::RequestHead;
use actix_web::http::{Method, header};

use crate::pipeline::head::announced_length;

/// Looks for the end of a head, which may arrive in parts.
#[derive(Debug, Default)]
pub(super) struct HeadScan {
    line: Line,
    announced: Announced,
}

/// The position within a head.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Before the request line. As `httparse`, it passes over empty lines.
    #[default]
    Before,
    Within,
    Start,
    /// Behind the CR of a line that is empty so far.
    Return,
}

/// The framing of a body, by its head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Announced {
    /// The length in bytes; 0 without a length.
    Length(u64),
    /// Unknown without the dispatcher's parser: the head came in parts, or is unusual.
    Unknown,
}

impl Default for Announced {
    fn default() -> Self {
        Self::Length(0)
    }
}

impl HeadScan {
    /// Whether no byte of the request line has been seen.
    pub(super) fn is_before(&self) -> bool {
        self.line == Line::Before
    }

    /// The framing that the head announced.
    pub(super) const fn announced(&self) -> Announced {
        self.announced
    }

    /// The number of bytes up to the end of the head, if it is in `bytes`. All bytes are part of the head otherwise.
    pub(super) fn end_in(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut rest = bytes;
        if self.is_before() {
            let blank = rest.iter().take_while(|byte| matches!(**byte, b'\r' | b'\n')).count();
            rest = rest.get(blank..).filter(|rest| !rest.is_empty())?;
            self.line = Line::Within;
        } else {
            self.announced = Announced::Unknown;
        }
        loop {
            let passed = match (self.line, rest.first()?) {
                (Line::Start | Line::Return, b'\n') => return Some(bytes.len() - rest.len() + 1),
                (Line::Start, b'\r') => {
                    self.line = Line::Return;
                    1
                }
                (Line::Start, _) => {
                    self.note(rest);
                    self.line = Line::Within;
                    0
                }
                (Line::Within | Line::Return | Line::Before, _) => {
                    let end = memchr::memchr(b'\n', rest);
                    self.line = if end.is_some() { Line::Start } else { Line::Within };
                    end? + 1
                }
            };
            rest = rest.get(passed..).unwrap_or_default();
        }
    }

    /// Notes a header that says something of the body.
    fn note(&mut self, line: &[u8]) {
        let is = |name: &[u8]| line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        match line.first().map(u8::to_ascii_lowercase) {
            Some(b'c') if is(b"content-length:") => {
                let value = line.split(|byte| *byte == b'\n').next().and_then(|line| line.get(15..));
                let length = value.and_then(|value| std::str::from_utf8(value).ok()?.trim().parse().ok());
                self.announced = match (self.announced, length) {
                    (Announced::Length(0), Some(length)) => Announced::Length(length),
                    _ => Announced::Unknown,
                };
            }
            Some(b't') if is(b"transfer-encoding:") => self.announced = Announced::Unknown,
            Some(b'u') if is(b"upgrade:") => self.announced = Announced::Unknown,
            _ => {}
        }
    }
}

/// The rest of a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// The length in bytes.
    Length(u64),
    /// Up to the end of its last chunk.
    Chunked(ChunkScan),
    /// All bytes up to the end of the connection.
    Endless,
}

impl Body {
    /// The body that the dispatcher expects after this head.
    pub(super) fn of(head: &RequestHead) -> Self {
        let headers = head.headers();
        let length = announced_length(headers) as u64;
        let is_websocket = |value: &header::HeaderValue| {
            value.to_str().is_ok_and(|value| value.trim().eq_ignore_ascii_case("websocket"))
        };
        // The dispatcher refuses every coding but `chunked`.
        if headers.contains_key(header::TRANSFER_ENCODING) {
            Self::Chunked(ChunkScan::default())
        } else if headers.get_all(header::UPGRADE).any(is_websocket)
            || (head.method == Method::CONNECT && length == 0)
        {
            Self::Endless
        } else {
            Self::Length(length)
        }
    }

    pub(super) fn is_over(&self) -> bool {
        match self {
            Self::Length(left) => *left == 0,
            Self::Chunked(scan) => scan.place == Place::End,
            Self::Endless => false,
        }
    }

    /// How many of `bytes` belong to the body; an error if the dispatcher will refuse them.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        match self {
            Self::Length(left) => {
                let passed = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= passed as u64;
                Ok(passed)
            }
            Self::Chunked(scan) => scan.pass(bytes),
            Self::Endless => Ok(bytes.len()),
        }
    }
}

/// The body does not have the chunked coding.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// Looks for the end of a chunked body, by the rules of the dispatcher.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ChunkScan {
    place: Place,
    /// The digits of the chunk size read so far, then the rest of the chunk.
    size: u64,
}

/// The position within a chunked body.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the first digit of a size.
    #[default]
    Size,
    Digits,
    /// Blanks behind a size.
    Blank,
    Extension,
    SizeLineFeed,
    Data,
    DataReturn,
    DataLineFeed,
    /// At the start of a line behind the last chunk.
    LastLine,
    Trailer,
    TrailerLineFeed,
    LastLineFeed,
    End,
}

impl ChunkScan {
    fn pass(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        let mut rest = bytes;
        while let Some(byte) = rest.first() {
            let mut passed = 1;
            match self.place {
                Place::End => break,
                Place::Data => {
                    passed = usize::try_from(self.size).unwrap_or(usize::MAX).min(rest.len());
                    self.size -= passed as u64;
                    if self.size == 0 {
                        self.place = Place::DataReturn;
                    }
                }
                _ => self.place = self.after(*byte)?,
            }
            rest = rest.get(passed..).unwrap_or_default();
        }
        Ok(bytes.len() - rest.len())
    }

    /// The position behind `byte`, which is no data.
    fn after(&mut self, byte: u8) -> Result<Place, Malformed> {
        let next = match (self.place, byte) {
            (Place::Size, _) => {
                self.size = 0;
                self.digit(byte)?
            }
            (Place::Digits | Place::Blank, b'\t' | b' ') => Place::Blank,
            (Place::Digits | Place::Blank, b';') => Place::Extension,
            (Place::Digits | Place::Blank | Place::Extension, b'\r') => Place::SizeLineFeed,
            (Place::Digits, _) => self.digit(byte)?,
            (Place::Extension, b'\t' | b' '..=b'~' | 0x80..) => Place::Extension,
            (Place::SizeLineFeed, b'\n') if self.size == 0 => Place::LastLine,
            (Place::SizeLineFeed, b'\n') => Place::Data,
            (Place::DataReturn, b'\r') => Place::DataLineFeed,
            (Place::DataLineFeed, b'\n') => Place::Size,
            (Place::LastLine, b'\r') => Place::LastLineFeed,
            (Place::Trailer, b'\r') => Place::TrailerLineFeed,
            (Place::LastLine | Place::Trailer, _) => Place::Trailer,
            (Place::TrailerLineFeed, b'\n') => Place::LastLine,
            (Place::LastLineFeed, b'\n') => Place::End,
            _ => return Err(Malformed),
        };
        Ok(next)
    }

    fn digit(&mut self, byte: u8) -> Result<Place, Malformed> {
        let digit = char::from(byte).to_digit(16).ok_or(Malformed)?;
        self.size = self.size.checked_mul(16).ok_or(Malformed)? + u64::from(digit);
        Ok(Place::Digits)
    }
}

#[cfg(test)]
mod tests;
