//! Describes a study as text, before anything starts. Omits credentials of URLs, and headers.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use wire::masking::mask_secrets;

use load::values::{DataSource, RowOrder, Source};
use load::{Guard, Order, Scenario, Subject, Test, ThinkTime, Visit};
use wire::{Protocol, ShardMap};

use super::experiment::step_words;
use super::{Braced, NOTE_ON_EVENTS, Study, StudyPin, UrlList};
use crate::endpoint::Select;
use crate::plan::Action;
use crate::system_kind::SystemKind;
use crate::units::{show_duration, show_percent, show_size};
use crate::visible::visible;

/// Max variants that are listed. The others are only counted.
const LISTED_MAX: usize = 20;

/// Visit, its weight in a mix, and the number of times that an iteration runs its step.
type RepeatedVisit<'a> = (&'a Visit, Option<f64>, usize);

/// Merges repeated visits, so that each step is listed once.
fn merge_repeated<'a>(visits: Vec<(&'a Visit, Option<f64>)>) -> Vec<RepeatedVisit<'a>> {
    let mut times: BTreeMap<u16, usize> = BTreeMap::new();
    visits.iter().for_each(|(visit, _)| *times.entry(visit.step).or_default() += 1);
    let first =
        visits.into_iter().filter_map(|(visit, weight)| Some((visit, weight, times.remove(&visit.step)?)));
    first.collect()
}

impl Study {
    /// Describes the study in lines of text.
    pub fn explain(&self) -> String {
        let mut out = String::new();
        let quick = if self.is_quick { " (quick)" } else { "" };
        let _ = writeln!(out, "plan        {}{quick}, {}", self.title, self.hash);
        if let Some(question) = &self.question {
            let words: Vec<&str> = question.split_whitespace().collect();
            let _ = writeln!(out, "question    {}", words.join(" "));
        }
        for scenario in &self.script.scenarios.list {
            self.explain_scenario(scenario, &mut out);
        }
        for (word, steps) in
            [("setup", &self.script.errands.setup), ("teardown", &self.script.errands.teardown)]
        {
            for step in steps {
                let (wanted, saved) = self.check_and_save_words(&step.action);
                let saved =
                    if saved.is_empty() { String::new() } else { format!("; saves {}", saved.join(", ")) };
                let _ = writeln!(out, "{word:<12}{}: {wanted}{saved}", step.name);
            }
        }
        let errands = &self.script.errands;
        for (word, all) in [("setup", &errands.setup_sql), ("teardown", &errands.teardown_sql)] {
            for one in all {
                let words = one.sql.text.split_whitespace().collect::<Vec<_>>().join(" ");
                let what = one.sql.file.clone().unwrap_or(words);
                let to = one.endpoint.as_ref().map_or_else(String::new, |name| format!(", on {name}"));
                let _ = writeln!(out, "{word:<12}{what}{to}");
            }
        }
        for source in self.script.data.iter().filter(|source| !self.is_hidden(source)) {
            let _ = writeln!(out, "data        {}", self.data_words(source));
        }
        for load in &self.loads {
            let follows = load.scenario.as_ref().map_or(String::new(), |name| format!(", following {name}"));
            let _ = writeln!(out, "load        {}: {}{follows}; {}", load.name, load.words, load.stop_words);
            if let Some(tool) = &load.tool {
                let _ = writeln!(out, "            runs {}", mask_secrets(&tool.shown()));
            }
        }
        for number in 0..self.systems.len() {
            self.explain_system(number, &mut out);
        }
        self.explain_events(&mut out);
        match &self.pin {
            StudyPin::No => {}
            StudyPin::Auto => out += "cores       apart, on cores that others use little\n",
            StudyPin::Cores { system, generator } => {
                let list =
                    |cores: &[usize]| cores.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
                let _ = writeln!(out, "cores       system {}; generator {}", list(system), list(generator));
            }
        }
        self.explain_order(&mut out);
        for gate in &self.gates {
            let _ = writeln!(out, "gate        {}", gate.text);
        }
        self.explain_comparison(&mut out);
        if let Some(experiment) = &self.experiment {
            let minutes = experiment.within_ns as f64 / 60e9;
            let _ =
                writeln!(out, "experiment  on the fastest variant: what limits it, within {minutes:.1} min");
        }
        out.lines().map(|line| visible(line) + "\n").collect()
    }

    fn explain_scenario(&self, scenario: &Scenario, out: &mut String) {
        let total: f64 = self.script.scenarios.list.iter().map(|scenario| scenario.share).sum();
        let share = match self.script.scenarios.list.len() {
            1 => String::new(),
            _ if self
                .loads
                .iter()
                .all(|load| load.scenario.is_some() || load.tool.is_some() || load.replay.is_some()) =>
            {
                String::new()
            }
            _ => format!(" ({} of iterations)", show_percent(scenario.share / total)),
        };
        let (how, visits) = match &scenario.order {
            Order::InTurn(visits) => {
                ("one after the other", visits.iter().map(|visit| (visit, None)).collect::<Vec<_>>())
            }
            Order::Mix(visits) => (
                "one for each iteration",
                visits.iter().map(|(visit, weight)| (visit, Some(*weight))).collect(),
            ),
        };
        let sum: f64 = visits.iter().filter_map(|(_, weight)| *weight).sum();
        let visits = merge_repeated(visits);
        let name =
            if scenario.name.is_empty() { String::new() } else { format!("{}{share}, ", scenario.name) };
        let count = visits.len();
        let how = if count == 1 { "1 step".to_owned() } else { format!("{count} steps, {how}") };
        let once: Vec<RepeatedVisit<'_>> = scenario.once.iter().map(|visit| (visit, None, 1)).collect();
        let cookies = self.session_words(once.iter().chain(&visits));
        let _ = writeln!(out, "scenario    {name}{how}{cookies}");
        let once = once.into_iter().map(|visit| (visit, "once for each user: "));
        for ((visit, weight, times), when) in once.chain(visits.into_iter().map(|visit| (visit, ""))) {
            let Some(step) = self.script.steps.get(usize::from(visit.step)) else { continue };
            let weight = weight.map_or(String::new(), |weight| format!("{}  ", show_percent(weight / sum)));
            let (wanted, saved) = self.check_and_save_words(&step.action);
            let saved =
                if saved.is_empty() { String::new() } else { format!("; saves {}", saved.join(", ")) };
            let think = think_words(visit.think);
            let times = if times > 1 { format!("; {times} times") } else { String::new() };
            let guards: Vec<String> = visit.guards.iter().map(|guard| self.guard_words(guard)).collect();
            let guards = guards.concat();
            let _ = writeln!(
                out,
                "            {weight}{when}{}: {wanted}{saved}{times}{guards}{think}",
                step.name
            );
        }
    }

    /// Words for the condition of a step, or of the group that begins with it.
    fn guard_words(&self, guard: &Guard) -> String {
        let name = match guard.condition.subject {
            Subject::Status => "status",
            Subject::Variable(variable) => {
                self.script.variables.get(usize::from(variable)).map_or("", String::as_str)
            }
        };
        let test = match &guard.condition.test {
            Test::Is(text) => format!("== {}", String::from_utf8_lossy(text)),
            Test::IsNot(text) => format!("!= {}", String::from_utf8_lossy(text)),
            Test::Present => "is present".to_owned(),
            Test::Absent => "is absent".to_owned(),
        };
        let group =
            if guard.visits > 1 { format!(" (for {} requests)", guard.visits) } else { String::new() };
        format!("; if {{{name}}} {test}{group}")
    }

    /// Whether a source only empties variables, or only fills variables that no text can use.
    fn is_hidden(&self, source: &DataSource) -> bool {
        if matches!(source.source, Source::Text { length: 0, .. }) {
            return true;
        }
        let name = |variable: u16| self.script.variables.get(usize::from(variable));
        source.fills.iter().all(|(variable, _)| name(*variable).is_some_and(|name| name.starts_with('(')))
    }

    /// Describes the state that users of a scenario keep between steps, such as cookies.
    fn session_words<'a>(&self, mut visits: impl Iterator<Item = &'a RepeatedVisit<'a>>) -> String {
        let session = |visit: &Visit| {
            let action = self.script.steps.get(usize::from(visit.step))?.owned()?;
            let name = self.script.variables.get(usize::from(action.step.session()?))?;
            Some((action.protocol?.extra_keys()?.session_words)(name))
        };
        visits.find_map(|(visit, ..)| session(visit)).map_or_else(String::new, |words| format!("; {words}"))
    }

    /// Words for the checks of a step's replies, and the names of the values that it saves.
    fn check_and_save_words<'a>(&'a self, action: &'a Action) -> (String, Vec<&'a str>) {
        match action {
            Action::Owned(action) => {
                let noun = action.protocol.map_or("", Protocol::noun);
                let wanted = action.step.expects().unwrap_or_else(|| format!("{noun}, expects a reply"));
                let saves = action.step.saves().into_iter();
                let names = saves.filter_map(|variable| self.script.variables.get(usize::from(variable)));
                (wanted, names.map(String::as_str).collect())
            }
            // Scenarios have no tool steps.
            Action::Tool(tool) => (tool.tool.name.to_owned(), Vec::new()),
        }
    }

    fn data_words(&self, data: &DataSource) -> String {
        let names =
            data.fills.iter().filter_map(|(variable, _)| self.script.variables.get(usize::from(*variable)));
        let names: Vec<&str> = names.map(String::as_str).collect();
        format!("{}: {}", names.join(", "), source_words(&data.source))
    }

    fn explain_events(&self, out: &mut String) {
        for event in &self.events {
            let _ = writeln!(out, "event       {}: {}", event.name, event.moment.words());
            for system in &self.systems {
                let Some(own) = system.events.iter().find(|own| own.name == event.name) else { continue };
                let may_fail = if own.may_fail { "; may fail" } else { "" };
                let within = show_duration(own.within_ns);
                let _ =
                    writeln!(out, "            {}: {}; within {within}{may_fail}", system.name, own.words());
            }
        }
        if let Some(note) = self.note_on_events() {
            let _ = writeln!(out, "note        {note}");
        }
    }

    /// Note that a closed load does not show the full cost of events. `None` if it does not apply.
    fn note_on_events(&self) -> Option<&'static str> {
        let is_closed = self.loads.iter().any(|load| load.spec.users.is_some());
        (is_closed && !self.events.is_empty()).then_some(NOTE_ON_EVENTS)
    }

    fn explain_system(&self, number: usize, out: &mut String) {
        let system = &self.systems[number];
        let own = system.processes.iter().filter(|process| process.proxy.is_none());
        let how = match own.collect::<Vec<_>>().as_slice() {
            [] if is_in_process(&without_user(&system.url)) => {
                format!("in the generator, file {}", without_user(&system.url))
            }
            [] => format!("running at {}", url_words(&system.url, &system.list)),
            [_] => "started for each run".to_owned(),
            several => {
                let names: Vec<&str> = several.iter().map(|process| process.name.as_str()).collect();
                format!("started for each run: {}", names.join(", then "))
            }
        };
        let variants: Vec<&str> = self
            .variants
            .iter()
            .filter(|variant| variant.system == number)
            .map(|variant| variant.name.as_str())
            .collect();
        let count = variants.len();
        let _ = writeln!(
            out,
            "system      {}, {how}{}; {count} variant{}",
            system.name,
            endpoint_words(system),
            if count == 1 { "" } else { "s" }
        );
        explain_data(system, out);
        if let Some(host) = &system.host {
            let _ = writeln!(out, "            on the host {host}, a network namespace");
        }
        for proxy in system.processes.iter().filter_map(|process| process.proxy.as_ref()) {
            let to = proxy.to.fill(|_| None);
            let _ =
                writeln!(out, "            proxy {} on port {{port.{}}}, to {to}", proxy.name, proxy.name);
        }
        if let Some(bytes) = system.disk_bytes {
            let _ = writeln!(out, "            with a disk of {} at {{dir}}/disk", show_size(bytes));
        }
        if !system.limits.0.is_empty() {
            let _ = writeln!(out, "            limited to {}", system.limits.words());
        }
        if !system.raisable.is_empty() {
            let knobs = system.knobs.iter().filter(|knob| system.raisable.contains(&knob.name));
            let steps: Vec<String> =
                knobs.map(|knob| format!("{} {}", knob.name, step_words(knob))).collect();
            let _ = writeln!(out, "            an experiment may raise {}", steps.join("; "));
        }
        if system.knobs.is_empty() {
            return;
        }
        if system.has_knobs_in_env {
            let names: Vec<&str> = system.knobs.iter().map(|knob| knob.name.as_str()).collect();
            let _ = writeln!(out, "            reads {} from its environment", names.join(", "));
        }
        for variant in variants.iter().take(LISTED_MAX) {
            let _ = writeln!(out, "            {variant}");
        }
        if count > LISTED_MAX {
            let _ = writeln!(out, "            … and {} more", count - LISTED_MAX);
        }
    }
}

/// Describes the database and the endpoints of a system in addition to its URL. Empty if it has none.
fn endpoint_words(system: &super::System) -> String {
    let database = system.database.as_ref();
    let mut words =
        database.map_or(String::new(), |url| format!(", with its database at {}", without_user(url)));
    for endpoint in &system.endpoints {
        let _ = write!(words, ", with {} at {}", endpoint.name, url_words(&endpoint.url, &endpoint.list));
        if let Some(pool) = endpoint.pool {
            let _ = write!(words, ", pool: {pool}");
        }
    }
    words
}

/// Words for the checks of a reply. Headers and texts may be secret, so they are only counted.
fn think_words(think: ThinkTime) -> String {
    match think {
        ThinkTime::None => String::new(),
        ThinkTime::Constant { ns } => format!("; then a pause of {}", show_duration(ns)),
        ThinkTime::Uniform { min_ns, max_ns } => {
            format!("; then a pause of {} to {}", show_duration(min_ns), show_duration(max_ns))
        }
        ThinkTime::Exponential { constant_ns: 0, mean_ns } => {
            format!("; then a pause of {} on average", show_duration(mean_ns))
        }
        ThinkTime::Exponential { constant_ns, mean_ns } => {
            format!(
                "; then a pause of {} and {} on average",
                show_duration(constant_ns),
                show_duration(mean_ns)
            )
        }
    }
}

/// URLs of a system without credentials, and the rule that selects among them.
fn url_words(url: &Braced, list: &UrlList) -> String {
    let urls: Vec<String> = std::iter::once(url).chain(&list.further).map(without_user).collect();
    let rule = match &list.select {
        None => String::new(),
        Some(Select::InTurn) => " (in turn)".to_owned(),
        Some(Select::First) => " (the first that answers)".to_owned(),
        Some(Select::Cluster(_)) => " (a cluster)".to_owned(),
        Some(Select::Hash(text, rule)) => {
            let slots = rule.slots.map_or(String::new(), |slots| format!(" in {slots} slots"));
            let map = match &rule.map {
                ShardMap::Even => String::new(),
                ShardMap::Ranges(firsts) => format!(", ranges from 0, {}", slot_words(firsts)),
                ShardMap::Ring(points) => format!(", a ring with {points} points each"),
            };
            let in_use =
                rule.in_use.get().map_or(String::new(), |count| format!(", the first {count} of them"));
            format!(" (by {} of {text:?}{slots}{map}{in_use})", rule.hash.name)
        }
    };
    format!("{}{rule}", urls.join(", "))
}

/// First slots of ranges, in order.
fn slot_words(firsts: &[u64]) -> String {
    firsts.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// URL without user and password.
fn without_user(url: &Braced) -> String {
    let url = url.fill(|_| None);
    let Some((scheme, rest)) = url.split_once("://") else { return url };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let from = rest[..end].rfind('@').map_or(0, |at| at + 1);
    format!("{scheme}://{}", &rest[from..])
}

/// Data that is prepared before each load.
fn explain_data(system: &super::System, out: &mut String) {
    if let Some(tables) = &system.tables {
        let _ = writeln!(out, "            before each load: create the tables of {}", tables.workload);
    }
    if let Some(records) = &system.records {
        let _ = writeln!(out, "            before each load: insert {} records", records.shape.records);
    }
    if let Some(own) = &system.own_data {
        let _ = writeln!(out, "            before each load: {}", own.words());
    }
}

/// Whether the system with this URL runs within this process.
fn is_in_process(url: &str) -> bool {
    (SystemKind::by_url(url).in_process)(url).is_some()
}

fn source_words(source: &Source) -> String {
    match source {
        Source::Sequence { from, until: None, by } => format!("{from} and up by {by}, each once"),
        Source::Sequence { from, until: Some(until), by } => {
            format!("{from} to {until} by {by}, repeated")
        }
        Source::Uniform { min, max } => format!("{min} to {max}, all equally likely"),
        Source::Zipf { min, max, exponent, is_scattered } => {
            let scattered = if *is_scattered { ", scattered" } else { "" };
            format!("{min} to {max}, Zipf with exponent {exponent}{scattered}")
        }
        Source::Latest { min, max, exponent, grows_with } => {
            let grows = if grows_with.is_some() { ", and those inserted" } else { "" };
            format!("{min} to {max}{grows}, the latest first, Zipf with exponent {exponent}")
        }
        Source::Hashed { prefix, numbers } => {
            format!("{prefix} and the hash of {}", source_words(numbers))
        }
        Source::Text { length, .. } => format!("{length} random characters"),
        Source::Uuid => "a UUID".to_owned(),
        Source::TimeUuid => "a UUID of version 7".to_owned(),
        Source::Timestamp { unit_ns: 1_000_000 } => "milliseconds since 1970".to_owned(),
        Source::Timestamp { .. } => "seconds since 1970".to_owned(),
        Source::Words { words } => format!("one of {} texts, all equally likely", words.len()),
        Source::Moment { .. } => "a moment, all equally likely".to_owned(),
        Source::Rows { rows, order } => {
            let order = if *order == RowOrder::InTurn { "in turn" } else { "at random" };
            format!("{} rows, {order}", rows.len())
        }
    }
}
