//! HS256 for `jsonwebtoken`, and nothing but HS256: the providers that come with it bring a C build or forty crates.

use hmac::{Hmac, KeyInit as _, Mac as _};
use jsonwebtoken::Algorithm;
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{self, Signer, Verifier};
use sha2::Sha256;

/// Makes this provider the one of the process. A second call finds it there and changes nothing.
pub(crate) fn install() {
    // Refused only if a provider is there already. If it is not ours, tokens are still made and read by the same
    // algorithm, which both ends fix.
    let _ = PROVIDER.install_default();
}

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |algorithm, key| Ok(Box::new(Hs256::new(*algorithm, key.as_bytes())?)),
    verifier_factory: |algorithm, key| Ok(Box::new(Hs256::new(*algorithm, key.try_get_as_bytes()?)?)),
    // For JSON Web DerivedKeys, which we neither read nor write.
    key_utils: KeyUtils::new_unimplemented(),
};

struct Hs256(Hmac<Sha256>);

impl Hs256 {
    fn new(algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        if algorithm != Algorithm::HS256 {
            return Err(ErrorKind::InvalidAlgorithm.into());
        }
        Hmac::new_from_slice(key).map(Self).map_err(|_| ErrorKind::InvalidKeyFormat.into())
    }
}

impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, signature::Error> {
        Ok(self.0.clone().chain_update(message).finalize().into_bytes().to_vec())
    }
}

impl Verifier<Vec<u8>> for Hs256 {
    /// In constant time.
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        self.0.clone().chain_update(message).verify_slice(signature).map_err(|_| signature::Error::new())
    }
}

impl JwtSigner for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7515, appendix A.1.
    #[test]
    fn signs_the_example_of_the_rfc() {
        use base64::Engine as _;
        use base64::engine::general_purpose::URL_SAFE_NO_PAD;

        let key = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
        let message = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\
                       eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
        let hs256 = Hs256::new(Algorithm::HS256, &URL_SAFE_NO_PAD.decode(key).unwrap()).unwrap();
        let signature = hs256.try_sign(message.as_bytes()).unwrap();
        assert_eq!(URL_SAFE_NO_PAD.encode(&signature), "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert!(hs256.verify(message.as_bytes(), &signature).is_ok());
        assert!(hs256.verify(message.as_bytes(), &signature.split_last().unwrap().1.to_vec()).is_err());
        assert!(hs256.verify(b"other", &signature).is_err());
    }

    #[test]
    fn knows_no_other_algorithm() {
        for algorithm in
            [Algorithm::HS384, Algorithm::HS512, Algorithm::RS256, Algorithm::ES256, Algorithm::EdDSA]
        {
            assert!(Hs256::new(algorithm, &[0; 32]).is_err());
        }
    }
}
