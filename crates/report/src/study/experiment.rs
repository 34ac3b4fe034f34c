//! Results of an experiment: its interventions, and their effects.

use evidence::StudyPlace;
use judge::diagnosis::{EXPERIMENT_BLOCKS, TriedIntervention};
use judge::results::{Effect, Finding, Undecided};
use judge::{Bottleneck, Diagnosis, Ladder};

use super::StudyView;
use crate::bottleneck;
use crate::item::{Escape, Fact, Item};
use crate::ratio;
use crate::table::{Cell, Table};
use crate::text::shortened;
use crate::units::{decimal, percent_of, percent_with, rate};

/// Maximum width of an intervention's name in columns.
const NAME_CHARACTERS_MAX: usize = 40;

/// Finding in one word, for programs and people.
pub(crate) fn finding(effect: &Effect) -> &'static str {
    match effect.finding {
        Finding::Confirmed => "confirmed",
        Finding::Contributing => "contributing",
        Finding::Refuted => "refuted",
        Finding::Undecided(_) => "undecided",
    }
}

/// Reason why there is no finding. `None` if there is one.
pub(crate) fn reason(effect: &Effect) -> Option<&'static str> {
    let Finding::Undecided(why) = effect.finding else { return None };
    Some(match why {
        Undecided::TooFewBlocks => "too few blocks",
        Undecided::NoRatio => "nothing was answered in a run",
        Undecided::Noise => "two runs without any change differ by more than half of the effect",
        Undecided::Wide => "the interval is too wide",
    })
}

/// Short form of [`reason`], for a column of a table.
fn short_reason(why: Undecided) -> &'static str {
    match why {
        Undecided::TooFewBlocks => "few blocks",
        Undecided::NoRatio => "no answers",
        Undecided::Noise => "noise",
        Undecided::Wide => "wide interval",
    }
}

/// Items about the experiment of a study. Empty if it has none.
pub(super) fn items(view: &StudyView<'_>, escape: Escape) -> Vec<Item> {
    let Some(diagnosis) = &view.diagnosis else { return Vec::new() };
    let name = escape(&shortened(&diagnosis.setting.name(), NAME_CHARACTERS_MAX));
    let under = match view.loads.len() {
        0 | 1 => String::new(),
        _ => format!(" under {}", escape(&shortened(&diagnosis.load, NAME_CHARACTERS_MAX))),
    };
    let head = format!("Experiment on {name}{under}: one change at a time, throughput ÷ that of the control");
    vec![Item::Head(head), Item::Table(table(diagnosis, escape)), Item::Facts(facts(diagnosis, escape))]
}

pub(crate) fn table(diagnosis: &Diagnosis, escape: Escape) -> Table {
    let tried = || diagnosis.tried.iter();
    let named = |tried: &TriedIntervention| escape(&shortened(&tried.changed.name, NAME_CHARACTERS_MAX));
    let mut table = Table::of_names("change", std::iter::once("none".to_owned()).chain(tried().map(named)));
    let none = diagnosis.controls.as_ref();
    let of_none = Cell::figure(none.map(|controls| controls.estimate), |figure| {
        ratio::with_interval(figure, none.and_then(|controls| controls.interval))
    });
    let of_tried = |tried: &TriedIntervention| {
        Cell::figure(tried.effect.ratio, |figure| ratio::with_interval(figure, tried.effect.interval))
    };
    table.column("throughput ÷", "95 %", std::iter::once(of_none).chain(tried().map(of_tried)));
    let predicted =
        |tried: &TriedIntervention| Cell::figure(Some(tried.changed.factor), |factor| decimal(factor, 2));
    table.column("if it limits", "", std::iter::once(dash()).chain(tried().map(predicted)));
    let elasticity =
        |tried: &TriedIntervention| Cell::figure(tried.effect.elasticity, |figure| decimal(figure, 2));
    table.column("elasticity", "", std::iter::once(dash()).chain(tried().map(elasticity)));
    let blocks = none.map_or(0, |controls| controls.blocks);
    let counts = std::iter::once(blocks).chain(tried().map(|tried| tried.effect.blocks));
    table.column("blocks", "", counts.map(|blocks| Cell::count(blocks as u64)));
    let verdict = |tried: &TriedIntervention| match tried.effect.finding {
        Finding::Undecided(why) => format!("undecided: {}", short_reason(why)),
        _ => finding(&tried.effect).to_owned(),
    };
    table.words("finding", std::iter::once(String::new()).chain(tried().map(verdict)));
    table
}

fn dash() -> Cell {
    Cell::figure(None, |_| String::new())
}

pub(crate) fn facts(diagnosis: &Diagnosis, escape: Escape) -> Vec<Fact> {
    let mut facts = vec![Fact::new("conclusion", escape(&diagnosis.conclusion().sentence))];
    if let Some(spread) = diagnosis.spread {
        let words =
            format!("{} between two runs without any change (standard deviation)", percent_of(spread));
        facts.push(Fact::new("noise", words));
    }
    if let Some(runtimes) = &diagnosis.runtimes {
        facts.extend(runtimes.said.iter().map(|words| Fact::new("runtime", escape(words))));
        facts.extend(runtimes.cost().map(|words| Fact::new("instruments", words)));
    }
    facts.extend(diagnosis.scaling().map(|words| Fact::new("scaling", escape(&words))));
    facts.extend(diagnosis.ladder.iter().flat_map(ladder_facts));
    if let Some(next) = &diagnosis.next_limit {
        let because = next.causes.first().map(|first| {
            format!(
                "with {}: {}; {}",
                next.with,
                bottleneck::likely(first),
                bottleneck::evidence_and_advice(first)
            )
        });
        facts.extend(because.map(|because| Fact::new("next limit", escape(&because))));
    }
    let left = diagnosis.tried.iter().filter(|tried| tried.planned < EXPERIMENT_BLOCKS as usize);
    let left: Vec<String> = left
        .map(|tried| {
            format!("{} ({} of {EXPERIMENT_BLOCKS} blocks)", escape(&tried.changed.name), tried.planned)
        })
        .collect();
    let not_tested = diagnosis.left_out.iter().map(|why| Fact::new("not tested", escape(why)));
    facts.extend(not_tested);
    if !left.is_empty() {
        facts.push(Fact::new("left", format!("{}; use a longer --why-within", left.join(", "))));
    }
    facts
}

/// Throughput by number of users, and the scalability law if it fits.
fn ladder_facts(ladder: &Ladder) -> Vec<Fact> {
    let steps = ladder.rungs.iter().map(|rung| format!("{}: {}", rung.users, rate(rung.per_s)));
    let steps = Fact::new("by users", steps.collect::<Vec<_>>().join(", "));
    let law = ladder.law.as_ref().map(|law| {
        let most = ladder.rungs.last().map_or(0, |rung| rung.users);
        let peak = match law.peak.filter(|_| !law.is_extrapolated) {
            Some(peak) => format!("highest with {} users", decimal(peak, 0)),
            None => format!("no peak up to {most} users"),
        };
        let words = format!(
            "Universal Scalability Law: σ {} (share of the work that one request at a time can do), κ {} (what each pair of users costs); \
             {peak}",
            percent_with(law.sigma, 2),
            percent_with(law.kappa, 3),
        );
        Fact::new("law", words)
    });
    std::iter::once(steps).chain(law).collect()
}

/// Causes of a row, revised by an experiment if it was on that row.
pub(crate) fn judged(
    diagnosis: Option<&Diagnosis>,
    place: &StudyPlace,
    found: Vec<Bottleneck>,
) -> Vec<Bottleneck> {
    match diagnosis.filter(|of| of.load == place.load && of.setting.is_of(place)) {
        Some(diagnosis) => diagnosis.judged(found),
        None => found,
    }
}
