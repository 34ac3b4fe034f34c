//! What every part of the reader needs: the source, the files next to it, and a place for what is found.

use std::env::VarError;

use wire::{Protocol, Secrets};

use super::findings::Findings;
use super::folder::Folder;
use super::secret;
use super::span::Span;
use super::tree::Node;
use super::url;
use super::words;
use crate::spec::Spanned;
use crate::study::{Braced, names_in};

/// Names of systems, processes, loads, scenarios: longer ones fit no table.
const NAME_LENGTH_MAX: usize = 100;

/// One file on its way to a study.
pub(crate) struct Reading<'a> {
    pub(crate) source: &'a str,
    pub(crate) folder: Folder,
    pub(crate) findings: Findings,
    /// Whether there are steps that are transactions.
    pub(crate) is_sql: bool,
    /// Whether there are steps that are requests.
    pub(crate) is_http: bool,
    /// Steps that name no endpoint.
    pub(crate) at_url: AtUrl,
    /// Max requests under way on one connection that every step allows; `None` if there are no steps.
    pub(crate) pipeline_max: Option<u32>,
    /// Where the values of secrets are looked up.
    pub(crate) environment: &'a dyn Fn(&str) -> Result<String, VarError>,
    /// Those that were looked up.
    pub(crate) secrets: Secrets,
}

/// Which kinds of steps go to `url` and `database`, because they name no endpoint.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AtUrl {
    /// Transactions.
    pub(crate) is_sql: bool,
    /// Requests.
    pub(crate) is_http: bool,
    /// The protocol that owns those; `None` if they are HTTP, or if there are none.
    pub(crate) owner: Option<&'static Protocol>,
}

impl Reading<'_> {
    pub(crate) fn at(&mut self, at: Span, what: impl Into<String>, help: impl Into<String>) {
        self.findings.at(at, what, help);
    }

    /// A number that must be in a range; what is no number is reported by the check of its form.
    pub(crate) fn within(&mut self, value: &Option<Spanned<u64>>, least: u64, most: u64) -> Option<u64> {
        let value = value.as_ref()?;
        let count = *value.get()?;
        if let Some(at) = value.at().filter(|_| !(least..=most).contains(&count)) {
            let what = format!("{count} is not between {least} and {most}");
            self.at(at.value, what, format!("write a number from {least} to {most}"));
        }
        Some(count.clamp(least, most))
    }

    /// A text with variables, each of which must be known. It may be seen by others, so it has no secrets.
    pub(crate) fn braced(&mut self, node: &Node, text: &str, known: &[String]) -> Braced {
        self.names(node, text, known, false)
    }

    /// The same, for a text that only the system sees.
    pub(crate) fn braced_with_secrets(&mut self, node: &Node, text: &str, known: &[String]) -> Braced {
        self.names(node, text, known, true)
    }

    /// A URL: the user and the password of one in a protocol with a log-in may be secrets.
    pub(crate) fn braced_url(&mut self, node: &Node, text: &str, known: &[String]) -> Braced {
        let end_of_log_in = if url::takes_secrets(text) { text.rfind('@').unwrap_or(0) } else { 0 };
        for (name, start, end) in names_in(text).filter(|(name, ..)| secret::is_one(name)) {
            let at = node.part(self.source, start, end);
            if start < end_of_log_in { self.secret(at, name, "") } else { self.exposed(at, name) }
        }
        for (name, start, end) in names_in(text).filter(|(name, ..)| !secret::is_one(name)) {
            if !is_known(name, known) && !self.findings.is_full() {
                self.unknown_name(node.part(self.source, start, end), name, "", known);
            }
        }
        Braced::read(text)
    }

    fn names(&mut self, node: &Node, text: &str, known: &[String], may_be_secret: bool) -> Braced {
        for (name, start, end) in names_in(text) {
            if secret::is_one(name) {
                let at = node.part(self.source, start, end);
                if may_be_secret {
                    self.secret(at, name, "");
                } else {
                    self.exposed(at, name);
                }
            } else if !is_known(name, known) && !self.findings.is_full() {
                self.unknown_name(node.part(self.source, start, end), name, "", known);
            }
        }
        Braced::read(text)
    }

    /// A variable that is none of the known ones; `place` says where, if the file is another.
    pub(crate) fn unknown_name(&mut self, at: Span, name: &str, place: &str, known: &[String]) {
        let known: Vec<String> = known.iter().map(|name| format!("{{{name}}}")).collect();
        let (name, known) = (format!("{{{name}}}"), known.iter().map(String::as_str));
        let listed_as = "write {{…}} for literal braces, or one of";
        self.findings.unknown(at, format!("{place}undefined variable {name}"), &name, known, listed_as);
    }

    /// A command: a text that is split into words, or a list of words.
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

    /// A name of one's own, as it is shown in reports.
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

/// Whether a name in a system's texts is one of the known ones, or that of a port.
pub(crate) fn is_known(name: &str, known: &[String]) -> bool {
    name.starts_with("port.") || known.iter().any(|known| known == name)
}
