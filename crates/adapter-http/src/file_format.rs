//! The forms of statements and reports: which `Accept` asks for which, and what their files are called.

/// The form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// Rows as CSV, in kopecks, for programs.
    Csv,
    /// Rows as CSV that a spreadsheet program opens by a double click, in roubles.
    ExcelCsv,
    /// A spreadsheet, in roubles.
    Xlsx,
    /// 1CClientBankExchange, which accounting programs of 1C import.
    OneC,
    /// ISO 20022 camt.053.001.08.
    Camt,
}

/// The parameter of a media type that tells two forms of one type apart.
const PROFILE: &str = "profile=";

impl FileFormat {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Csv, Self::ExcelCsv, Self::Xlsx, Self::OneC, Self::Camt];

    /// Its media type, as `Accept` names it.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv",
            Self::ExcelCsv => "text/csv; profile=excel",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::OneC => "text/plain; profile=1c; charset=windows-1251",
            Self::Camt => "application/xml; profile=camt.053",
        }
    }

    /// Its media type with its character set, if it is text, as a response names it.
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8",
            Self::ExcelCsv => "text/csv; profile=excel; charset=utf-8",
            Self::Camt => "application/xml; profile=camt.053; charset=utf-8",
            Self::Xlsx | Self::OneC => self.media_type(),
        }
    }

    /// How the names of such files end.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Csv | Self::ExcelCsv => "csv",
            Self::Xlsx => "xlsx",
            Self::OneC => "txt",
            Self::Camt => "xml",
        }
    }

    /// Type and profile of its media type.
    fn essence(self) -> (&'static str, Option<&'static str>) {
        let mut parts = self.media_type().split("; ");
        (parts.next().unwrap_or_default(), parts.find_map(|part| part.strip_prefix(PROFILE)))
    }

    /// The form that a media range of `Accept` asks for, whatever other parameters it has.
    #[must_use]
    pub fn asked_for(range: &str) -> Option<Self> {
        let mut parts = range.split(';').map(str::trim);
        let name = parts.next()?.to_ascii_lowercase();
        let profile = parts.find_map(|part| {
            let part = part.to_ascii_lowercase();
            part.strip_prefix(PROFILE).map(|value| value.trim_matches('"').to_owned())
        });
        Self::ALL.into_iter().find(|format| format.essence() == (name.as_str(), profile.as_deref()))
    }

    /// Whether its texts depend on the reader's language.
    #[must_use]
    pub const fn is_for_people(self) -> bool {
        matches!(self, Self::ExcelCsv | Self::Xlsx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_media_range_asks_for_the_form_of_its_profile() {
        for format in FileFormat::ALL {
            assert_eq!(FileFormat::asked_for(format.media_type()), Some(format));
            let content_type = format.content_type();
            assert_eq!(FileFormat::asked_for(content_type), Some(format));
            assert_eq!(content_type.contains("; charset="), format != FileFormat::Xlsx, "{content_type}");
        }
        for (range, format) in [
            ("text/csv;q=0.5", Some(FileFormat::Csv)),
            ("TEXT/CSV;Profile=\"Excel\";q=0.5", Some(FileFormat::ExcelCsv)),
            ("text/csv; charset=utf-8", Some(FileFormat::Csv)),
            ("text/csv; profile=other", None),
            ("text/plain", None),
            ("text/plain;profile=1c", Some(FileFormat::OneC)),
            ("application/xml", None),
            ("application/xml; profile=camt.054", None),
            ("*/*", None),
        ] {
            assert_eq!(FileFormat::asked_for(range), format, "{range}");
        }
    }
}
