//! Reading of steps with further keys: the interface between the reader of plans and the protocol.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Step;
use super::tree::{Entry, Node, Span};
use crate::secrets::Secrets;

/// Error in a text, and the help.
pub type TextError = (String, String);

/// The reader of a plan, as a protocol uses it for its steps.
///
/// A protocol resolves every text that may have variables with [`Self::resolve_names`], in the order of the parts of a request: variables
/// get their numbers in this order.
pub trait Reader {
    /// Reports an error at a place.
    fn report(&mut self, at: Span, what: String, help: String);
    /// Reports an unknown name. The help is the nearest known name, or all of them.
    fn report_unknown(&mut self, at: Span, what: String, name: &str, known: &[&str]);
    /// Whether there is an error exactly at this place, so that its consequences need no separate report.
    fn has_error_at(&self, at: Span) -> bool;
    /// Number of errors so far.
    fn error_count(&self) -> usize;
    /// Place of a part of a text, in bytes.
    fn part(&self, node: &Node, start: usize, end: usize) -> Span;
    /// Resolves the names in a text.
    fn resolve_names(&mut self, node: &Node, text: &str);
    /// Resolves the names in a file that a text names.
    fn resolve_names_in_file(&mut self, node: &Node, bytes: &[u8]);
    /// Text of a file that a step names, with the values that parameters of the plan have in this variant.
    fn with_parameters(&mut self, text: String) -> String;
    /// Resolves the names in a script of statements: `{name}` and `:name`. `is_file` means that the text is in a file that the node
    /// names.
    fn resolve_names_in_script(&mut self, node: &Node, text: &str, is_file: bool);
    /// Whether all saved values that a text uses are already saved at this step.
    fn are_values_saved(&self, text: &str) -> bool;
    /// Whether a text names a secret.
    fn has_secret(&self, text: &str) -> bool;
    /// Number of a variable that no text can name. `None` if there are too many variables.
    fn hidden_variable(&mut self, name: &str) -> Option<u16>;
    /// Number of the variable that a key of `save` sets. `None` if the name is wrong.
    fn save(&mut self, entry: &Entry) -> Option<u16>;
    /// Names of the variables, in the order of their numbers.
    fn variables(&self) -> &[String];
    /// Whether texts have too many names to check.
    fn has_too_many_names(&self) -> bool;
    /// Secrets that texts name.
    fn secrets(&self) -> &Secrets;
    /// Reads a file in the folder of the plan.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or it has more than `bytes_max` bytes.
    fn file(&mut self, path: &str, bytes_max: u64) -> Result<Vec<u8>, TextError>;
    /// Parses a number of bytes with a unit.
    ///
    /// # Errors
    ///
    /// Returns the message for a text that is not a size.
    fn size_bytes(&self, text: &str) -> Result<u64, String>;
}

/// Steps of a scenario in the process of being read, with the keys of the scenario.
pub trait ScenarioSteps {
    /// Reads a step with this key at the system with this name. `None` if it has errors.
    fn read(
        &mut self,
        step: &Node,
        key: &Entry,
        endpoint: &str,
        reader: &mut dyn Reader,
    ) -> Option<ParsedStep>;
    /// Reports keys of the scenario that apply to none of its steps.
    fn finish(&mut self, reader: &mut dyn Reader);
    /// Whether each iteration starts without the state of the user, such as cookies.
    fn resets_each_iteration(&self) -> bool;
    /// Place of credentials of the scenario. `None` if there are none.
    fn authorization_at(&self) -> Option<Span>;
}

/// Parsed step, with the places of its parts.
#[derive(Clone, Debug)]
pub struct ParsedStep {
    /// The step.
    pub step: Arc<dyn Step>,
    /// Place of its title.
    pub title_at: Span,
    /// Place of its credentials, or of the credentials of its scenario. `None` if there are none.
    pub authorization_at: Option<Span>,
}

/// Function that begins to read the steps of a scenario. The node has the keys of the scenario. `None` if it is a list of steps.
pub type BeginScenario = for<'a> fn(Option<&'a Node>, &mut dyn Reader) -> Box<dyn ScenarioSteps + 'a>;
