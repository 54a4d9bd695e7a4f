//! Pre-authentication encoding of PASETO: an injective encoding of a list of byte strings.

/// `LE64(count)`, then `LE64(length)` and the bytes of each piece.
pub(crate) fn pae(pieces: &[&[u8]]) -> Vec<u8> {
    let length: usize = pieces.iter().map(|piece| 8 + piece.len()).sum();
    let mut joined = Vec::with_capacity(8 + length);
    joined.extend_from_slice(&le64(pieces.len()));
    for piece in pieces {
        joined.extend_from_slice(&le64(piece.len()));
        joined.extend_from_slice(piece);
    }
    joined
}

/// A `usize` has 64 bits at most on every platform Rust knows.
fn le64(length: usize) -> [u8; 8] {
    (length as u64).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn gives_the_published_examples() {
        assert_eq!(pae(&[]), [0; 8]);
        assert_eq!(pae(&[b""]), [&[1][..], &[0; 15]].concat());
        assert_eq!(pae(&[b"test"]), b"\x01\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0test");
    }

    proptest! {
        #[test]
        fn other_pieces_give_other_bytes(
            a in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 0..4),
            b in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 0..4),
        ) {
            let join = |pieces: &[Vec<u8>]| pae(&pieces.iter().map(Vec::as_slice).collect::<Vec<_>>());
            prop_assert_eq!(a == b, join(&a) == join(&b));
        }
    }
}
