//! Reads the query of a URL on the command line as a step of the protocol that owns it. The query has the keys of plans, without
//! tables.

use std::sync::Arc;

use url::Url;
use wire::step::{Key, Kind, Step, StepDefinition, StepValueError, Table, Value, WrittenStep};

use crate::file::own_step;
use crate::file::tree::{Entry, Node, Text, Value as NodeValue};
use crate::file::{Span, tree};

/// Error in a part of a query, and the help.
#[derive(Debug)]
pub(crate) struct WrongQuery {
    /// Name of the part, or `query`.
    pub(crate) part: &'static str,
    pub(crate) what: String,
    pub(crate) help: String,
}

/// Reads the query of a URL such as `tcp://127.0.0.1:9000?send=1MiB&bytes=1`. `body` is the value of `-b`.
pub(crate) fn read(
    url: &Url,
    own: &StepDefinition,
    body: Option<&[u8]>,
) -> Result<Arc<dyn Step>, WrongQuery> {
    let pairs = pairs(url, own);
    let known: Vec<&str> = own.keys.iter().flat_map(query_parts).collect();
    let help = || format!("write {}, for example", own.query);
    if let Some((name, _)) = pairs.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        let what = format!("unknown part {name:?} of the query; known are {}", known.join(", "));
        return Err(WrongQuery { part: "query", what, help: help() });
    }
    let is_given =
        |key: &&Key| query_parts(key).iter().any(|part| pairs.iter().any(|(name, _)| name == part));
    let key = own.keys.iter().find(is_given).unwrap_or(&own.keys[0]);
    let node = match (node(key.name, &key.kind, &pairs), &key.kind) {
        (Some(node), _) => node,
        (None, Kind::Table(_)) => map(Vec::new()),
        (None, _) => {
            let what = format!("the query has no `{}`", key.name);
            return Err(WrongQuery { part: "query", what, help: help() });
        }
    };
    let mut value = own_step::flag_value(&node, &key.kind).map_err(|wrong| at(key, wrong))?;
    if let Some(body) = body {
        add_body(body, own.body, key, &pairs, &mut value)?;
    }
    (own.read)(&WrittenStep::of(key.name, &value)).map_err(|wrong| at(key, wrong))
}

/// Whether the query of a URL has parts of a step. The query may also have log-in options.
pub(crate) fn has_step(url: &Url, own: &StepDefinition) -> bool {
    url.query().is_some() && (own.options().is_empty() || !pairs(url, own).is_empty())
}

/// Parts of the query that belong to a step.
fn pairs(url: &Url, own: &StepDefinition) -> Vec<(String, String)> {
    let is_option = |name: &str| own.options().iter().any(|option| option.eq_ignore_ascii_case(name));
    let pairs = url.query_pairs().filter(|(name, _)| !is_option(name));
    pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

/// Adds the body of the command line to the value of the step.
fn add_body(
    body: &[u8],
    of_body: Option<&'static str>,
    key: &Key,
    pairs: &[(String, String)],
    value: &mut Value,
) -> Result<(), WrongQuery> {
    let (Some(name), Kind::Table(table), Value::Table(entries)) = (of_body, &key.kind, value) else {
        return Ok(());
    };
    if pairs.iter().any(|(given, _)| given == name || are_exclusive(table, given, name)) {
        return Err(WrongQuery {
            part: "query",
            what: "both the query and the body say what is sent".to_owned(),
            help: "remove one of them".to_owned(),
        });
    }
    entries.push((name, Value::Bytes(body.to_vec())));
    Ok(())
}

fn are_exclusive(table: &Table, one: &str, other: &str) -> bool {
    table.exclusive.iter().any(|pair| pair.contains(&one) && pair.contains(&other))
}

/// Parts of a query that define the value of a key.
fn query_parts(key: &Key) -> Vec<&'static str> {
    match key.kind {
        Kind::Table(table) => table.keys.iter().flat_map(query_parts).collect(),
        _ => vec![key.name],
    }
}

/// Value of a key in the form of a plan node. `None` if the query does not set the key.
fn node(name: &str, kind: &Kind, pairs: &[(String, String)]) -> Option<Node> {
    if let Kind::Table(table) = kind {
        let entries = table.keys.iter().filter_map(|key| {
            let value = node(key.name, &key.kind, pairs)?;
            Some(Entry { key: key.name.to_owned(), key_at: placeholder_span(), value })
        });
        let entries: Vec<Entry> = entries.collect();
        return (!entries.is_empty()).then(|| map(entries));
    }
    let (_, text) = pairs.iter().find(|(given, _)| given == name)?;
    // The text is marked as quoted, so that it is never read as null.
    let text = Text { text: text.clone(), is_plain: false };
    Some(Node { at: placeholder_span(), value: NodeValue::Text(text) })
}

fn map(entries: Vec<Entry>) -> Node {
    Node { at: placeholder_span(), value: tree::Value::Map(entries) }
}

/// Placeholder span, because a query has no place in a file.
fn placeholder_span() -> Span {
    Span::new(0, 0)
}

fn at(key: &Key, wrong: StepValueError) -> WrongQuery {
    let part = wrong.path.last().copied().unwrap_or(key.name);
    WrongQuery { part, what: wrong.what, help: wrong.help }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the title and the message of a step.
    fn read(url: &str) -> Result<(String, Vec<u8>, String), String> {
        let url = Url::parse(url).expect("a URL");
        let (protocol, _) = wire::find_scheme(url.scheme()).expect("a scheme");
        let step = super::read(&url, protocol.own_steps().expect("own steps"), None);
        step.map(|step| (step.title(), step.message().to_vec(), step.fingerprint()))
            .map_err(|wrong| format!("{}: {}", wrong.part, wrong.what))
    }

    #[test]
    fn reads_keys_of_step_from_query() {
        let (title, message, exchange) = read("tcp://h:1?send=1KiB&write=64&bytes=1").expect("a step");
        assert_eq!((title.as_str(), message.len()), ("send 1KiB in writes of 64", 1024));
        assert_eq!(exchange, "Exchange { write_bytes: Some(64), receive: Bytes(1) }");
        let (title, message, exchange) = read("tcp://h:1/?text=%7Bx%7D%0D%0A&until=%0D%0A").expect("a step");
        assert_eq!((title.as_str(), message.as_slice()), (r#"send "{x}\r\n""#, &b"{{x}}\r\n"[..]));
        assert_eq!(exchange, "Exchange { write_bytes: None, receive: Until([13, 10]) }");
        let (_, message, exchange) = read("tcp://h:1").expect("a step");
        assert_eq!(message, b"\n");
        assert_eq!(exchange, "Exchange { write_bytes: None, receive: Until([10]) }");
    }

    #[test]
    fn names_wrong_part_of_query() {
        for (query, expected) in [
            ("send=0", "send: 0 is not from 1"),
            ("send=65MiB", "send: 65MiB is not from 1"),
            ("send=much", "send: \"much\""),
            ("send=1&text=a", "text: `send` and `text` exclude"),
            ("write=0", "write: 0 is not from 1"),
            ("bytes=0", "bytes: 0 is not from 1"),
            ("until=", "until: a delimiter has 1 to 64 bytes, not 0"),
            ("bytes=1&until=a", "until: `bytes` and `until` exclude"),
            (
                "size=1",
                "query: unknown part \"size\" of the query; known are send, text, write, bytes, until",
            ),
        ] {
            let error = read(&format!("tcp://h:1?{query}")).err().unwrap_or_default();
            assert!(error.starts_with(expected), "{query}: {error}");
        }
    }
}
