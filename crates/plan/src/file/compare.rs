//! The sections `compare` and `pin`.

use judge::Metric;

use super::form;
use super::quick::Quick;
use super::reading::Reading;
use super::tree::Node;
use crate::study::{Compare, Find, How, StudyLoad, StudyPin, System, Variant};
use crate::units;

const BLOCKS_DEFAULT: u32 = 8;
/// Where fewer may do.
const BLOCKS_MOST_DEFAULT: u32 = 24;
const BLOCKS_MAX: u64 = 1_000;
const BLOCKS_OF_BEST_MIN: u32 = 8;
const PILOT_DEFAULT: u32 = 3;
const PILOT_MAX: u64 = 100;
const RUNS_MAX: u64 = 100_000;
const MATTERS_DEFAULT: f64 = 0.03;

/// What there is to compare.
pub(crate) struct Compared<'a> {
    pub(crate) systems: &'a [System],
    pub(crate) variants: &'a [Variant],
    pub(crate) loads: &'a [StudyLoad],
}

/// What decides between variants. Without the section every variant is run once.
pub(crate) fn read(
    root: &Node,
    compared: &Compared<'_>,
    quick: Option<&Quick<'_>>,
    reading: &mut Reading<'_>,
) -> Compare {
    let node = root.get("compare");
    let section = Section { node, compared, is_quick: quick.is_some() };
    let by = section.text("by").and_then(Metric::named).unwrap_or(Metric::usual());
    let find = match section.text("find").or(node.and_then(Node::text)) {
        Some("best") => Find::Best,
        Some("failures" | "no") => Find::Failures,
        _ => Find::Every,
    };
    let is_alone = find != Find::Failures && compared.variants.len() == 2 || find == Find::Best;
    let usual = node.and_then(|node| count(node, "blocks", 1..=BLOCKS_MAX, reading));
    let default = match node {
        None => 1,
        Some(node) if node.text().is_some() => 1,
        Some(_) if is_alone => BLOCKS_MOST_DEFAULT,
        Some(_) => BLOCKS_DEFAULT,
    };
    let other = quick.and_then(|quick| count(quick.node, "blocks", 1..=BLOCKS_MAX, reading));
    let mut compare = Compare {
        by,
        higher_is_better: match section.text("direction") {
            Some(direction) => direction == "higher",
            None => by.higher_is_better,
        },
        matters: section.matters(reading),
        find,
        blocks: other.or(usual).unwrap_or(default),
        pilot: 0,
        also: section.also(by, reading),
        baseline: section.baseline(reading),
        within_ns: section.text("within").and_then(|text| units::duration_ns(text).ok()),
    };
    section.pilot(&mut compare, reading);
    section.hold_against_each_other(&compare, reading);
    limit_runs(root, compared, &compare, reading);
    compare
}

/// No study has more runs than a store takes.
fn limit_runs(root: &Node, compared: &Compared<'_>, compare: &Compare, reading: &mut Reading<'_>) {
    let runs = compared.loads.len() as u64 * compare.runs_most(compared.variants.len());
    if runs > RUNS_MAX {
        let at =
            ["compare", "systems", "load"].iter().find_map(|key| root.entry(key)).map(|entry| entry.key_at);
        let what = format!("{runs} runs are more than the limit of {RUNS_MAX}");
        reading.at(at.unwrap_or(root.at), what, "vary less, or compare fewer `blocks`");
    }
}

fn count(
    node: &Node,
    key: &str,
    range: std::ops::RangeInclusive<u64>,
    reading: &mut Reading<'_>,
) -> Option<u32> {
    let value = node.get(key)?;
    let count = units::count(value.text()?).ok()?;
    let (least, most) = (*range.start(), *range.end());
    if !range.contains(&count) {
        let what = format!("{count} is not between {least} and {most}");
        reading.at(value.at, what, "choose a number between them");
    }
    Some(count.clamp(least, most) as u32)
}

/// The section as it is read for a full study, or for a quick one.
struct Section<'a> {
    node: Option<&'a Node>,
    compared: &'a Compared<'a>,
    /// What is said of the full study is not said again.
    is_quick: bool,
}

impl<'a> Section<'a> {
    fn text(&self, key: &str) -> Option<&'a str> {
        self.node?.text_of(key)
    }

    fn matters(&self, reading: &mut Reading<'_>) -> f64 {
        let share = self.text("matters").and_then(|text| form::percent(text).ok());
        if let Some(matters) = self
            .node
            .and_then(|node| node.get("matters"))
            .filter(|_| share.is_some_and(|share| share <= 0.0 || share >= 1.0))
        {
            let what = "a difference that matters is more than 0% and less than 100%";
            reading.at(matters.at, what, "write a percentage such as 3%");
        }
        share.unwrap_or(MATTERS_DEFAULT)
    }

    /// Further figures, each once.
    fn also(&self, by: &Metric, reading: &mut Reading<'_>) -> Vec<&'static Metric> {
        let mut also: Vec<&'static Metric> = Vec::new();
        for item in self.node.and_then(|node| node.get("also")).map_or(&[][..], Node::items) {
            let Some(metric) = item.text().and_then(Metric::named) else { continue };
            if metric == by || also.contains(&metric) {
                let what = format!("{} decides already", metric.name);
                reading.at(item.at, what, "leave out one of the two");
            } else {
                also.push(metric);
            }
        }
        also
    }

    /// The number of the variant of that name: `puma workers=8`, or `workers=8` if there is only one system. A quick study
    /// may lack it.
    fn baseline(&self, reading: &mut Reading<'_>) -> Option<usize> {
        let named = self.node?.get("baseline")?;
        let name = named.text()?;
        let Compared { systems, variants, .. } = self.compared;
        let rows: Vec<String> = variants
            .iter()
            .map(|variant| match (systems.len(), variant.name.as_str()) {
                (_, "") => systems[variant.system].name.clone(),
                (1, variant) => variant.to_owned(),
                (_, name) => format!("{} {name}", systems[variant.system].name),
            })
            .collect();
        let of_system = |row: &String| {
            systems.iter().any(|system| name.strip_prefix(&system.name).map(str::trim_start) == Some(row))
        };
        let found = rows.iter().position(|row| row == name || of_system(row));
        if found.is_none() && !self.is_quick {
            let what = format!("there is no variant {name:?} to compare with");
            reading.findings.unknown(named.at, what, name, rows.iter().map(String::as_str), "write one of");
        }
        found
    }

    /// A duel that goes on for long is worth a look at how far its blocks lie apart.
    fn pilot(&self, compare: &mut Compare, reading: &mut Reading<'_>) {
        let given = self.node.and_then(|node| count(node, "pilot", 0..=PILOT_MAX, reading));
        let is_duel = compare.how(self.compared.variants.len()) == How::Duel;
        if let Some(entry) = self.node.and_then(|node| node.entry("pilot"))
            && !self.is_quick
            && given.is_some_and(|blocks| blocks > 0)
            && !is_duel
        {
            let least = stats::blocks_least(compare.family());
            let what = format!("a pilot goes before a comparison of two variants in {least} blocks or more");
            reading.at(entry.key_at, what, "leave it out");
        }
        let default = if compare.blocks > BLOCKS_OF_BEST_MIN { PILOT_DEFAULT } else { 0 };
        let blocks = given.unwrap_or(default);
        // A short form has no time for a long one.
        let blocks = if self.is_quick { blocks.min(default) } else { blocks };
        compare.pilot = if is_duel { blocks } else { 0 };
    }

    /// Keys that do not go together, and a time in which nothing can be told.
    fn hold_against_each_other(&self, compare: &Compare, reading: &mut Reading<'_>) {
        let Some(node) = self.node.filter(|_| !self.is_quick) else { return };
        let variants = self.compared.variants.len();
        if let Some(find) = node.entry("find").filter(|_| compare.find == Find::Best) {
            if variants < 2 {
                reading.at(find.key_at, "there is only one variant, which is the best", "leave it out");
            } else if compare.blocks < BLOCKS_OF_BEST_MIN {
                let what = format!("the best is not found in fewer than {BLOCKS_OF_BEST_MIN} blocks");
                let at = node.get("blocks").map_or(find.key_at, |blocks| blocks.at);
                reading.at(at, what, "allow more `blocks`, or leave them out for 24 at most");
            }
        }
        let mut loads_ns = self.compared.loads.iter().map(|load| load.run_ns);
        let loads_ns = loads_ns.try_fold(0u64, |sum, ns| Some(sum.saturating_add(ns?)));
        let block_ns = loads_ns.map(|loads_ns| loads_ns.saturating_mul(variants as u64));
        if let (Some(within), Some(within_ns), Some(block_ns)) =
            (node.get("within"), compare.within_ns, block_ns)
            && within_ns < block_ns
        {
            let what = format!("a single block takes {} of load", units::show_duration(block_ns));
            reading.at(within.at, what, "give it more time, shorten the load, or vary less");
        }
    }
}

/// Which cores system and generator stay on.
pub(crate) fn pin(node: Option<&Node>, reading: &mut Reading<'_>) -> StudyPin {
    let Some(node) = node else { return StudyPin::No };
    match node.text() {
        Some("auto") => return StudyPin::Auto,
        Some(_) => return StudyPin::No,
        None => {}
    }
    let mut cores = |key: &str, taken: &[usize]| {
        let mut cores: Vec<usize> = Vec::new();
        for item in node.get(key).map_or(&[][..], Node::items) {
            let Some(core) = item.text().and_then(|text| text.parse().ok()) else { continue };
            if taken.contains(&core) {
                let what = format!("core {core} is the system's already: they would disturb each other");
                reading.at(item.at, what, "give each of them cores of its own");
            } else if cores.contains(&core) {
                reading.at(item.at, format!("core {core} is there already"), "leave out one of the two");
            }
            cores.push(core);
        }
        cores
    };
    let system = cores("system", &[]);
    let generator = cores("generator", &system);
    StudyPin::Cores { system, generator }
}
