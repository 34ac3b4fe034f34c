//! Reads one step of a scenario.

use load::ThinkTime;
use wire::Protocol;
use wire::step::{self, ParsedStep, ScenarioSteps};

use super::own_step;
use super::reading::Reading;
use super::span::Span;
use super::step_reader::StepReader;
use super::tree::{Entry, Node};
use super::variables::Variables;
use crate::plan::{Action, OwnedAction, PlannedStep};
use crate::spec::{Spanned, values};
use crate::system_kind::SystemKind;

/// Step, and the facts that its scenario needs.
pub(crate) struct ReadStep {
    pub(crate) step: PlannedStep,
    pub(crate) think: ThinkTime,
    pub(crate) weight: Option<(f64, Span)>,
    /// Place of its name, or of its path.
    pub(crate) name_at: Span,
    /// Whether the plan names the step.
    pub(crate) has_own_name: bool,
    /// Place of its credentials. `None` if it has none.
    pub(crate) authorization_at: Option<Span>,
}

impl ReadStep {
    /// Assigns the step to a system. If the plan does not name the step, it gets the name of a named system as a suffix.
    pub(crate) fn at(mut self, endpoint: u16, name: &str) -> Self {
        self.step.endpoint = endpoint;
        if !self.has_own_name && !name.is_empty() {
            self.step.name = format!("{} ({name})", self.step.name);
        }
        self
    }
}

/// Begins to read the steps of a scenario. The node has the keys of the scenario. `None` if it is a list of steps.
pub(crate) fn begin<'a>(
    scenario: Option<&'a Node>,
    variables: &mut Variables,
    reading: &mut Reading<'_>,
) -> Option<Box<dyn ScenarioSteps + 'a>> {
    let further = step::requests().extra_keys()?;
    Some((further.begin)(scenario, &mut StepReader { variables, reading }))
}

/// Reads a step at the system with this name. Errors are added to the findings.
pub(crate) fn read(
    node: &Node,
    endpoint: &str,
    of_scenario: &mut dyn ScenarioSteps,
    variables: &mut Variables,
    reading: &mut Reading<'_>,
) -> Option<ReadStep> {
    let kind = SystemKind::by_step(node).unwrap_or(SystemKind::for_unknown());
    let (action, title_at, authorization_at) =
        (kind.read_step)(node, endpoint, of_scenario, variables, reading)?;
    let name = name(node, || action.step.title(), reading);
    Some(ReadStep {
        step: PlannedStep { name, endpoint: 0, action: Action::Owned(action) },
        think: think(node),
        weight: weight(node),
        name_at: node.get("name").map_or(title_at, |node| node.at),
        has_own_name: node.get("name").is_some(),
        authorization_at,
    })
}

/// Parsed step, with the places of its title and of its credentials. `None` if it has errors.
type ReadAction = Option<(OwnedAction, Span, Option<Span>)>;

/// Reads a step at the system with this name.
pub(crate) type ReadStepOfKind =
    fn(&Node, &str, &mut dyn ScenarioSteps, &mut Variables, &mut Reading<'_>) -> ReadAction;

/// Reads a transaction.
pub(crate) fn read_transaction(
    node: &Node,
    _endpoint: &str,
    _of_scenario: &mut dyn ScenarioSteps,
    variables: &mut Variables,
    reading: &mut Reading<'_>,
) -> ReadAction {
    own_step::forbid_owned_reply_keys(node, "transactions", reading);
    Some(to_action(None, sql::read_step(node, &mut StepReader { variables, reading })?))
}

/// Reads a request. Its protocol may have protocol-specific steps.
pub(crate) fn read_request(
    node: &Node,
    endpoint: &str,
    of_scenario: &mut dyn ScenarioSteps,
    variables: &mut Variables,
    reading: &mut Reading<'_>,
) -> ReadAction {
    let entry = request_key(node, reading)?;
    if step::owner_of(&entry.key).is_some() {
        let action = own_step::read(node, variables, reading)?;
        return Some((action, entry.value.at, of_scenario.authorization_at()));
    }
    let protocol = step::protocol_of(&entry.key)?;
    own_step::forbid_owned_reply_keys(node, protocol.noun(), reading);
    let read = of_scenario.read(node, entry, endpoint, &mut StepReader { variables, reading })?;
    Some(to_action(Some(protocol), read))
}

fn to_action(protocol: Option<&'static Protocol>, read: ParsedStep) -> (OwnedAction, Span, Option<Span>) {
    let ParsedStep { step, title_at, authorization_at } = read;
    (OwnedAction { protocol, step, host: String::new(), keep_alive: true }, title_at, authorization_at)
}

/// Name of the step in reports: its own, or the default.
fn name(node: &Node, default: impl FnOnce() -> String, reading: &mut Reading<'_>) -> String {
    let named = node.get("name");
    let Some(name) = named.and_then(Node::text) else { return default() };
    reading.own_name(name, named.map_or(node.at, |node| node.at), "step");
    name.to_owned()
}

fn weight(node: &Node) -> Option<(f64, Span)> {
    node.get("weight").and_then(|node| Some((super::form::weight(node.text()?).ok()?, node.at)))
}

/// Key of the step's request. Exactly one is allowed.
fn request_key<'a>(node: &'a Node, reading: &mut Reading<'_>) -> Option<&'a Entry> {
    let is_request = |entry: &&Entry| step::protocol_of(&entry.key).is_some();
    let mut given = node.entries().iter().filter(is_request);
    let Some(first) = given.next() else {
        if let Some(entry) = node
            .entries()
            .first()
            .filter(|_| !node.entries().iter().any(|entry| reading.findings.has_at(entry.key_at)))
        {
            reading.at(entry.key_at, "the step has no request", "add a request, such as `get: /`");
        }
        return None;
    };
    if let Some(second) = given.next() {
        let what = format!("a step has one request, and this one has `{}`", first.key);
        reading.at(second.key_at, what, "start a new step with `- `");
    }
    Some(first)
}

/// Reads the pause after a step.
pub(crate) fn think(node: &Node) -> ThinkTime {
    let think = node.entry("think").and_then(|entry| Spanned::from_entry(entry, &values::THINK));
    think.as_ref().and_then(Spanned::get).copied().unwrap_or(ThinkTime::None)
}
