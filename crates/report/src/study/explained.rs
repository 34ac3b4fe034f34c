//! Why the slower one of a pair is slower, in words.

use std::collections::BTreeMap;

use judge::Eligibility;
use judge::cpu_profile::Profile;
use judge::explanation::{Explanation, Part, Spent, explain};
use stats::Verdict;
use store::FrameKind;

use super::{LoadView, Pair, StudyView};
use crate::units::{duration, percent_with};
use crate::view::View;

/// What the sentence about a pair begins with that nothing explains.
pub(super) const NOTHING: &str = "no stored reading explains";

/// What explains a verdict on a pair; the outer `None` where there is none to explain, or nothing to explain it by.
pub(crate) fn of_pair(view: &StudyView<'_>, load: &LoadView<'_>, pair: &Pair) -> Option<Option<Explanation>> {
    let differs = matches!(pair.comparison.verdict, Verdict::Differs { below_matters: false });
    if !differs || pair.has_more_errors || pair.by.distorted().is_none() {
        return None;
    }
    let (ahead, behind) = pair.ahead();
    let by_block = |row: usize| -> BTreeMap<u32, &View<'_>> {
        let runs = load.rows[row].eligibility(Eligibility::Valid);
        runs.filter_map(|run| Some((view.runs[run].place()?.block, &view.runs[run]))).collect()
    };
    let [faster, slower] = [ahead, behind].map(by_block);
    let spent = |of: &View<'_>| Spent::of(&of.measured, of.signals.as_ref(), of.whole.lateness.all.mean_ns);
    let both = faster.iter().filter_map(|(block, faster)| Some([spent(faster)?, spent(slower.get(block)?)?]));
    let pairs: Vec<[Spent; 2]> = both.collect();
    let profile =
        |runs: &BTreeMap<u32, &View<'_>>| Profile::of(runs.values().map(|of| (of.run, &of.measured)));
    let profiles = profile(&faster).zip(profile(&slower));
    explain(&pairs, profiles.as_ref().map(|(faster, slower)| [faster, slower]))
}

/// The same in a sentence without its full stop. `name` writes names of rows; `text` makes any other name harmless.
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
        Some(explanation) => format!("{slower} is slower: {}", words(&explanation, view, text)),
        None => format!("{NOTHING} why {slower} is slower"),
    })
}

fn words(of: &Explanation, view: &StudyView<'_>, text: &dyn Fn(&str) -> String) -> String {
    let time = |us: f64| duration(us.abs() * 1e3);
    let signed = |us: f64| format!("{}{}", if us < 0.0 { "−" } else { "+" }, time(us));
    let one = view.noun().one;
    let [from, to] = of.us_per_request.map(time);
    let [low, high] = of.interval_us.map(signed);
    let blocks = super::sentences::blocks(of.blocks);
    let interval = format!("{from} → {to}; 95 % interval {low} to {high}, {blocks}");
    if of.part == Part::Cpu {
        let share = percent_with(of.more_us / of.us_per_request[0], 1);
        return format!("CPU per {one} +{share} ({interval}){}", space(of, text));
    }
    let what = match &of.part {
        Part::Cpu | Part::Runnable => "its threads waited for a core".to_owned(),
        Part::Database(wait) => format!("the database waited ({})", text(wait)),
        Part::Dependency => match &of.dependency {
            Some(address) => format!("it waited for replies from {}", text(address)),
            None => "it waited for replies from a dependency".to_owned(),
        },
        Part::Disk => "its threads slept for a disk".to_owned(),
        Part::Lock => "its threads waited for one lock".to_owned(),
        Part::Connection => "requests waited for a free connection".to_owned(),
    };
    let share = percent_with(of.share.min(1.0), 0);
    let more = signed(of.more_us);
    format!("{what}, {more} per {one} ({interval}), {share} of the growth of the response time")
}

/// `, all of it in user space of worker`
fn space(of: &Explanation, text: &dyn Fn(&str) -> String) -> String {
    let Some((process, kind, share)) = &of.space else { return String::new() };
    let much = if Explanation::is_all(*share) { "all" } else { "most" };
    let space = if *kind == FrameKind::Kernel { "the kernel" } else { "user space" };
    match process {
        Some(process) => format!(", {much} of it in {space}, in {}", text(process)),
        None => format!(", {much} of it in {space}"),
    }
}

/// For programs.
pub(crate) fn object(of: &Explanation) -> serde_json::Value {
    let (process, space, share_of_space) = match &of.space {
        Some((process, kind, share)) => (process.as_deref(), Some(*kind), Some(*share)),
        None => (None, None, None),
    };
    let wait = if let Part::Database(wait) = &of.part { Some(wait) } else { None };
    serde_json::json!({
        "part": of.part.code(), "wait": wait, "dependency": of.dependency, "process": process, "space": space,
        "share_of_space": share_of_space, "us_per_request": of.us_per_request, "more_us": of.more_us,
        "interval_us": of.interval_us, "blocks": of.blocks, "share": of.share
    })
}
