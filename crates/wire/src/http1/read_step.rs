//! Reads a step: its request, the checks of its reply, and the saved values.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::carried::Carried;
use super::http_step::{HttpStep, path_error, request_line};
use super::request::{Request, RequestBody, RequestError};
use super::template::Template;
use super::{read_body, read_expect};
use crate::step::tree::{Entry, Node, Span};
use crate::step::{ParsedStep, Reader, ScenarioSteps};

/// Begins to read the steps of a scenario.
pub(super) fn begin<'a>(scenario: Option<&'a Node>, reader: &mut dyn Reader) -> Box<dyn ScenarioSteps + 'a> {
    Box::new(scenario.map_or_else(Carried::default, |node| Carried::read(node, reader)))
}

impl ScenarioSteps for Carried<'_> {
    fn read(
        &mut self,
        step: &Node,
        key: &Entry,
        endpoint: &str,
        reader: &mut dyn Reader,
    ) -> Option<ParsedStep> {
        read(step, key, endpoint, self, reader)
    }

    fn finish(&mut self, reader: &mut dyn Reader) {
        self.report_unused(reader);
    }

    fn resets_each_iteration(&self) -> bool {
        self.has_cookies_per_iteration()
    }

    fn authorization_at(&self) -> Option<Span> {
        self.credentials_at()
    }
}

/// Reads a step at the system with this name.
fn read(
    node: &Node,
    key: &Entry,
    endpoint: &str,
    carried: &mut Carried<'_>,
    reader: &mut dyn Reader,
) -> Option<ParsedStep> {
    let (method, target, method_at) = line(key, reader)?;
    let target_node = &key.value;
    reader.resolve_names(target_node, &target);
    if let Some((what, help)) = path_error(&target) {
        reader.report(target_node.at, what, help);
    }
    let headers = headers(node, reader);
    let given = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let body = read_body::read(node, given.map(|(_, value)| value.as_str()), reader);
    let checks = read_expect::checks(node, &method, reader)?;
    let mut request = Request { method, headers, ..Request::get("127.0.0.1", &target) };
    if let Some(RequestBody { bytes, content_type }) = body {
        request.headers.extend(content_type.map(|kind| ("Content-Type".to_owned(), kind)));
        request.body = Some(bytes);
    }
    carried.add_to(node, &mut request, endpoint, reader);
    let header_at = |name: &str| header_at(node, name).or_else(|| carried.header_at(name)).unwrap_or(node.at);
    let places = Places { target: target_node.at, method: method_at, header: &header_at };
    report_faults(&request, &places, reader);
    let captures = read_expect::captures(node, reader);
    Some(ParsedStep {
        step: Arc::new(HttpStep { request, checks, captures }),
        title_at: target_node.at,
        authorization_at: self::header_at(node, "authorization").or(carried.credentials_at()),
    })
}

/// Method, target, and place of the method.
fn line(key: &Entry, reader: &mut dyn Reader) -> Option<(String, String, Span)> {
    let (text, at) = (key.value.text()?, key.value.at);
    match request_line(&key.key, text) {
        Ok((method, target)) => {
            // The method is in the text, or the key names it.
            let method_at = if target.len() < text.len() { at } else { key.key_at };
            Some((method, target.to_owned(), method_at))
        }
        Err((what, help)) => {
            reader.report(at, what, help);
            None
        }
    }
}

fn headers(node: &Node, reader: &mut dyn Reader) -> Vec<(String, String)> {
    let entries = node.get("headers").map_or(&[][..], Node::entries);
    let headers = entries.iter().map(|entry| {
        let text = entry.value.text().unwrap_or_default();
        reader.resolve_names(&entry.value, text);
        (entry.key.clone(), text.to_owned())
    });
    headers.collect()
}

fn header_at(node: &Node, name: &str) -> Option<Span> {
    let entries = node.get("headers").map_or(&[][..], Node::entries);
    entries.iter().find(|entry| entry.key.eq_ignore_ascii_case(name)).map(|entry| entry.key_at)
}

/// Places of the parts of a request.
struct Places<'a> {
    target: Span,
    method: Span,
    header: &'a dyn Fn(&str) -> Span,
}

/// Reports errors in the request as a whole.
fn report_faults(request: &Request, places: &Places<'_>, reader: &mut dyn Reader) {
    if reader.has_too_many_names() {
        return;
    }
    let Err(faults) = Template::compile(request, reader.variables(), reader.secrets()) else { return };
    for fault in faults {
        let (at, help) = match &fault {
            RequestError::Method(_) => (places.method, "write a method such as GET, then the path"),
            RequestError::Target(_) => (places.target, "write a space as %20"),
            RequestError::HeaderName(name) => ((places.header)(name), "write a name such as Accept"),
            RequestError::HeaderValue(name) => ((places.header)(name), "write it on one line"),
            RequestError::Framing(name) => ((places.header)(name), "remove it"),
            // Unknown variables are already reported at the places of their names.
            RequestError::Variable(_) => continue,
        };
        if !reader.has_error_at(at) {
            reader.report(at, fault.to_string(), help.into());
        }
    }
}
