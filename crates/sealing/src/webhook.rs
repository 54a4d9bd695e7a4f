//! Signatures of webhooks, by the Standard Webhooks specification.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::{Zeroize as _, ZeroizeOnDrop};

const PREFIX: &str = "whsec_";
const VERSION: &str = "v1,";

/// The signing secret of a webhook. Neither `Debug` nor an error shows it.
#[derive(Clone, ZeroizeOnDrop)]
pub struct SigningSecret([u8; 32]);

impl SigningSecret {
    /// The secret of these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads `whsec_` and base64 of 32 bytes; `None` if it is anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = STANDARD.decode(text.strip_prefix(PREFIX)?).ok()?;
        let secret = bytes.as_slice().try_into().ok().map(Self);
        bytes.zeroize();
        secret
    }

    /// The secret as text, which [`parse`](Self::parse) reads.
    #[must_use]
    pub fn to_text(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(self.0))
    }

    /// The signature of a delivery: `v1,` and base64 of HMAC-SHA256 over identifier, timestamp in Unix seconds and body,
    /// with dots between them.
    #[must_use]
    pub fn sign(&self, id: &str, unix_seconds: i64, body: &[u8]) -> String {
        let code = self.code(id, &unix_seconds.to_string(), body);
        format!("{VERSION}{}", STANDARD.encode(code.finalize().into_bytes()))
    }

    /// Whether one of the signatures, which have blanks between them, is that of the delivery. Takes as long for a wrong
    /// one as for the right one. Signatures of other versions are passed over.
    #[must_use]
    pub fn verify(&self, id: &str, timestamp: &str, body: &[u8], signatures: &str) -> bool {
        let given = signatures.split(' ').filter_map(|one| STANDARD.decode(one.strip_prefix(VERSION)?).ok());
        let code = self.code(id, timestamp, body);
        given.filter(|one| code.clone().verify_slice(one).is_ok()).count() > 0
    }

    fn code(&self, id: &str, timestamp: &str, body: &[u8]) -> Hmac<Sha256> {
        // HMAC fills a key up to a block with zeros; a block is taken as it is.
        let mut block = [0; 64];
        block.iter_mut().zip(self.0).for_each(|(byte, of_secret)| *byte = of_secret);
        let mut code = Hmac::<Sha256>::new(&block.into());
        block.zeroize();
        code.update(format!("{id}.{timestamp}.").as_bytes());
        code.update(body);
        code
    }
}

impl std::fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SigningSecret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by Python's `hmac`.
    const SIGNATURE: &str = "v1,AMaOha7DUT/0J0JMycRuYOBSvbx3WtwLd2khXXbaVj4=";

    fn secret() -> SigningSecret {
        SigningSecret::new(std::array::from_fn(|index| u8::try_from(index).unwrap()))
    }

    #[test]
    fn a_signature_is_that_of_the_specification() {
        assert_eq!(secret().sign("msg_1", 1_700_000_000, b"{\"a\":1}"), SIGNATURE);
    }

    #[test]
    fn a_delivery_is_verified_by_any_of_its_signatures() {
        let verify = |body: &[u8], signatures: &str| secret().verify("msg_1", "1700000000", body, signatures);
        assert!(verify(b"{\"a\":1}", SIGNATURE));
        assert!(verify(b"{\"a\":1}", &format!("v2,x v1,AAAA {SIGNATURE}")));
        assert!(!verify(b"{\"a\":2}", SIGNATURE));
        for signatures in ["", "v1,", "v1,?", &SIGNATURE[3..], &SIGNATURE[..30]] {
            assert!(!verify(b"{\"a\":1}", signatures), "{signatures}");
        }
    }

    #[test]
    fn a_secret_has_a_text_and_does_not_show_it() {
        let text = secret().to_text();
        assert_eq!(SigningSecret::parse(&text).map(|secret| secret.to_text()), Some(text.clone()));
        assert_eq!(format!("{:?}", secret()), "SigningSecret");
        for text in ["", "whsec_", &text[6..], &text[..40], "whsec_AAAA"] {
            assert!(SigningSecret::parse(text).is_none(), "{text}");
        }
    }
}
