//! Why a database is out of order for a while.

kopeck_domain::string_enum! {
    /// Why the database cannot do what it could do before and is expected to do again. The words are a metric's labels.
    Outage {
        /// No space is left: `SQLITE_FULL`, 53100.
        Full = "full",
        /// It accepts no changes: `SQLITE_READONLY`, 25006.
        ReadOnly = "read_only",
        /// Another process holds a lock for too long: `SQLITE_BUSY`, `SQLITE_LOCKED`, 55P03.
        Locked = "locked",
        /// The file system fails: `SQLITE_IOERR`, `SQLITE_CANTOPEN`, 58030.
        Io = "io",
        /// The files of an embedded database were removed or replaced. Only a restart helps.
        FileGone = "file_gone",
        /// The file of an embedded database is damaged: `SQLITE_CORRUPT`, `SQLITE_NOTADB`, or it was changed by something
        /// else than SQLite. Only a restart helps.
        Malformed = "malformed",
        /// Commits are missing that were there before. An operator has to accept that.
        Rewound = "rewound",
        /// Anything else that may pass.
        Other = "other",
    }
}

impl Outage {
    /// What is wrong, in a few words.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Full => "no space left on the disk",
            Self::ReadOnly => "read-only",
            Self::Locked => "locked by another process",
            Self::Io => "I/O error",
            Self::FileGone => "its file was removed or replaced: restart",
            Self::Malformed => "its file is damaged: restore it and restart",
            Self::Rewound => "commits are missing: see kopeck check",
            Self::Other => "cannot write",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_differ() {
        for (number, one) in Outage::ALL.iter().enumerate() {
            for other in &Outage::ALL[..number] {
                assert!(one.reason() != other.reason(), "{one:?} {other:?}");
            }
        }
    }
}
