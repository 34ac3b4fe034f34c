//! Reads `scenario` and `scenarios`: the steps of users.

use std::collections::BTreeSet;

use load::values::Source;
use load::{DataSource, Order, Scenario, Scenarios, Visit};
use wire::step::{ScenarioSteps, Unit, with_extra_keys};

use super::data;
use super::endpoints::{Endpoints, Role};
use super::errands;
use super::form;
use super::kinds::{Kind, Kinds};
use super::own_step;
use super::reading::Reading;
use super::settings::{self, PlacedScripts};
use super::span::{Span, line_at};
use super::step::{self, ReadStep};
use super::step_reader::StepReader;
use super::tree::{Node, Value};
use super::variables::Variables;
use super::visits::{self, ReadVisit, Visits};
use crate::plan::{Errands, PlannedStep};
use crate::spec::SqlSpec;
use crate::study::names_in;

const STEPS_MAX: usize = 1_000;
/// Max redirects over all steps. Each is counted separately in every thread.
const REDIRECTS_MAX: usize = 1_000;
/// Max regular expressions over all steps. Each compiles to a program of up to a megabyte.
const EXPRESSIONS_MAX: usize = 200;

/// Steps of users, and the values in them.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) steps: Vec<PlannedStep>,
    /// Requests before and after each load.
    pub(crate) errands: Errands,
    /// Systems that these requests talk to, by number.
    pub(crate) errands_at: Vec<Role>,
    pub(crate) variables: Vec<String>,
    pub(crate) scenarios: Scenarios,
    pub(crate) data: Vec<DataSource>,
    /// Systems that steps talk to, by number.
    pub(crate) endpoints: Vec<Role>,
    /// Places of credentials in steps.
    pub(crate) authorized_at: Vec<Span>,
}

impl Script {
    /// Removes systems that no step talks to, and renumbers the others.
    pub(crate) fn remove_unused_endpoints(&mut self) {
        let used: BTreeSet<u16> = self.steps.iter().map(|step| step.endpoint).collect();
        let used: Vec<u16> = used.into_iter().collect();
        self.endpoints = used.iter().map(|number| self.endpoints[usize::from(*number)].clone()).collect();
        for step in &mut self.steps {
            step.endpoint = used.binary_search(&step.endpoint).unwrap_or_default() as u16;
        }
    }

    /// Sets the query mode and the number of tries of all transactions, where they are given.
    pub(crate) fn set_sql(&mut self, given: &SqlSpec) {
        for role in &mut self.endpoints {
            let spec = &mut role.scripts.spec;
            spec.mode = given.mode.clone().or(spec.mode.take());
            spec.max_tries = given.max_tries.clone().or(spec.max_tries.take());
        }
    }

    /// Unit of the steps. Transactions if there are any.
    pub(crate) fn unit(&self) -> Unit {
        let mut units = self.steps.iter().map(PlannedStep::unit);
        units.find(|unit| unit.has_sessions()).unwrap_or_default()
    }
}

/// A scenario as written.
pub(crate) struct WrittenScenario<'a> {
    pub(crate) name: String,
    pub(crate) at: Span,
    pub(crate) share: Option<&'a Node>,
    pub(crate) steps: &'a [Node],
    /// Mapping of the scenario. `None` if it is a list of steps.
    pub(crate) node: Option<&'a Node>,
}

impl<'a> WrittenScenario<'a> {
    /// Reads a list of steps, or a mapping that has one.
    pub(crate) fn of(name: &str, at: Span, node: &'a Node) -> Self {
        let list = |node: &'a Node| match &node.value {
            Value::List(steps) => Some(steps.as_slice()),
            _ => None,
        };
        let (steps, whole) = match list(node) {
            Some(steps) => (steps, None),
            None => (node.get("steps").and_then(list).unwrap_or_default(), Some(node)),
        };
        Self { name: name.to_owned(), at, share: node.get("share"), steps, node: whole }
    }

    /// Steps of the scenario, including those within groups.
    pub(crate) fn leaf_steps(&self) -> Vec<&'a Node> {
        visits::leaf_steps(self.steps)
    }
}

/// Reads scenarios and data. `is_sound` means that the plan has the right shape, so that unused definitions are reported.
pub(crate) fn read(root: &Node, is_sound: bool, reading: &mut Reading<'_>) -> Script {
    let mut written = written(root, reading);
    limit_expressions(&mut written, reading);
    let shares = shares(&written, needs_shares(root), reading);
    let findings_before = reading.findings.count();
    let (setup, teardown) = (errands::written(root, "setup"), errands::written(root, "teardown"));
    let around = setup.iter().chain(&teardown);
    let saves = written
        .iter()
        .chain(around)
        .flat_map(WrittenScenario::leaf_steps)
        .filter_map(|step| step.get("save"));
    let sources = data::read(root.get("data"), reading);
    let mut variables = Variables::new(sources, saves, settings::variables(root, &written));
    let mut endpoints = register_endpoints(root, &written, reading);
    endpoints.register_statements(root);
    let mut around = Errands::default();
    let mut systems = |section: &Option<WrittenScenario<'_>>, reading: &mut Reading<'_>| {
        section.as_ref().map_or_else(Vec::new, |section| errands::systems(section, &mut endpoints, reading))
    };
    let (setup_at, teardown_at) = (systems(&setup, reading), systems(&teardown, reading));
    if let Some(setup) = &setup {
        around.setup = errands::read(setup, &setup_at, &endpoints, &mut variables, reading);
        around.setup_sql = errands::read_sql(setup, &mut endpoints, reading);
        variables.share_saved();
    }
    if let Some(teardown) = &teardown {
        around.teardown_sql = errands::read_sql(teardown, &mut endpoints, reading);
    }
    let mut steps = Steps::of(root, &endpoints);
    let list = written.iter().zip(shares);
    let list =
        list.map(|(scenario, share)| steps.scenario(scenario, share, &mut variables, reading)).collect();
    if let Some(teardown) = &teardown {
        variables.begin(false);
        around.teardown = errands::read(teardown, &teardown_at, &endpoints, &mut variables, reading);
    }
    steps.limit_redirects(reading);
    // A misspelling may be the reason why a definition seems unused.
    let is_sound = is_sound && reading.findings.count() == findings_before;
    if is_sound {
        variables.unused(reading);
        endpoints.unused(root, reading);
    }
    let names = variables.names().to_vec();
    let mut data = if is_sound { data::finish(variables.data, reading) } else { Vec::new() };
    data.extend(iteration_state_source(&names));
    data.extend(skipped_values_source(&steps.list, &steps.left_out));
    let Steps { list: steps, played, authorized_at, .. } = steps;
    let errands_at = endpoints.errand_roles();
    let endpoints = settings::read(root, played, &names, is_sound, reading);
    let scenarios = Scenarios { list };
    Script { steps, errands: around, errands_at, variables: names, scenarios, data, endpoints, authorized_at }
}

/// Steps of all scenarios that are read so far.
struct Steps<'a> {
    root: &'a Node,
    endpoints: &'a Endpoints,
    list: Vec<PlannedStep>,
    /// Place of each step's name.
    places: Vec<Span>,
    /// Places of credentials.
    authorized_at: Vec<Span>,
    /// Scripts of transactions, by endpoint.
    played: Vec<PlacedScripts>,
    /// Numbers of the steps that an iteration may skip.
    left_out: Vec<u16>,
    /// Whether there are too many steps. This error is reported once.
    has_too_many_names: bool,
}

impl<'a> Steps<'a> {
    fn of(root: &'a Node, endpoints: &'a Endpoints) -> Self {
        let played = |number: usize| PlacedScripts {
            name: endpoints.name_of(number as u16).to_owned(),
            kind: endpoints.kind_of(number as u16),
            scripts: Vec::new(),
        };
        Self {
            root,
            endpoints,
            list: Vec::new(),
            places: Vec::new(),
            authorized_at: Vec::new(),
            played: (0..endpoints.count()).map(played).collect(),
            left_out: Vec::new(),
            has_too_many_names: false,
        }
    }

    /// Reads a scenario.
    fn scenario(
        &mut self,
        written: &WrittenScenario<'_>,
        share: f64,
        variables: &mut Variables,
        reading: &mut Reading<'_>,
    ) -> Scenario {
        let is_mix = written.leaf_steps().iter().any(|step| step.get("weight").is_some());
        variables.begin(is_mix);
        let Some(mut of_scenario) = step::begin(written.node, variables, reading) else {
            let (once, order) = (Vec::new(), Order::InTurn(Vec::new()));
            return Scenario { name: written.name.clone(), share, once, order };
        };
        let mut read = |node: &Node, variables: &mut Variables, reading: &mut Reading<'_>| {
            self.visit(node, is_mix, &mut *of_scenario, variables, reading)
        };
        let visits = Visits::read(written.steps, is_mix, variables, reading, &mut read);
        let once_at = written.steps.iter().find_map(|step| step.entry("once"));
        if let Some(once) = once_at.filter(|_| of_scenario.resets_each_iteration()) {
            let what =
                "with `cookies: iteration`, no iteration has the cookies of a step that is done `once`";
            reading.at(once.key_at, what, "write `cookies: true`");
        }
        of_scenario.finish(&mut StepReader { variables, reading });
        self.left_out.extend(visits.left_out());
        let (once, visits) = (visits.once, visits.list.into_iter());
        let order = match is_mix {
            true => Order::Mix(visits.map(|read| (read.visit, read.weight)).collect()),
            false => Order::InTurn(visits.map(|read| read.visit).collect()),
        };
        Scenario { name: written.name.clone(), share, once, order }
    }

    /// Reads a step.
    fn visit(
        &mut self,
        node: &Node,
        is_mix: bool,
        of_scenario: &mut dyn ScenarioSteps,
        variables: &mut Variables,
        reading: &mut Reading<'_>,
    ) -> Option<ReadVisit> {
        if self.list.len() >= STEPS_MAX {
            if !std::mem::replace(&mut self.has_too_many_names, true) {
                reading.at(node.at, format!("there are more than {STEPS_MAX} steps"), "use fewer");
            }
            return None;
        }
        let read = self.read_step(node, of_scenario, variables, reading)?;
        self.authorized_at.extend(read.authorization_at);
        if let Some(known) = self.list.iter().position(|step| step.name == read.step.name) {
            let line = line_at(reading.source, self.places[known].start).number;
            let what = format!("duplicate step name {:?}; the first is on line {line}", read.step.name);
            reading.at(read.name_at, what, "add a different `name` to one of them");
        }
        let visit = Visit::of(self.list.len() as u16, read.think);
        let weight = weight(&read, node, is_mix, reading);
        self.places.push(read.name_at);
        self.list.push(read.step);
        Some(ReadVisit { visit, weight })
    }

    fn read_step(
        &mut self,
        node: &Node,
        of_scenario: &mut dyn ScenarioSteps,
        variables: &mut Variables,
        reading: &mut Reading<'_>,
    ) -> Option<ReadStep> {
        let endpoint = self.endpoints.of_step(node);
        let name = self.endpoints.name_of(endpoint);
        for hash in self.endpoints.hash_texts(endpoint, self.root) {
            // An unknown value is reported once, not for each step.
            let has_error_at = |(_, start, end): (&str, usize, usize)| {
                reading.findings.has_at(hash.part(reading.source, start, end))
            };
            let text = hash.text().unwrap_or_default();
            if !names_in(text).any(has_error_at) {
                variables.resolve_names(hash, text, reading);
            }
        }
        let read = step::read(node, name, of_scenario, variables, reading)?;
        let script = read.step.owned().and_then(|action| sql::script_of(&*action.step));
        if let Some(script) = script {
            let scripts = &mut self.played.get_mut(usize::from(endpoint))?.scripts;
            scripts.push((script.clone(), read.name_at));
        }
        Some(read.at(endpoint, name))
    }

    /// Reports more redirects than there can be accounts for.
    fn limit_redirects(&self, reading: &mut Reading<'_>) {
        let followed = |step: &PlannedStep| step.owned()?.step.parts().len().checked_sub(1);
        let redirects: usize = self.list.iter().filter_map(followed).sum();
        if let Some(last) = self.places.last().filter(|_| redirects > REDIRECTS_MAX) {
            let what =
                format!("the steps follow up to {redirects} redirects, more than {REDIRECTS_MAX} together");
            reading.at(*last, what, "lower `redirects`, or set it only for the steps that need it");
        }
    }
}

/// Source that empties values of steps that an iteration may skip. Without it, values of the previous iteration would remain. `None` if
/// there are no such values.
fn skipped_values_source(steps: &[PlannedStep], left_out: &[u16]) -> Option<DataSource> {
    let left_out = left_out.iter().filter_map(|step| steps.get(usize::from(*step)));
    let mut saved: Vec<u16> = left_out.flat_map(PlannedStep::saves).collect();
    saved.sort_unstable();
    saved.dedup();
    (!saved.is_empty()).then(|| emptying_source(&saved))
}

/// Source that clears the per-iteration state of users, such as cookies, at every system. `None` if there is none.
fn iteration_state_source(variables: &[String]) -> Option<DataSource> {
    let is_per_iteration =
        |name: &str| with_extra_keys().any(|(_, further)| (further.is_per_iteration)(name));
    let numbered = (0..).zip(variables).filter(|(_, name)| is_per_iteration(name));
    let state: Vec<u16> = numbered.map(|(number, _)| number).collect();
    (!state.is_empty()).then(|| emptying_source(&state))
}

/// Source that empties variables at the start of each iteration.
fn emptying_source(variables: &[u16]) -> DataSource {
    let source = Source::Text { length: 0, alphabet: "0" };
    DataSource { fills: variables.iter().map(|variable| (*variable, 0)).collect(), source }
}

/// Unit of the scenario of a load. `None` if the load follows all scenarios, or an unknown one.
pub(crate) fn load_unit(root: &Node, load: &Node) -> Option<Unit> {
    let entry = root.get("scenarios")?.entry(load.text_of("scenario")?)?;
    let scenario = WrittenScenario::of(&entry.key, entry.key_at, &entry.value);
    Some(scenario.leaf_steps().into_iter().filter_map(Kind::from_known_step).collect::<Kinds>().unit())
}

/// Registers the kinds of steps and their systems. A step without a kind is misspelled.
fn register_endpoints(root: &Node, written: &[WrittenScenario<'_>], reading: &mut Reading<'_>) -> Endpoints {
    let mut endpoints = Endpoints::read(root, reading);
    let mut first_owned = None;
    for step in written.iter().flat_map(WrittenScenario::leaf_steps) {
        if own_step::owner(step).is_some() && step.get("endpoint").is_none() {
            first_owned = first_owned.or(Some(step));
        }
        // A misspelled step belongs to no system.
        if let Some(kind) = Kind::from_known_step(step) {
            reading.kinds.add(kind);
            let pipeline_max = kind.pipeline_max();
            reading.pipeline_max =
                Some(reading.pipeline_max.map_or(pipeline_max, |max| max.min(pipeline_max)));
            endpoints.note(step, reading);
        }
    }
    reading.at_url = endpoints.at_url();
    let at_front: Vec<Kind> =
        reading.at_url.front().into_iter().flat_map(|front| reading.at_url.at(front)).collect();
    if let (Some(first), [one, other, ..]) = (first_owned, at_front.as_slice()) {
        let what = format!(
            "some steps are {} and some are {}, and a system speaks one of them",
            other.noun(),
            one.noun()
        );
        reading.at(first.at, what, "give one of them an `endpoint` of its own, or write a plan for each");
    }
    endpoints
}

fn written<'a>(root: &'a Node, reading: &mut Reading<'_>) -> Vec<WrittenScenario<'a>> {
    match (root.entry("scenario"), root.entry("scenarios")) {
        (Some(one), Some(several)) => {
            let second = if one.key_at < several.key_at { several } else { one };
            reading.at(second.key_at, "`scenario` and `scenarios` exclude each other", "remove one of them");
            Vec::new()
        }
        (Some(entry), None) => vec![WrittenScenario::of("", entry.key_at, &entry.value)],
        (None, Some(entry)) => {
            let entries = entry.value.entries().iter();
            entries
                .map(|entry| {
                    reading.own_name(&entry.key, entry.key_at, "scenario");
                    WrittenScenario::of(&entry.key, entry.key_at, &entry.value)
                })
                .collect()
        }
        (None, None) => Vec::new(),
    }
}

/// Removes the steps of scenarios with too many regular expressions.
fn limit_expressions(written: &mut [WrittenScenario<'_>], reading: &mut Reading<'_>) {
    let of_step = |step: &Node| {
        let checks = step
            .get("expect")
            .and_then(|expect| expect.get("body-matches"))
            .map_or(0, |node| node.items().len());
        let saves = step.get("save").map_or(&[][..], Node::entries).iter();
        checks
            + saves.filter(|entry| ["body", "regex"].iter().any(|key| entry.value.get(key).is_some())).count()
    };
    let mut count = 0;
    for scenario in written {
        count += scenario.leaf_steps().into_iter().map(of_step).sum::<usize>();
        if count > EXPRESSIONS_MAX {
            let what = format!("there are more than {EXPRESSIONS_MAX} regular expressions");
            reading.at(scenario.at, what, "use fewer; `body` finds plain text");
            scenario.steps = &[];
        }
    }
}

/// Whether scenarios need shares. Not needed if each load follows one scenario or has a `tool`.
fn needs_shares(root: &Node) -> bool {
    let follows_all = |load: &Node| load.get("scenario").is_none() && load.get("tool").is_none();
    root.get("load").is_none_or(|load| load.items().iter().any(follows_all))
}

/// Share of each scenario. Either all are in percent, or none.
fn shares(written: &[WrittenScenario<'_>], is_needed: bool, reading: &mut Reading<'_>) -> Vec<f64> {
    if let [only] = written {
        if let Some(share) = only.share.filter(|_| only.name.is_empty()) {
            reading.at(share.at, "`share` requires several scenarios", "remove `share`");
        }
        return vec![1.0];
    }
    let (mut shares, mut sum) = (Vec::new(), 0.0);
    let is_percent =
        written.iter().find_map(|scenario| scenario.share?.text()).is_some_and(|text| text.ends_with('%'));
    for scenario in written {
        let Some((node, text)) = scenario.share.and_then(|node| Some((node, node.text()?))) else {
            if scenario.share.is_none() && is_needed {
                let what =
                    format!("`{}` has no `share`, which each of several scenarios requires", scenario.name);
                reading.at(scenario.at, what, "add a share, such as `share: 20%`");
            }
            shares.push(1.0);
            continue;
        };
        if text.ends_with('%') != is_percent {
            reading.at(node.at, "shares are partly in percent", "write all shares in percent, or none");
        }
        let share = form::weight(text.trim_end_matches('%').trim_end()).unwrap_or(0.0);
        sum += share;
        shares.push(share);
    }
    let last = written.iter().rev().find_map(|scenario| scenario.share);
    let are_good =
        written.iter().all(|scenario| scenario.share.is_some_and(|share| !reading.findings.has_at(share.at)));
    if let Some(last) = last.filter(|_| is_percent && are_good && (sum - 100.0).abs() > 0.01) {
        let what = format!("the shares add up to {}% instead of 100%", (sum * 1e6).round() / 1e6);
        reading.at(last.at, what, "change one, or write all without % as proportions");
    }
    shares
}

fn weight(read: &ReadStep, node: &Node, is_mix: bool, reading: &mut Reading<'_>) -> f64 {
    match read.weight {
        Some((weight, _)) => weight,
        None => {
            if is_mix && node.get("weight").is_none() {
                let what = "the step has no weight, and others of the scenario have one";
                reading.at(read.name_at, what, "add a `weight` to every step, or to none");
            }
            1.0
        }
    }
}
