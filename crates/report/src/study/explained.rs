//! Explains as text why one side is slower: in a pair of a study, or between runs from different times.

use std::collections::BTreeMap;

use evidence::{BaselineRow, FrameKind};
use judge::Eligibility;
use judge::cpu_profile::Profile;
use judge::explanation::{Explanation, Part, PartOfGrowth, Sides, TimeByPart, explain};
use judge::results::Verdict;

use super::{LoadView, Pair, StudyView};
use crate::text::sanitize;
use crate::units::{Share, duration, percent_with};
use crate::view::View;

/// Beginning of the sentence about a pair that no reading explains.
pub(super) const NO_READING_EXPLAINS: &str = "no stored reading explains";
/// Names of the two sides of a gate.
const GATE_SIDES: [&str; 2] = ["the baseline", "it"];
/// Smallest share of the growth of the response time that is mentioned as not seen.
const REST_MIN_SHARE: f64 = 0.01;
/// Maximum number of characters of a name.
const NAME_CHARACTERS_MAX: usize = 60;

/// Explanation of the verdict on a pair. The outer `None` means that there is nothing to explain, or that there are no readings. The inner
/// `None` means that no reading explains it.
pub(crate) fn of_pair(view: &StudyView<'_>, load: &LoadView<'_>, pair: &Pair) -> Option<Option<Explanation>> {
    let differs = matches!(pair.comparison.verdict, Verdict::Differs { below_matters: false });
    if !differs || pair.has_more_errors || pair.by.distorted().is_none() {
        return None;
    }
    let (ahead, behind) = pair.ahead();
    in_blocks(&view.runs, load, [ahead, behind])
}

/// Explanation why the second of two rows is slower.
fn in_blocks(views: &[View<'_>], load: &LoadView<'_>, rows: [usize; 2]) -> Option<Option<Explanation>> {
    let by_block = |row: usize| -> BTreeMap<u32, &View<'_>> {
        let runs = load.rows[row].eligibility(Eligibility::Valid);
        runs.filter_map(|run| Some((views[run].place()?.block, &views[run]))).collect()
    };
    let [faster, slower] = rows.map(by_block);
    let both = faster.iter().filter_map(|(block, faster)| Some([spent(faster)?, spent(slower.get(block)?)?]));
    let pairs: Vec<[TimeByPart; 2]> = both.collect();
    let profiles = profile(faster.into_values()).zip(profile(slower.into_values()));
    explain(Sides::Blocks(&pairs), profiles.as_ref().map(|(faster, slower)| [faster, slower]))
}

fn spent(of: &View<'_>) -> Option<TimeByPart> {
    TimeByPart::of(&of.measured, of.signals.as_ref(), of.whole.lateness.all.mean_ns)
}

fn profile<'v, 'a: 'v>(views: impl Iterator<Item = &'v View<'a>>) -> Option<Profile> {
    Profile::of(views.map(|of| (of.run, &of.measured)))
}

/// Explanation in a sentence without its full stop. `name` returns names of rows; `text` sanitizes all other names.
pub(crate) fn sentence(
    view: &StudyView<'_>,
    load: &LoadView<'_>,
    pair: &Pair,
    name: super::Name<'_>,
    text: &dyn Fn(&str) -> String,
) -> Option<String> {
    let (_, behind) = pair.ahead();
    let slower = name(load, behind);
    Some(match of_pair(view, load, pair)? {
        Some(explanation) => format!("{slower} is slower: {}", words(&explanation, view.noun().one, text)),
        None => format!("{NO_READING_EXPLAINS} why {slower} is slower"),
    })
}

/// Explanation why the second of two sides is slower.
#[derive(Clone, Debug)]
pub(crate) struct SlownessExplanation {
    /// Names of the faster and the slower side, sanitized.
    names: [String; 2],
    /// Unit that was counted: `request`.
    one: &'static str,
    found: Found,
}

#[derive(Clone, Debug)]
enum Found {
    Explained(Box<Explanation>),
    /// The readings do not explain it.
    Nothing,
    /// The side with this index has no readings.
    NotRead(usize),
}

impl SlownessExplanation {
    /// Explains why the second side is slower if both were measured at different times. `None` if there is nothing to explain.
    pub(crate) fn apart(names: [&str; 2], sides: [&[&View<'_>]; 2]) -> Option<Self> {
        let one = sides[1].first()?.noun().one;
        let spent = sides.map(|views| views.iter().copied().filter_map(spent).collect::<Vec<TimeByPart>>());
        let profiles = profile(sides[0].iter().copied()).zip(profile(sides[1].iter().copied()));
        let profiles = profiles.as_ref().map(|(faster, slower)| [faster, slower]);
        Self::of([&spent[0], &spent[1]], profiles, names, one)
    }

    /// Explains runs that are slower than those of a stored baseline.
    pub(crate) fn against_stored<'v, 'a: 'v>(
        baseline: &BaselineRow,
        views: impl Iterator<Item = &'v View<'a>>,
        one: &'static str,
    ) -> Option<Self> {
        let baseline: Vec<TimeByPart> = baseline.spent.iter().map(TimeByPart::from_stored).collect();
        let candidate: Vec<TimeByPart> = views.filter_map(spent).collect();
        Self::of([&baseline, &candidate], None, GATE_SIDES, one)
    }

    /// Explains over their blocks why the second of two rows of a study is slower.
    pub(super) fn in_blocks(
        views: &[View<'_>],
        load: &LoadView<'_>,
        rows: [usize; 2],
        one: &'static str,
    ) -> Option<Self> {
        let found = Found::of(in_blocks(views, load, rows)?);
        Some(Self { names: GATE_SIDES.map(str::to_owned), one, found })
    }

    /// Explains two sides with these names.
    pub(crate) fn apart_of(names: [&str; 2], sides: [&[TimeByPart]; 2], one: &'static str) -> Option<Self> {
        Self::of(sides, None, names, one)
    }

    fn of(
        sides: [&[TimeByPart]; 2],
        profiles: Option<[&Profile; 2]>,
        names: [&str; 2],
        one: &'static str,
    ) -> Option<Self> {
        let found = match sides.iter().position(|side| side.is_empty()) {
            Some(side) => Found::NotRead(side),
            None => Found::of(explain(Sides::Apart(sides), profiles)?),
        };
        Some(Self { names: names.map(|name| sanitize(name, NAME_CHARACTERS_MAX)), one, found })
    }

    /// Explanation in a sentence without its full stop. Not escaped.
    pub(crate) fn sentence(&self) -> String {
        let [_, slower] = &self.names;
        let text = |name: &str| sanitize(name, NAME_CHARACTERS_MAX);
        match &self.found {
            Found::Explained(of) => format!("{slower} is slower: {}", words(of, self.one, &text)),
            Found::Nothing => format!("{NO_READING_EXPLAINS} why {slower} is slower"),
            Found::NotRead(side) => {
                let unread = &self.names[*side];
                format!("why {slower} is slower is not known: no reading of the system is kept of {unread}")
            }
        }
    }

    /// JSON object. Null if no reading explains the difference.
    pub(crate) fn object(&self) -> serde_json::Value {
        match &self.found {
            Found::Explained(of) => object(of),
            Found::Nothing | Found::NotRead(_) => serde_json::Value::Null,
        }
    }
}

impl Found {
    fn of(explanation: Option<Explanation>) -> Self {
        explanation.map_or(Self::Nothing, |of| Self::Explained(Box::new(of)))
    }
}

fn words(of: &Explanation, one: &str, text: &dyn Fn(&str) -> String) -> String {
    let time = |us: f64| duration(us.abs() * 1e3);
    let signed = |us: f64| format!("{}{}", if us < 0.0 { "−" } else { "+" }, time(us));
    let [from, to] = of.us_per_request.map(time);
    let runs = match (of.is_paired, of.runs) {
        (true, [blocks, _]) => judge::words::blocks(blocks),
        (false, [1, 1]) => "1 run each".to_owned(),
        (false, [faster, 1]) => format!("{faster} and 1 run"),
        (false, [faster, slower]) => format!("{faster} and {slower} runs"),
    };
    let certainty = match of.interval_us {
        Some(ends) => format!("95 % interval {} to {}, {runs}", signed(ends[0]), signed(ends[1])),
        None => format!("{runs}, no confidence interval"),
    };
    let interval = format!("{from} → {to}; {certainty}");
    let others = others(of, text);
    let rung = of.part.rung().words();
    if of.part == Part::Cpu {
        let growth = of.more_us / of.us_per_request[0];
        let growth = percent_with(growth, 1);
        return format!("CPU per {one} +{growth} ({interval}){}, {rung}{others}", space(of, text));
    }
    let what = match &of.part {
        Part::Cpu | Part::CpuQueue | Part::Runnable => "its threads waited for a core".to_owned(),
        Part::Database(wait) => format!("the database waited ({})", text(wait)),
        Part::Dependency => match &of.dependency {
            Some(address) => format!("it waited for replies from {}", text(address)),
            None => "it waited for replies from a dependency".to_owned(),
        },
        Part::Disk => "its threads slept for a disk".to_owned(),
        Part::Pipe => "its threads were blocked in writes to a pipe".to_owned(),
        Part::Connection => "requests waited for a free connection".to_owned(),
    };
    let (share, more) = (percent_with(of.share, 0), signed(of.more_us));
    format!(
        "{what}, {more} per {one} ({interval}), {share} of the growth of the response time, {rung}{others}"
    )
}

/// Parts after the first, and the rest that was not seen, so that all parts add up to the growth of the response time.
fn others(of: &Explanation, text: &dyn Fn(&str) -> String) -> String {
    let whole_us = of.response_more_us;
    let amount = |us: f64| {
        let share = Share::of_measured(us, whole_us).map_or(0.0, Share::get);
        format!("+{} ({})", duration(us * 1e3), percent_with(share, 0))
    };
    let part = |part: &PartOfGrowth| {
        let name = match &part.part {
            Part::Database(wait) => format!("waits of the database ({})", text(wait)),
            Part::Connection => "waits for a free connection".to_owned(),
            Part::Disk => "sleep for a disk".to_owned(),
            Part::Pipe => "writes to a pipe".to_owned(),
            Part::Dependency => "waits for replies".to_owned(),
            Part::Cpu => "CPU time".to_owned(),
            Part::Runnable => "threads without a core".to_owned(),
            Part::CpuQueue => "queues for CPU time".to_owned(),
        };
        format!("{name} {}, {}", amount(part.us), part.part.rung().words())
    };
    let parts: Vec<String> = of.parts.iter().skip(1).map(part).collect();
    let unseen =
        (of.unseen_us >= REST_MIN_SHARE * whole_us).then(|| format!("not seen {}", amount(of.unseen_us)));
    let all: Vec<String> = parts.into_iter().chain(unseen).collect();
    let whole = format!("of +{} in all", duration(whole_us * 1e3));
    if all.is_empty() { String::new() } else { format!("; {whole}: {}", all.join("; ")) }
}

/// Formats where the time was spent: `, all of it in user space of worker`.
fn space(of: &Explanation, text: &dyn Fn(&str) -> String) -> String {
    let Some((process, kind, share)) = &of.space else { return String::new() };
    let much = if Explanation::is_all(*share) { "all" } else { "most" };
    let space = if *kind == FrameKind::Kernel { "the kernel" } else { "user space" };
    match process {
        Some(process) => format!(", {much} of it in {space} of {}", text(process)),
        None => format!(", {much} of it in {space}"),
    }
}

/// JSON object of an explanation.
pub(crate) fn object(of: &Explanation) -> serde_json::Value {
    let (process, space, share_of_space) = match &of.space {
        Some((process, kind, share)) => (process.as_deref(), Some(*kind), Some(*share)),
        None => (None, None, None),
    };
    let wait = if let Part::Database(wait) = &of.part { Some(wait) } else { None };
    let parts: Vec<serde_json::Value> = of.parts.iter().map(part_object).collect();
    serde_json::json!({
        "part": of.part.code(), "rung": of.part.rung().name(), "wait": wait, "dependency": of.dependency, "process": process, "space": space,
        "share_of_space": share_of_space, "us_per_request": of.us_per_request, "more_us": of.more_us,
        "interval_us": of.interval_us, "blocks": of.is_paired.then_some(of.runs[0]), "runs": of.runs, "share": of.share,
        "response_more_us": of.response_more_us, "parts": parts, "unseen_us": of.unseen_us
    })
}

fn part_object(of: &PartOfGrowth) -> serde_json::Value {
    let wait = if let Part::Database(wait) = &of.part { Some(wait) } else { None };
    serde_json::json!({ "part": of.part.code(), "rung": of.part.rung().name(), "wait": wait, "more_us": of.us })
}
