//! State that all parts of the reader share: the source, the files next to it, and the findings.

use std::env::VarError;

use wire::Secrets;

use super::findings::Findings;
use super::folder::Folder;
use super::kinds::Kinds;
use super::parameters::Parameters;
use super::replays::ReadLogs;
use super::secret;
use super::span::Span;
use super::tree::Node;
use super::url;
use super::words;
use crate::spec::Spanned;
use crate::study::{Braced, names_in};

/// Max length of a name of a system, process, load, or scenario. Longer names fit no table.
const NAME_LENGTH_MAX: usize = 100;

/// State while one file is read into a study.
pub(crate) struct Reading<'a> {
    pub(crate) source: &'a str,
    pub(crate) folder: Folder,
    pub(crate) findings: Findings,
    /// Number of the system whose configuration is read.
    pub(crate) system: usize,
    /// Kinds of all steps.
    pub(crate) kinds: Kinds,
    /// Kinds of the steps that go to `url` and `database`, because they name no endpoint.
    pub(crate) at_url: Kinds,
    /// Max requests in flight per connection that every step allows. `None` if there are no steps.
    pub(crate) pipeline_max: Option<u32>,
    /// Looks up the value of an environment variable.
    pub(crate) environment: &'a dyn Fn(&str) -> Result<String, VarError>,
    /// Secrets that were looked up.
    pub(crate) secrets: Secrets,
    /// Parameters, with the values of the setting that is read.
    pub(crate) parameters: Parameters,
    /// Logs to replay that were read.
    pub(crate) logs: ReadLogs,
}

impl Reading<'_> {
    pub(crate) fn at(&mut self, at: Span, what: impl Into<String>, help: impl Into<String>) {
        self.findings.at(at, what, help);
    }

    /// Reads a number, and reports it if it is out of range. The check of forms reports a text that is not a number.
    pub(crate) fn within(&mut self, value: &Option<Spanned<u64>>, least: u64, most: u64) -> Option<u64> {
        let value = value.as_ref()?;
        let count = *value.get()?;
        if let Some(at) = value.at().filter(|_| !(least..=most).contains(&count)) {
            let what = format!("{count} is not between {least} and {most}");
            self.at(at.value, what, format!("write a number from {least} to {most}"));
        }
        Some(count.clamp(least, most))
    }

    /// Parses a text in which all variables must be known. The text may be shown, so it must not have secrets.
    pub(crate) fn braced(&mut self, node: &Node, text: &str, known: &[String]) -> Braced {
        self.parse_names(node, text, known, false)
    }

    /// Parses a text with variables that only the system sees, so it may have secrets.
    pub(crate) fn braced_with_secrets(&mut self, node: &Node, text: &str, known: &[String]) -> Braced {
        self.parse_names(node, text, known, true)
    }

    /// Parses a URL. In a protocol with a log-in, user and password may be secrets.
    pub(crate) fn braced_url(&mut self, node: &Node, text: &str, known: &[String]) -> Braced {
        let end_of_log_in = if url::accepts_secrets(text) { text.rfind('@').unwrap_or(0) } else { 0 };
        for (name, start, end) in names_in(text).filter(|(name, ..)| secret::is_secret_name(name)) {
            let at = node.part(self.source, start, end);
            if start < end_of_log_in { self.secret(at, name, "") } else { self.report_exposed(at, name) }
        }
        for (name, start, end) in names_in(text).filter(|(name, ..)| !secret::is_secret_name(name)) {
            if !is_known(name, known) && !self.findings.is_full() {
                self.report_unknown_name(node.part(self.source, start, end), name, "", known);
            }
        }
        Braced::read(text)
    }

    fn parse_names(&mut self, node: &Node, text: &str, known: &[String], may_be_secret: bool) -> Braced {
        for (name, start, end) in names_in(text) {
            if secret::is_secret_name(name) {
                let at = node.part(self.source, start, end);
                if may_be_secret {
                    self.secret(at, name, "");
                } else {
                    self.report_exposed(at, name);
                }
            } else if !is_known(name, known) && !self.findings.is_full() {
                self.report_unknown_name(node.part(self.source, start, end), name, "", known);
            }
        }
        Braced::read(text)
    }

    /// Reports a variable that is not among the known ones. `place` gives the position if it is in another file.
    pub(crate) fn report_unknown_name(&mut self, at: Span, name: &str, place: &str, known: &[String]) {
        let known: Vec<String> = known.iter().map(|name| format!("{{{name}}}")).collect();
        let (name, known) = (format!("{{{name}}}"), known.iter().map(String::as_str));
        let listed_as = "write {{…}} for literal braces, or one of";
        self.findings.unknown(at, format!("{place}undefined variable {name}"), &name, known, listed_as);
    }

    /// Parses a command: a text that is split into words, or a list of words.
    pub(crate) fn command(&mut self, node: &Node, known: &[String]) -> Vec<Braced> {
        if let super::tree::Value::List(items) = &node.value {
            let words = items.iter().filter_map(|item| Some(self.braced(item, item.text()?, known)));
            return words.collect();
        }
        let Some(text) = node.text() else { return Vec::new() };
        self.braced(node, text, known);
        match words::split(text) {
            Ok(words) => words.iter().map(|word| Braced::read(word)).collect(),
            Err(wrong) => {
                let at = node.part(self.source, wrong.start, wrong.end);
                self.findings.at(at, wrong.what, wrong.help);
                Vec::new()
            }
        }
    }

    /// Checks a name that the plan chooses and reports show.
    pub(crate) fn own_name(&mut self, name: &str, at: Span, of_what: &str) {
        let is_fit = !name.is_empty()
            && name.chars().count() <= NAME_LENGTH_MAX
            && name.trim() == name
            && !name.chars().any(char::is_control);
        if !is_fit {
            let what = format!("invalid name for a {of_what}");
            self.findings.at(
                at,
                what,
                "use 1 to 100 characters, without control characters and without spaces at the ends",
            );
        }
    }
}

/// Whether a name in a system's texts is known, or names a port.
pub(crate) fn is_known(name: &str, known: &[String]) -> bool {
    name.starts_with("port.") || known.iter().any(|known| known == name)
}
