//! Pre-authentication encoding, as PASETO defines it.

/// Joins pieces so that no two different lists give the same bytes: without the lengths, moving a character
/// from the end of the path to the start of its neighbour would go unseen.
pub(crate) fn encode(pieces: &[&[u8]]) -> Vec<u8> {
    let content: usize = pieces.iter().map(|piece| piece.len()).sum();
    let mut out = Vec::with_capacity(8 * (pieces.len() + 1) + content);
    out.extend_from_slice(&(pieces.len() as u64).to_le_bytes());
    for piece in pieces {
        out.extend_from_slice(&(piece.len() as u64).to_le_bytes());
        out.extend_from_slice(piece);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::encode;

    #[test]
    fn encodes_the_published_examples() {
        assert_eq!(encode(&[]), b"\0\0\0\0\0\0\0\0");
        assert_eq!(encode(&[b""]), b"\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
        assert_eq!(encode(&[b"test"]), b"\x01\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0test");
    }

    #[test]
    fn a_moved_boundary_changes_the_bytes() {
        assert_ne!(encode(&[b"ab", b"c"]), encode(&[b"a", b"bc"]));
        assert_ne!(encode(&[b"ab"]), encode(&[b"ab", b""]));
    }
}
