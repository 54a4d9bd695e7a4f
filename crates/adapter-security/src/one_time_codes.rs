//! One-time codes of authenticator apps.

use kopeck_port_security::{AppSetup, OneTimeCodes, SecurityError};
use totp_rs::{Algorithm, Builder, Totp};

/// The seconds of a step.
const STEP: u64 = 30;
/// How many steps before and after the present one are accepted.
const WINDOW: u16 = 1;
/// Who issued the secret, as the app shows it.
const ISSUER: &str = "Kopeck";

/// Codes as every authenticator app knows them: six digits of HMAC-SHA1, every 30 seconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct TotpCodes;

fn totp(secret: &[u8; 20], login: &str) -> Result<Totp, SecurityError> {
    // The form of the URI reserves the colon, which an address may hold within quotation marks.
    let account = login.replace(':', "_");
    Builder::new()
        .with_algorithm(Algorithm::SHA1)
        .with_digits(6)
        .with_skew(WINDOW)
        .with_step_duration(STEP)
        .with_issuer(Some(ISSUER))
        .with_account_name(account)
        .with_secret(secret.to_vec())
        .build()
        .map_err(|error| SecurityError::Failed(format!("one-time codes: {error}")))
}

impl OneTimeCodes for TotpCodes {
    fn matching_step(&self, secret: &[u8; 20], code: &str, unix_seconds: u64) -> Option<u64> {
        totp(secret, "").ok()?.check(code, unix_seconds)
    }

    fn setup(&self, secret: &[u8; 20], login: &str) -> Result<AppSetup, SecurityError> {
        let totp = totp(secret, login)?;
        let uri = totp.to_url().map_err(|error| SecurityError::Failed(format!("one-time codes: {error}")))?;
        Ok(AppSetup { secret: totp.secret().to_base32().into(), uri: uri.into() })
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    /// The key of the examples in RFC 6238.
    const SECRET: &[u8; 20] = b"12345678901234567890";

    /// Its examples, cut to six digits.
    #[test]
    fn codes_are_those_of_rfc_6238() {
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(TotpCodes.matching_step(SECRET, code, seconds), Some(seconds / 30), "{seconds}");
        }
    }

    #[test]
    fn a_code_is_accepted_one_step_early_and_one_late() {
        let step = |seconds| TotpCodes.matching_step(SECRET, "005924", seconds);
        let start = 1_234_567_890 / 30 * 30;
        assert_eq!((step(start - 31), step(start - 30)), (None, Some(start / 30)));
        assert_eq!((step(start + 59), step(start + 60)), (Some(start / 30), None));
    }

    #[test]
    fn what_is_no_code_matches_nothing() {
        for code in
            ["", "005925", "5924", "0005924", "00592a", "+05924", " 005924", "\u{661}05924", "８05924"]
        {
            assert_eq!(TotpCodes.matching_step(SECRET, code, 1_234_567_890), None, "{code:?}");
        }
    }

    #[test]
    fn an_app_gets_secret_issuer_and_login() {
        let setup = TotpCodes.setup(SECRET, "anna+b@example.ru").unwrap();
        assert_eq!(setup.secret.expose_secret(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        let uri = setup.uri.expose_secret();
        assert!(uri.starts_with("otpauth://totp/Kopeck:anna%2Bb%40example.ru?secret=GEZDGNBV"), "{uri}");
        assert!(uri.contains("&issuer=Kopeck"), "{uri}");
        assert!(TotpCodes.setup(SECRET, "\"a:b\"@example.ru").is_ok());
        assert!(!format!("{setup:?}").contains("GEZDG"));
    }
}
