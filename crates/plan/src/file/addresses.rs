//! Reads a list of URLs in `url`, and `select`: the address of a connection, or of a request.

use std::collections::BTreeSet;

use wire::{SHARD_HASHES, ShardRule};

use super::reading::Reading;
use super::secret;
use super::tree::{Node, Value};
use crate::endpoint::Select;
use crate::study::{Braced, UrlList};
use crate::system_kind::SystemKind;
use crate::units;

/// Max URLs of a list, which limits the connections and requests of one load.
const URLS_MAX: usize = 32;
const SLOTS_MAX: u64 = 1 << 24;
const HELP: &str = "write URLs that differ only in host and port";

/// URL as written, or the first of a list.
pub(crate) fn first_url(written: &Node) -> Option<(&Node, &str)> {
    let first = written.items().first()?;
    Some((first, first.text()?))
}

/// Text of `hash` in `select`, next to a list of URLs.
pub(crate) fn hash_of(node: &Node) -> Option<&Node> {
    node.get("select")?.get("hash")
}

/// Reads the URLs of a list after the first, and `select`. `node` has both keys, or is the URL itself. `check` checks a URL whose
/// variables are replaced.
pub(crate) fn read(
    node: &Node,
    known: &[String],
    fill: &impl Fn(&str) -> Option<String>,
    check: impl Fn(&Node, &Braced, &str, &mut Reading<'_>),
    reading: &mut Reading<'_>,
) -> UrlList {
    let written = if node.entries().is_empty() { Some(node) } else { node.get("url") };
    let list = match written.map(|written| &written.value) {
        Some(Value::List(list)) => list.as_slice(),
        _ => &[],
    };
    if let Some(select) = node.entry("select").filter(|_| list.is_empty()) {
        let help = "write `url: [ URL, URL ]`, or remove `select`";
        reading.at(select.key_at, "`select` requires a list of URLs", help);
    }
    let Some((first, further)) = list.split_first() else { return UrlList::default() };
    if let Some(last) = list.get(URLS_MAX) {
        reading.at(last.at, format!("there are more than {URLS_MAX} URLs"), "use fewer");
    }
    if let Some(socket) = node.entry("socket") {
        let what = "`socket` takes the place of one host, and `url` is a list";
        reading.at(socket.key_at, what, "remove `socket`, or write one URL");
    }
    let first = Braced::read(first.text().unwrap_or_default()).fill_url(secret::is_one, fill);
    let mut seen = BTreeSet::from([first.clone()]);
    let mut texts = Vec::new();
    for (item, text) in further.iter().filter_map(|item| Some((item, item.text()?))) {
        let found_before = reading.findings.count();
        let braced = reading.braced_url(item, text, known);
        let filled = braced.fill_url(secret::is_one, fill);
        if reading.findings.count() == found_before {
            compare(item, &first, &filled, reading);
        }
        if reading.findings.count() == found_before {
            check(item, &braced, &filled, reading);
        }
        // Ports are not known yet, and all have the same placeholder, so URLs with variables may look equal.
        if braced.names().next().is_none() && !seen.insert(filled) {
            reading.at(item.at, "the URL is in the list twice", "remove one of them");
        }
        texts.push(braced);
    }
    let select = match (node.text_of("select"), hash_of(node).and_then(Node::text)) {
        (_, Some(key)) => Select::Hash(key.to_owned(), rule(node, reading)),
        (Some("first"), None) => Select::First,
        _ => Select::InTurn,
    };
    UrlList { select: (!texts.is_empty()).then_some(select), further: texts }
}

/// Rule for the text of `hash`.
fn rule(node: &Node, reading: &mut Reading<'_>) -> ShardRule {
    let select = node.get("select");
    let by = select.and_then(|select| select.text_of("by"));
    let hash = SHARD_HASHES.iter().find(|hash| by == Some(hash.name)).unwrap_or(ShardRule::default().hash);
    let slots = select.and_then(|select| select.get("slots"));
    let slots = slots.and_then(|node| Some((node, units::count(node.text()?).ok()?)));
    if let Some((node, count)) = slots.filter(|(_, count)| !(1..=SLOTS_MAX).contains(count)) {
        let what = format!("{count} is not between 1 and {SLOTS_MAX}");
        reading.at(node.at, what, "write a number such as 16384");
    }
    ShardRule { hash, slots: slots.map(|(_, count)| count.clamp(1, SLOTS_MAX) as u32) }
}

/// Checks that URLs of a list differ only in host and port, because they belong to one service.
fn compare(at: &Node, first_url: &str, other: &str, reading: &mut Reading<'_>) {
    let (first, other) = (Parts::of(first_url), Parts::of(other));
    let kind = SystemKind::by_url(first_url);
    if first.scheme != other.scheme {
        let what = format!("the list has URLs of {} and of {}", first.scheme, other.scheme);
        reading.at(at.at, what, HELP);
    } else if let Some(name) = (kind.in_process)(first_url) {
        reading.at(at.at, format!("{name} runs within Tenbin, and takes no list"), "write one URL");
    } else if first.user != other.user {
        reading.at(at.at, "the URLs of a list name one user", HELP);
    } else if first.path != other.path {
        let part = SystemKind::by_url(at.text().unwrap_or_default()).path_noun;
        let what = format!("the URLs of a list have one {part}, and this one differs from the first");
        reading.at(at.at, what, HELP);
    }
}

/// Parts of a URL other than host and port.
struct Parts<'a> {
    scheme: &'a str,
    user: &'a str,
    path: &'a str,
}

impl<'a> Parts<'a> {
    fn of(url: &'a str) -> Self {
        let (scheme, rest) = url.split_once(':').unwrap_or(("", url));
        let rest = rest.trim_start_matches('/');
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let user = rest[..end].rsplit_once('@').map_or("", |(user, _)| user);
        let path = if &rest[end..] == "/" { "" } else { &rest[end..] };
        Self { scheme, user, path }
    }
}
