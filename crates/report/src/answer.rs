//! What an answer is, and that of a single run: one sentence, and how sure it is.

use evidence::{Level, Model, RunState, Verdict};
use judge::Doubt;
use record::Percentile;

use crate::durations;
use crate::figures::Figures;
use crate::outage;
use crate::units::{count, duration, percent, rate};
use crate::view::View;
use crate::words;

/// What a run, a study under a load, or a search for a capacity says, without full stops. Only names in it may come from
/// outside; they are escaped as the format does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// One sentence.
    pub(crate) text: String,
    pub(crate) certainty: Certainty,
    /// Why it is as sure as it is, in a few words; may be empty.
    pub(crate) how_sure: String,
    /// What it leaves out; may be empty.
    pub(crate) besides: String,
}

impl Answer {
    /// `text (how sure); what it leaves out`
    pub(crate) fn sentence(&self) -> String {
        let Self { text, how_sure, besides, .. } = self;
        let how_sure = if how_sure.is_empty() { String::new() } else { format!(" ({how_sure})") };
        let besides = if besides.is_empty() { String::new() } else { format!("; {besides}") };
        format!("{text}{how_sure}{besides}")
    }
}

/// How sure an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Certainty {
    /// There is a verdict.
    Sure,
    /// There is none yet.
    Open,
    /// There can be none.
    None,
    /// Nothing was compared.
    Plain,
}

impl Certainty {
    /// The word for programs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sure => "sure",
            Self::Open => "open",
            Self::None => "none",
            Self::Plain => "plain",
        }
    }
}

/// The answer of one run: that the system was gone first, then errors if there are any, then how much was answered, then how long it took.
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
    // That everything failed is the whole answer; an outage is but a consequence of it.
    if figures.errors_counted() == figures.counts.planned {
        let parts = [errors(figures), times(figures)];
        return parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
    }
    let answered = rate_kept(view).or_else(|| answers(figures));
    let gone = [outage::headline(view), outage::starved(view)];
    let parts = gone.into_iter().chain([errors(figures), answered, times(figures)]);
    let parts: Vec<String> = parts.flatten().collect();
    parts.join("; ")
}

/// `5.00 % errors (300 of 6,000 requests)`
fn errors(figures: &Figures) -> Option<String> {
    let (errors, samples) = (figures.errors_counted(), figures.counts.planned);
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
    Some(match figures.errors_counted() {
        0 => format!("{} {many}/s, no errors", rate(per_s)),
        _ => format!("{} ok {many}/s", rate(per_s)),
    })
}

/// Of an open load: whether what it asked for was sent, and answered well.
fn rate_kept(view: &View<'_>) -> Option<String> {
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

/// `p50 1.46 ms, p99 9.39 ms`, as far as there are samples enough.
fn times(figures: &Figures) -> Option<String> {
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
        words::doubted(&words::figures_at(&view.validity, level))
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
