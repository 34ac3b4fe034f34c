//! The terminal: for a person, now.

use std::io::{self, Write};

use record::MinMedianMax;
use store::{Level, Unit, Verdict};

use crate::Options;
use crate::error::ReportError;
use crate::figures::{ErrorLine, Figures};
use crate::study::Tone;
use crate::style::Style;
use crate::text::{harmless, wrapped};
use crate::units::{count, decimal, duration, mebibytes, percent, rate, volume_rate};
use crate::view::View;
use crate::{
    answer, bottleneck, breaches, comparison, outage, over_time, statements, steadiness, system, times,
    transactions, words,
};

pub(super) mod study;

/// Fewer columns than this are not obeyed.
const WIDTH_MIN: usize = 60;
const INDENT: &str = "  ";
/// Characters of one text from outside; more would push everything else off the screen.
const TEXT_CHARACTERS_MAX: usize = 300;

/// Writes one run at length, or several as a table.
pub(crate) fn write(views: &[View<'_>], options: &Options, out: &mut dyn Write) -> Result<(), ReportError> {
    let mut page = page(options, out);
    match views {
        [view] => page.run(view)?,
        _ => page.comparison(views)?,
    }
    Ok(())
}

fn page<'a>(options: &Options, out: &'a mut dyn Write) -> Page<'a> {
    Page { out, width: options.width.max(WIDTH_MIN), style: Style { color: options.color } }
}

struct Page<'a> {
    out: &'a mut dyn Write,
    width: usize,
    style: Style,
}

impl Page<'_> {
    fn run(&mut self, view: &View<'_>) -> Result<(), ReportError> {
        self.headline(view)?;
        self.identity(&view.whole)?;
        if view.whole.samples() == 0 {
            writeln!(self.out, "{INDENT}response and service time  n/a (0 samples)")?;
        } else {
            times::table(&view.whole).write_terminal(INDENT, self.width, self.out)?;
        }
        writeln!(self.out)?;
        for (name, value) in facts(view) {
            let name = self.style.dim(&format!("{name:<10}"));
            for (place, line) in wrapped(&value, self.width - 14, self.width - 14).iter().enumerate() {
                let name = if place == 0 { &name } else { "          " };
                writeln!(self.out, "{INDENT}{name}  {line}")?;
            }
        }
        for [name, bars, ends] in over_time::lines(view.run)? {
            writeln!(self.out, "{INDENT}{}  {bars}  {ends}", self.style.dim(&format!("{name:<10}")))?;
        }
        self.steps(view)?;
        self.statements(view)?;
        self.errors(&view.whole)?;
        self.gates(view)?;
        let stamps = view.run.new.stamps.iter().map(|text| ("warning", text));
        let notes: Vec<_> = stamps.chain(view.notes.iter().map(|text| ("note", text))).collect();
        if !notes.is_empty() {
            writeln!(self.out)?;
        }
        Ok(notes.into_iter().try_for_each(|(kind, text)| self.remark(kind, text))?)
    }

    fn comparison(&mut self, views: &[View<'_>]) -> io::Result<()> {
        comparison::summary(views, str::to_owned).write_terminal("", self.width, self.out)?;
        writeln!(self.out)?;
        comparison::service(views, str::to_owned).write_terminal("", self.width, self.out)?;
        let names = comparison::names(views);
        let remarks: Vec<(String, &str)> =
            names.iter().zip(views).flat_map(|(name, view)| of_run(name, view)).collect();
        let warning = comparison::warning(views);
        if warning.is_some() || !remarks.is_empty() {
            writeln!(self.out)?;
        }
        if let Some(warning) = warning {
            writeln!(self.out, "{}", self.style.bad(&warning))?;
        }
        remarks.into_iter().try_for_each(|(name, text)| self.remark(&name, text))
    }

    fn headline(&mut self, view: &View<'_>) -> io::Result<()> {
        let title = harmless(&view.run.new.title, TEXT_CHARACTERS_MAX);
        self.toned(Tone::Strong, "", &title)?;
        if view.place().is_some() {
            self.paragraph("", INDENT, &view.name())?;
        }
        self.paragraph("", INDENT, &words::load(view))?;
        let verdict = words::verdict(view);
        let colored = match (view.verdict, view.validity.verdict) {
            (Verdict::Complete, Level::Valid) => self.style.good(&verdict),
            _ if view.is_invalid() => self.style.bad(&verdict),
            _ => self.style.doubtful(&verdict),
        };
        self.answer(view)?;
        writeln!(self.out, "{colored}")?;
        for cause in &view.validity.causes {
            self.paragraph(INDENT, "    ", &cause.sentence)?;
            self.paragraph("  → ", "    ", &cause.remedy)?;
        }
        if let Some(failure) = view.run.ending.as_ref().and_then(|ending| ending.failure.as_ref()) {
            self.paragraph(INDENT, "    ", &words::failure(failure))?;
            self.paragraph("  → ", "    ", &failure.way_out)?;
            for line in words::tail(view.run.outputs(), failure.process.as_deref()) {
                self.paragraph("  │ ", "  │   ", &line)?;
            }
        }
        writeln!(self.out)
    }

    /// What the run says, and what probably kept it from more.
    fn answer(&mut self, view: &View<'_>) -> io::Result<()> {
        if let Some(failed) = breaches::of_run(view) {
            self.toned(Tone::Bad, "", &failed)?;
        }
        self.toned(Tone::Strong, "", &format!("Answer: {}.", answer::of_run(view).sentence()))?;
        if let Some(limit) = bottleneck::worth_telling(view) {
            let sentence = format!("Suspected limit: {}: {}.", limit.what, limit.because);
            self.paragraph("", INDENT, &sentence)?;
        }
        Ok(())
    }

    fn identity(&mut self, figures: &Figures) -> io::Result<()> {
        for line in words::identity(&figures.counts) {
            self.paragraph(INDENT, "    ", &line)?;
        }
        writeln!(self.out)
    }

    fn steps(&mut self, view: &View<'_>) -> io::Result<()> {
        let Some(steps) = times::steps(view, str::to_owned) else { return Ok(()) };
        writeln!(self.out)?;
        steps.write_terminal(INDENT, self.width, self.out)
    }

    fn statements(&mut self, view: &View<'_>) -> io::Result<()> {
        let Some(statements) = statements::of_run(view, str::to_owned) else { return Ok(()) };
        writeln!(self.out)?;
        statements.write_terminal(INDENT, self.width, self.out)
    }

    fn errors(&mut self, figures: &Figures) -> io::Result<()> {
        if figures.errors.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\n{INDENT}errors")?;
        let class = |error: &ErrorLine| harmless(&error.class, 40);
        let digits = figures.errors.iter().map(|error| count(error.count).len()).max().unwrap_or(0);
        let class_width = figures.errors.iter().map(|error| class(error).chars().count()).max().unwrap_or(0);
        for error in &figures.errors {
            let (count, class) = (count(error.count), class(error));
            let before = format!("{INDENT}{count:>digits$}  {class:<class_width$}  ");
            let after = " ".repeat(before.chars().count());
            self.paragraph(&before, &after, &error.message)?;
        }
        match figures.errors.first().and_then(ErrorLine::explained) {
            Some(class) => self.paragraph(&format!("{INDENT}help ({}): ", class.name), "    ", class.help),
            None => Ok(()),
        }
    }

    fn gates(&mut self, view: &View<'_>) -> io::Result<()> {
        for (place, gate) in view.run.gates().iter().enumerate() {
            let head = if place == 0 { "\n" } else { "" };
            let words = harmless(&words::gate(gate), TEXT_CHARACTERS_MAX);
            let colored = if gate.holds { words } else { self.style.bad(&words) };
            writeln!(self.out, "{head}{INDENT}{colored}")?;
        }
        Ok(())
    }

    fn remark(&mut self, kind: &str, text: &str) -> io::Result<()> {
        self.paragraph(&format!("{kind}: "), INDENT, text)
    }

    /// A text from anywhere, made harmless, cut and wrapped.
    fn paragraph(&mut self, before: &str, indent: &str, text: &str) -> io::Result<()> {
        let text = harmless(text, TEXT_CHARACTERS_MAX.max(self.width * 4));
        let room = |before: &str| self.width.saturating_sub(before.chars().count()).max(20);
        for (place, line) in wrapped(&text, room(before), room(indent)).iter().enumerate() {
            let line = format!("{}{line}", if place == 0 { before } else { indent });
            writeln!(self.out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Why a run of several is not to be trusted, and what was noted about it.
fn of_run<'a>(name: &str, view: &'a View<'_>) -> Vec<(String, &'a str)> {
    let causes = view.validity.causes.iter().map(|cause| cause.sentence.as_str());
    let texts = causes.chain(view.run.new.stamps.iter().chain(&view.notes).map(String::as_str));
    texts.map(|text| (name.to_owned(), text)).collect()
}

/// Figures with a line each.
pub(super) fn facts(view: &View<'_>) -> Vec<(&'static str, String)> {
    let figures = &view.whole;
    let mut facts = vec![("throughput", throughput(figures))];
    facts.extend(transactions::without_connect(view).map(|words| ("", words)));
    // What runs within the generator sends nothing.
    if figures.counts.ok == 0 || figures.received_bytes + figures.sent_bytes > 0 {
        facts.push(("received", volume(figures, figures.received_bytes)));
        facts.push(("sent", volume(figures, figures.sent_bytes)));
    }
    if let Some(words) = times::in_words(&figures.first_byte) {
        facts.push(("first byte", words));
    }
    for (place, line) in words::connected(view).into_iter().enumerate() {
        facts.push((if place == 0 { "connected" } else { "" }, line));
    }
    facts.extend(transactions::facts(&view.whole));
    let ending = view.run.ending.as_ref();
    let session = ending.and_then(|ending| ending.tls.as_deref()).map(|text| harmless(text, 80));
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
            facts.push(("", format!("{} worst response", three(worst, duration))));
        }
    }
    if let Some(ending) = ending {
        facts.push(("generator", words::generator(view, &ending.generator)));
        facts.push(("memory", format!("{} MiB at most", mebibytes(ending.generator.rss_peak_bytes))));
    }
    for (place, line) in system::words(view).into_iter().enumerate() {
        facts.push((if place == 0 { "system" } else { "" }, line));
    }
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
