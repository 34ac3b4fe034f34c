//! The sections `compare` and `pin`.

use super::form;
use super::quick::Quick;
use super::reading::Reading;
use super::tree::Node;
use crate::study::{Compare, Metric, StudyPin};
use crate::units;

const BLOCKS_DEFAULT: u32 = 8;
const BLOCKS_MAX: u64 = 1_000;
const RUNS_MAX: u64 = 100_000;
const MATTERS_DEFAULT: f64 = 0.03;

/// What decides between variants. Without the section every variant is run once.
pub(crate) fn read(node: Option<&Node>, quick: Option<&Quick<'_>>, reading: &mut Reading<'_>) -> Compare {
    let text = |key: &str| node.and_then(|node| node.text_of(key));
    let by = text("by").and_then(Metric::named).unwrap_or(Metric::Throughput);
    let usual = node.and_then(|node| blocks(node, reading));
    let default = if node.is_some() { BLOCKS_DEFAULT } else { 1 };
    let other = quick.and_then(|quick| blocks(quick.node, reading));
    let share = text("matters").and_then(|text| form::percent(text).ok());
    if let Some(matters) = node
        .and_then(|node| node.get("matters"))
        .filter(|_| share.is_some_and(|share| share <= 0.0 || share >= 1.0))
    {
        let what = "a difference that matters is more than 0% and less than 100%";
        reading.at(matters.at, what, "write a percentage such as 3%");
    }
    Compare {
        by,
        higher_is_better: match text("direction") {
            Some(direction) => direction == "higher",
            None => by.higher_is_better(),
        },
        matters: share.unwrap_or(MATTERS_DEFAULT),
        blocks: other.or(usual).unwrap_or(default),
    }
}

/// No study has more runs than a store takes. `loads` and `variants` are their numbers.
pub(crate) fn limit_runs(root: &Node, loads: usize, variants: usize, blocks: u32, reading: &mut Reading<'_>) {
    let runs = loads as u64 * variants as u64 * u64::from(blocks);
    if runs > RUNS_MAX {
        let at =
            ["compare", "systems", "load"].iter().find_map(|key| root.entry(key)).map(|entry| entry.key_at);
        let what = format!("{runs} runs are more than the limit of {RUNS_MAX}");
        reading.at(at.unwrap_or(root.at), what, "vary less, or compare fewer `blocks`");
    }
}

fn blocks(node: &Node, reading: &mut Reading<'_>) -> Option<u32> {
    let blocks = node.get("blocks")?;
    let count = units::count(blocks.text()?).ok()?;
    if !(1..=BLOCKS_MAX).contains(&count) {
        let what = format!("{count} is not between 1 and {BLOCKS_MAX}");
        reading.at(blocks.at, what, "choose a number between them");
    }
    Some(count.clamp(1, BLOCKS_MAX) as u32)
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
