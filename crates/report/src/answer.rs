//! Results as one sentence, with their certainty. Computes the result of a single run.

use evidence::{Level, Model, RunState, Verdict};
use judge::Doubt;
use record::Percentile;

use crate::durations;
use crate::figures::Figures;
use crate::outage;
use crate::units::{count, duration, percent, rate};
use crate::view::View;
use crate::words;

/// Result of a run, of a study under a load, or of a capacity search, without full stops. Names in it are the only external text; they are
/// escaped for the format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Result as one sentence.
    pub(crate) text: String,
    pub(crate) certainty: Certainty,
    /// Reason for the certainty, in a few words. May be empty.
    pub(crate) how_sure: String,
    /// Qualification of the result. May be empty.
    pub(crate) besides: String,
}

impl Answer {
    /// Formats the result: `text (how sure); qualification`.
    pub(crate) fn sentence(&self) -> String {
        let Self { text, how_sure, besides, .. } = self;
        let how_sure = if how_sure.is_empty() { String::new() } else { format!(" ({how_sure})") };
        let besides = if besides.is_empty() { String::new() } else { format!("; {besides}") };
        format!("{text}{how_sure}{besides}")
    }
}

/// Certainty of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Certainty {
    /// The verdict is conclusive.
    Sure,
    /// The verdict is still open.
    Open,
    /// A verdict is impossible.
    None,
    /// The study compared nothing.
    Plain,
}

impl Certainty {
    /// Name in formats for programs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sure => "sure",
            Self::Open => "open",
            Self::None => "none",
            Self::Plain => "plain",
        }
    }
}

/// Result of one run, in this order: outages, errors, throughput, response times.
pub(crate) fn of_run(view: &View<'_>) -> Answer {
    Answer { text: text(view), certainty: Certainty::Plain, how_sure: how_sure(view), besides: String::new() }
}

fn text(view: &View<'_>) -> String {
    let figures = &view.whole;
    if view.has_nothing_stored() {
        return match view.run.state {
            RunState::Running => "nothing is stored yet".to_owned(),
            _ => "nothing was stored before the run was cut short".to_owned(),
        };
    }
    if figures.counts.sent == 0 {
        return format!("no {} was sent", figures.noun().one);
    }
    if figures.samples() == 0 {
        return format!("none of {} ended", figures.noun().counted(figures.counts.sent));
    }
    // If every request failed, an outage is only a consequence.
    if figures.error_count() == figures.counts.planned {
        let parts = [errors(figures), response_times(figures)];
        return parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
    }
    let answered = throughput(view).or_else(|| answers(figures));
    let gone = [outage::headline(view), outage::starvation_words(view)];
    let parts = gone.into_iter().chain([errors(figures), answered, response_times(figures)]);
    let parts: Vec<String> = parts.flatten().collect();
    parts.join("; ")
}

/// Formats errors: `5.00 % errors (300 of 6,000 requests)`.
fn errors(figures: &Figures) -> Option<String> {
    let (errors, samples) = (figures.error_count(), figures.counts.planned);
    match errors {
        0 => None,
        _ if errors == samples => Some(format!("none of {} ended ok", figures.noun().counted(samples))),
        _ => Some(format!(
            "{} errors ({} of {})",
            percent(errors, samples),
            count(errors),
            figures.noun().counted(samples)
        )),
    }
}

fn answers(figures: &Figures) -> Option<String> {
    let per_s = figures.ok_per_s().filter(|_| figures.counts.ok > 0)?;
    let many = figures.noun().many;
    Some(match figures.error_count() {
        0 => format!("{} {many}/s, no errors", rate(per_s)),
        _ => format!("{} ok {many}/s", rate(per_s)),
    })
}

/// Throughput of an open load, and whether it matched the offered rate. `None` for a closed load, or if no request ended ok.
fn throughput(view: &View<'_>) -> Option<String> {
    if view.run.new.model != Model::Open {
        return None;
    }
    let (counts, ok_per_s) = (&view.whole.counts, view.whole.ok_per_s()?);
    if counts.ok == 0 {
        return None;
    }
    let (per_s, many) = (rate(ok_per_s), view.noun().many);
    let of = format!("{} of {} ended ok", count(counts.ok), view.noun().counted(counts.planned));
    Some(match counts.planned - counts.ok.min(counts.planned) {
        0 => format!("{per_s} {many}/s, no errors: the offered rate was kept"),
        _ if u128::from(counts.ok) * 100 >= u128::from(counts.planned) * 99 => {
            format!("{per_s} ok {many}/s: the offered rate was kept ({of})")
        }
        _ => format!("{per_s} ok {many}/s: the offered rate was not kept ({of})"),
    })
}

/// Formats response times: `p50 1.46 ms, p99 9.39 ms`. Percentiles with too few samples are omitted.
fn response_times(figures: &Figures) -> Option<String> {
    let response = &figures.response.all;
    let at = |percentile| response.at(percentile).map(duration);
    let tail = [Percentile::P99, Percentile::P95, Percentile::P90]
        .into_iter()
        .find_map(|percentile| Some(format!("{} {}", durations::name(percentile), at(percentile)?)));
    let tail = tail.or_else(|| Some(format!("max {}", duration(response.max_ns?))));
    match at(Percentile::P50) {
        Some(p50) => Some(format!("p50 {p50}, {}", tail?)),
        None => tail,
    }
}

fn how_sure(view: &View<'_>) -> String {
    let cause = || view.validity.causes.first().and_then(|cause| Doubt::named(&cause.code));
    let which = |word: &str| {
        let level = if word == Level::Invalid.name() { Level::Invalid } else { Level::Suspect };
        words::doubtful_figures(&words::figures_at(&view.validity, level))
    };
    let because = |word: &str| match cause().and_then(|doubt| doubt.words(view.whole.unit)) {
        Some(why) => format!("{word}{}: {why}", which(word)),
        None => word.to_owned() + &which(word),
    };
    match (view.verdict, view.validity.verdict) {
        _ if view.is_invalid() => because("invalid"),
        (_, Level::Suspect) => because("suspect"),
        (Verdict::Partial | Verdict::Aborted, Level::Valid) => {
            "ended early; single run, no confidence interval".to_owned()
        }
        _ => "single run, no confidence interval".to_owned(),
    }
}
