//! The access token between two commands, so that not each of them logs in.
//!
//! It lies beside the profiles, with mode 0600. No refresh token is stored: it is valid for one use, and two
//! concurrent commands would both use it, which the service takes for theft.

use std::path::{Path, PathBuf};

use kopeck_client::{AccessToken, SecretString};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::private_file;
use crate::profile::{self, Profile};
use crate::system;

/// The token file of a profile.
#[derive(Debug)]
pub(crate) struct TokenFile {
    path: PathBuf,
    base_url: String,
    login: String,
}

/// Its content.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredToken {
    /// Whom the token may be shown to.
    base_url: String,
    login: String,
    #[serde(serialize_with = "profile::expose", deserialize_with = "profile::hide")]
    access_token: SecretString,
    expires_at: u64,
}

impl TokenFile {
    pub(crate) fn new(profiles: &Path, name: &str, profile: &Profile) -> Self {
        Self { path: path(profiles, name), base_url: profile.base_url.clone(), login: profile.login.clone() }
    }

    /// The token, if there is one that was got from this service by this login, and that is not over.
    pub(crate) fn load(&self) -> Option<AccessToken> {
        // A file that cannot be read or is not private is as good as none: a login makes a better one.
        let text = private_file::read(&self.path).ok()??;
        let stored: StoredToken = serde_json::from_str(&text).ok()?;
        let ours = stored.base_url == self.base_url && stored.login == self.login;
        (ours && system::unix_now() < stored.expires_at)
            .then(|| AccessToken { token: stored.access_token, expires_at: stored.expires_at })
    }

    /// Keeps a token. That it could not be stored is no failure: the next command logs in.
    pub(crate) fn save(&self, token: &AccessToken) {
        let stored = StoredToken {
            base_url: self.base_url.clone(),
            login: self.login.clone(),
            access_token: token.token.clone(),
            expires_at: token.expires_at,
        };
        if let Ok(text) = serde_json::to_string(&stored).map(Zeroizing::new) {
            let _ = private_file::write(&self.path, &text);
        }
    }
}

/// The path of the token of a profile.
pub(crate) fn path(profiles: &Path, name: &str) -> PathBuf {
    profiles.with_extension(format!("{name}.token"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use kopeck_client::ExposeSecret as _;

    use super::*;
    use crate::profile::tests::profile;

    fn token(expires_at: u64) -> AccessToken {
        AccessToken { token: "aaa.bbb.ccc".into(), expires_at }
    }

    #[test]
    fn a_token_is_kept_until_it_is_over_and_for_its_own_service_only() {
        let folder = tempfile::tempdir().unwrap();
        let profiles = folder.path().join("profiles.toml");
        let file = TokenFile::new(&profiles, "a.b", &profile("http://one"));
        assert!(file.load().is_none());
        file.save(&token(u64::MAX));
        assert_eq!(file.load().unwrap().token.expose_secret(), "aaa.bbb.ccc");
        assert!(TokenFile::new(&profiles, "a.b", &profile("http://other")).load().is_none());
        assert!(TokenFile::new(&profiles, "a", &profile("http://one")).load().is_none());
        file.save(&token(1));
        assert!(file.load().is_none());

        file.save(&token(u64::MAX));
        let path = path(&profiles, "a.b");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(file.load().is_none(), "others may have seen it, or put it there");
    }
}
