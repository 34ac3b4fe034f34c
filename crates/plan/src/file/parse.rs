//! Parses YAML into a tree, within limits.

use std::collections::{HashMap, HashSet};

use granit_parser::{Event, Parser, ScalarStyle, Span as Marks};

use super::findings::Findings;
use super::span::{Span, line_at};
use super::syntax;
use super::tree::{Entry, Node, Text, Value};

/// Max depth of nested lists and mappings.
pub(crate) const DEPTH_MAX: usize = 64;
/// Max number of values in a file, including those that anchors keep.
const VALUES_MAX: usize = 100_000;
/// Max number of values that aliases expand to.
const EXPANDED_MAX: usize = 1_000;

/// Parses a file. Errors of syntax are added to the findings.
pub(crate) fn parse(source: &str, findings: &mut Findings) -> Option<Node> {
    let options = granit_parser::options! {
        disallow_directives: true,
        flow_nesting_limit: DEPTH_MAX,
        block_nesting_limit: DEPTH_MAX,
    };
    let mut builder = Builder {
        source,
        findings,
        open: Vec::new(),
        anchors: HashMap::new(),
        values: 0,
        expanded: 0,
        root: None,
    };
    for event in Parser::new_from_str_with_options(source, options) {
        let is_going = match event {
            Ok((event, marks)) => {
                builder.take(event, span(marks, source), marks.tag_span().map(|tag| span(tag, source)))
            }
            Err(error) => {
                let opened = builder.opened();
                syntax::explain(&error, source, opened, builder.findings);
                false
            }
        };
        if !is_going {
            return None;
        }
    }
    let root = builder.root;
    if root.as_ref().is_none_or(Node::is_nothing) {
        findings.whole("the plan is empty", "write `scenario`, `load`, and `url` or `systems`");
        return None;
    }
    root
}

fn span(marks: Marks, source: &str) -> Span {
    let bytes = marks.byte_range().unwrap_or(0..0);
    Span::new(bytes.start, bytes.end).trimmed(source)
}

/// A list or mapping that is not complete yet.
struct Open {
    at: Span,
    anchor: usize,
    inside: Container,
}

enum Container {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, keys: HashSet<String>, key: Option<(String, Span)> },
}

struct Builder<'a> {
    source: &'a str,
    findings: &'a mut Findings,
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    values: usize,
    expanded: usize,
    root: Option<Node>,
}

impl Builder<'_> {
    /// Handles an event of the parser. Returns whether to go on.
    fn take(&mut self, event: Event<'_>, at: Span, tag_at: Option<Span>) -> bool {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.reject_tag(tag.is_some(), tag_at.unwrap_or(at));
                let text = Text { text: text.into_owned(), is_plain: style == ScalarStyle::Plain };
                self.add_node(Node { at, value: Value::Text(text) }, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.reject_tag(tag.is_some(), tag_at.unwrap_or(at));
                self.begin(Open { at, anchor, inside: Container::List(Vec::new()) })
            }
            Event::MappingStart(_, anchor, tag) => {
                self.reject_tag(tag.is_some(), tag_at.unwrap_or(at));
                let inside = Container::Map { entries: Vec::new(), keys: HashSet::new(), key: None };
                self.begin(Open { at, anchor, inside })
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(at),
            Event::Alias(anchor) => self.expand_alias(anchor, at),
            Event::DocumentStart(..) if self.root.is_some() => {
                self.findings.at(at, "a second document starts here", "write one plan per file");
                false
            }
            _ => true,
        }
    }

    /// The innermost bracket that is not closed yet.
    fn opened(&self) -> Option<Span> {
        let is_bracket = |at: &Span| matches!(self.source.as_bytes().get(at.start), Some(b'[' | b'{'));
        self.open.iter().rev().map(|open| open.at).find(is_bracket)
    }

    fn reject_tag(&mut self, has_tag: bool, at: Span) {
        if has_tag {
            self.findings.at(at, "YAML tags (!…) are not supported", "remove it, or quote the text");
        }
    }

    fn begin(&mut self, open: Open) -> bool {
        self.open.push(open);
        true
    }

    fn end(&mut self, at: Span) -> bool {
        let Some(open) = self.open.pop() else { return true };
        let end = self.source.get(..at.end).map_or(at.end, |text| text.trim_end().len());
        let value = match open.inside {
            Container::List(items) => Value::List(items),
            Container::Map { entries, .. } => Value::Map(entries),
        };
        self.add_node(Node { at: Span::new(open.at.start, end), value }, open.anchor)
    }

    fn expand_alias(&mut self, anchor: usize, at: Span) -> bool {
        let Some(node) = self.anchors.get(&anchor) else {
            self.findings.at(
                at,
                "an alias cannot be inside the value that it repeats",
                "write the value out",
            );
            return false;
        };
        let count = node.count();
        self.expanded += count;
        if self.expanded > EXPANDED_MAX {
            let what = format!("aliases repeat more than {EXPANDED_MAX} values");
            self.findings.at(at, what, "write the values out, or use fewer");
            return false;
        }
        let node = node.clone();
        self.values += count - 1;
        self.add_node(node, 0)
    }

    fn add_node(&mut self, node: Node, anchor: usize) -> bool {
        self.values += 1;
        if self.values > VALUES_MAX {
            let what = format!("the plan has more than {VALUES_MAX} values");
            self.findings.at(node.at, what, "move data to a CSV file, and name it under `data`");
            return false;
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
            // Each anchored value is stored as a copy, so it counts.
            self.values += node.count() - 1;
        }
        match self.open.last_mut().map(|open| &mut open.inside) {
            None => self.root = Some(node),
            Some(Container::List(items)) => items.push(node),
            Some(Container::Map { entries, keys, key }) => match key.take() {
                Some((name, key_at)) => entries.push(Entry { key: name, key_at, value: node }),
                None => *key = Some(Self::key(self.source, self.findings, node, keys, entries)),
            },
        }
        true
    }

    fn key(
        source: &str,
        findings: &mut Findings,
        node: Node,
        keys: &mut HashSet<String>,
        entries: &[Entry],
    ) -> (String, Span) {
        let at = node.at;
        let Value::Text(Text { text, is_plain }) = node.value else {
            findings.at(at, "a list or a mapping cannot be a key", "write a word, then a colon");
            return (String::new(), at);
        };
        if text == "<<" && is_plain {
            findings.at(at, "merge keys (`<<`) are not supported", "write the keys out");
        } else if !keys.insert(text.clone()) {
            let first = entries.iter().find(|entry| entry.key == text);
            let line = first.map_or(0, |first| line_at(source, first.key_at.start).number);
            findings.at(
                at,
                format!("duplicate key `{text}`; the first is on line {line}"),
                "remove one of them",
            );
        }
        (text, at)
    }
}
