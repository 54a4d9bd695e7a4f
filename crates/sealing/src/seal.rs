//! Sealing and opening.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::{AeadInOut as _, ChaCha20Poly1305, Key, KeyInit as _, Nonce, Tag};
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::{Zeroize as _, Zeroizing};

use crate::context::{Context, EventContext, RequestContext, ResponseContext, valid_nonce};
use crate::key::{KeyId, SealingKey};
use crate::padding;
use crate::refusal::Refusal;

/// How far the time of a value may lie from the opener's own, either way.
pub const WINDOW_SECONDS: u64 = 300;

pub(crate) const PREFIX: &str = "s1.";
const SUITE: u8 = 0x01;
pub(crate) const SALT_LEN: usize = 16;
const HEADER_LEN: usize = 1 + 8 + 8 + SALT_LEN;
const TAG_LEN: usize = 16;
const KEY_LEN: usize = 32;
const IV_LEN: usize = 12;

/// Seals a value of a request.
///
/// `salt` has to be random and is used once. The nonce of the context has to be a valid one
/// ([`valid_nonce`]), or the value will not open.
#[must_use]
pub fn seal_request(
    key: &SealingKey,
    ctx: &RequestContext<'_>,
    now_unix: u64,
    salt: [u8; SALT_LEN],
    plaintext: &[u8],
) -> String {
    seal(key, Context::Request(ctx), now_unix, salt, plaintext)
}

/// Seals a response body; `salt` as for [`seal_request`].
#[must_use]
pub fn seal_response(
    key: &SealingKey,
    ctx: &ResponseContext<'_>,
    now_unix: u64,
    salt: [u8; SALT_LEN],
    plaintext: &[u8],
) -> String {
    seal(key, Context::Response(ctx), now_unix, salt, plaintext)
}

/// Seals the `data` of an event; `salt` as for [`seal_request`].
#[must_use]
pub fn seal_event(
    key: &SealingKey,
    ctx: &EventContext<'_>,
    now_unix: u64,
    salt: [u8; SALT_LEN],
    plaintext: &[u8],
) -> String {
    seal(key, Context::Event(ctx), now_unix, salt, plaintext)
}

/// Opens a value of a request.
///
/// A key that is not the one named in the value is used all the same, and the value then refused: opening with
/// a dummy key takes as long as opening with the right one.
///
/// # Errors
///
/// [`Refusal`], for the log alone.
pub fn open_request(
    key: &SealingKey,
    ctx: &RequestContext<'_>,
    now_unix: u64,
    text: &str,
) -> Result<Zeroizing<String>, Refusal> {
    open(key, Context::Request(ctx), now_unix, text)
}

/// Opens a response body.
///
/// # Errors
///
/// [`Refusal`], as for [`open_request`].
pub fn open_response(
    key: &SealingKey,
    ctx: &ResponseContext<'_>,
    now_unix: u64,
    text: &str,
) -> Result<Zeroizing<String>, Refusal> {
    open(key, Context::Response(ctx), now_unix, text)
}

/// Opens the `data` of an event.
///
/// # Errors
///
/// [`Refusal`], as for [`open_request`].
pub fn open_event(
    key: &SealingKey,
    ctx: &EventContext<'_>,
    now_unix: u64,
    text: &str,
) -> Result<Zeroizing<String>, Refusal> {
    open(key, Context::Event(ctx), now_unix, text)
}

/// The id of the key that a value is sealed under, by its head alone: nothing is proved about the value.
///
/// # Errors
///
/// [`Refusal::Encoding`] or [`Refusal::Suite`] if the head is malformed.
pub fn key_id_of(text: &str) -> Result<KeyId, Refusal> {
    // 33 bytes are 44 characters exactly, so the head can be decoded without the rest.
    const HEADER_CHARS: usize = HEADER_LEN / 3 * 4;
    let encoded = text.strip_prefix(PREFIX).ok_or(Refusal::Encoding)?.as_bytes();
    let head = encoded.get(..HEADER_CHARS).ok_or(Refusal::Encoding)?;
    let mut header = [0; HEADER_LEN];
    URL_SAFE_NO_PAD.decode_slice(head, &mut header).map_err(|_| Refusal::Encoding)?;
    Header::from_bytes(&header).map(|header| header.key_id)
}

/// Whether a text claims to be a sealed value. No clear value of the API starts like one.
#[must_use]
pub fn looks_sealed(text: &str) -> bool {
    text.starts_with(PREFIX)
}

/// The clear part in front of the ciphertext; the tag covers it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header {
    pub(crate) key_id: KeyId,
    pub(crate) unix: u64,
    pub(crate) salt: [u8; SALT_LEN],
}

impl Header {
    pub(crate) fn to_bytes(self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        let (suite, rest) = bytes.split_at_mut(1);
        let (key_id, rest) = rest.split_at_mut(8);
        let (unix, salt) = rest.split_at_mut(8);
        suite.copy_from_slice(&[SUITE]);
        key_id.copy_from_slice(self.key_id.as_bytes());
        unix.copy_from_slice(&self.unix.to_be_bytes());
        salt.copy_from_slice(&self.salt);
        bytes
    }

    fn from_bytes(bytes: &[u8; HEADER_LEN]) -> Result<Self, Refusal> {
        let (suite, rest) = bytes.split_at(1);
        if suite != [SUITE] {
            return Err(Refusal::Suite);
        }
        let (key_id, rest) = rest.split_at(8);
        let (unix, salt) = rest.split_at(8);
        Ok(Self {
            key_id: KeyId::from_bytes(array(key_id)),
            unix: u64::from_be_bytes(array(unix)),
            salt: array(salt),
        })
    }
}

/// The key and initialisation vector of one value.
pub(crate) struct DerivedKey(Zeroizing<[u8; KEY_LEN + IV_LEN]>);

impl DerivedKey {
    #[expect(clippy::expect_used, reason = "HKDF-SHA256 fails above 8,160 bytes only")]
    pub(crate) fn new(key: &SealingKey, salt: &[u8; SALT_LEN], info: &[u8]) -> Self {
        let mut okm = Zeroizing::new([0; KEY_LEN + IV_LEN]);
        Hkdf::<Sha256>::new(Some(salt), key.expose_secret())
            .expand(info, &mut okm[..])
            .expect("44 bytes are a valid length");
        Self(okm)
    }

    pub(crate) fn parts(&self) -> (&[u8], &[u8]) {
        self.0.split_at(KEY_LEN)
    }

    pub(crate) fn arrays(&self) -> (Zeroizing<[u8; KEY_LEN]>, [u8; IV_LEN]) {
        let (key, iv) = self.parts();
        (Zeroizing::new(array(key)), array(iv))
    }

    fn cipher(&self) -> (ChaCha20Poly1305, Nonce) {
        let (key, iv) = self.arrays();
        (ChaCha20Poly1305::new(<&Key>::from(&*key)), Nonce::from(iv))
    }
}

fn seal(
    key: &SealingKey,
    context: Context<'_>,
    now_unix: u64,
    salt: [u8; SALT_LEN],
    plaintext: &[u8],
) -> String {
    let header = Header { key_id: key.id(), unix: now_unix, salt }.to_bytes();
    let (cipher, iv) = DerivedKey::new(key, &salt, &context.info()).cipher();

    // Exactly as long as it gets: growing would leave a copy of the plaintext behind.
    let mut raw = Vec::with_capacity(HEADER_LEN + padding::padded_len(plaintext.len()) + TAG_LEN);
    raw.extend_from_slice(&header);
    raw.extend_from_slice(plaintext);
    padding::pad(&mut raw, HEADER_LEN);
    let tag = encrypt(&cipher, &iv, &context.associated_data(&header), &mut raw);
    raw.extend_from_slice(&tag);

    let mut text = String::with_capacity(PREFIX.len() + (raw.len() * 4).div_ceil(3));
    text.push_str(PREFIX);
    URL_SAFE_NO_PAD.encode_string(&raw, &mut text);
    text
}

/// Encrypts what follows the header, in place.
#[expect(clippy::expect_used, reason = "ChaCha20-Poly1305 fails above 256 GiB only")]
fn encrypt(cipher: &ChaCha20Poly1305, iv: &Nonce, associated_data: &[u8], raw: &mut [u8]) -> Tag {
    let (_, padded) = raw.split_at_mut(HEADER_LEN);
    cipher
        .encrypt_inout_detached(iv, associated_data, padded.into())
        .expect("a body in memory is a valid length")
}

fn open(
    key: &SealingKey,
    context: Context<'_>,
    now_unix: u64,
    text: &str,
) -> Result<Zeroizing<String>, Refusal> {
    if context.slot().max_chars().is_some_and(|max| text.len() > max) {
        return Err(Refusal::TooLong);
    }
    if !valid_nonce(context.nonce()) {
        return Err(Refusal::Nonce);
    }
    let encoded = text.strip_prefix(PREFIX).ok_or(Refusal::Encoding)?;
    // The engine refuses padding and trailing bits that are not zero.
    let raw = URL_SAFE_NO_PAD.decode(encoded).map_err(|_| Refusal::Encoding)?;
    let mut raw = Zeroizing::new(raw);
    let (header_bytes, sealed) = raw.split_first_chunk_mut::<HEADER_LEN>().ok_or(Refusal::Encoding)?;
    let (padded, tag) = sealed.split_last_chunk_mut::<TAG_LEN>().ok_or(Refusal::Encoding)?;
    if padded.is_empty() || padded.len() % padding::BLOCK != 0 {
        return Err(Refusal::Encoding);
    }
    let header = Header::from_bytes(header_bytes)?;

    let (cipher, iv) = DerivedKey::new(key, &header.salt, &context.info()).cipher();
    let associated_data = context.associated_data(header_bytes);
    let opened =
        cipher.decrypt_inout_detached(&iv, &associated_data, (&mut *padded).into(), &Tag::from(*tag));

    // Only now the key id and, once the tag has proved it, the time: every refusal up to here costs the same.
    if header.key_id != key.id() {
        return Err(Refusal::Key);
    }
    opened.map_err(|_| Refusal::Tag)?;
    if header.unix.abs_diff(now_unix) > WINDOW_SECONDS {
        return Err(Refusal::Time);
    }
    let plaintext = padding::unpadded_len(padded).ok_or(Refusal::Padding)?;
    raw.copy_within(HEADER_LEN..HEADER_LEN + plaintext, 0);
    raw.truncate(plaintext);
    into_text(raw)
}

fn into_text(mut bytes: Zeroizing<Vec<u8>>) -> Result<Zeroizing<String>, Refusal> {
    String::from_utf8(std::mem::take(&mut *bytes)).map(Zeroizing::new).map_err(|error| {
        error.into_bytes().zeroize();
        Refusal::Utf8
    })
}

/// Copies a slice whose length the caller has just cut.
fn array<const N: usize>(slice: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(slice);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clear, Slot, pae};

    const NOW: u64 = 1_767_225_600;
    const CTX: RequestContext<'static> = RequestContext {
        method: "POST",
        path: "/v1/category",
        nonce: "3f2a9c51e7d84b0fa6c2d1e45b907788",
        slot: Slot::Body,
        clear: &Clear::new(),
    };

    fn key() -> SealingKey {
        SealingKey::new(KeyId::from_bytes([1; 8]), [2; 32])
    }

    /// Seals `padded` as it is, so that a plaintext can be malformed under a good tag.
    fn seal_padded(padded: &[u8]) -> String {
        let header = Header { key_id: key().id(), unix: NOW, salt: [3; 16] }.to_bytes();
        let context = Context::Request(&CTX);
        let (cipher, iv) = DerivedKey::new(&key(), &[3; 16], &context.info()).cipher();
        let mut raw = [&header[..], padded].concat();
        let tag = encrypt(&cipher, &iv, &context.associated_data(&header), &mut raw);
        raw.extend_from_slice(&tag);
        format!("s1.{}", URL_SAFE_NO_PAD.encode(raw))
    }

    fn refusal(text: &str) -> Refusal {
        open_request(&key(), &CTX, NOW, text).map(|_| ()).unwrap_err()
    }

    #[test]
    fn the_head_alone_gives_the_key_id() {
        let text = seal_request(&key(), &CTX, NOW, [3; 16], b"{}");
        assert_eq!(key_id_of(&text), Ok(key().id()));
        assert_eq!(key_id_of(&text[..47]), Ok(key().id()));
        assert_eq!(key_id_of(&text[..46]), Err(Refusal::Encoding));
        assert_eq!(key_id_of(&text[3..]), Err(Refusal::Encoding));
        assert_eq!(key_id_of(&format!("s1.{}", "ж".repeat(40))), Err(Refusal::Encoding));
        assert_eq!(key_id_of(&format!("s1.{}", "A".repeat(44))), Err(Refusal::Suite));
    }

    #[test]
    fn malformed_plaintexts_under_a_good_tag_are_refused() {
        assert_eq!(refusal(&seal_padded(&[0; 32])), Refusal::Padding);
        assert_eq!(refusal(&seal_padded(&[b'x'; 32])), Refusal::Padding);
        let two_blocks = [&[0x80][..], &[0; 63]].concat();
        assert_eq!(refusal(&seal_padded(&two_blocks)), Refusal::Padding);
        let not_utf8 = [&[0xFF, 0x80][..], &[0; 30]].concat();
        assert_eq!(refusal(&seal_padded(&not_utf8)), Refusal::Utf8);
        assert_eq!(refusal(&seal_padded(b"")), Refusal::Encoding);
        assert_eq!(refusal(&seal_padded(b"{}\x80")), Refusal::Encoding);
    }

    #[test]
    fn an_event_is_bound_to_the_root() {
        let ctx = EventContext { id: CTX.nonce };
        let header = Header { key_id: key().id(), unix: NOW, salt: [3; 16] }.to_bytes();
        let (cipher, iv) = DerivedKey::new(&key(), &[3; 16], &Context::Event(&ctx).info()).cipher();
        let padded = [&b"{}\x80"[..], &[0; 29]].concat();
        let bound_to = |path: &[u8]| {
            let mut raw = [&header[..], &padded].concat();
            let tag = encrypt(&cipher, &iv, &pae::encode(&[b"pcs1", &header, b"POST", path]), &mut raw);
            raw.extend_from_slice(&tag);
            open_event(&key(), &ctx, NOW, &format!("s1.{}", URL_SAFE_NO_PAD.encode(raw))).map(|_| ())
        };
        assert_eq!(bound_to(b"/"), Ok(()));
        assert_eq!(bound_to(b"/v1"), Err(Refusal::Tag));
    }

    #[test]
    fn each_refusal_has_its_reason() {
        let text = seal_request(&key(), &CTX, NOW, [3; 16], b"{}");
        assert_eq!(refusal(""), Refusal::Encoding);
        assert_eq!(refusal("s1."), Refusal::Encoding);
        assert_eq!(refusal(&format!("s1.{}", "A".repeat(108))), Refusal::Suite);
        let other = SealingKey::new(KeyId::from_bytes([9; 8]), [2; 32]);
        assert_eq!(open_request(&other, &CTX, NOW, &text).unwrap_err(), Refusal::Key);
        let impostor = SealingKey::new(key().id(), [9; 32]);
        assert_eq!(open_request(&impostor, &CTX, NOW, &text).unwrap_err(), Refusal::Tag);
        let short = RequestContext { nonce: "short", ..CTX };
        assert_eq!(open_request(&key(), &short, NOW, &text).unwrap_err(), Refusal::Nonce);
        let parameter = RequestContext { slot: Slot::Path("idCard"), ..CTX };
        let long = seal_request(&key(), &parameter, NOW, [3; 16], &[b'x'; 320]);
        assert_eq!(open_request(&key(), &parameter, NOW, &long).unwrap_err(), Refusal::TooLong);
    }
}
