//! Signatures, which need the key and not only the database.

use crate::Head;
use crate::encoding::Bytes;
use kopeck_domain::string_enum;

/// The bytes that name a key.
const KEY_ID_LEN: usize = 8;

/// A keyed hash (HMAC-SHA256), with the name of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature {
    /// Names the key.
    pub key: [u8; KEY_ID_LEN],
    /// The hash.
    pub code: [u8; 32],
}

/// Domain separation: the statement that a signature makes about a chain head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statement {
    /// This entry was written here.
    Entry,
    /// A mark stands here.
    Mark(MarkKind),
}

string_enum! {
    /// The statement of a mark.
    MarkKind {
        /// The entries up to this one were removed on purpose: the chain begins after it.
        Beginning = "BEGINNING",
        /// The chain goes at least as far as this entry.
        Checkpoint = "CHECKPOINT",
    }
}

/// A signed statement about a chain, one of each kind a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The statement.
    pub kind: MarkKind,
    /// About which entry. As the entries of a chain are counted from 1 without a gap, the number of a
    /// [beginning](MarkKind::Beginning) is also how many were removed.
    pub head: Head,
    /// Over both.
    pub signature: Signature,
}

impl Signature {
    /// Its bytes: the name of the key, then the hash.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 40] {
        let mut bytes = [0; 40];
        let parts = self.key.iter().chain(&self.code);
        bytes.iter_mut().zip(parts).for_each(|(byte, from)| *byte = *from);
        bytes
    }

    /// The one with these bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 40]) -> Self {
        let mut signature = Self { key: [0; KEY_ID_LEN], code: [0; 32] };
        let parts = signature.key.iter_mut().chain(&mut signature.code);
        parts.zip(bytes).for_each(|(part, byte)| *part = byte);
        signature
    }
}

impl Head {
    /// The bytes to sign for `statement` about this head. The hash covers every entry of the chain up to here.
    #[must_use]
    pub fn signed_bytes(&self, statement: Statement) -> Vec<u8> {
        let mut bytes = Bytes::of(match statement {
            Statement::Entry => "signed entry",
            Statement::Mark(MarkKind::Beginning) => "signed beginning",
            Statement::Mark(MarkKind::Checkpoint) => "signed checkpoint",
        });
        bytes.number(self.chain);
        bytes.number(self.number);
        bytes.fixed(self.hash.as_bytes());
        bytes.into_vec()
    }
}

impl Mark {
    /// The signed bytes.
    #[must_use]
    pub fn signed_bytes(&self) -> Vec<u8> {
        self.head.signed_bytes(Statement::Mark(self.kind))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::Digest;

    #[test]
    fn a_signature_is_read_as_it_is_written() {
        let signature = Signature { key: [1; 8], code: [2; 32] };
        assert_eq!(Signature::from_bytes(signature.to_bytes()), signature);
        assert_eq!(signature.to_bytes()[7..9], [1, 2]);
    }

    #[test]
    fn signed_bytes_differ_by_statement_and_by_every_part_of_the_head() {
        let head = Head { chain: 1, number: 2, hash: Digest::from_bytes([3; 32]) };
        let heads = [
            Head { chain: 2, ..head.clone() },
            Head { number: 3, ..head.clone() },
            Head { hash: Digest::from_bytes([4; 32]), ..head.clone() },
            head,
        ];
        let marks = [MarkKind::Beginning, MarkKind::Checkpoint].map(Statement::Mark);
        let all: HashSet<Vec<u8>> = heads
            .iter()
            .flat_map(|head| [Statement::Entry, marks[0], marks[1]].map(|of| head.signed_bytes(of)))
            .collect();
        assert_eq!(all.len(), 12);
    }
}
