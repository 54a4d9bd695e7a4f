//! What a check found, for people and programs.

use std::fmt::Write as _;

use serde::Serialize;

/// A request and its response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exchange {
    /// Method, path and body. Headers, which hold the secret, are left out.
    pub request: String,
    /// Status code and body, or why there is none. Activation codes are masked.
    pub response: String,
}

/// What became of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Outcome {
    /// It holds.
    Holds,
    /// It does not.
    Broken {
        /// What was seen, and what was expected.
        why: String,
        /// The last exchanges of the rule.
        exchanges: Vec<Exchange>,
    },
    /// The connector says that it cannot do this.
    Skipped {
        /// What it cannot do.
        why: String,
    },
}

/// A rule and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleReport {
    /// Its number in BANK.md.
    pub number: u16,
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub title: &'static str,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What became of all rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The rules, in the order in which they were checked.
    pub rules: Vec<RuleReport>,
    /// Cards that were issued.
    pub cards: usize,
    /// Cards that could be neither closed nor emptied afterwards.
    pub left: Vec<String>,
}

impl Report {
    /// Whether no rule is broken.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.count(|outcome| matches!(outcome, Outcome::Broken { .. })) == 0
    }

    fn count(&self, is: impl Fn(&Outcome) -> bool) -> usize {
        self.rules.iter().filter(|rule| is(&rule.outcome)).count()
    }

    /// A table for people.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for rule in &self.rules {
            let word = match &rule.outcome {
                Outcome::Holds => "holds",
                Outcome::Broken { .. } => "BROKEN",
                Outcome::Skipped { .. } => "skipped",
            };
            let _ = writeln!(text, "{:>3}  {word:<8} {}", rule.number, rule.title);
            match &rule.outcome {
                Outcome::Holds => {}
                Outcome::Skipped { why } => {
                    let _ = writeln!(text, "              {why}");
                }
                Outcome::Broken { why, exchanges } => {
                    let _ = writeln!(text, "              {why}");
                    for Exchange { request, response } in exchanges {
                        let _ = writeln!(text, "              > {request}\n              < {response}");
                    }
                }
            }
        }
        let broken = self.count(|outcome| matches!(outcome, Outcome::Broken { .. }));
        let skipped = self.count(|outcome| matches!(outcome, Outcome::Skipped { .. }));
        let holds = self.rules.len() - broken - skipped;
        let _ =
            writeln!(text, "\n{holds} hold, {broken} broken, {skipped} skipped; {} cards issued", self.cards);
        for card in &self.left {
            let _ = writeln!(text, "card {card} could be neither closed nor emptied");
        }
        text
    }

    /// `JUnit` XML, which CI servers read.
    #[must_use]
    pub fn to_junit(&self) -> String {
        let broken = self.count(|outcome| matches!(outcome, Outcome::Broken { .. }));
        let skipped = self.count(|outcome| matches!(outcome, Outcome::Skipped { .. }));
        let mut xml = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"kopeck bank-check\" tests=\"{}\" failures=\"{broken}\" \
             skipped=\"{skipped}\">\n",
            self.rules.len()
        );
        for rule in &self.rules {
            let name = escape(&format!("{} {}", rule.number, rule.title));
            let _ = write!(xml, "  <testcase classname=\"{}\" name=\"{name}\">", rule.name);
            match &rule.outcome {
                Outcome::Holds => {}
                Outcome::Skipped { why } => {
                    let _ = write!(xml, "<skipped message=\"{}\"/>", escape(why));
                }
                Outcome::Broken { why, exchanges } => {
                    let lines: Vec<String> = exchanges
                        .iter()
                        .map(|one| format!("> {}\n< {}", one.request, one.response))
                        .collect();
                    let details = escape(&lines.join("\n"));
                    let _ = write!(xml, "<failure message=\"{}\">{details}</failure>", escape(why));
                }
            }
            xml.push_str("</testcase>\n");
        }
        xml.push_str("</testsuite>\n");
        xml
    }
}

/// A text as XML has it; control characters, which it cannot have, are left out.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(character),
            other if other.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let exchange =
            Exchange { request: "GET /a?b=1&c".to_owned(), response: "200 {\"x\":\"<\"}\u{1}".to_owned() };
        let rule = |number, outcome| RuleReport { number, name: "name", title: "a title", outcome };
        Report {
            rules: vec![
                rule(1, Outcome::Holds),
                rule(2, Outcome::Broken { why: "2 < 3".to_owned(), exchanges: vec![exchange] }),
                rule(3, Outcome::Skipped { why: "no feed".to_owned() }),
            ],
            cards: 4,
            left: vec!["1000000007".to_owned()],
        }
    }

    #[test]
    fn a_report_names_what_is_broken_and_shows_the_exchange() {
        let text = report().to_text();
        assert!(
            text.contains("  2  BROKEN   a title\n              2 < 3\n              > GET /a?b=1&c"),
            "{text}"
        );
        assert!(
            text.contains("1 hold, 1 broken, 1 skipped; 4 cards issued\ncard 1000000007 could"),
            "{text}"
        );
        assert!(!report().is_clean());
        let json = serde_json::to_value(report()).unwrap();
        assert_eq!(json["rules"][1]["outcome"], "broken");
        assert_eq!(json["rules"][2]["why"], "no feed");
    }

    #[test]
    fn junit_is_escaped() {
        let xml = report().to_junit();
        assert!(xml.contains("tests=\"3\" failures=\"1\" skipped=\"1\""), "{xml}");
        assert!(xml.contains("<failure message=\"2 &lt; 3\">&gt; GET /a?b=1&amp;c\n&lt; 200 {&quot;x&quot;:&quot;&lt;&quot;}</failure>"), "{xml}");
    }
}
