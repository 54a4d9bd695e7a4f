//! Seals one body step by step, without this crate, and shows every figure on the way. At the end this crate does the
//! same in one call.
//!
//! ```sh
//! cargo run -p kopeck-sealing --example sealing
//! ```

use std::error::Error;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key, KeyInit as _, Nonce};
use hkdf::Hkdf;
use kopeck_sealing::{Clear, RequestContext, SealingKey, Slot, seal_request};
use sha2::Sha256;

// A real request takes its own sealing key, the present time, and 16 random bytes for the salt.
const SEALING_KEY: &str = "sk_obLD1OX2BxgAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHw";
const TIME: u64 = 1_767_225_600;
const SALT: [u8; 16] = 0xcf38_1372_4d09_ad20_f30b_5122_03b7_0ddc_u128.to_be_bytes();

const NONCE: &str = "3f2a9c51e7d84b0fa6c2d1e45b907788";
const METHOD: &str = "POST";
const PATH: &str = "/v1/get_access_token";
const SLOT: &str = "body";
const PLAINTEXT: &str = r#"{"login":"partner-1","password":"correct horse battery staple"}"#;

fn main() -> Result<(), Box<dyn Error>> {
    // The sealing key is the name of the key, 8 bytes, and its secret, 32 bytes.
    let raw_key = URL_SAFE_NO_PAD.decode(SEALING_KEY.trim_start_matches("sk_"))?;
    let (key_id, secret) = raw_key.split_at(8);

    // 1. The header: suite, key, time, salt.
    let header = [&[0x01], key_id, &TIME.to_be_bytes(), &SALT].concat();
    show("header", &header);

    // 2. The padding: 0x80, then zeros up to a multiple of 32 bytes.
    let mut padded = PLAINTEXT.as_bytes().to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(32), 0);
    show("padded", &padded);

    // 3. Key and IV for this value alone.
    let info = pae(&[b"pcs1", b"req", NONCE.as_bytes(), SLOT.as_bytes()]);
    let mut derived = [0; 44];
    Hkdf::<Sha256>::new(Some(&SALT), secret)
        .expand(&info, &mut derived)
        .map_err(|error| error.to_string())?;
    let (key, iv) = derived.split_at(32);
    show("info", &info);
    show("key", key);
    show("iv", iv);

    // 4. The ciphertext and its tag, bound to the request.
    let aad = pae(&[b"pcs1", &header, METHOD.as_bytes(), PATH.as_bytes()]);
    let cipher = ChaCha20Poly1305::new(&Key::try_from(key)?);
    let sealed = cipher
        .encrypt(&Nonce::try_from(iv)?, Payload { msg: &padded, aad: &aad })
        .map_err(|error| error.to_string())?;
    show("aad", &aad);
    show("ciphertext and tag", &sealed);

    // 5. The text.
    let text = format!("s1.{}", URL_SAFE_NO_PAD.encode([header, sealed].concat()));
    println!("text\n  {text}");

    // The same by the crate.
    let call =
        RequestContext { method: METHOD, path: PATH, nonce: NONCE, slot: Slot::Body, clear: Clear::none() };
    let by_the_crate =
        seal_request(&SealingKey::parse(SEALING_KEY)?, &call, TIME, SALT, PLAINTEXT.as_bytes());
    if text != by_the_crate {
        return Err("the crate seals in another way".into());
    }
    Ok(())
}

/// How many pieces, then each with its length.
fn pae(pieces: &[&[u8]]) -> Vec<u8> {
    let count = (pieces.len() as u64).to_le_bytes().to_vec();
    pieces
        .iter()
        .fold(count, |encoded, piece| [&encoded, &(piece.len() as u64).to_le_bytes()[..], piece].concat())
}

fn show(name: &str, bytes: &[u8]) {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("{name}\n  {hex}");
}
