//! The operator who runs a command.

use rustix::process::getuid;
use rustix::system::uname;

/// The longest name in the audit log.
const LONGEST: usize = 64;

/// The user and the host of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operator {
    /// The process's user; under `sudo` also the user before it.
    pub user: String,
    /// The name of the machine.
    pub host: String,
}

impl Operator {
    /// The operator of this process.
    #[must_use]
    pub fn present() -> Self {
        let id = getuid();
        let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        // Only root's variable counts: other users could forge it.
        let before = std::env::var("SUDO_USER").ok().filter(|_| id.is_root());
        let user = named(&passwd, id.as_raw());
        let user = match before {
            Some(before) => format!("{user} for {before}"),
            None => user,
        };
        Self { user: plain(&user), host: plain(&uname().nodename().to_string_lossy()) }
    }
}

/// The name of a user, or its number if only a directory service has the name.
fn named(passwd: &str, id: u32) -> String {
    let id = id.to_string();
    let name = passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == id).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| format!("uid {id}"))
}

/// The text without control characters, which could forge log lines.
fn plain(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { '?' } else { letter }).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_the_name_of_its_number() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nkassa:x:1000:1000::/home/kassa:/bin/sh\nodd\n";
        assert_eq!(named(passwd, 0), "root");
        assert_eq!(named(passwd, 1000), "kassa");
        assert_eq!(named(passwd, 10), "uid 10");
        assert_eq!(plain("a\nb"), "a?b");
        assert_eq!(plain(&"a".repeat(100)).len(), LONGEST);
    }

    #[test]
    fn a_process_has_an_operator() {
        let present = Operator::present();
        assert!(!present.user.is_empty() && !present.host.is_empty(), "{present:?}");
    }
}
