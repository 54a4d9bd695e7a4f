//! Seals a response while it is made, so that memory does not grow with it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit as _, StreamCipher as _, StreamCipherSeek as _};
use poly1305::Poly1305;
use poly1305::universal_hash::{KeyInit as _, UniversalHash as _};
use zeroize::{Zeroize as _, Zeroizing};

use crate::context::{Context, ResponseContext};
use crate::key::SealingKey;
use crate::padding;
use crate::seal::{DerivedKey, Header, PREFIX, SALT_LEN};

/// Plaintext is gathered to pieces of this many bytes: whole blocks of the cipher (64), of the authenticator (16) and
/// of the padding (32), and whole groups of base64 (3), so that nothing is carried from one piece to the next.
const PIECE: usize = 64 * 48;

/// The length of a keystream block; the first one makes the authenticator's key.
const CIPHER_BLOCK: u64 = 64;

/// Seals a response body in one pass. The texts of [`Self::start`], [`Self::push`] and [`Self::finish`] together equal
/// the result of [`seal_response`](crate::seal_response).
///
/// The receiver verifies it only at its end: a truncated text has no tag.
pub struct ResponseSealer {
    cipher: ChaCha20,
    mac: Poly1305,
    /// Bytes under the tag: those beside the ciphertext, and of the ciphertext so far.
    clear_len: u64,
    sealed_len: u64,
    /// Plaintext that makes no whole piece yet. It never grows beyond its capacity, which would leave a copy behind.
    gathered: Zeroizing<Vec<u8>>,
}

impl ResponseSealer {
    /// Begins a sealed value and appends its head to `out`. `salt` as for [`seal_response`](crate::seal_response).
    #[must_use]
    pub fn start(
        key: &SealingKey,
        ctx: &ResponseContext<'_>,
        now_unix: u64,
        salt: [u8; SALT_LEN],
        out: &mut String,
    ) -> Self {
        let context = Context::Response(ctx);
        let header = Header { key_id: key.id(), unix: now_unix, salt }.to_bytes();
        let derived = DerivedKey::new(key, &salt, &context.info());
        let (mut cipher, mut mac) = primitives(&derived);
        cipher.seek(CIPHER_BLOCK);
        let clear = context.associated_data(&header);
        mac.update_padded(&clear);
        out.push_str(PREFIX);
        URL_SAFE_NO_PAD.encode_string(header, out);
        let gathered = Zeroizing::new(Vec::with_capacity(PIECE));
        Self { cipher, mac, clear_len: length(clear.len()), sealed_len: 0, gathered }
    }

    /// Takes the next part of the plaintext, and appends the sealed text of all complete blocks to `out`.
    pub fn push(&mut self, plaintext: &[u8], out: &mut String) {
        let mut left = plaintext;
        while !left.is_empty() {
            let (fits, rest) = left.split_at(left.len().min(PIECE - self.gathered.len()));
            self.gathered.extend_from_slice(fits);
            left = rest;
            if self.gathered.len() == PIECE {
                self.encrypt();
                URL_SAFE_NO_PAD.encode_string(&*self.gathered, out);
                self.gathered.clear();
            }
        }
    }

    /// Appends the rest to `out`, with the tag that proves all of it.
    pub fn finish(mut self, out: &mut String) {
        // Less than a piece, and a piece is whole blocks of padding: it stays within the capacity.
        padding::pad(&mut self.gathered, 0);
        self.encrypt();
        let mut lengths = poly1305::Block::default();
        let (clear, sealed) = lengths.split_at_mut(8);
        clear.copy_from_slice(&self.clear_len.to_le_bytes());
        sealed.copy_from_slice(&self.sealed_len.to_le_bytes());
        self.mac.update(&[lengths]);
        let tag = self.mac.finalize();
        // Ciphertext by now: it may grow.
        self.gathered.extend_from_slice(&tag);
        URL_SAFE_NO_PAD.encode_string(&*self.gathered, out);
    }

    /// Encrypts what is gathered, in place. It is a multiple of the authenticator's block, which is filled up with
    /// zeros at the end of a message only.
    fn encrypt(&mut self) {
        self.cipher.apply_keystream(&mut self.gathered);
        self.mac.update_padded(&self.gathered);
        self.sealed_len += length(self.gathered.len());
    }
}

/// Keys and plaintext stay out of logs.
impl std::fmt::Debug for ResponseSealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ResponseSealer(..)")
    }
}

/// The two primitives as RFC 8439 (2.8) puts them together.
fn primitives(derived: &DerivedKey) -> (ChaCha20, Poly1305) {
    let (key, iv) = derived.arrays();
    let mut cipher = ChaCha20::new(&(*key).into(), &iv.into());
    let mut mac_key = poly1305::Key::default();
    cipher.apply_keystream(&mut mac_key);
    let mac = Poly1305::new(&mac_key);
    mac_key.zeroize();
    (cipher, mac)
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{KeyId, open_response, seal_response};

    const NOW: u64 = 1_767_225_600;
    const CTX: ResponseContext<'static> = ResponseContext {
        method: "GET",
        path: "/v1/order/result/*",
        nonce: "3f2a9c51e7d84b0fa6c2d1e45b907788",
        status: 200,
    };

    fn key() -> SealingKey {
        SealingKey::new(KeyId::from_bytes([1; 8]), [2; 32])
    }

    fn in_pieces(plaintext: &[u8], piece: usize) -> String {
        let mut out = String::new();
        let mut sealer = ResponseSealer::start(&key(), &CTX, NOW, [3; 16], &mut out);
        for piece in plaintext.chunks(piece) {
            sealer.push(piece, &mut out);
        }
        sealer.finish(&mut out);
        out
    }

    proptest! {
        #[test]
        fn in_pieces_it_is_what_it_is_as_a_whole(length in 0_usize..20_000, piece in 1_usize..7_000) {
            let plaintext: Vec<u8> = (b'a'..=b'z').cycle().take(length).collect();
            let whole = seal_response(&key(), &CTX, NOW, [3; 16], &plaintext);
            prop_assert_eq!(in_pieces(&plaintext, piece), whole);
        }
    }

    #[test]
    fn the_edges_of_a_piece_are_no_edges_of_the_value() {
        for length in [0, 1, 31, 32, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE - 32, 2 * PIECE] {
            let plaintext = vec![b'x'; length];
            let sealed = in_pieces(&plaintext, PIECE);
            assert_eq!(sealed, seal_response(&key(), &CTX, NOW, [3; 16], &plaintext), "{length}");
            let opened = open_response(&key(), &CTX, NOW, &sealed).unwrap();
            assert_eq!(opened.as_bytes(), plaintext);
        }
    }

    #[test]
    fn a_truncated_stream_does_not_open() {
        let sealed = in_pieces(&[b'x'; 3 * PIECE], 100);
        for cut in [sealed.len() - 1, sealed.len() - 22, sealed.len() - 64, 47 + PIECE / 3 * 4] {
            assert!(open_response(&key(), &CTX, NOW, &sealed[..cut]).is_err(), "{cut}");
        }
    }
}
