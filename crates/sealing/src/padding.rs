//! ISO/IEC 7816-4 padding to whole blocks, so that values of similar length have the same sealed length.

/// Padded plaintexts are a multiple of this many bytes.
pub(crate) const BLOCK: usize = 32;

const MARK: u8 = 0x80;

/// Length of a plaintext of `len` bytes after padding; the mark always needs one byte more.
pub(crate) fn padded_len(len: usize) -> usize {
    (len / BLOCK + 1) * BLOCK
}

/// Appends the mark and zeros to what stands in `buffer` from `start` on.
pub(crate) fn pad(buffer: &mut Vec<u8>, start: usize) {
    let plaintext = buffer.len() - start;
    buffer.push(MARK);
    buffer.resize(start + padded_len(plaintext), 0);
}

/// Length of the plaintext inside `padded`, or `None` if this is no padding that [`pad`] makes.
pub(crate) fn unpadded_len(padded: &[u8]) -> Option<usize> {
    let mark = padded.iter().rposition(|&byte| byte != 0)?;
    // A mark before the last block would be a second encoding of the same plaintext.
    let canonical = padded.get(mark) == Some(&MARK) && padded_len(mark) == padded.len();
    canonical.then_some(mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_comes_back() {
        for len in 0..=100 {
            let mut buffer = vec![b'h'; 5];
            buffer.resize(5 + len, b'x');
            pad(&mut buffer, 5);
            let (_, padded) = buffer.split_at(5);
            assert_eq!(padded.len() % BLOCK, 0);
            assert!(padded.len() > len && padded.len() <= len + BLOCK);
            assert_eq!(unpadded_len(padded), Some(len));
        }
    }

    #[test]
    fn a_plaintext_may_end_like_padding() {
        for plaintext in [&b"\x80"[..], b"a\x80\0\0", b"\0\0\0"] {
            let mut buffer = plaintext.to_vec();
            pad(&mut buffer, 0);
            assert_eq!(unpadded_len(&buffer), Some(plaintext.len()));
        }
    }

    #[test]
    fn other_padding_is_none() {
        assert_eq!(unpadded_len(b""), None);
        assert_eq!(unpadded_len(&[0; 32]), None, "no mark");
        assert_eq!(unpadded_len(&[b'x'; 32]), None, "another mark");
        let mut long = vec![MARK];
        long.resize(2 * BLOCK, 0);
        assert_eq!(unpadded_len(&long), None, "a whole block too much");
    }
}
