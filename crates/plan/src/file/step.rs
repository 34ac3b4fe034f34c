//! Reads one step: its request, the checks of its reply, and the saved values.

use std::ops::Range;
use std::sync::Arc;

use load::ThinkTime;
use regex::bytes::Regex;
use wire::http1::{
    self, BodyCheck, Capture, CaptureFrom, Checks, Expected, HeaderCheck, HttpStep, JsonPath, JsonPathFault,
    Request, RequestBody, RequestFault, Template,
};
use wire::step::Step as _;

use super::body;
use super::carried::Carried;
use super::own_step;
use super::reading::Reading;
use super::secret;
use super::span::Span;
use super::tree::{Entry, Node};
use super::variables::Variables;
use crate::error::Spelling;
use crate::plan::{Action, OwnedAction, PlannedStep};
use crate::spec::{ExpectSpec, Spanned, expects, values};
use crate::study::names_in;

/// A step, and what its scenario needs to know about it.
pub(crate) struct ReadStep {
    pub(crate) step: PlannedStep,
    pub(crate) think: ThinkTime,
    pub(crate) weight: Option<(f64, Span)>,
    /// Place of its name, or of its path.
    pub(crate) name_at: Span,
    /// Whether the plan gives it a name.
    pub(crate) has_own_name: bool,
    /// Place of its credentials. `None` if it has none.
    pub(crate) authorization_at: Option<Span>,
}

impl ReadStep {
    /// Assigns the step to a system. At a named system, a step without a name of its own gets the system's name as a suffix.
    pub(crate) fn at(mut self, endpoint: u16, name: &str) -> Self {
        self.step.endpoint = endpoint;
        if !self.has_own_name && !name.is_empty() {
            self.step.name = format!("{} ({name})", self.step.name);
        }
        self
    }
}

/// Reads a step at the system with this name. Errors are added to the findings.
pub(crate) fn read(
    node: &Node,
    endpoint: &str,
    carried: &mut Carried<'_>,
    variables: &mut Variables,
    reading: &mut Reading<'_>,
) -> Option<ReadStep> {
    let entry = request(node, reading)?;
    if wire::step::owner_of(&entry.key).is_some() {
        let action = own_step::read(node, variables, reading)?;
        let title = || action.step.title();
        let (name, name_at) = (name(node, title, reading), node.get("name").unwrap_or(&entry.value).at);
        return Some(ReadStep {
            step: PlannedStep { name, endpoint: 0, action: Action::Owned(action) },
            think: think(node),
            weight: weight(node),
            name_at,
            has_own_name: node.get("name").is_some(),
            authorization_at: carried.authorization_at(),
        });
    }
    own_step::forbid_owned_reply_keys(node, wire::step::requests().noun(), reading);
    let (method, target, target_node, method_at) = method(entry, reading)?;
    variables.use_in(target_node, &target, reading);
    path(&target, target_node, reading);
    let headers = headers(node, variables, reading);
    let given = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let body = body::read(node, given.map(|(_, value)| value.as_str()), variables, reading);
    let checks = checks(node, &method, variables, reading)?;
    let mut request = Request { method, headers, ..Request::get("127.0.0.1", &target) };
    if let Some(RequestBody { bytes, content_type }) = body {
        request.headers.extend(content_type.map(|kind| ("Content-Type".to_owned(), kind)));
        request.body = Some(bytes);
    }
    carried.add_to(node, &mut request, endpoint, variables, reading);
    let header_at = |name: &str| header_at(node, name).or_else(|| carried.header_at(name)).unwrap_or(node.at);
    let places = Places { target: target_node.at, method: method_at, header: &header_at };
    faults_of(&request, &places, variables, reading);
    let captures = captures(node, variables, reading);
    let step = Arc::new(HttpStep { request, checks, captures });
    let name = name(node, || step.title(), reading);
    let action = OwnedAction { protocol: &http1::PROTOCOL, step, host: String::new(), keep_alive: true };
    Some(ReadStep {
        step: PlannedStep { name, endpoint: 0, action: Action::Owned(action) },
        think: think(node),
        weight: weight(node),
        name_at: node.get("name").unwrap_or(target_node).at,
        has_own_name: node.get("name").is_some(),
        authorization_at: self::header_at(node, "authorization").or(carried.authorization_at()),
    })
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
fn request<'a>(node: &'a Node, reading: &mut Reading<'_>) -> Option<&'a Entry> {
    let is_request = |entry: &&Entry| wire::step::protocol_of(&entry.key).is_some();
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

/// Method, target, node of the target, and place of the method.
fn method<'a>(first: &'a Entry, reading: &mut Reading<'_>) -> Option<(String, String, &'a Node, Span)> {
    let (text, at) = (first.value.text()?, first.value.at);
    match http1::request_line(&first.key, text) {
        // The method is in the text, or it is the key.
        Ok((method, target)) if target.len() < text.len() => {
            Some((method, target.to_owned(), &first.value, at))
        }
        Ok((method, target)) => Some((method, target.to_owned(), &first.value, first.key_at)),
        Err((what, help)) => {
            reading.at(at, what, help);
            None
        }
    }
}

fn path(target: &str, node: &Node, reading: &mut Reading<'_>) {
    if let Some((what, help)) = http1::path_error(target) {
        reading.at(node.at, what, help);
    }
}

fn headers(node: &Node, variables: &mut Variables, reading: &mut Reading<'_>) -> Vec<(String, String)> {
    let entries = node.get("headers").map_or(&[][..], Node::entries);
    let headers = entries.iter().map(|entry| {
        let text = entry.value.text().unwrap_or_default();
        variables.use_in(&entry.value, text, reading);
        (entry.key.clone(), text.to_owned())
    });
    headers.collect()
}

fn header_at(node: &Node, name: &str) -> Option<Span> {
    let entries = node.get("headers").map_or(&[][..], Node::entries);
    entries.iter().find(|entry| entry.key.eq_ignore_ascii_case(name)).map(|entry| entry.key_at)
}

/// Reads the checks of the reply, whose texts may have variables.
fn expects(node: &Node, variables: &mut Variables, reading: &mut Reading<'_>) -> ExpectSpec {
    let of = |key: &str| node.get("expect").and_then(|expect| expect.get(key));
    let texts = |node: &Node| -> Vec<String> {
        node.items().iter().filter_map(|node| node.text().map(str::to_owned)).collect()
    };
    let mut headers = Vec::new();
    for entry in of("headers").map_or(&[][..], Node::entries) {
        if entry.key.is_empty() || entry.key.contains([':', ' ', '\n']) {
            reading.at(entry.key_at, "invalid name of a header", "write a name such as Content-Type");
        }
        let text = entry.value.text().unwrap_or_default().trim();
        let contains = (!text.is_empty()).then(|| expected(&entry.value, text, variables, reading));
        headers.push(HeaderCheck { name: entry.key.trim().into(), contains });
    }
    let items = |key| of(key).map_or(&[][..], Node::items).iter();
    let bodies = items("body").filter_map(|item| {
        let text = item.text()?;
        let check = match expected(item, text, variables, reading) {
            expected if expected.variables().next().is_some() => BodyCheck::ContainsValues(expected),
            expected => BodyCheck::Contains(expected.text()),
        };
        Some(Spanned::at_node(Ok(check), item))
    });
    let mut bodies: Vec<_> = bodies.collect();
    for entry in of("json").map_or(&[][..], Node::entries) {
        let Some(path) = json_path(&entry.key, |_| entry.key_at, reading) else { continue };
        let text = entry.value.text().filter(|_| !entry.value.is_nothing());
        let value = text.map(|text| expected(&entry.value, text, variables, reading));
        bodies.push(Spanned::at_node(Ok(BodyCheck::Json(path, value)), &entry.value));
    }
    let expressions = items("body-matches");
    let size = of("size").and_then(|size| Some(Spanned::at_node(expects::size(size.text()?), size)));
    ExpectSpec {
        status: of("status")
            .map(|status| Spanned::at_node(expects::statuses(&texts(status).join(",")), status)),
        bodies,
        expressions: expressions
            .filter_map(|item| Some(Spanned::at_node(expects::expression(item.text()?), item)))
            .collect(),
        headers,
        size,
    }
}

/// Text that a reply must contain, with its variables.
fn expected(node: &Node, text: &str, variables: &mut Variables, reading: &mut Reading<'_>) -> Expected {
    if names_in(text).any(|(name, ..)| secret::is_one(name)) {
        let what = "`expect` contains no secret: messages show what a reply was expected to contain";
        reading.at(node.at, what, "expect another part of the reply");
    } else {
        variables.use_in(node, text, reading);
    }
    Expected::compile(text.as_bytes(), variables.names())
}

/// Compiles the checks of the reply. `None` if they have errors.
fn checks(node: &Node, method: &str, variables: &mut Variables, reading: &mut Reading<'_>) -> Option<Checks> {
    let mut errors = Vec::new();
    let checks = expects(node, variables, reading).check(method, &mut errors);
    for error in &errors {
        let at = error.at.map_or(node.at, |at| at.value);
        if !reading.findings.has_at(at) {
            reading.at(at, error.what(Spelling::Keys), error.help(Spelling::Keys));
        }
    }
    errors.is_empty().then_some(checks)
}

/// Reads the pause after a step.
pub(crate) fn think(node: &Node) -> ThinkTime {
    let think = node.entry("think").and_then(|entry| Spanned::of_entry(entry, &values::THINK));
    think.as_ref().and_then(Spanned::get).copied().unwrap_or(ThinkTime::None)
}

/// Places of the parts of a request.
struct Places<'a> {
    target: Span,
    method: Span,
    header: &'a dyn Fn(&str) -> Span,
}

/// Reports errors that `wire` finds in the request.
fn faults_of(request: &Request, places: &Places<'_>, variables: &Variables, reading: &mut Reading<'_>) {
    if variables.are_too_many() {
        return;
    }
    let Err(faults) = Template::compile(request, variables.names(), &reading.secrets) else { return };
    for fault in faults {
        let (at, help) = match &fault {
            RequestFault::Method(_) => (places.method, "write a method such as GET, then the path"),
            RequestFault::Target(_) => (places.target, "write a space as %20"),
            RequestFault::HeaderName(name) => ((places.header)(name), "write a name such as Accept"),
            RequestFault::HeaderValue(name) => ((places.header)(name), "write it on one line"),
            RequestFault::Framing(name) => ((places.header)(name), "remove it"),
            // Unknown variables are already reported at the places of their names.
            RequestFault::Variable(_) => continue,
        };
        if !reading.findings.has_at(at) {
            reading.at(at, fault.to_string(), help);
        }
    }
}

fn captures(node: &Node, variables: &mut Variables, reading: &mut Reading<'_>) -> Vec<Capture> {
    let entries = node.get("save").map_or(&[][..], Node::entries);
    entries
        .iter()
        .filter_map(|entry| {
            let from = capture(entry, reading);
            let variable = variables.save(entry, reading);
            Some(Capture { variable: variable?, from: from? })
        })
        .collect()
}

fn expression(text: &str, at: Span, reading: &mut Reading<'_>) -> Option<Regex> {
    expects::expression(text).map_err(|wrong| reading.at(at, wrong.what, wrong.help)).ok()
}

/// Reads a path to one JSON value. `place` maps a part of the text to its place.
fn json_path(
    text: &str,
    place: impl Fn(Range<usize>) -> Span,
    reading: &mut Reading<'_>,
) -> Option<JsonPath> {
    let JsonPathFault { at, what } = match JsonPath::read(text) {
        Ok(path) => return Some(path),
        Err(wrong) => wrong,
    };
    let help = if text.starts_with(['$', '/']) {
        "write a path to one value, such as $.data[0].id".to_owned()
    } else {
        format!("write $.{text}")
    };
    reading.at(place(at), format!("the path {text:?} {what}"), help);
    None
}

fn capture(entry: &Entry, reading: &mut Reading<'_>) -> Option<CaptureFrom> {
    let texts = entry.value.entries().iter().filter(|entry| entry.value.text().is_some());
    let (sources, regex): (Vec<&Entry>, Vec<&Entry>) = texts.partition(|entry| entry.key != "regex");
    let mut given = sources.into_iter();
    if let Some(regex) = regex.first().filter(|_| entry.value.get("header").is_none()) {
        let help = match entry.value.get("body") {
            Some(_) => "remove it: `body` is a regular expression itself",
            None => "add `header: NAME`, or write `body` instead of `regex`",
        };
        reading.at(regex.key_at, "`regex` requires `header`", help);
    }
    let first = given.next()?;
    if let Some(second) = given.next() {
        let what = format!("a saved value has one source, and this one has `{}`", first.key);
        reading.at(second.key_at, what, "remove one of them");
    }
    let (text, at) = (first.value.text()?, first.value.at);
    match first.key.as_str() {
        "header" => Some(match regex.first().and_then(|regex| Some((regex, regex.value.text()?))) {
            None => CaptureFrom::Header(text.to_owned()),
            Some((entry, regex)) => {
                CaptureFrom::HeaderPart(text.to_owned(), expression(regex, entry.value.at, reading)?)
            }
        }),
        "json" => {
            let (node, source) = (&first.value, reading.source);
            let part = |at: Range<usize>| node.part(source, at.start, at.end);
            json_path(text, part, reading).map(CaptureFrom::Json)
        }
        "body" => expression(text, at, reading).map(CaptureFrom::Body),
        _ => None,
    }
}
