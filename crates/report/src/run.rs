//! One run, piece by piece.

use record::MinMedianMax;
use store::{Level, StoreError, Unit, Verdict};

use crate::figures::{ErrorLine, Figures};
use crate::item::{Escape, Fact, Item, Layout, Tone};
use crate::text::harmless;
use crate::units::{count, decimal, duration, mebibytes, percent, rate, volume_rate};
use crate::view::View;
use crate::{
    answer, bottleneck, breaches, outage, over_time, statements, steadiness, system, times, transactions,
    words,
};

/// Characters of the class of an error, and of what a TLS session says of itself.
const CLASS_CHARACTERS_MAX: usize = 40;
const SESSION_CHARACTERS_MAX: usize = 80;

/// Everything that is said about a run, in order.
pub(crate) fn items(view: &View<'_>, escape: Escape, layout: Layout) -> Result<Vec<Item>, StoreError> {
    let accounts = Item::points(words::identity(&view.whole.counts));
    let times = match view.whole.samples() {
        0 => Item::facts([("response and service time", "n/a (0 samples)".to_owned())]),
        _ => Item::Table(times::table(&view.whole)),
    };
    let facts = facts(view, escape)?;
    let tables = [times::steps(view, escape), statements::of_run(view, escape)];
    let tables = tables.into_iter().flatten().map(Item::Table);
    let (errors, gates, notes) = (errors(&view.whole, escape), gates(view, escape), notes(view, escape));
    let mut items = headline(view, escape);
    match layout {
        Layout::Whole => {
            let figures = [accounts, times, facts].into_iter().chain(tables);
            items.push(Item::Parts(figures.chain(errors).chain(gates).collect()));
            items.extend(notes);
        }
        Layout::Folded => {
            items.extend(gates);
            items.push(times);
            items.extend(errors.into_iter().chain(notes));
            let all = [accounts, facts].into_iter().chain(tables);
            items.push(Item::Fold("All figures".to_owned(), all.collect()));
        }
    }
    Ok(items)
}

/// What was measured, what it says, and whether it may be believed.
fn headline(view: &View<'_>, escape: Escape) -> Vec<Item> {
    let mut items = vec![Item::Title(escape(&view.run.new.title))];
    if view.place().is_some() {
        items.push(Item::Text(Tone::Plain, escape(&view.name())));
    }
    items.push(Item::Text(Tone::Plain, escape(&words::load(view))));
    items.extend(breaches::of_run(view).map(|failed| Item::Text(Tone::Bad, escape(&failed))));
    items.push(Item::Text(Tone::Strong, format!("Answer: {}.", answer::of_run(view).sentence())));
    if let Some(found) = bottleneck::worth_telling(view) {
        let sentence = format!("Suspected limit: {}: {}.", found.what, escape(&found.because));
        items.push(Item::Text(Tone::Plain, sentence));
    }
    let tone = match (view.verdict, view.validity.verdict) {
        (Verdict::Complete, Level::Valid) => Tone::Good,
        _ if view.is_invalid() => Tone::Bad,
        _ => Tone::Doubtful,
    };
    items.push(Item::Text(tone, escape(&words::verdict(view))));
    let causes = view.validity.causes.iter().map(|cause| [escape(&cause.sentence), escape(&cause.remedy)]);
    let failure = view.run.ending.as_ref().and_then(|ending| ending.failure.as_ref());
    let failed = failure.map(|failure| [escape(&words::failure(failure)), escape(&failure.way_out)]);
    let doubts: Vec<_> = causes.chain(failed).collect();
    if !doubts.is_empty() {
        items.push(Item::Doubts(doubts));
    }
    let tail = failure.map(|failure| words::tail(view.run.outputs(), failure.process.as_deref()));
    if let Some(tail) = tail.filter(|tail| !tail.is_empty()) {
        items.push(Item::Quote(tail.iter().map(|line| escape(line)).collect()));
    }
    items
}

fn errors(figures: &Figures, escape: Escape) -> Option<Item> {
    let line = |error: &ErrorLine| ErrorLine {
        class: escape(&harmless(&error.class, CLASS_CHARACTERS_MAX)),
        message: escape(&error.message),
        count: error.count,
    };
    let first = figures.errors.first()?;
    let help = first.explained().map(|class| [class.name.to_owned(), class.help.to_owned()]);
    Some(Item::Errors(figures.errors.iter().map(line).collect(), help))
}

fn gates(view: &View<'_>, escape: Escape) -> Option<Item> {
    let line = |gate: &store::GateResult| {
        let tone = if gate.holds { Tone::Plain } else { Tone::Bad };
        (tone, escape(&words::gate(gate)))
    };
    let lines: Vec<_> = view.run.gates().iter().map(line).collect();
    (!lines.is_empty()).then_some(Item::Points(lines))
}

fn notes(view: &View<'_>, escape: Escape) -> Option<Item> {
    let stamps = view.run.new.stamps.iter().map(|text| ("warning", text));
    let notes = stamps.chain(view.notes.iter().map(|text| ("note", text)));
    let notes: Vec<_> =
        notes.map(|(kind, text)| (Tone::Plain, format!("{kind}: {}", escape(text)))).collect();
    (!notes.is_empty()).then_some(Item::Notes(notes))
}

/// Figures with a line each, and then how it went.
fn facts(view: &View<'_>, escape: Escape) -> Result<Item, StoreError> {
    let figures = figures(view).into_iter().map(|(name, words)| Fact::new(name, escape(&words)));
    let lines = over_time::lines(view.run)?.into_iter();
    let drawn = lines.map(|[name, bars, ends]| Fact { name, drawing: Some(bars), words: ends });
    Ok(Item::Facts(figures.chain(drawn).collect()))
}

fn figures(view: &View<'_>) -> Vec<(&'static str, String)> {
    let figures = &view.whole;
    let mut facts = vec![("throughput", throughput(figures))];
    facts.extend(transactions::without_connect(view).map(|words| ("throughput", words)));
    // What runs within the generator sends nothing.
    if figures.counts.ok == 0 || figures.received_bytes + figures.sent_bytes > 0 {
        facts.push(("received", volume(figures, figures.received_bytes)));
        facts.push(("sent", volume(figures, figures.sent_bytes)));
    }
    if let Some(words) = times::in_words(&figures.first_byte) {
        facts.push(("first byte", words));
    }
    facts.extend(words::connected(view).into_iter().map(|line| ("connected", line)));
    facts.extend(transactions::facts(&view.whole));
    let ending = view.run.ending.as_ref();
    let session =
        ending.and_then(|ending| ending.tls.as_deref()).map(|text| harmless(text, SESSION_CHARACTERS_MAX));
    let handshakes = if figures.tls.count > 0 { &figures.tls } else { &view.warm_up.tls };
    let handshake = times::in_words(handshakes).map(|words| format!("handshake {words}"));
    if session.is_some() || handshake.is_some() {
        facts.push(("TLS", [session, handshake].into_iter().flatten().collect::<Vec<_>>().join(", ")));
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
    if let Some(seen) = steadiness::of(view) {
        facts.push(("steady", steadiness::words(seen)));
    }
    if let Some(spread) = ending.and_then(|ending| ending.spread.as_ref()) {
        let of = three(spread.requests, |requests| decimal(requests, 0));
        facts.push((
            "fairness",
            format!(
                "{of} {} per connection (min, median, max of {})",
                match view.unit() {
                    Unit::Requests => "replies",
                    Unit::Transactions => "transactions",
                },
                count(spread.connections)
            ),
        ));
        if let Some(worst) = spread.response_max_ns {
            facts.push(("fairness", format!("{} worst response", three(worst, duration))));
        }
    }
    if let Some(ending) = ending {
        facts.push(("generator", words::generator(view, &ending.generator)));
        facts.push(("memory", format!("{} MiB at most", mebibytes(ending.generator.rss_peak_bytes))));
    }
    facts.extend(system::words(view).into_iter().map(|line| ("system", line)));
    if let Some(cores) = words::cores(view) {
        facts.push(("cores", cores));
    }
    facts
}

fn throughput(figures: &Figures) -> String {
    let answers = figures.noun().answers;
    let Some(window) = figures.window else {
        return format!("n/a ({} {answers})", count(figures.answered()));
    };
    let ok = match window.counts.answers() {
        0 => String::new(),
        answered if answered == window.counts.ok => ", all of them ok".to_owned(),
        answered => format!(", {} of them ok", percent(window.counts.ok, answered)),
    };
    // Tenths of a second say little of less than one.
    let over = match window.length_s {
        length_s if length_s < 1.0 => duration(length_s * 1e9),
        length_s => format!("{} s", decimal(length_s, 1)),
    };
    format!("{} {answers}/s over {over}{ok}", rate(window.answers_per_s()))
}

fn volume(figures: &Figures, bytes: u64) -> String {
    let per_s = figures.kb_per_s(bytes).map_or("n/a".to_owned(), volume_rate);
    format!("{per_s}, {} MiB in all", mebibytes(bytes))
}

fn three(figures: MinMedianMax, write: impl Fn(f64) -> String) -> String {
    format!("{} / {} / {}", write(figures.min), write(figures.median), write(figures.max))
}
