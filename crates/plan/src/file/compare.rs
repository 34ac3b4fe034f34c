//! Reads the sections `compare` and `pin`.

use std::collections::BTreeSet;

use judge::{ComparedBy, Metric, MetricKind};
use stats::Scale;

use super::baseline;
use super::quick::Quick;
use super::reading::Reading;
use super::tree::Node;
use crate::spec::values::AskedMinEffect;
use crate::spec::{AskedBaseline, At, CompareSpec, Spanned};
use crate::study::{
    BEST_BLOCKS_MIN, Compare, ComparisonMethod, Find, Interleave, NoSlices, SLICE_NS, SLICE_RANGE_NS, Study,
    StudyEvent, StudyLoad, StudyPin, Sweep, System, Variant,
};
use crate::units;
use judge::words;

const BLOCKS_DEFAULT: u32 = 8;
/// Default max blocks if the comparison can end early.
const BLOCKS_MAX_DEFAULT: u32 = 24;
/// Default blocks of a sweep, which only selects finalists.
const SWEEP_BLOCKS_DEFAULT: u32 = 3;
const BLOCKS_MAX: u64 = 1_000;
const PILOT_MAX: u64 = 100;
const RUNS_MAX: u64 = 100_000;
/// Max lost requests of an event that `min-effect` accepts.
const REQUESTS_MAX: f64 = 1e12;

/// Systems, variants, and loads that are compared.
pub(crate) struct Compared<'a> {
    pub(crate) systems: &'a [System],
    pub(crate) variants: &'a [Variant],
    pub(crate) loads: &'a [StudyLoad],
}

impl Compared<'_> {
    /// Number of tests by which the statements of replayed logs are compared, under the load with the most. 0 without a replay.
    fn statement_tests(&self) -> usize {
        let replays = self.loads.iter().filter_map(|load| load.replay.as_ref());
        let fingerprints = replays.map(|replay| replay.fingerprints.len()).max().unwrap_or(0);
        fingerprints * self.variants.len().saturating_sub(1)
    }
}

/// Reads how variants are compared. Without the section, every variant is run once.
pub(crate) fn read(
    root: &Node,
    compared: &Compared<'_>,
    quick: Option<&Quick<'_>>,
    reading: &mut Reading<'_>,
) -> Compare {
    let node = root.get("compare");
    let spec = node.map(CompareSpec::from_node).unwrap_or_default();
    let section = Section { spec: &spec, compared, is_quick: quick.is_some() };
    let by = spec.by.as_ref().and_then(Spanned::get).cloned().unwrap_or(ComparedBy::of(Metric::usual()));
    // Value that is a word, such as `compare: no`.
    let is_word = node.is_some_and(|node| node.text().is_some());
    let find = given(&spec.find).unwrap_or(if is_word { Find::Failures } else { Find::Every });
    let is_alone = find != Find::Failures && compared.variants.len() == 2 || find == Find::Best;
    let usual = reading.within(&spec.blocks, 1, BLOCKS_MAX);
    let tests = if find == Find::Every { compared.statement_tests() } else { 0 };
    let default = match node {
        None => 1,
        Some(_) if is_word => 1,
        Some(_) if tests > 0 => stats::blocks_for_family(tests, judge::FAMILY_ERROR_RATE),
        Some(_) if is_alone => BLOCKS_MAX_DEFAULT,
        Some(_) => BLOCKS_DEFAULT,
    };
    let quick_blocks = quick.and_then(|quick| CompareSpec::from_node(quick.node).blocks);
    let other = reading.within(&quick_blocks, 1, BLOCKS_MAX);
    let asked = other.or(usual).map(|blocks| blocks as u32);
    let final_blocks = reading.within(&spec.final_blocks, 1, BLOCKS_MAX).map(|blocks| blocks as u32);
    let final_blocks =
        final_blocks.unwrap_or(BLOCKS_DEFAULT).min(other.map_or(u32::MAX, |blocks| blocks as u32));
    let sweep = section.sweep(find, asked);
    let mut compare = Compare {
        higher_is_better: given(&spec.is_higher_better).unwrap_or(by.higher_is_usually_better()),
        matters: section.min_effect(&by, reading),
        find,
        has_all_blocks: tests > 0,
        blocks: if sweep.is_some() { final_blocks } else { asked.unwrap_or(default) },
        sweep,
        pilot: 0,
        also: section.also(&by, reading),
        by,
        baseline: baseline::variant(&spec, compared, quick.is_some(), reading),
        stored: baseline::stored(&spec, find, quick.is_some(), reading),
        within_ns: given(&spec.within_ns),
        interleave: given(&spec.interleave).unwrap_or(Interleave::Runs),
        slice_ns: given(&spec.slice_ns).unwrap_or(SLICE_NS),
        pauses_idle: given(&spec.pauses_idle).unwrap_or(false),
        has_control: given(&spec.has_control).unwrap_or(false),
        accepts_unlike: given(&spec.accepts_unlike).unwrap_or(false),
    };
    section.pilot(&mut compare, reading);
    section.check_consistency(&compare, reading);
    check_run_count(root, compared, &compare, reading);
    compare
}

/// Checks that events support the metrics of the comparison. A quick run has no stricter rules than a full one.
pub(crate) fn check_events(
    root: &Node,
    compared: &Compared<'_>,
    events: &[StudyEvent],
    compare: &Compare,
    reading: &mut Reading<'_>,
) {
    let Some(spec) = root.get("compare").map(CompareSpec::from_node) else { return };
    Section { spec: &spec, compared, is_quick: false }.check_event_costs(events, compare, reading);
}

/// Chooses between slices and whole runs, checks a study for slices, and shortens it if it is quick.
pub(crate) fn resolve_interleave(root: &Node, mut study: Study, reading: &mut Reading<'_>) -> Option<Study> {
    let spec = root.get("compare").map(CompareSpec::from_node);
    if spec.as_ref().is_none_or(|spec| spec.interleave.is_none()) {
        study.choose_interleave(spec.as_ref().is_some_and(|spec| spec.pilot.is_some()));
    }
    let quick = root.get("quick").filter(|_| study.is_quick).map(CompareSpec::from_node);
    let has_quick_blocks = quick.is_some_and(|quick| quick.blocks.is_some());
    if spec.as_ref().is_some_and(|spec| spec.blocks.is_none()) && !has_quick_blocks {
        study.raise_blocks();
    }
    if let Some(spec) = &spec {
        check_slices(spec, &study, reading);
    }
    study.shorten_slices();
    Some(study)
}

/// Checks that slices are possible if the plan requests them, and that keys of slices are used only with slices.
fn check_slices(spec: &CompareSpec, study: &Study, reading: &mut Reading<'_>) {
    let [shortest, longest] = SLICE_RANGE_NS;
    if let Some(at) =
        place_of(&spec.slice_ns).filter(|_| !(shortest..=longest).contains(&study.compare.slice_ns))
    {
        let [shortest, longest] = SLICE_RANGE_NS.map(units::show_duration);
        reading.at(
            at.value,
            format!("a slice takes {shortest} to {longest}"),
            format!("write `slice: {shortest}`"),
        );
        return;
    }
    if study.compare.interleave == Interleave::Runs {
        for (at, key) in [
            (place_of(&spec.slice_ns), "slice"),
            (place_of(&spec.pauses_idle), "pause"),
            (place_of(&spec.has_control), "control"),
        ] {
            if let Some(at) = at {
                reading.at(
                    at.key,
                    format!("`{key}` is for slices"),
                    "add `interleave: slices`, or remove it",
                );
            }
        }
        return;
    }
    if let Some(at) = place_of(&spec.interleave).filter(|_| study.compare.interleave == Interleave::Slices)
        && let Some(NoSlices { because, help }) = study.no_slices()
    {
        reading.at(at.value, because, help);
    }
    if let Some(at) = place_of(&spec.pilot).filter(|_| study.compare.interleave == Interleave::Slices) {
        reading.at(
            at.key,
            "slices need no pilot: the first blocks count, and tell how long it takes",
            "remove it",
        );
    }
}

/// Given value without errors.
fn given<T: Copy>(value: &Option<Spanned<T>>) -> Option<T> {
    value.as_ref().and_then(Spanned::get).copied()
}

/// Place of a value.
fn place_of<T>(value: &Option<Spanned<T>>) -> Option<At> {
    value.as_ref().and_then(Spanned::at)
}

/// Reports a study with more runs than a store accepts.
fn check_run_count(root: &Node, compared: &Compared<'_>, compare: &Compare, reading: &mut Reading<'_>) {
    let variants = compared.variants.len();
    let runs = compared.loads.len() as u64 * compare.max_runs(variants) + compare.sweep_runs(variants);
    if runs > RUNS_MAX {
        let at =
            ["compare", "systems", "load"].iter().find_map(|key| root.entry(key)).map(|entry| entry.key_at);
        let what = format!("{runs} runs exceed the limit of {RUNS_MAX}");
        reading.at(at.unwrap_or(root.at), what, "vary less, or use fewer `blocks`");
    }
}

/// Section in the process of being read, for a full study or a quick one.
struct Section<'a> {
    spec: &'a CompareSpec,
    compared: &'a Compared<'a>,
    /// Whether the study is quick. Errors of the full study are not reported again.
    is_quick: bool,
}

impl Section<'_> {
    /// Sweep that selects the finalists. `None` if there is only one system.
    fn sweep(&self, find: Find, blocks: Option<u32>) -> Option<Sweep> {
        let systems: BTreeSet<usize> = self.compared.variants.iter().map(|variant| variant.system).collect();
        let systems = u32::try_from(systems.len()).unwrap_or(u32::MAX);
        let blocks = blocks.unwrap_or(SWEEP_BLOCKS_DEFAULT);
        (find == Find::BestOfEach && systems >= 2).then_some(Sweep { blocks, systems })
    }

    fn min_effect(&self, by: &ComparedBy, reading: &mut Reading<'_>) -> f64 {
        let usual = by.usual_min_effect();
        let (Some(asked), Some(at)) = (given(&self.spec.min_effect), place_of(&self.spec.min_effect)) else {
            return usual.size;
        };
        let name = by.name();
        let example = match (usual.scale, by.metric.kind) {
            (Scale::Ratio, _) => "a percentage such as 3%",
            (Scale::Difference, MetricKind::Count) => "a number of requests such as 5",
            (Scale::Difference, _) => "a duration such as 20ms",
        };
        let Some(size) = asked.size_for(by) else {
            let (what, help) = match (asked, usual.scale) {
                (AskedMinEffect::Requests(number), scale) => {
                    let unit = if scale == Scale::Ratio { "%" } else { "ms" };
                    (format!("\"{number}\" has no unit"), format!("write `min-effect: {number}{unit}`"))
                }
                (_, Scale::Ratio) => (format!("{name} is compared by ratio"), format!("write {example}")),
                (_, Scale::Difference) => {
                    (format!("{name} may be 0, so it is compared by difference"), format!("write {example}"))
                }
            };
            reading.at(at.value, what, help);
            return usual.size;
        };
        let limit = match usual.scale {
            Scale::Ratio => 1.0,
            Scale::Difference if by.metric.kind == MetricKind::Count => REQUESTS_MAX,
            Scale::Difference => f64::INFINITY,
        };
        if size <= 0.0 || size >= limit {
            let what = match usual.scale {
                Scale::Ratio => "the smallest relevant difference must be more than 0% and less than 100%",
                Scale::Difference => "the smallest relevant difference must be more than 0",
            };
            reading.at(at.value, what, format!("write {example}"));
        }
        size
    }

    /// Secondary metrics, each once.
    fn also(&self, by: &ComparedBy, reading: &mut Reading<'_>) -> Vec<ComparedBy> {
        let mut also: Vec<ComparedBy> = Vec::new();
        for (item, at) in self.requested_metrics() {
            if item == by || also.contains(item) {
                let what = format!("{} is already compared", item.name());
                reading.at(at.value, what, "remove one of the two");
            } else {
                also.push(item.clone());
            }
        }
        also
    }

    fn requested_metrics(&self) -> impl Iterator<Item = (&ComparedBy, At)> {
        let items = self.spec.also.as_ref().and_then(Spanned::get).into_iter().flatten();
        items.filter_map(|item| Some((item.get()?, item.at()?)))
    }

    /// Checks metrics that are costs of events. They need events, and cannot be compared by ratios.
    fn check_event_costs(&self, events: &[StudyEvent], compare: &Compare, reading: &mut Reading<'_>) {
        let first = self.spec.by.as_ref().and_then(|by| Some((by.get()?, by.at()?)));
        let names = || events.iter().map(|event| event.name.as_str());
        for (by, at) in first.into_iter().chain(self.requested_metrics()).filter(|(by, _)| by.is_of_events())
        {
            let name = by.metric.name;
            if events.is_empty() {
                let what = format!("{name} is what events cost, and the plan has no `events`");
                reading.at(at.value, what, "add `events`, or compare by another metric such as `errors`");
            } else if let Some(event) =
                by.event.as_deref().filter(|event| !names().any(|known| known == *event))
            {
                let what = format!("no event is named {event:?}");
                reading.findings.unknown(at.value, what, event, names(), "write one of");
            } else if matches!(compare.find, Find::Best | Find::BestOfEach) {
                let find = compare.find.name();
                let what = format!("`find: {find}` compares by ratios, and {name} may be 0");
                reading.at(
                    at.value,
                    what,
                    "leave out `find`; `baseline: VARIANT` compares all variants with one",
                );
            } else if compare.stored.is_some() {
                let what = format!("a stored baseline is compared by ratios, and {name} may be 0");
                let help = format!(
                    "name a variant of the plan as `baseline`, or write a gate such as \"{name}<={} of baseline\"",
                    if by.metric.kind == MetricKind::Count { "+5" } else { "+20ms" }
                );
                reading.at(at.value, what, help);
            }
        }
    }

    /// Reads `pilot`. The default is 0, because the blocks of the comparison also show how long it will take, and they count.
    fn pilot(&self, compare: &mut Compare, reading: &mut Reading<'_>) {
        let given = reading.within(&self.spec.pilot, 0, PILOT_MAX).map(|blocks| blocks as u32);
        let is_duel = compare.how(self.compared.variants.len()) == ComparisonMethod::Duel;
        if let Some(at) = place_of(&self.spec.pilot)
            && !self.is_quick
            && given.is_some_and(|blocks| blocks > 0)
            && !is_duel
        {
            let least = stats::min_blocks(compare.family());
            let what = format!("a pilot requires a comparison of two variants with {least} blocks or more");
            reading.at(at.key, what, "remove it");
        }
        // A quick study has no time for a pilot.
        compare.pilot = if is_duel && !self.is_quick { given.unwrap_or(0) } else { 0 };
    }

    /// Warns if no difference can be significant with this number of blocks. A single block is exempt, because it is clearly a survey, not
    /// a comparison.
    fn warn_of_few_blocks(&self, compare: &Compare, reading: &mut Reading<'_>) {
        let variants = self.compared.variants.len();
        let Some(at) = place_of(&self.spec.blocks).filter(|_| variants > 1 && compare.blocks > 1) else {
            return;
        };
        if compare.find != Find::Every {
            return;
        }
        // The error rate of the study is shared only between comparisons with a baseline.
        let rivals = if compare.baseline.is_some() { variants - 1 } else { 1 };
        let family = compare.family().saturating_mul(u32::try_from(rivals).unwrap_or(u32::MAX));
        let least = stats::min_blocks(family);
        if compare.blocks < least {
            let comparisons = match family {
                1 => "two variants".to_owned(),
                family => format!("{family} comparisons at once"),
            };
            let what = format!(
                "{} cannot give a verdict: {comparisons} need {least}",
                words::blocks(compare.blocks as usize)
            );
            reading.findings.warn_at(at.value, what, format!("write `blocks: {least}` or more"));
        }
    }

    /// Reports keys that contradict each other, and a time limit that is too short.
    fn check_consistency(&self, compare: &Compare, reading: &mut Reading<'_>) {
        if self.is_quick {
            return;
        }
        let variants = self.compared.variants.len();
        if let Some(find) = place_of(&self.spec.find).filter(|_| compare.find == Find::Best) {
            if variants < 2 {
                reading.at(
                    find.key,
                    "`find: best` requires two variants or more, and there is one",
                    "remove it",
                );
            } else if compare.blocks < BEST_BLOCKS_MIN {
                let what = format!("`find: best` requires {BEST_BLOCKS_MIN} blocks or more");
                let at = place_of(&self.spec.blocks).map_or(find.key, |blocks| blocks.value);
                reading.at(
                    at,
                    what,
                    format!("write `blocks: {BEST_BLOCKS_MIN}` or more, or remove `blocks`"),
                );
            }
        }
        self.check_best_of_each(compare, reading);
        self.warn_of_few_blocks(compare, reading);
        // A sweep has only the first load.
        let loads = if compare.sweep.is_some() { 1 } else { self.compared.loads.len() };
        let mut loads_ns = self.compared.loads.iter().take(loads).map(|load| load.run_ns);
        let loads_ns = loads_ns.try_fold(0u64, |sum, ns| Some(sum.saturating_add(ns?)));
        let block_ns = loads_ns.map(|loads_ns| loads_ns.saturating_mul(variants as u64));
        if let (Some(within), Some(within_ns), Some(block_ns)) =
            (place_of(&self.spec.within_ns), compare.within_ns, block_ns)
            && within_ns < block_ns
        {
            let what = format!(
                "a single block takes {} of load, which exceeds this limit",
                units::show_duration(block_ns)
            );
            reading.at(within.value, what, "raise the limit, shorten the load, or vary less");
        }
    }

    /// Checks what `find: best of each` needs, and reports keys that have no use with it.
    fn check_best_of_each(&self, compare: &Compare, reading: &mut Reading<'_>) {
        if compare.find != Find::BestOfEach {
            if let Some(at) = place_of(&self.spec.final_blocks) {
                let help = "add `find: best of each`, or remove it";
                reading.at(at.key, "`final` is for `find: best of each`", help);
            }
            return;
        }
        if let Some(find) = place_of(&self.spec.find).filter(|_| compare.sweep.is_none()) {
            let what = "`find: best of each` requires two systems or more, and there is one";
            reading.at(find.key, what, "write `find: best` for the best of its variants");
        }
        let is_variant =
            |asked: &Spanned<AskedBaseline>| matches!(asked.get(), Some(AskedBaseline::Variant(_)));
        if let Some(at) = self.spec.baseline.as_ref().filter(|asked| is_variant(asked)).and_then(Spanned::at)
        {
            let what = "`find: best of each` compares the best variants with each other, and no variant with a baseline";
            reading.at(at.key, what, "remove it, or `find`");
        }
    }
}

/// Reads the cores that the systems and the generator are pinned to.
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
                let what = format!("core {core} is assigned to the system already");
                reading.at(item.at, what, "assign different cores to system and generator");
            } else if cores.contains(&core) {
                reading.at(item.at, format!("core {core} is listed twice"), "remove one of the two");
            }
            cores.push(core);
        }
        cores
    };
    let system = cores("system", &[]);
    let generator = cores("generator", &system);
    StudyPin::Cores { system, generator }
}
