//! Makes the document of one or more runs.

use evidence::{Cost, Decision, EvidenceError, Level, Recovery};
use judge::Eligibility;
use record::Phase;

use super::document::{
    Answer, Document, DocumentKind, Doubt, Event, Fact, HappenedCost, HappenedEvent, Knob, Load, Metric,
    Notice, Row, Run, SCHEMA, Spread, Tone, Validity,
};
use super::table::{self, RowSubject};
use super::{bottlenecks, cpu_profiles, errors, event_costs, facts, figures, spectrum, statement_times};
use crate::answer::Certainty;
use crate::apart;
use crate::event_causes;
use crate::metric;
use crate::noun::Noun;
use crate::text::sanitize;
use crate::view::View;
use crate::{bottleneck, breaches, comparison, outage, statements, steadiness, times, words};

/// Maximum numbers of characters of a text from outside, and of a name.
const TEXT_CHARACTERS_MAX: usize = 300;
const NAME_CHARACTERS_MAX: usize = 120;
/// Maximum number of marks in charts over time.
const EVENTS_MAX: usize = 24;

/// The document of runs, without time series.
pub(super) fn document(views: &[View<'_>]) -> Result<Document, EvidenceError> {
    let metric = metric::ComparedBy::named("throughput");
    let names = match views {
        [view] => vec![sanitize(&view.name(), NAME_CHARACTERS_MAX)],
        _ => comparison::names(views),
    };
    let rows = views.iter().zip(&names).enumerate();
    let rows = rows.map(|(place, (view, name))| of_row(view, name.clone(), place, metric.as_ref()));
    let rows = rows.collect::<Result<_, _>>()?;
    let runs =
        views.iter().enumerate().map(|(row, view)| Run { row, ..run(view, metric.as_ref()) }).collect();
    let first = views.first();
    let ids: Vec<&str> = views.iter().map(|view| view.run.id.as_str()).collect();
    Ok(Document {
        schema: SCHEMA,
        kind: if views.len() == 1 { DocumentKind::Run } else { DocumentKind::Runs },
        title: match views {
            [view] => text(&view.run.new.title),
            _ => format!("{} runs side by side", views.len()),
        },
        question: None,
        id: ids.first().copied().unwrap_or_default().to_owned(),
        begun: first.map_or_else(String::new, |view| facts::instant(view.started_at())),
        tenbin_version: first.map_or_else(String::new, |view| text(&view.run.new.tenbin_version)),
        counted: Noun::of_all(views),
        notices: notices(views, &names),
        validity: validity(views, &names),
        facts: match views {
            [view] => facts::of_run(view),
            _ => views
                .iter()
                .zip(&names)
                .map(|(view, name)| Fact::new(name, text(&words::load(view))))
                .collect(),
        },
        loads: vec![load(views, rows)],
        capacity: None,
        runs,
        charts: Vec::new(),
        commands: vec![
            Fact::new("see it in a terminal", format!("tenbin report {}", ids.join(" "))),
            Fact::new(
                "make this page again",
                format!("tenbin report {} --format html -o report.html", ids.join(" ")),
            ),
        ],
        plan: None,
    })
}

/// Builds one run without time series.
pub(super) fn run(view: &View<'_>, metric: Option<&metric::ComparedBy>) -> Run {
    Run {
        id: view.run.id.to_string(),
        load: 0,
        row: 0,
        block: None,
        standing: match view.eligibility_by(metric) {
            Eligibility::Valid => "valid",
            Eligibility::Invalid => "invalid",
            Eligibility::Failed => "failed",
            Eligibility::CutShort => "cut_short",
        },
        verdict: view.verdict.name(),
        validity: view.validity.verdict.name(),
        begun: facts::instant(view.started_at()),
        warm_up_s: view.run.new.warm_up_ns as f64 / 1e9,
        duration_s: view.duration_s().filter(|duration_s| duration_s.is_finite()),
        figures: figures::of_run(view, metric),
        fairness: figures::fairness(view),
        series: None,
        events: events(view),
        happened: happened(view),
    }
}

/// Events of a run, without the load around them.
fn happened(view: &View<'_>) -> Vec<HappenedEvent> {
    let of = |of: &crate::event_costs::CostedEvent<'_>| HappenedEvent {
        name: sanitize(&of.name, NAME_CHARACTERS_MAX),
        action: text(&of.event.action),
        outcome: of.event.outcome().name(),
        begun_s: of.at_s(),
        ended_s: of.event.ended_ns.map(|ns| of.seconds(ns)),
        cost: of.figures().map(|cost| happened_cost(cost, of.seconds(cost.to_ns))),
        why: of.why_unknown().map(text),
        causes: event_causes::of_occurrence(view, of).map(|found| event_costs::causes(0, &found)),
        course: None,
    };
    crate::event_costs::of_run(view).iter().map(of).collect()
}

fn happened_cost(cost: &Cost, to_s: f64) -> HappenedCost {
    let (recovered, recovery_ns) = match cost.recovery {
        Recovery::After(ns) => ("yes", Some(ns)),
        Recovery::NotWithin(_) => ("no", None),
        Recovery::Unconfirmed(ns) => ("unconfirmed", Some(ns)),
    };
    HappenedCost {
        to_s,
        lost: cost.lost.total(),
        outage_ms: cost.outage_ns as f64 / 1e6,
        worst_response_ms: cost.worst_response_ns.map(|ns| ns as f64 / 1e6),
        excess_wait_s: cost.excess_wait_ns / 1e9,
        recovered,
        recovery_ms: recovery_ns.map(|ns| ns as f64 / 1e6),
        words: crate::event_costs::words(cost),
    }
}

fn of_row(
    view: &View<'_>,
    name: String,
    place: usize,
    metric: Option<&metric::ComparedBy>,
) -> Result<Row, EvidenceError> {
    let figures = figures::of_run(view, metric);
    let metric = figures.as_ref().and_then(|figures| figures.metric);
    let of_place = view.place();
    let knobs = of_place.map_or(&[][..], |place| &place.knobs);
    let short = |text: &str| sanitize(text, NAME_CHARACTERS_MAX);
    Ok(Row {
        system: of_place.map_or_else(|| name.clone(), |place| short(&place.system)),
        variant: of_place.map_or_else(String::new, |place| short(&place.variant)),
        name,
        knobs: knobs.iter().map(|(name, value)| Knob { name: short(name), value: short(value) }).collect(),
        runs: vec![place],
        median_run: Some(place),
        shown: vec![place],
        is_best: false,
        is_winner: false,
        is_valid: !view.is_invalid(),
        figures,
        fairness: figures::row_fairness(
            std::iter::once(view).filter(|view| view.eligibility() == Eligibility::Valid),
        ),
        metric: metric.map(|median| Spread { n: 1, median, min: median, max: median }),
        compared: None,
        spectrum: spectrum::of(&view.run.whole(Phase::Measured)?),
    })
}

fn load(views: &[View<'_>], rows: Vec<Row>) -> Load {
    let about: Vec<RowSubject> =
        (0..views.len()).map(|row| RowSubject { row: Some(row), is_winner: false }).collect();
    let (table, steps, statements) = match views {
        [view] => {
            let plain = |table| table::of(table, &[]);
            let (steps, statements) =
                (times::steps(view, str::to_owned), statements::of_run(view, str::to_owned));
            (plain(times::table(&view.whole)), steps.map(plain), statements.map(plain))
        }
        _ => (
            table::of(comparison::summary(views, str::to_owned), &about),
            Some(table::of(comparison::service(views, str::to_owned), &about)),
            None,
        ),
    };
    let words = load_in_words(views);
    Load {
        name: words.clone(),
        words,
        answer: answer(views),
        metric: Metric {
            name: "throughput".to_owned(),
            words: "throughput".to_owned(),
            unit: "per_s",
            higher_is_better: true,
            scale: apart::noun(judge::results::Scale::Ratio),
            matters: 0.0,
            matters_text: String::new(),
        },
        rows,
        table,
        legend: comparison::warning(views).into_iter().collect(),
        steps,
        statements,
        baseline: None,
        pairs: Vec::new(),
        costs: None,
        measures: Vec::new(),
        caveats: Vec::new(),
        bottlenecks: views
            .iter()
            .enumerate()
            .filter_map(|(row, view)| bottlenecks::of_row(row, &bottleneck::of_run(view), text))
            .collect(),
        errors: errors::of_rows(views.iter().map(|view| Some(&view.whole))),
        written: Vec::new(),
        gates: gates(views),
        event_costs: None,
        experiment: None,
        slower: Vec::new(),
        statement_times: views
            .iter()
            .enumerate()
            .filter_map(|(row, view)| statement_times::of_row(row, std::iter::once(view)))
            .collect(),
        cpu_profiles: cpu_profiles::of_runs(views),
    }
}

fn gates(views: &[View<'_>]) -> Vec<Notice> {
    let gates = views.iter().flat_map(|view| view.run.gates());
    gates.map(|gate| Notice { tone: tone_of(gate.decision), text: text(&words::gate(gate)) }).collect()
}

/// Load of all views as text. Empty if they have different loads.
fn load_in_words(views: &[View<'_>]) -> String {
    match views {
        [view] => text(&words::load(view)),
        [first, rest @ ..]
            if rest.iter().all(|view| view.run.new.load_in_words() == first.run.new.load_in_words()) =>
        {
            text(&first.run.new.load_in_words())
        }
        _ => String::new(),
    }
}

const fn tone_of(decision: Decision) -> Tone {
    match decision {
        Decision::Holds => Tone::Good,
        Decision::Fails => Tone::Bad,
        Decision::Undecided => Tone::Doubtful,
    }
}

fn answer(views: &[View<'_>]) -> Answer {
    let (text, how_sure) = match views {
        [view] => {
            let answer = crate::answer::of_run(view);
            let failed =
                breaches::of_run(view).map_or_else(String::new, |failed| format!("{} ", text(&failed)));
            (failed + &sentence(&answer.text), answer.how_sure)
        }
        _ => ("Several runs side by side.".to_owned(), "nothing is ranked: a study would".to_owned()),
    };
    Answer { certainty: Certainty::Plain.name(), text, how_sure }
}

/// Marks in the charts of a run over time.
fn events(view: &View<'_>) -> Vec<Event> {
    let seen = steadiness::of(view).map_or_else(Vec::new, steadiness::events);
    let seen = seen.into_iter().chain(outage::events(view)).map(|(at_s, text)| Event { at_s, text });
    let done = crate::event_costs::of_run(view)
        .into_iter()
        .filter_map(|of| Some(Event { at_s: of.at_s()?, text: sanitize(&of.name, NAME_CHARACTERS_MAX) }));
    let mut events: Vec<Event> = seen.chain(done.take(EVENTS_MAX)).chain(ended_early(view)).collect();
    events.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
    events
}

/// Mark where an incomplete run ended. `None` for a complete run.
fn ended_early(view: &View<'_>) -> Option<Event> {
    let last_ns = view.whole.last_finished_ns.or(view.warm_up.last_finished_ns)?;
    let failure = view.run.ending.as_ref().and_then(|ending| ending.failure.as_ref());
    let why = match (failure, view.eligibility()) {
        (Some(failure), _) => text(&words::failure(failure)),
        (None, Eligibility::CutShort) => "the run was cut short".to_owned(),
        _ => return None,
    };
    Some(Event { at_s: (last_ns as f64 - view.run.new.warm_up_ns as f64) / 1e9, text: why })
}

/// Notices at the top, and notes.
fn notices(views: &[View<'_>], names: &[String]) -> Vec<Notice> {
    let mut notices: Vec<Notice> = Vec::new();
    for (view, name) in views.iter().zip(names) {
        let stamps = view.run.new.stamps.iter().map(|stamp| (Tone::Doubtful, stamp));
        let notes = view.notes.iter().map(|note| (Tone::Plain, note));
        notices.extend(stamps.chain(notes).map(|(tone, sentence)| Notice {
            tone,
            text: if views.len() > 1 { format!("{name}: {}", text(sentence)) } else { text(sentence) },
        }));
    }
    notices
}

fn validity(views: &[View<'_>], names: &[String]) -> Validity {
    let with = |level: Level| {
        let has_level = |view: &&View<'_>| match level {
            Level::Invalid => view.is_invalid(),
            level => !view.is_invalid() && view.validity.verdict == level,
        };
        views.iter().filter(has_level).count()
    };
    let (invalid, suspect) = (with(Level::Invalid), with(Level::Suspect));
    let level = match (invalid, suspect) {
        (0, 0) => Level::Valid,
        (0, _) => Level::Suspect,
        (invalid, _) if views.len() > 1 && invalid < views.len() => Level::Suspect,
        _ => Level::Invalid,
    };
    let sentence = match views {
        [view] => words::verdict(view),
        _ => {
            let all = views.len();
            let valid = match all - invalid {
                valid if valid == all => format!("all {all} runs are valid"),
                valid => format!("{valid} of {all} runs are valid; {invalid} invalid"),
            };
            let are = if suspect == 1 { "is" } else { "are" };
            if suspect > 0 { format!("{valid}; {suspect} of the valid ones {are} suspect") } else { valid }
        }
    };
    let doubts = views
        .iter()
        .zip(names)
        .flat_map(|(view, name)| doubts(view, if views.len() > 1 { name } else { "" }));
    Validity { level: level.name(), sentence: self::sentence(&sentence), doubts: doubts.collect() }
}

fn doubts(view: &View<'_>, place: &str) -> Vec<Doubt> {
    let tone = if view.is_invalid() { Tone::Bad } else { Tone::Doubtful };
    let causes = view.validity.causes.iter().map(|cause| Doubt {
        tone,
        place: place.to_owned(),
        sentence: text(&judge::validity::told(cause)),
        remedy: text(&cause.remedy),
        quote: Vec::new(),
    });
    let mut doubts: Vec<Doubt> = causes.collect();
    if let Some(failure) = view.run.ending.as_ref().and_then(|ending| ending.failure.as_ref()) {
        let tail = words::tail(view.run.outputs(), failure.process.as_deref());
        doubts.insert(
            0,
            Doubt {
                tone: Tone::Bad,
                place: place.to_owned(),
                sentence: text(&words::failure(failure)),
                remedy: text(&failure.way_out),
                quote: tail.iter().map(|line| text(line)).collect(),
            },
        );
    }
    doubts
}

/// Capitalizes words, and adds a full stop.
pub(super) fn sentence(words: &str) -> String {
    let mut sentence = format!("{words}.");
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    sentence
}

pub(super) fn text(text: &str) -> String {
    sanitize(text, TEXT_CHARACTERS_MAX)
}
