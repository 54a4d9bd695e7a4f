//! Access and refresh tokens: JWTs, HS256.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use kopeck_domain::ids::{PartnerId, SessionId, TokenPairId};
use kopeck_port_security::{SecurityError, TokenClaims, TokenCodec, TokenKind};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::hs256;
use crate::master_key::{MasterKey, Purpose};

const ISSUER: &str = "kopeck";
const AUDIENCE: &str = "kopeck-api";

/// Signs and verifies tokens with a key derived from the master key.
///
/// One algorithm, one key, one `typ` a kind: whatever else a header asks for is refused before anything else is
/// looked at.
pub struct JwtTokens {
    signing: EncodingKey,
    verifying: DecodingKey,
    validation: Validation,
    key_id: String,
}

/// The payload. Every claim is required; times are Unix seconds.
#[derive(Debug, Serialize, Deserialize)]
struct Payload {
    iss: String,
    aud: String,
    sub: Uuid,
    sid: Uuid,
    jti: String,
    iat: i64,
    nbf: i64,
    exp: i64,
}

impl JwtTokens {
    /// Signs with the token key of `master`.
    #[must_use]
    pub fn new(master: &MasterKey) -> Self {
        hs256::install();
        let key = master.derive(Purpose::Tokens);
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_issuer(&[ISSUER]);
        validation.set_audience(&[AUDIENCE]);
        validation.set_required_spec_claims(&["iss", "aud", "sub", "nbf", "exp"]);
        // The library would read the machine's clock. The service has one of its own, and compares by that.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        Self {
            signing: EncodingKey::from_secret(&key[..]),
            verifying: DecodingKey::from_secret(&key[..]),
            validation,
            key_id: master.token_key_id(),
        }
    }

    /// The claims, or `None` for whatever reason: nobody is told which.
    fn read(&self, text: &str, kind: TokenKind) -> Option<TokenClaims> {
        let token = decode::<Payload>(text, &self.verifying, &self.validation).ok()?;
        let ours = token.header.kid.as_deref() == Some(self.key_id.as_str());
        let of_kind = token.header.typ.as_deref() == Some(typ(kind));
        if !ours || !of_kind {
            return None;
        }
        let Payload { iss: _, aud: _, sub, sid, jti, iat, nbf, exp } = token.claims;
        let pair = jti.strip_suffix(mark(kind)).and_then(|pair| Uuid::parse_str(pair).ok())?;
        Some(TokenClaims {
            kind,
            partner: PartnerId::new(sub),
            session: SessionId::new(sid),
            pair: TokenPairId::new(pair),
            issued_at: iat,
            not_before: nbf,
            expires_at: exp,
        })
    }
}

impl TokenCodec for JwtTokens {
    fn sign(&self, claims: &TokenClaims) -> Result<String, SecurityError> {
        let header = Header {
            typ: Some(typ(claims.kind).to_owned()),
            kid: Some(self.key_id.clone()),
            ..Header::new(Algorithm::HS256)
        };
        let payload = Payload {
            iss: ISSUER.to_owned(),
            aud: AUDIENCE.to_owned(),
            sub: claims.partner.uuid(),
            sid: claims.session.uuid(),
            jti: format!("{}{}", claims.pair, mark(claims.kind)),
            iat: claims.issued_at,
            nbf: claims.not_before,
            exp: claims.expires_at,
        };
        encode(&header, &payload, &self.signing)
            .map_err(|error| SecurityError::Failed(format!("jwt: {error}")))
    }

    fn verify(&self, text: &str, kind: TokenKind) -> Result<TokenClaims, SecurityError> {
        self.read(text, kind).ok_or(SecurityError::NotAuthentic)
    }
}

/// The `typ` of the header.
const fn typ(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Access => "at+jwt",
        TokenKind::Refresh => "rt+jwt",
    }
}

/// The end of `jti`: the two tokens of a pair share the rest of it.
const fn mark(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Access => ".a",
        TokenKind::Refresh => ".r",
    }
}

#[cfg(test)]
mod tests;
