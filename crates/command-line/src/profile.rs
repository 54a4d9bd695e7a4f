//! Profiles: service and credentials, by name.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use kopeck_client::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

use crate::failure::Failure;
use crate::private_file;

/// The default name.
pub(crate) const DEFAULT_NAME: &str = "default";

/// A service, and the credentials for it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Profile {
    pub(crate) base_url: String,
    #[serde(serialize_with = "expose", deserialize_with = "hide")]
    pub(crate) api_key: SecretString,
    pub(crate) login: String,
    #[serde(serialize_with = "expose", deserialize_with = "hide")]
    pub(crate) password: SecretString,
    /// Without one everything travels in clear.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "expose_if_any",
        deserialize_with = "hide_if_any"
    )]
    pub(crate) sealing_key: Option<SecretString>,
    /// A file with the certificates, in PEM, that alone may vouch for the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) certificate_authority: Option<PathBuf>,
}

/// All profiles of a file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profiles {
    /// The one that is taken where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) current: Option<String>,
    #[serde(default)]
    pub(crate) profiles: BTreeMap<String, Profile>,
}

impl Profiles {
    /// Reads the file; without one there are no profiles.
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        let Some(text) = private_file::read(path)? else { return Ok(Self::default()) };
        // The message of the TOML parser may quote the file, and so a secret. Its place is enough.
        toml::from_str(&text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = 1 + before.bytes().filter(|byte| *byte == b'\n').count();
            Failure::local(format!("{}: line {line} is not as `kopeck call login` writes it", path.display()))
        })
    }

    pub(crate) fn save(&self, path: &Path) -> Result<(), Failure> {
        let text = toml::to_string(self)
            .map(Zeroizing::new)
            .map_err(|_| Failure::local(format!("{}: the profiles cannot be written", path.display())))?;
        private_file::write(path, &text)
    }

    /// The profile of this name, or else the current one.
    pub(crate) fn choose(&self, name: Option<&str>) -> Result<(&str, &Profile), Failure> {
        let Some(name) = name.or(self.current.as_deref()) else {
            return Err(Failure::local("no profile yet: run `kopeck call login`"));
        };
        self.profiles.get_key_value(name).map(|(name, profile)| (name.as_str(), profile)).ok_or_else(|| {
            let known: Vec<&str> = self.profiles.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            Failure::local(format!("there is no profile {name:?} (known: {known}); run `kopeck call login`"))
        })
    }
}

/// The path of the profiles: `KOPECK_PROFILES`, or in the folder for settings.
pub(crate) fn path() -> Result<PathBuf, Failure> {
    let given = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = given("KOPECK_PROFILES") {
        return Ok(path);
    }
    // A relative XDG_CONFIG_HOME is to be ignored, says its specification.
    let folder = given("XDG_CONFIG_HOME")
        .filter(|folder| folder.is_absolute())
        .or_else(|| given("HOME").map(|home| home.join(".config")))
        .ok_or_else(|| Failure::local("neither KOPECK_PROFILES nor HOME says where the profiles are"))?;
    Ok(folder.join("kopeck/profiles.toml"))
}

/// Reads the name of a profile. It becomes part of a file's name.
pub(crate) fn parse_name(text: &str) -> Result<String, String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if text.is_empty() || text.len() > 64 || text.starts_with('.') || !text.bytes().all(allowed) {
        return Err("must be 1 to 64 letters, digits, '.', '_' and '-', and not begin with a dot".to_owned());
    }
    Ok(text.to_owned())
}

pub(crate) fn expose<S: Serializer>(secret: &SecretString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.expose_secret())
}

fn expose_if_any<S: Serializer>(secret: &Option<SecretString>, serializer: S) -> Result<S::Ok, S::Error> {
    match secret {
        Some(secret) => expose(secret, serializer),
        None => serializer.serialize_none(),
    }
}

pub(crate) fn hide<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SecretString, D::Error> {
    String::deserialize(deserializer).map(SecretString::from)
}

fn hide_if_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SecretString>, D::Error> {
    hide(deserializer).map(Some)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn profile(base_url: &str) -> Profile {
        Profile {
            base_url: base_url.to_owned(),
            api_key: "ak_hush".into(),
            login: "acme".to_owned(),
            password: "hunter2".into(),
            sealing_key: Some("sk_hush".into()),
            certificate_authority: None,
        }
    }

    #[test]
    fn profiles_come_back_as_they_were_and_show_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("profiles.toml");
        assert!(Profiles::load(&path).unwrap().profiles.is_empty());
        let mut profiles = Profiles { current: Some("a.b".to_owned()), ..Profiles::default() };
        profiles.profiles.insert("a.b".to_owned(), profile("http://localhost"));
        let clear = Profile { sealing_key: None, ..profile("https://example.com") };
        profiles.profiles.insert("clear".to_owned(), clear);
        profiles.save(&path).unwrap();

        let again = Profiles::load(&path).unwrap();
        assert_eq!(again.choose(None).unwrap().0, "a.b");
        let (_, profile) = again.choose(Some("clear")).unwrap();
        assert_eq!((profile.password.expose_secret(), profile.sealing_key.is_none()), ("hunter2", true));
        let debug = format!("{again:?}");
        assert!(!debug.contains("hunter2") && !debug.contains("hush"), "{debug}");
        assert!(format!("{:?}", again.choose(Some("other")).unwrap_err()).contains("known: a.b, clear"));
    }

    #[test]
    fn a_faulty_file_is_reported_by_its_line_and_never_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("profiles.toml");
        for text in [
            "[profiles.a]\nbase-url = \"x\"\npassword = hunter2\n",
            "[profiles.a]\nbase-url = \"x\"\nsecret = \"hunter2\"\n",
            "[profiles.a]\nbase-url = \"x\"\nlogin = [\"hunter2\"]\n",
        ] {
            private_file::write(&path, text).unwrap();
            let said = format!("{:?}", Profiles::load(&path).unwrap_err());
            assert!(!said.contains("hunter2") && said.contains("line 3"), "{said}");
        }
    }

    #[test]
    fn a_name_cannot_lead_to_another_folder() {
        for bad in ["", ".", "..", "../x", "a/b", "a b", ".hidden", "имя"] {
            assert!(parse_name(bad).is_err(), "{bad}");
        }
        assert!(parse_name("acme.test_2-b").is_ok());
    }
}
