//! The reader of a plan as protocols use it for their steps.

use wire::Secrets;
use wire::step::Reader;

use super::reading::Reading;
use super::secret;
use super::span::Span;
use super::tree::{Entry, Node};
use super::variables::Variables;
use crate::spec::InvalidText;
use crate::study::names_in;
use crate::units;

/// Variables and findings while steps are read.
pub(crate) struct StepReader<'a, 'b> {
    pub(crate) variables: &'a mut Variables,
    pub(crate) reading: &'a mut Reading<'b>,
}

impl Reader for StepReader<'_, '_> {
    fn report(&mut self, at: Span, what: String, help: String) {
        self.reading.at(at, what, help);
    }

    fn report_unknown(&mut self, at: Span, what: String, name: &str, known: &[&str]) {
        self.reading.findings.unknown(at, what, name, known.iter().copied(), "write one of");
    }

    fn has_error_at(&self, at: Span) -> bool {
        self.reading.findings.has_at(at)
    }

    fn error_count(&self) -> usize {
        self.reading.findings.count()
    }

    fn part(&self, node: &Node, start: usize, end: usize) -> Span {
        node.part(self.reading.source, start, end)
    }

    fn resolve_names(&mut self, node: &Node, text: &str) {
        self.variables.resolve_names(node, text, self.reading);
    }

    fn resolve_names_in_file(&mut self, node: &Node, bytes: &[u8]) {
        self.variables.resolve_names_in_file(node, bytes, self.reading);
    }

    fn with_parameters(&mut self, text: String) -> String {
        self.reading.parameters.fill_file(&text).into_owned()
    }

    fn resolve_names_in_script(&mut self, node: &Node, text: &str, is_file: bool) {
        self.variables.resolve_names_in_script(node, text, is_file, self.reading);
    }

    fn are_values_saved(&self, text: &str) -> bool {
        self.variables.are_values_saved(text)
    }

    fn has_secret(&self, text: &str) -> bool {
        names_in(text).any(|(name, ..)| secret::is_secret_name(name))
    }

    fn hidden_variable(&mut self, name: &str) -> Option<u16> {
        self.variables.hidden_variable(name)
    }

    fn save(&mut self, entry: &Entry) -> Option<u16> {
        self.variables.save(entry, self.reading)
    }

    fn variables(&self) -> &[String] {
        self.variables.names()
    }

    fn has_too_many_names(&self) -> bool {
        self.variables.has_too_many_names()
    }

    fn secrets(&self) -> &Secrets {
        &self.reading.secrets
    }

    fn file(&mut self, path: &str, bytes_max: u64) -> Result<Vec<u8>, (String, String)> {
        self.reading.folder.read(path, bytes_max)
    }

    fn size_bytes(&self, text: &str) -> Result<u64, String> {
        units::size_bytes(text).map_err(|what| InvalidText::from(what).what)
    }
}
