//! Items of a report on one run.

use evidence::{EvidenceError, Level, Unit, Verdict};
use record::{MinMedianMax, Spread};

use crate::figures::{ErrorLine, Figures};
use crate::item::{ErrorText, Escape, Fact, Item, Tone};
use crate::processes;
use crate::text::{capitalize, sanitize};
use crate::units::{count, decimal, duration, mebibytes, percent, rate, volume_rate};
use crate::view::View;
use crate::{
    answer, bottleneck, breaches, events, inside, outage, over_time, physical_cost, pools, shards,
    statements, steadiness, system, times, transactions, trust, words, written,
};

mod brief;
mod distribution;

/// Maximum numbers of characters of an error class, of a TLS session, and of a command.
const CLASS_CHARACTERS_MAX: usize = 40;
const SESSION_CHARACTERS_MAX: usize = 80;
const COMMAND_CHARACTERS_MAX: usize = 400;

/// All items of a report on a run, in order: first the brief report, then all figures.
pub(crate) fn items(view: &View<'_>, escape: Escape) -> Result<Vec<Item>, EvidenceError> {
    let mut items = headline(view, escape);
    items.push(Item::Parts(brief::items(view, escape)?));
    items.push(Item::Elsewhere(format!("All figures: tenbin report {} --wide", view.run.id)));
    let times = match view.whole.samples() {
        0 => Item::facts([("response and service time", "n/a (0 samples)".to_owned())]),
        _ => Item::Table(times::table(&view.whole)),
    };
    let figures = [Item::points(words::identity(&view.whole)), times, facts(view, escape)?];
    let distribution = distribution::of_run(view)?.filter(|_| !brief::shows_distribution(view));
    let tables = [distribution, times::steps(view, escape), statements::of_run(view, escape)];
    let mut all: Vec<Item> =
        figures.into_iter().chain(tables.into_iter().flatten().map(Item::Table)).collect();
    all.extend(why_suspect(view, escape));
    all.extend(causes(view, escape));
    all.extend(events::details(view.run, escape));
    // The brief report shows short lists of errors and notes already.
    all.extend(errors(&view.whole, escape).filter(|_| view.whole.errors.len() > brief::ERRORS_MAX));
    all.extend(notes(view, escape).filter(|_| brief::omits_notes(view)));
    items.push(Item::Fold("All figures".to_owned(), vec![Item::Parts(all)]));
    Ok(items)
}

/// Title, failed gates, result, and doubts.
fn headline(view: &View<'_>, escape: Escape) -> Vec<Item> {
    let name = view.place().map(|_| view.name().into_owned());
    let measured = [Some(view.run.new.title.clone()), name, Some(words::load(view))];
    let measured: Vec<String> = measured.into_iter().flatten().map(|text| escape(&text)).collect();
    let mut items = vec![Item::Title(measured.join(" · "))];
    items.extend(breaches::of_run(view).map(|failed| Item::Text(Tone::Bad, escape(&failed))));
    let tone = match (view.verdict, view.validity.verdict) {
        (Verdict::Complete, Level::Valid) => Tone::Good,
        _ if view.is_invalid() => Tone::Bad,
        _ => Tone::Doubtful,
    };
    let has_words = matches!(view.verdict, Verdict::Partial | Verdict::Aborted) || view.whole.samples() == 0;
    if has_words && tone != Tone::Good {
        items.push(Item::Text(tone, escape(&capitalize(&words::verdict(view)))));
    }
    // The causes of the doubt follow below.
    let trust = trust::line(view).filter(|_| !view.is_invalid());
    let how_sure = match (&trust, view.validity.verdict) {
        (Some(trust), _) => escape(trust),
        (None, Level::Suspect) if !view.is_invalid() => "suspect".to_owned(),
        _ => answer::of_run(view).how_sure,
    };
    let result = answer::Answer { how_sure, ..answer::of_run(view) }.sentence();
    items.push(Item::Text(if tone == Tone::Good { Tone::Strong } else { tone }, result));
    let causes = if trust.is_some() { Vec::new() } else { doubts(view, escape) };
    let failure = view.run.ending.as_ref().and_then(|ending| ending.failure.as_ref());
    let failed = failure.map(|failure| [escape(&words::failure(failure)), escape(&failure.way_out)]);
    let shown: Vec<_> = causes.into_iter().chain(failed).collect();
    if !shown.is_empty() {
        items.push(Item::Doubts(shown));
    }
    let tail = failure.map(|failure| words::tail(view.run.outputs(), failure.process.as_deref()));
    if let Some(tail) = tail.filter(|tail| !tail.is_empty()) {
        items.push(Item::Quote(tail.iter().map(|line| escape(line)).collect()));
    }
    items
}

/// Causes of doubt, with advice.
fn doubts(view: &View<'_>, escape: Escape) -> Vec<[String; 2]> {
    let causes = view.validity.causes.iter();
    causes.map(|cause| [escape(&judge::validity::told(cause)), escape(&cause.remedy)]).collect()
}

/// Causes of doubt with advice, if the first lines only state how far figures can be trusted.
fn why_suspect(view: &View<'_>, escape: Escape) -> Option<Item> {
    let is_line_only = trust::line(view).is_some() && !view.is_invalid();
    Some(doubts(view, escape)).filter(|doubts| is_line_only && !doubts.is_empty()).map(Item::Doubts)
}

/// All likely causes. Empty if the brief report shows all of them.
fn causes(view: &View<'_>, escape: Escape) -> Vec<Item> {
    let causes = bottleneck::of_run(view);
    let has_more = |cause: &judge::Bottleneck| cause.for_.len() > 1 || !cause.against.is_empty();
    if causes.len() < 2 && !causes.iter().any(has_more) {
        return Vec::new();
    }
    let lines = bottleneck::lines(&causes).into_iter().map(|line| escape(&line));
    vec![Item::Head("Likely causes, most likely first".to_owned()), Item::points(lines)]
}

fn errors(figures: &Figures, escape: Escape) -> Option<Item> {
    let first = figures.errors.first()?;
    let help = first.class.known().map(|class| [class.name().to_owned(), class.help().to_owned()]);
    Some(Item::Errors(figures.errors.iter().map(|error| error_text(error, escape)).collect(), help))
}

fn error_text(error: &ErrorLine, escape: Escape) -> ErrorText {
    ErrorText {
        class: escape(&sanitize(error.class.as_str(), CLASS_CHARACTERS_MAX)),
        message: escape(&error.message),
        count: error.count,
    }
}

fn notes(view: &View<'_>, escape: Escape) -> Option<Item> {
    let stamps = view.run.new.stamps.iter().map(|text| ("warning", text));
    let notes = stamps.chain(view.notes.iter().map(|text| ("note", text)));
    let notes: Vec<_> =
        notes.map(|(kind, text)| (Tone::Plain, format!("{kind}: {}", escape(text)))).collect();
    (!notes.is_empty()).then_some(Item::Notes(notes))
}

/// Figures with a line each, then drawings over time.
fn facts(view: &View<'_>, escape: Escape) -> Result<Item, EvidenceError> {
    let figures = figures(view).into_iter().map(|(name, words)| Fact::new(name, escape(&words)));
    let lines = over_time::lines(view.run)?.into_iter();
    let drawn = lines.map(|[name, bars, ends]| Fact { name, drawing: Some(bars), words: ends });
    Ok(Item::Facts(figures.chain(drawn).collect()))
}

fn figures(view: &View<'_>) -> Vec<(&'static str, String)> {
    let figures = &view.whole;
    let mut facts = vec![("throughput", throughput(figures))];
    facts.extend(transactions::without_connect(view).map(|words| ("throughput", words)));
    // A load inside the generator's own process sends no bytes.
    let bytes = [figures.received_bytes, figures.sent_bytes];
    if figures.counts.ok == 0 || bytes.into_iter().flatten().any(|bytes| bytes > 0) {
        let volumes = ["received", "sent"].into_iter().zip(bytes);
        facts.extend(volumes.filter_map(|(name, bytes)| Some((name, volume(figures, bytes?)))));
    }
    if let Some(words) = times::summary_words(&figures.first_byte) {
        facts.push(("first byte", words));
    }
    facts.extend(words::connection_words(view).into_iter().map(|line| ("connected", line)));
    facts.extend(words::retried(figures).map(|words| ("retried", words)));
    facts.extend(transactions::facts(&view.whole));
    let ending = view.run.ending.as_ref();
    let session =
        ending.and_then(|ending| ending.tls.as_deref()).map(|text| sanitize(text, SESSION_CHARACTERS_MAX));
    let handshakes = if figures.tls.count > 0 { &figures.tls } else { &view.warm_up.tls };
    let handshake = times::summary_words(handshakes).map(|words| format!("handshake {words}"));
    let resumed = ending.map_or(0, |ending| ending.resumed_handshakes);
    let resumed = (resumed > 0).then(|| format!("{} handshakes resumed a session", count(resumed)));
    if session.is_some() || handshake.is_some() {
        facts.push((
            "TLS",
            [session, handshake, resumed].into_iter().flatten().collect::<Vec<_>>().join(", "),
        ));
    }
    if let Some(resolved_ns) = ending.and_then(|ending| ending.resolved_ns) {
        facts.push(("name", format!("resolved in {}", duration(resolved_ns as f64))));
    }
    if !figures.statuses.is_empty() {
        let each = figures.statuses.iter().map(|(status, replies)| format!("{status}: {}", count(*replies)));
        facts.push(("statuses", each.collect::<Vec<_>>().join("   ")));
    }
    if let Some(words) = outage::words(view) {
        facts.push(("outage", words));
    }
    if let Some(words) = outage::starvation_words(view) {
        facts.push(("starved", words));
    }
    if let Some(seen) = steadiness::of(view) {
        facts.push(("steady", steadiness::words(seen)));
    }
    if let Some(spread) = ending.and_then(|ending| ending.spread.as_ref()) {
        facts.extend(fairness(view, spread).into_iter().map(|line| ("fairness", line)));
    }
    if let Some(ending) = ending {
        facts.push(("generator", words::generator(view, &ending.generator)));
        if let Some(tool) = ending.generator.tool.as_ref().filter(|tool| !tool.command.is_empty()) {
            facts.push(("command", sanitize(&tool.command.join(" "), COMMAND_CHARACTERS_MAX)));
        }
        facts.push(("memory", format!("{} MiB max", mebibytes(ending.generator.rss_peak_bytes))));
    }
    facts.extend(processes::start(view).map(|line| ("start", line)));
    facts.extend(processes::connections(view).map(|line| ("connections", line)));
    facts.extend(pools::lines(view).into_iter().map(|line| ("pools", line)));
    facts.extend(shards::lines(view).into_iter().map(|line| ("shards", line)));
    facts.extend(written::words(view).into_iter().map(|line| ("rows", line)));
    facts.extend(system::words(view).into_iter().map(|line| ("system", line)));
    facts.extend(inside::lines(view).into_iter().map(|line| ("database", line)));
    facts.extend(physical_cost::lines(view).into_iter().map(|line| ("cost", line)));
    if let Some(cores) = words::cores(view) {
        facts.push(("cores", cores));
    }
    facts
}

/// Spread of replies, and of the slowest replies, over connections.
fn fairness(view: &View<'_>, spread: &Spread) -> Vec<String> {
    let of = min_median_max(spread.requests, |requests| decimal(requests, 0));
    let unit = match view.unit() {
        Unit::Requests => "replies",
        Unit::Transactions => "transactions",
    };
    let replies = format!("{of} {unit} per connection (min, median, max of {})", count(spread.connections));
    let worst =
        spread.response_max_ns.map(|worst| format!("{} max response", min_median_max(worst, duration)));
    std::iter::once(replies).chain(worst).collect()
}

fn throughput(figures: &Figures) -> String {
    let answers = figures.noun().answers;
    let Some(window) = figures.window else {
        return format!("n/a ({} {answers})", count(figures.answered()));
    };
    let ok = match window.counts.answers() {
        0 => String::new(),
        answered if answered == window.counts.ok => ", all ok".to_owned(),
        answered => format!(", {} ok", percent(window.counts.ok, answered)),
    };
    // A window below one second needs more precision than tenths of a second.
    let over = match window.length_s {
        length_s if length_s < 1.0 => duration(length_s * 1e9),
        length_s => format!("{} s", decimal(length_s, 1)),
    };
    format!("{} {answers}/s over {over}{ok}", rate(window.answers_per_s()))
}

fn volume(figures: &Figures, bytes: u64) -> String {
    let per_s = figures.kb_per_s(Some(bytes)).map_or("n/a".to_owned(), volume_rate);
    format!("{per_s}, {} MiB in total", mebibytes(bytes))
}

fn min_median_max(figures: MinMedianMax, write: impl Fn(f64) -> String) -> String {
    format!("{} / {} / {}", write(figures.min), write(figures.median), write(figures.max))
}
