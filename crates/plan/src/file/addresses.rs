//! Reads a list of URLs in `url`, and `select`: the address of a connection, or of a request.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use wire::{SHARD_HASHES, ShardCount, ShardMap, ShardRule};

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
/// Max points of a URL on a ring, which limits the memory of the rule.
const RING_POINTS_MAX: u64 = 10_000;
const HELP: &str = "write URLs that differ only in host and port";

/// URL as written, or the first of a list.
pub(crate) fn first_url(written: &Node) -> Option<(&Node, &str)> {
    let first = written.items().first()?;
    Some((first, first.text()?))
}

/// Text of `hash` in `select`, next to a list of URLs.
pub(crate) fn hash_text(node: &Node) -> Option<&Node> {
    node.get("select")?.get("hash")
}

/// Reads the URLs of a list after the first, and `select`. `node` has both keys, or is the URL itself. `check` checks a URL in which
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
    let first = Braced::read(first.text().unwrap_or_default()).fill_url(secret::is_secret_name, fill);
    let mut seen = BTreeSet::from([first.clone()]);
    let mut texts = Vec::new();
    for (item, text) in further.iter().filter_map(|item| Some((item, item.text()?))) {
        let findings_before = reading.findings.count();
        let braced = reading.braced_url(item, text, known);
        let filled = braced.fill_url(secret::is_secret_name, fill);
        if reading.findings.count() == findings_before {
            check_same_service(item, &first, &filled, reading);
        }
        if reading.findings.count() == findings_before {
            check(item, &braced, &filled, reading);
        }
        // Ports are not known yet and share a placeholder, so URLs with variables may look equal.
        if braced.names().next().is_none() && !seen.insert(filled) {
            reading.at(item.at, "the URL is in the list twice", "remove one of them");
        }
        texts.push(braced);
    }
    let select = match (node.text_of("select"), hash_text(node).and_then(Node::text)) {
        (_, Some(key)) => Select::Hash(key.to_owned(), rule(node, list.len(), reading)),
        (Some("first"), None) => Select::First,
        _ => Select::InTurn,
    };
    UrlList { select: (!texts.is_empty()).then_some(select), further: texts }
}

/// Rule for the text of `hash` among this number of URLs.
fn rule(node: &Node, urls: usize, reading: &mut Reading<'_>) -> ShardRule {
    let Some(select) = node.get("select") else { return ShardRule::default() };
    let by = select.text_of("by");
    let hash = SHARD_HASHES.iter().find(|hash| by == Some(hash.name)).unwrap_or(ShardRule::default().hash);
    let slots = count(select, "slots", 1..=SLOTS_MAX, "write a number such as 16384", reading);
    let shards =
        count(select, "shards", 1..=urls as u64, "write the number of URLs that get requests", reading);
    let points = count(select, "ring", 1..=RING_POINTS_MAX, "write a number such as 160", reading);
    if let (Some(_), Some(ring)) = (select.get("ranges"), select.entry("ring")) {
        let what = "`ranges` and `ring` exclude each other";
        reading.at(ring.key_at, what, "remove one of them");
    }
    let map = match (select.get("ranges"), points) {
        (Some(ranges), _) => ShardMap::Ranges(firsts(ranges, urls, slots, reading).into()),
        (None, Some(points)) => ShardMap::Ring(points as u32),
        (None, None) => ShardMap::Even,
    };
    let in_use = ShardCount::new(shards.map(|shards| shards as u32));
    ShardRule { hash, slots: slots.map(|slots| slots as u32), map, in_use }
}

/// Number under a key of `select`, within `bounds`. `None` if the key is absent.
fn count(
    select: &Node,
    key: &str,
    bounds: RangeInclusive<u64>,
    help: &str,
    reading: &mut Reading<'_>,
) -> Option<u64> {
    let node = select.get(key)?;
    let count = units::count(node.text()?).ok()?;
    if !bounds.contains(&count) {
        let what = format!("{count} is not between {} and {}", bounds.start(), bounds.end());
        reading.at(node.at, what, help);
    }
    Some(count.clamp(*bounds.start(), *bounds.end()))
}

/// First slots of a range map: ascending, one for each URL but the first.
fn firsts(ranges: &Node, urls: usize, slots: Option<u64>, reading: &mut Reading<'_>) -> Vec<u64> {
    let mut firsts: Vec<u64> = Vec::new();
    for item in ranges.items() {
        let Some(first) = item.text().and_then(|text| units::count(text).ok()) else { continue };
        if let Some(before) = firsts.last().filter(|before| **before >= first) {
            let what = format!("{first} is not above {before}");
            reading.at(item.at, what, "write the first slots of the ranges in ascending order");
        }
        if let Some(slots) = slots.filter(|slots| first >= *slots) {
            let what = format!("there are {slots} slots, from 0, and the range begins at {first}");
            reading.at(item.at, what, "write a number below `slots`");
        }
        firsts.push(first);
    }
    if ranges.items().len() + 1 != urls {
        let (needed, given) = (urls - 1, ranges.items().len());
        let what = format!("{urls} URLs need {needed} numbers in `ranges`, which has {given}");
        reading.at(ranges.at, what, "write the first slot of each URL but the first");
    }
    firsts
}

/// Checks that URLs of a list differ only in host and port, because they belong to one service.
fn check_same_service(at: &Node, first_url: &str, other: &str, reading: &mut Reading<'_>) {
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
