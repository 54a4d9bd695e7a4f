//! The encoding of a text, by its content.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1251};

use crate::TableError;

/// Of a text without a mark, so many bytes tell whether it is UTF-16.
const SAMPLE: usize = 4_096;

/// The text of a file without its mark: UTF-8, UTF-16 or, if it is neither, Windows-1251.
pub(crate) fn decode(file: &[u8]) -> Result<Cow<'_, str>, TableError> {
    let (encoding, body) = match Encoding::for_bom(file) {
        Some((encoding, mark)) => (encoding, file.get(mark..).unwrap_or_default()),
        None => (guess(file), file),
    };
    let text =
        encoding.decode_without_bom_handling_and_without_replacement(body).ok_or(TableError::Unknown)?;
    // No text has them, but every binary file, whatever it is read as.
    let is_binary = text.chars().any(|letter| letter.is_control() && !matches!(letter, '\t' | '\r' | '\n'));
    if is_binary { Err(TableError::Unknown) } else { Ok(text) }
}

/// Separators, digits and ends of lines have a zero byte each in UTF-16, on one side, and nowhere in another encoding.
fn guess(file: &[u8]) -> &'static Encoding {
    let sample = file.get(..SAMPLE).unwrap_or(file);
    let zeros = |side| sample.iter().skip(side).step_by(2).filter(|byte| **byte == 0).count();
    let (high_first, low_first) = (zeros(0), zeros(1));
    if high_first + low_first > 0 && file.len().is_multiple_of(2) {
        return if low_first > high_first { UTF_16LE } else { UTF_16BE };
    }
    if std::str::from_utf8(file).is_ok() { UTF_8 } else { WINDOWS_1251 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn a_text_is_read_in_each_encoding() {
        let text = "Табельный номер;сумма\r\nТ-1;5\r\n";
        let (windows, _, _) = WINDOWS_1251.encode(text);
        let marked = format!("\u{feff}{text}");
        for file in [
            text.as_bytes().to_vec(),
            marked.as_bytes().to_vec(),
            windows.into_owned(),
            utf_16(&marked, u16::to_le_bytes),
            utf_16(&marked, u16::to_be_bytes),
            utf_16(text, u16::to_le_bytes),
            utf_16(text, u16::to_be_bytes),
        ] {
            assert_eq!(decode(&file).as_deref(), Ok(text), "{file:x?}");
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let cut = &utf_16("\u{feff}a,b", u16::to_le_bytes)[..7];
        let lone = [0xff, 0xfe, 0x00, 0xd8, b'a', 0];
        for file in [
            cut,
            &lone,
            &[0, 1, 2, 3],
            b"%PDF-1.7\x00\x01",
            &[0x1f, 0x8b, 8, 0, 1],
            &[0xef, 0xbb, 0xbf, 0xff],
        ] {
            assert_eq!(decode(file), Err(TableError::Unknown), "{file:x?}");
        }
    }
}
