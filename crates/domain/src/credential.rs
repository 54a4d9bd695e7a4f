//! Scoped credentials: what a program of a partner may do, and from where.

use std::net::IpAddr;

use time::OffsetDateTime;

use crate::access::Scopes;
use crate::address_blocks::AddressBlocks;
use crate::ids::CredentialId;

/// How many scoped credentials a partner can have at once; revoked ones do not count.
pub const MAX_CREDENTIALS: usize = 20;

/// A scoped credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// Its identifier.
    pub id: CredentialId,
    /// Its name, for people.
    pub name: String,
    /// What it may do.
    pub scopes: Scopes,
    /// The networks from which alone it is accepted; `None` for any.
    pub addresses: Option<AddressBlocks>,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When it was revoked, if it was.
    pub revoked_at: Option<OffsetDateTime>,
}

impl Credential {
    /// Whether it is accepted from this address; with a list, an unknown address is on none.
    #[must_use]
    pub fn is_accepted_from(&self, address: Option<IpAddr>) -> bool {
        let Some(blocks) = &self.addresses else { return true };
        address.is_some_and(|address| blocks.contains(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_addresses_leaves_out_all_others() {
        let with = |addresses: Option<&str>| Credential {
            id: uuid::Uuid::nil().into(),
            name: "reports".to_owned(),
            scopes: Scopes::default(),
            addresses: addresses.map(|text| text.parse().unwrap()),
            created_at: OffsetDateTime::UNIX_EPOCH,
            revoked_at: None,
        };
        let (inside, outside) = ("10.0.0.7".parse().ok(), "10.1.0.7".parse().ok());
        let listed = with(Some("10.0.0.0/16"));
        assert_eq!([inside, outside, None].map(|at| listed.is_accepted_from(at)), [true, false, false]);
        assert_eq!([outside, None].map(|at| with(None).is_accepted_from(at)), [true, true]);
    }
}
