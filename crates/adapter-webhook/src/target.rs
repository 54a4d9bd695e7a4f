//! The target of a delivery: an address that was checked, with what its name led to.

use std::net::{IpAddr, SocketAddr};

use kopeck_port_webhook::{AddressRefused, CheckError};
use reqwest::Url;
use uuid::Uuid;

use crate::lookups::Lookups;
use crate::networks::Networks;

/// The rules for targets.
pub(crate) struct Rules {
    pub(crate) networks: Networks,
    /// In the sandbox the machine itself may be one, also without TLS.
    pub(crate) is_sandbox: bool,
}

/// An address to connect to.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) url: Url,
    /// The name, if it was looked up, and its addresses, all of which were checked.
    pub(crate) pinned: Option<(String, Vec<SocketAddr>)>,
}

impl Rules {
    /// The target that `url` leads to now.
    pub(crate) async fn target(
        &self,
        url: &str,
        partner: Uuid,
        lookups: &Lookups,
    ) -> Result<Target, CheckError> {
        let url = self.parse(url)?;
        let host = url.host_str().ok_or(AddressRefused::NotUrl)?.to_owned();
        // An address of IPv6 stands in brackets.
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
        let addresses = match literal {
            Some(address) => vec![address],
            None => lookups.addresses(partner, host.clone()).await?,
        };
        let is_plaintext = url.scheme() == "http";
        if addresses.is_empty() || !addresses.iter().all(|address| self.allows(*address, is_plaintext)) {
            return Err(match (is_plaintext, addresses.is_empty()) {
                (true, _) => AddressRefused::Scheme,
                (false, true) => AddressRefused::UnknownHost,
                (false, false) => AddressRefused::Network,
            }
            .into());
        }
        let port = url.port_or_known_default().ok_or(AddressRefused::NotUrl)?;
        let socket = |address| SocketAddr::new(address, port);
        let pinned = literal.is_none().then(|| (host, addresses.into_iter().map(socket).collect()));
        Ok(Target { url, pinned })
    }

    /// A URL of a form that may lead somewhere.
    fn parse(&self, url: &str) -> Result<Url, AddressRefused> {
        let url = Url::parse(url).map_err(|_| AddressRefused::NotUrl)?;
        if url.scheme() != "https" && !(self.is_sandbox && url.scheme() == "http") {
            return Err(AddressRefused::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressRefused::UserInfo);
        }
        if url.fragment().is_some() {
            return Err(AddressRefused::Fragment);
        }
        Ok(url)
    }

    fn allows(&self, address: IpAddr, is_plaintext: bool) -> bool {
        let is_own = self.is_sandbox && address.to_canonical().is_loopback();
        is_own || (!is_plaintext && self.networks.allow(address))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use crate::lookups::{Beyond, Resolver};

    use super::*;

    fn rules(is_sandbox: bool, addresses: &[&str]) -> (Rules, Lookups) {
        let addresses: Vec<IpAddr> = addresses.iter().map(|address| address.parse().unwrap()).collect();
        let resolver: Resolver = Arc::new(move |_| {
            let addresses = addresses.clone();
            Box::pin(async move { addresses })
        });
        let lookups = Lookups::new(resolver, Beyond::Waits, Duration::from_mins(1));
        (Rules { networks: Networks::new(Vec::new()), is_sandbox }, lookups)
    }

    async fn target((rules, lookups): &(Rules, Lookups), url: &str) -> Result<Target, CheckError> {
        rules.target(url, Uuid::nil(), lookups).await
    }

    async fn refusal(rules: &(Rules, Lookups), url: &str) -> Option<AddressRefused> {
        target(rules, url).await.err().map(|error| match error {
            CheckError::Refused(refused) => refused,
            CheckError::Busy => panic!("{url}: nothing else is looked up"),
        })
    }

    #[tokio::test]
    async fn an_address_has_a_form() {
        let rules = rules(false, &["8.8.8.8"]);
        for (url, refused) in [
            ("https://example.com", None),
            ("https://example.com:8443/a?b=c", None),
            ("https://8.8.4.4/", None),
            ("http://example.com", Some(AddressRefused::Scheme)),
            ("ftp://example.com", Some(AddressRefused::Scheme)),
            ("file:///etc/passwd", Some(AddressRefused::Scheme)),
            ("example.com", Some(AddressRefused::NotUrl)),
            ("https://", Some(AddressRefused::NotUrl)),
            ("https://user@example.com", Some(AddressRefused::UserInfo)),
            ("https://:secret@example.com", Some(AddressRefused::UserInfo)),
            ("https://example.com/#part", Some(AddressRefused::Fragment)),
        ] {
            assert_eq!(refusal(&rules, url).await, refused, "{url}");
        }
    }

    #[tokio::test]
    async fn an_address_of_the_machine_is_refused_in_each_spelling() {
        let rules = rules(false, &[]);
        for url in [
            "https://127.0.0.1",
            "https://127.1",
            "https://2130706433",
            "https://0x7f000001",
            "https://0177.0.0.1",
            "https://0",
            "https://[::1]",
            "https://[::ffff:127.0.0.1]",
            "https://[::ffff:7f00:1]",
            "https://①②⑦.0.0.1",
            "https://169.254.169.254",
            "https://[::ffff:0:127.0.0.1]",
            "https://[1000::1]",
        ] {
            assert_eq!(refusal(&rules, url).await, Some(AddressRefused::Network), "{url}");
        }
        assert_eq!(refusal(&rules, "https://nowhere.example").await, Some(AddressRefused::UnknownHost));
    }

    #[tokio::test]
    async fn one_bad_address_of_several_is_enough() {
        for addresses in [&["8.8.8.8", "10.0.0.1"][..], &["fe80::1", "2606:4700::1"]] {
            let rules = rules(false, addresses);
            assert_eq!(refusal(&rules, "https://example.com").await, Some(AddressRefused::Network));
        }
    }

    #[tokio::test]
    async fn the_sandbox_reaches_the_machine_itself_and_nothing_else_in_plaintext() {
        let own = rules(true, &["127.0.0.1", "::1"]);
        for url in ["http://localhost:8080/", "https://localhost", "http://127.0.0.1:1", "http://[::1]:1"] {
            assert_eq!(refusal(&own, url).await, None, "{url}");
        }
        let public = rules(true, &["8.8.8.8"]);
        assert_eq!(refusal(&public, "https://example.com").await, None);
        assert_eq!(refusal(&public, "http://example.com").await, Some(AddressRefused::Scheme));
        let mixed = rules(true, &["127.0.0.1", "8.8.8.8"]);
        assert_eq!(refusal(&mixed, "http://example.com").await, Some(AddressRefused::Scheme));
        let unknown = rules(true, &[]);
        assert_eq!(refusal(&unknown, "http://example.com/x").await, Some(AddressRefused::Scheme));
        let private = rules(true, &["10.0.0.1"]);
        assert_eq!(refusal(&private, "https://example.com").await, Some(AddressRefused::Network));
    }

    #[tokio::test]
    async fn the_connection_goes_to_what_was_checked() {
        let rules = rules(false, &["8.8.8.8"]);
        let target = target(&rules, "https://example.com:444/").await.unwrap();
        assert_eq!(target.pinned, Some(("example.com".to_owned(), vec!["8.8.8.8:444".parse().unwrap()])));
    }
}
