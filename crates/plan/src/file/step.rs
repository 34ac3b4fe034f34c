//! One step: its request, what its reply must be, and what is saved of it.

use load::Load;
use load::ThinkTime;
use regex::bytes::RegexBuilder;
use wire::http1::{Capture, CaptureFrom, Request, RequestFault, Template};

use super::reading::Reading;
use super::span::Span;
use super::tree::{Entry, Node};
use super::variables::Variables;
use crate::draft::Draft;
use crate::plan::{Action, HttpAction, PlannedStep};
use crate::request::sounds_secret;

const BODY_BYTES_MAX: u64 = 64 * 1024 * 1024;
const REGEX_BYTES_MAX: usize = 1 << 20;
pub(crate) const METHODS: [&str; 7] = ["get", "post", "put", "patch", "delete", "head", "options"];

/// A step, and what the scenario around it must know.
pub(crate) struct ReadStep {
    pub(crate) step: PlannedStep,
    pub(crate) think: ThinkTime,
    pub(crate) weight: Option<(f64, Span)>,
    /// Where its name stands, or its path.
    pub(crate) name_at: Span,
    /// Where it says who is asking, if it does.
    pub(crate) authorization_at: Option<Span>,
}

/// Reads a step; what is wrong with it is among the findings.
pub(crate) fn read(node: &Node, variables: &mut Variables, reading: &mut Reading<'_>) -> Option<ReadStep> {
    let (method, target, target_node, method_at) = method(node, reading)?;
    variables.use_in(target_node, &target, reading);
    path(&target, target_node, reading);
    let headers = headers(node, variables, reading);
    let body = body(node, variables, reading);
    let draft = draft(node, &method, reading);
    let (checks, think) = checked(&draft, node, reading)?;
    let request = Request { method, host: "127.0.0.1".to_owned(), target, headers, body, keep_alive: true };
    faults_of(&request, node, target_node, method_at, variables, reading);
    let captures = captures(node, variables, reading);
    let named = node.get("name");
    let name = match named.and_then(Node::text) {
        Some(name) => {
            reading.own_name(name, named.map_or(node.at, |node| node.at), "step");
            name.to_owned()
        }
        None => format!("{} {}", request.method, without_secrets(&request.target)),
    };
    let weight = node.get("weight").and_then(|node| Some((super::form::weight(node.text()?).ok()?, node.at)));
    Some(ReadStep {
        step: PlannedStep { name, action: Action::Http(HttpAction { request, checks, captures }) },
        think,
        weight,
        name_at: named.unwrap_or(target_node).at,
        authorization_at: header_at(node, "authorization"),
    })
}

/// Method, target, where the target stands, and where the method does.
fn method<'a>(node: &'a Node, reading: &mut Reading<'_>) -> Option<(String, String, &'a Node, Span)> {
    let is_method = |entry: &&Entry| entry.key == "request" || METHODS.contains(&entry.key.as_str());
    let mut given = node.entries().iter().filter(is_method);
    let Some(first) = given.next() else {
        if let Some(entry) = node
            .entries()
            .first()
            .filter(|_| !node.entries().iter().any(|entry| reading.findings.has_at(entry.key_at)))
        {
            reading.at(entry.key_at, "this step says nothing to send", "add a request, such as `get: /`");
        }
        return None;
    };
    if let Some(second) = given.next() {
        let what = format!("a step is one request, and `{}` is one already", first.key);
        reading.at(second.key_at, what, "begin a new step with `- `");
    }
    let text = first.value.text()?;
    if first.key != "request" {
        return Some((first.key.to_uppercase(), text.to_owned(), &first.value, first.key_at));
    }
    match text.split_once(' ') {
        Some((method, target)) => {
            Some((method.to_owned(), target.trim().to_owned(), &first.value, first.value.at))
        }
        None => {
            reading.at(
                first.value.at,
                "here are not both a method and a path",
                "write them like `request: PURGE /items`",
            );
            None
        }
    }
}

fn path(target: &str, node: &Node, reading: &mut Reading<'_>) {
    if target.contains("://") && !target.starts_with('/') {
        let way_out = "write the path here, and the rest as the `url` of the plan or of a system";
        reading.at(node.at, "a step has only a path, no host", way_out);
    } else if !target.starts_with(['/', '{', '*']) {
        reading.at(node.at, format!("the path {target:?} does not begin with /"), format!("write /{target}"));
    } else if target.contains('#') {
        reading.at(node.at, "what follows # is never sent to a server", "leave it out, or write %23");
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

fn body(node: &Node, variables: &mut Variables, reading: &mut Reading<'_>) -> Option<Vec<u8>> {
    match (node.get("body"), node.get("body-file")) {
        (Some(_), Some(_)) => {
            let at = node.entry("body-file").map_or(node.at, |entry| entry.key_at);
            reading.at(at, "`body` and `body-file` both give the body", "leave out one of them");
            None
        }
        (Some(body), None) => {
            variables.use_in(body, body.text()?, reading);
            Some(body.text()?.as_bytes().to_vec())
        }
        (None, Some(file)) => match reading.folder.read(file.text()?, BODY_BYTES_MAX) {
            Ok(bytes) => {
                variables.use_in_file(file, &bytes, reading);
                Some(bytes)
            }
            Err((what, way_out)) => {
                reading.at(file.at, what, way_out);
                None
            }
        },
        (None, None) => None,
    }
}

/// The parts of a step for which there are rules already.
fn draft(node: &Node, method: &str, reading: &mut Reading<'_>) -> Draft {
    let texts = |node: Option<&Node>| -> Vec<String> {
        node.map_or(&[][..], Node::items).iter().filter_map(|node| node.text().map(str::to_owned)).collect()
    };
    let expect = node.get("expect");
    let of = |key: &str| expect.and_then(|expect| expect.get(key));
    let mut lines = Vec::new();
    for entry in of("headers").map_or(&[][..], Node::entries) {
        if entry.key.is_empty() || entry.key.contains([':', ' ', '\n']) {
            reading.at(entry.key_at, "this is no name of a header", "write a name such as Content-Type");
        }
        let text = entry.value.text().unwrap_or_default();
        lines.push(if text.is_empty() { entry.key.clone() } else { format!("{}: {text}", entry.key) });
    }
    Draft {
        url: "http://127.0.0.1:1/".to_owned(),
        // Whether a reply can have a body is the only thing that hangs on the method.
        method: Some(if method == "HEAD" { "HEAD" } else { "GET" }.to_owned()),
        expect_status: of("status").map(|status| texts(Some(status)).join(",")),
        expect_body: texts(of("body")),
        expect_body_regex: texts(of("body-matches")),
        expect_header: lines,
        expect_size: of("size").and_then(|size| size.text().map(str::to_owned)),
        think: node.text_of("think").map(str::to_owned),
        ..Draft::default()
    }
}

fn checked(
    draft: &Draft,
    node: &Node,
    reading: &mut Reading<'_>,
) -> Option<(wire::http1::Checks, ThinkTime)> {
    let expect = |key: &str| node.get("expect").and_then(|expect| expect.get(key));
    let faults = match draft.check() {
        Ok(mut plan) => {
            let think = match &plan.load {
                Load::Closed(closed) => closed.think_time,
                Load::Open(_) => ThinkTime::None,
            };
            return match plan.steps.remove(0).action {
                Action::Http(action) => Some((action.checks, think)),
                Action::Sql(_) => None,
            };
        }
        Err(faults) => faults,
    };
    for fault in faults {
        let place = match fault.place.as_str() {
            "--expect-status" => expect("status"),
            "--expect-size" => expect("size"),
            "--think" => node.get("think"),
            "--expect-body-regex" => {
                let items = expect("body-matches").map_or(&[][..], Node::items).iter();
                items
                    .rev()
                    .find(|item| item.text().is_some_and(|text| fault.what.starts_with(&format!("{text:?}"))))
            }
            _ => expect("body").or(expect("body-matches")),
        };
        let at = place.map_or(node.at, |place| place.at);
        if !reading.findings.has_at(at) {
            reading.at(at, fault.what, fault.way_out);
        }
    }
    None
}

/// What `wire` has to say about the request.
fn faults_of(
    request: &Request,
    node: &Node,
    target: &Node,
    method_at: Span,
    variables: &Variables,
    reading: &mut Reading<'_>,
) {
    if variables.are_too_many() {
        return;
    }
    let Err(faults) = Template::compile(request, variables.names()) else { return };
    for fault in faults {
        let (at, way_out) = match &fault {
            RequestFault::Method(_) => (method_at, "write a method such as GET, then the path"),
            RequestFault::Target(_) => (target.at, "write a space as %20"),
            RequestFault::HeaderName(name) => {
                (header_at(node, name).unwrap_or(node.at), "write a name such as Accept")
            }
            RequestFault::HeaderValue(name) => {
                (header_at(node, name).unwrap_or(node.at), "write it on one line")
            }
            RequestFault::Framing(name) => (header_at(node, name).unwrap_or(node.at), "leave it out"),
            // Told with the place of the name.
            RequestFault::Variable(_) => continue,
        };
        if !reading.findings.has_at(at) {
            reading.at(at, fault.to_string(), way_out);
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

fn capture(entry: &Entry, reading: &mut Reading<'_>) -> Option<CaptureFrom> {
    let mut given = entry.value.entries().iter().filter(|entry| entry.value.text().is_some());
    let first = given.next()?;
    if let Some(second) = given.next() {
        let what = format!("`{}` says already where the value is", first.key);
        reading.at(second.key_at, what, "leave out one of them");
    }
    let (text, at) = (first.value.text()?, first.value.at);
    match first.key.as_str() {
        "header" => Some(CaptureFrom::Header(text.to_owned())),
        "json" if wire::http1::is_json_pointer(text) => Some(CaptureFrom::Json(text.to_owned())),
        "json" => {
            let way_out = format!("write /{}", text.trim_start_matches("$.").replace('.', "/"));
            reading.at(at, format!("{text:?} is not a JSON pointer, which begins with /"), way_out);
            None
        }
        "body" => match RegexBuilder::new(text).size_limit(REGEX_BYTES_MAX).build() {
            Ok(expression) => Some(CaptureFrom::Body(expression)),
            Err(error) => {
                let what = error.to_string().lines().last().unwrap_or_default().trim().to_owned();
                let way_out = "see the syntax of Rust's regex crate: no look-around, no back-references";
                reading.at(at, format!("{text:?}: {what}"), way_out);
                None
            }
        },
        _ => None,
    }
}

/// A path as it may be shown: values whose keys sound like secrets are replaced.
fn without_secrets(target: &str) -> String {
    let Some((path, query)) = target.split_once('?') else { return target.to_owned() };
    let shown = query.split('&').map(|pair| match pair.split_once('=') {
        Some((key, _)) if sounds_secret(key) => format!("{key}=(secret)"),
        _ => pair.to_owned(),
    });
    format!("{path}?{}", shown.collect::<Vec<_>>().join("&"))
}
