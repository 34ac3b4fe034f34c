//! Reads the section `endpoints`: systems that steps name, in addition to `url` and `database`.

use super::addresses;
use super::kinds::{Kind, Kinds};
use super::reading::Reading;
use super::secret;
use super::settings::SqlText;
use super::span::Span;
use super::tls;
use super::tree::{Entry, Node};
use super::url;
use crate::study::{Braced, EndpointText};
use crate::system_kind::SystemKind;
use crate::units;

/// Name of the section, in a plan and in its systems.
const KEY: &str = "endpoints";
/// Max endpoints, which limits the connections of one load.
const ENDPOINTS_MAX: usize = 32;
/// Max connections of a pool.
const POOL_MAX: u32 = 1_000_000;

/// System that steps talk to, before its address is known.
#[derive(Clone, Debug)]
pub(crate) struct Role {
    /// Name. Empty for `url` or `database`.
    pub(crate) name: String,
    /// Kind of the system.
    pub(crate) kind: &'static SystemKind,
    /// Scripts of its steps. Empty if its steps have none.
    pub(crate) scripts: SqlText,
}

/// A system that steps can name.
struct NamedSystem {
    name: String,
    /// Kind of the system. `None` if its URL is wrong, which the check of URLs reports.
    kind: Option<Kind>,
    /// Place of its first definition.
    at: Span,
    is_used: bool,
}

/// Systems that steps can talk to.
pub(crate) struct Endpoints {
    /// Whether steps without an endpoint go to `url` or `database`.
    has_own: bool,
    named: Vec<NamedSystem>,
    /// Systems that steps talk to, requests first: kind of the steps, and index of the named system. The index is `None` for `url`
    /// or `database`.
    used: Vec<(Kind, Option<usize>)>,
    /// Systems that requests of `setup` and `teardown` talk to, in the order of their numbers, as in [`Self::used`].
    used_around: Vec<(Kind, Option<usize>)>,
}

impl Endpoints {
    /// Reads the names of endpoints, at the top of a plan and in its systems.
    pub(crate) fn read(root: &Node, reading: &mut Reading<'_>) -> Self {
        let mut named: Vec<NamedSystem> = Vec::new();
        for entry in definitions(root) {
            reading.own_name(&entry.key, entry.key_at, "endpoint");
            let (name, kind) = (entry.key.clone(), kind_of(entry));
            named.push(NamedSystem { name, kind, at: entry.key_at, is_used: false });
        }
        if let Some(last) = named.get(ENDPOINTS_MAX) {
            reading.at(last.at, format!("there are more than {ENDPOINTS_MAX} endpoints"), "use fewer");
        }
        check_pools(root, reading);
        let has_own =
            ["url", "database", "systems"].iter().any(|key| root.get(key).is_some()) || named.is_empty();
        Self { has_own, named, used: Vec::new(), used_around: Vec::new() }
    }

    /// Registers the system that a step talks to. Errors are added to the findings.
    pub(crate) fn note(&mut self, step: &Node, reading: &mut Reading<'_>) {
        let kind = Kind::of_step(step);
        let chosen = match step.entry("endpoint") {
            Some(entry) => self.find_named(entry, kind, reading).map(Some),
            None if self.has_own => Some(None),
            None => self.single_system_for(kind, step, reading).map(Some),
        };
        let Some(named) = chosen else { return };
        if let Some(number) = named {
            self.named[number].is_used = true;
        }
        let used = (kind, named);
        if !self.used.contains(&used) {
            self.used.push(used);
            self.used.sort_unstable_by_key(|(kind, named)| (kind.system.place(), *named, *kind));
        }
    }

    /// Number of the system of a step, an index of [`Self::used`].
    pub(crate) fn of_step(&self, step: &Node) -> u16 {
        let kind = Kind::of_step(step);
        let named = match step.text_of("endpoint") {
            Some(name) => self.named.iter().position(|known| known.name == name),
            None if self.has_own => None,
            None => self.named.iter().position(|known| known.kind == Some(kind)),
        };
        self.used.iter().position(|used| *used == (kind, named)).unwrap_or_default() as u16
    }

    /// Name of a system. Empty for `url` or `database`.
    pub(crate) fn name_of(&self, number: u16) -> &str {
        let named = self.used.get(usize::from(number)).and_then(|(_, named)| *named);
        named.map_or("", |named| &self.named[named].name)
    }

    /// Kind of a system. If no step talks to it, the kind of unknown systems.
    pub(crate) fn kind_of(&self, number: u16) -> &'static SystemKind {
        self.used.get(usize::from(number)).map_or(SystemKind::for_unknown(), |(kind, _)| kind.system)
    }

    /// Texts whose hash selects the address of steps at a system, in the plan and in each of its systems.
    pub(crate) fn hash_texts<'a>(&self, number: u16, root: &'a Node) -> Vec<&'a Node> {
        let name = self.name_of(number);
        let of_endpoint = |section: &'a Node| match name {
            "" => addresses::hash_text(section),
            name => addresses::hash_text(section.get(KEY)?.get(name)?),
        };
        sections(root).filter_map(of_endpoint).collect()
    }

    /// Number of systems that steps talk to.
    pub(crate) fn count(&self) -> usize {
        self.used.len()
    }

    /// Kinds of the steps that go to `url` or `database`.
    pub(crate) fn at_url(&self) -> Kinds {
        self.used.iter().filter(|(_, named)| named.is_none()).map(|(kind, _)| *kind).collect()
    }

    /// Notes the endpoints that statements of `before` and `after`, figures, and `written` name. Unknown ones are reported with their
    /// system.
    pub(crate) fn register_statements(&mut self, root: &Node) {
        let systems = root.get("systems").map_or(&[][..], Node::entries);
        let lists = systems.iter().flat_map(|system| ["before", "after"].map(|key| system.value.get(key)));
        let figures = root.get("figures").map_or(&[][..], Node::entries).iter().map(|figure| &figure.value);
        let read = figures.chain(root.get("written"));
        let statements = lists.flatten().flat_map(Node::items).filter(|item| item.get("sql").is_some());
        for item in statements.chain(read) {
            let name = item.text_of("endpoint");
            self.named
                .iter_mut()
                .filter(|known| Some(known.name.as_str()) == name)
                .for_each(|known| known.is_used = true);
        }
    }

    /// Notes the endpoint that statements of `setup` or `teardown` name.
    pub(crate) fn register_statement(&mut self, item: &Node, reading: &mut Reading<'_>) {
        let number =
            item.entry("endpoint").and_then(|entry| self.find_named(entry, Kind::answering("sql"), reading));
        if let Some(number) = number {
            self.named[number].is_used = true;
        }
    }

    /// Registers the system of a request of `setup` or `teardown`, and returns its number among the systems of both sections. Without
    /// `endpoint`, uses the first system of the load that accepts such requests, if there is one.
    pub(crate) fn register_errand(
        &mut self,
        step: &Node,
        kind: Kind,
        reading: &mut Reading<'_>,
    ) -> Option<u16> {
        let of_load = self.used.iter().find(|(used, _)| *used == kind).map(|(_, named)| *named);
        let named = match (step.entry("endpoint"), of_load) {
            (Some(entry), _) => Some(self.find_named(entry, kind, reading)?),
            (None, Some(of_load)) => of_load,
            (None, None) if self.has_own => self.url_system_for(kind, step, reading)?,
            (None, None) => Some(self.single_system_for(kind, step, reading)?),
        };
        if let Some(number) = named {
            self.named[number].is_used = true;
        }
        let used = (kind, named);
        let known = self.used_around.iter().position(|known| *known == used);
        let number = known.unwrap_or_else(|| {
            self.used_around.push(used);
            self.used_around.len() - 1
        });
        Some(number as u16)
    }

    /// Name of a system of `setup` or `teardown`. Empty for `url`.
    pub(crate) fn errand_system(&self, number: u16) -> &str {
        let named = self.used_around.get(usize::from(number)).and_then(|(_, named)| *named);
        named.map_or("", |named| &self.named[named].name)
    }

    /// Systems that requests of `setup` and `teardown` talk to, by number.
    pub(crate) fn errand_roles(&self) -> Vec<Role> {
        let named = self.used_around.iter().enumerate();
        let role = |(number, (kind, _)): (usize, &(Kind, Option<usize>))| Role {
            name: self.errand_system(number as u16).to_owned(),
            kind: kind.system,
            scripts: SqlText::default(),
        };
        named.map(role).collect()
    }

    /// The system of `url` for a request of `setup` or `teardown`. `None` if the load sends only steps of other kinds to it, which is
    /// reported. Where it gets none, its URL is checked when it is known.
    fn url_system_for(&self, kind: Kind, step: &Node, reading: &mut Reading<'_>) -> Option<Option<usize>> {
        let taken = self.used.iter().find(|(_, named)| named.is_none());
        let Some((taken, _)) = taken else { return Some(None) };
        let at = step.entries().first().map_or(step.at, |entry| entry.key_at);
        let what = format!("`url` {}, and the step is {}", taken.system_words(), kind.step_words());
        let fitting = self.named.iter().filter(|named| named.kind == Some(kind));
        let names: Vec<String> = fitting.map(|named| format!("`endpoint: {}`", named.name)).collect();
        let help = match (names.as_slice(), taken.system.does_answer("sql")) {
            ([], true) => {
                "remove it, write `sql` for the database, or add its system under `endpoints`".to_owned()
            }
            ([], false) => "remove it, or add its system under `endpoints`".to_owned(),
            (names, _) => format!("add {}", names.join(" or ")),
        };
        reading.at(at, what, help);
        None
    }

    /// Reports endpoints that no step uses.
    pub(crate) fn unused(&self, root: &Node, reading: &mut Reading<'_>) {
        for unused in self.named.iter().filter(|named| !named.is_used) {
            let what = format!("no step speaks to the endpoint `{}`", unused.name);
            reading.at(unused.at, what, format!("add `endpoint: {}` to a step, or remove it", unused.name));
        }
        let url = root.entry("url").filter(|_| !self.used.is_empty());
        let mut used = self.used.iter().chain(&self.used_around);
        if let Some(url) = url.filter(|_| used.all(|(_, named)| named.is_some())) {
            let help = "remove it, or remove `endpoint` from the steps that are meant for it";
            reading.at(url.key_at, "every step names another endpoint, and none speaks to `url`", help);
        }
    }

    fn find_named(&self, entry: &Entry, kind: Kind, reading: &mut Reading<'_>) -> Option<usize> {
        let (name, at) = (entry.value.text()?, entry.value.at);
        let Some(number) = self.named.iter().position(|known| known.name == name) else {
            let what = format!("unknown endpoint `{name}`");
            if self.named.is_empty() {
                let help = format!("add `endpoints: {{ {name}: URL }}` to the plan, or remove it");
                reading.at(at, what, help);
            } else {
                let known = self.named.iter().map(|known| known.name.as_str());
                reading.findings.unknown(
                    at,
                    what,
                    name,
                    known,
                    "define it under `endpoints`, or write one of",
                );
            }
            return None;
        };
        let of_endpoint = self.named[number].kind?;
        if of_endpoint != kind {
            let what =
                format!("`{name}` {}, and the step is {}", of_endpoint.system_words(), kind.step_words());
            reading.at(at, what, "name another endpoint, or change the step");
            return None;
        }
        Some(number)
    }

    fn single_system_for(&self, kind: Kind, step: &Node, reading: &mut Reading<'_>) -> Option<usize> {
        if self.named.iter().any(|known| known.kind.is_none()) {
            return None;
        }
        let fitting: Vec<usize> =
            (0..self.named.len()).filter(|number| self.named[*number].kind == Some(kind)).collect();
        let names = |numbers: &[usize]| -> Vec<String> {
            numbers.iter().map(|number| format!("`endpoint: {}`", self.named[*number].name)).collect()
        };
        let at = step.entries().first().map_or(step.at, |entry| entry.key_at);
        match fitting[..] {
            [only] => return Some(only),
            [] => {
                let what = format!("the step is {}, and no endpoint takes it", kind.step_words());
                reading.at(at, what, "add its URL as `url`, or under `endpoints`");
            }
            _ => {
                let what = "several endpoints take such a step, and it names none";
                reading.at(at, what, format!("add {}", names(&fitting).join(" or ")));
            }
        }
        None
    }
}

/// The plan and each of its systems.
fn sections(root: &Node) -> impl Iterator<Item = &Node> {
    let systems = root.get("systems").map_or(&[][..], Node::entries);
    std::iter::once(root).chain(systems.iter().map(|system| &system.value))
}

/// First definition of each endpoint: at the top of a plan, or in a system.
fn definitions(root: &Node) -> Vec<&Entry> {
    let mut all: Vec<&Entry> = Vec::new();
    for entry in sections(root).filter_map(|node| node.get(KEY)).flat_map(Node::entries) {
        if !all.iter().any(|known| known.key == entry.key) {
            all.push(entry);
        }
    }
    all
}

/// Kind of an endpoint. `None` if its URL is wrong.
fn kind_of(entry: &Entry) -> Option<Kind> {
    Kind::by_url(url_of(&entry.value)?.1)
}

/// Size of the pool of an endpoint, or the number that is out of bounds. `None` if it has no pool, or if its value is not a number.
fn pool(node: &Node) -> Option<Result<u32, u64>> {
    let count = units::count(node.text_of("pool")?).ok()?;
    Some(u32::try_from(count).ok().filter(|pool| (1..=POOL_MAX).contains(pool)).ok_or(count))
}

/// Reports pools that have no effect, or a wrong size.
fn check_pools(root: &Node, reading: &mut Reading<'_>) {
    let loads = root.get("load").map_or(&[][..], |load| match load.items() {
        [] => std::slice::from_ref(load),
        items => items,
    });
    let has_load_a_pool = loads.iter().any(|load| load.get("pool").is_some());
    for entry in sections(root).filter_map(|node| node.get(KEY)).flat_map(Node::entries) {
        let Some(given) = entry.value.entry("pool") else { continue };
        let url = url_of(&entry.value).map_or("", |(_, url)| url);
        if let Some(Err(count)) = pool(&entry.value) {
            let what = format!("{count} is not between 1 and {POOL_MAX}");
            reading.at(given.value.at, what, "write the number of connections that users share");
        } else if let Some(name) = Kind::by_url(url).and_then(|kind| (kind.system.in_process)(url)) {
            let what =
                format!("{name} runs within the generator, and `{}` has no connections to share", entry.key);
            reading.at(given.key_at, what, "remove it");
        } else if has_load_a_pool {
            let what = "the load has a pool, and so has this endpoint";
            reading.at(given.key_at, what, "remove one of them: that of the load is for all databases");
        }
    }
}

/// URL of an endpoint as written, or the first of a list.
fn url_of(node: &Node) -> Option<(&Node, &str)> {
    addresses::first_url(if node.entries().is_empty() { node } else { node.get("url")? })
}

/// Addresses of the named systems, for one system of the plan or for the plan itself. Definitions in the system precede those at
/// the top. A missing one is reported at `at`.
pub(crate) fn read_addresses(
    own: &Node,
    root: &Node,
    at: Span,
    known: &[String],
    fill: impl Fn(&str) -> Option<String>,
    reading: &mut Reading<'_>,
) -> Vec<EndpointText> {
    let mut all = Vec::new();
    for first in definitions(root) {
        let name = &first.key;
        let Some(entry) = [own, root].into_iter().find_map(|node| node.get(KEY)?.entry(name)) else {
            let what = format!("the system has no address for the endpoint `{name}`");
            reading.at(at, what, format!("add `{KEY}: {{ {name}: URL }}` to it, or to the plan"));
            continue;
        };
        if let (Some(meant), Some(kind)) = (kind_of(first), kind_of(entry))
            && meant != kind
        {
            let what = format!(
                "`{name}` {} here, and {} where it is first",
                kind.system_words(),
                meant.system_words()
            );
            reading.at(entry.value.at, what, "write a URL of the same kind, or choose another name");
        }
        all.extend(text(entry, known, &fill, reading));
    }
    all
}

fn text(
    entry: &Entry,
    known: &[String],
    fill: &impl Fn(&str) -> Option<String>,
    reading: &mut Reading<'_>,
) -> Option<EndpointText> {
    let node = &entry.value;
    // The check of keys reports a missing URL.
    let (written, text) = url_of(node)?;
    let before = reading.findings.count();
    let url = reading.braced_url(written, text, known);
    let socket = node.get("socket").and_then(|socket| Some(reading.braced(socket, socket.text()?, known)));
    if reading.findings.count() == before {
        url::check_endpoint(written, &url.fill_url(secret::is_secret_name, fill), socket.is_some(), reading);
    }
    let check = |node: &Node, _: &Braced, filled: &str, reading: &mut Reading<'_>| {
        url::check_endpoint(node, filled, false, reading);
    };
    let list = addresses::read(node, known, fill, check, reading);
    let tls = tls::read(node, text, known, reading);
    let pool = pool(node).and_then(Result::ok);
    Some(EndpointText { name: entry.key.clone(), url, list, socket, tls, pool })
}
