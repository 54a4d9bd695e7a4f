//! Access and refresh tokens: JWTs, HS256.

use std::sync::Arc;

use jsonwebtoken::{Algorithm, Header, TokenData, Validation, decode, decode_header, encode};
use kopeck_domain::ids::{PartnerId, SessionId, TokenPairId};
use kopeck_port_security::{SecurityError, TokenClaims, TokenCodec, TokenKind, Uptime};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::ring::{DerivedKeys, KeyRing};

const ISSUER: &str = "kopeck";
const AUDIENCE: &str = "kopeck-api";

/// Signs and verifies tokens with keys derived from the master keys.
///
/// One algorithm, one key a name, one `typ` a kind: whatever else a header asks for is refused before anything else is
/// looked at.
pub struct JwtTokens {
    ring: Arc<KeyRing>,
    validation: Validation,
}

/// The payload. Every claim but the last is required; times are Unix seconds.
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
    /// When it was issued by the machine's steady time: the epoch in hexadecimal digits, a dot, and the seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    up: Option<String>,
}

impl JwtTokens {
    /// Signs with the first key of `ring`, verifies with all of them.
    #[must_use]
    pub fn new(ring: Arc<KeyRing>) -> Self {
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_issuer(&[ISSUER]);
        validation.set_audience(&[AUDIENCE]);
        validation.set_required_spec_claims(&["iss", "aud", "sub", "nbf", "exp"]);
        // The library would read the machine's clock. The service compares by its own, which may have moved.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        Self { ring, validation }
    }

    /// The claims, or `None` for any fault: which one is not disclosed.
    fn read(&self, text: &str, kind: TokenKind) -> Option<TokenClaims> {
        let current = self.ring.current();
        let token = match self.read_under(&current, text) {
            Some(token) => token,
            None => {
                let named = decode_header(text).ok()?.kid.filter(|named| *named != current.token_id)?;
                self.read_under(&*self.ring.find(|keys| keys.token_id == named)?, text)?
            }
        };
        if token.header.typ.as_deref() != Some(typ(kind)) {
            return None;
        }
        let Payload { iss: _, aud: _, sub, sid, jti, iat, nbf, exp, up } = token.claims;
        let pair = jti.strip_suffix(mark(kind)).and_then(|pair| Uuid::parse_str(pair).ok())?;
        Some(TokenClaims {
            kind,
            partner: PartnerId::new(sub),
            session: SessionId::new(sid),
            pair: TokenPairId::new(pair),
            issued_at: iat,
            not_before: nbf,
            expires_at: exp,
            issued_up: up.as_deref().and_then(read_uptime),
        })
    }

    fn read_under(&self, keys: &DerivedKeys, text: &str) -> Option<TokenData<Payload>> {
        let token = decode::<Payload>(text, &keys.verifying, &self.validation).ok()?;
        (token.header.kid.as_deref() == Some(keys.token_id.as_str())).then_some(token)
    }
}

impl TokenCodec for JwtTokens {
    fn sign(&self, claims: &TokenClaims) -> Result<String, SecurityError> {
        let keys = self.ring.current();
        let header = Header {
            typ: Some(typ(claims.kind).to_owned()),
            kid: Some(keys.token_id.clone()),
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
            up: claims.issued_up.map(|up| format!("{:016x}.{}", up.epoch, up.seconds)),
        };
        encode(&header, &payload, &keys.signing)
            .map_err(|error| SecurityError::Failed(format!("jwt: {error}")))
    }

    fn verify(&self, text: &str, kind: TokenKind) -> Result<TokenClaims, SecurityError> {
        self.read(text, kind).ok_or(SecurityError::NotAuthentic)
    }
}

/// An uptime as [`Payload::up`] has it.
fn read_uptime(text: &str) -> Option<Uptime> {
    let (epoch, seconds) = text.split_once('.')?;
    Some(Uptime { epoch: u64::from_str_radix(epoch, 16).ok()?, seconds: seconds.parse().ok()? })
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
