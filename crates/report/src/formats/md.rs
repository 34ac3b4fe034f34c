//! Markdown: for a pull request or a wiki.

use std::io::Write;

use store::{Level, Verdict};

use crate::Options;
use crate::error::ReportError;
use crate::figures::ErrorLine;
use crate::text::harmless;
use crate::units::count;
use crate::view::View;
use crate::{answer, bottleneck, breaches, comparison, over_time, statements, times, words};

pub(super) mod study;

/// Characters of one text from outside.
const TEXT_CHARACTERS_MAX: usize = 300;

/// Writes one run, or several as a table.
pub(crate) fn write(views: &[View<'_>], _options: &Options, out: &mut dyn Write) -> Result<(), ReportError> {
    match views {
        [view] => run(view, out),
        _ => several(views, out),
    }
}

fn run(view: &View<'_>, out: &mut dyn Write) -> Result<(), ReportError> {
    writeln!(out, "## {}\n", escaped(&view.run.new.title))?;
    if view.place().is_some() {
        writeln!(out, "{}\n", escaped(&view.name()))?;
    }
    writeln!(out, "{}\n", escaped(&words::load(view)))?;
    if let Some(failed) = breaches::of_run(view) {
        writeln!(out, "**{}**\n", escaped(&failed))?;
    }
    writeln!(out, "**Answer: {}.**\n", answer::of_run(view).sentence())?;
    if let Some(limit) = bottleneck::worth_telling(view) {
        writeln!(out, "Suspected limit: {}: {}.\n", limit.what, escaped(&limit.because))?;
    }
    let verdict = escaped(&words::verdict(view));
    match (view.verdict, view.validity.verdict) {
        (Verdict::Complete, Level::Valid) => writeln!(out, "{verdict}\n")?,
        _ => writeln!(out, "**{verdict}**\n")?,
    }
    let has_samples = view.whole.samples() > 0;
    doubts(view, has_samples, out)?;
    if has_samples {
        times::table(&view.whole).write_markdown(out)?;
    } else {
        writeln!(out, "- response and service time: n/a (0 samples)")?;
    }
    errors(view, out)?;
    let stamps = view.run.new.stamps.iter().map(|text| ("warning", text));
    let notes = stamps.chain(view.notes.iter().map(|text| ("note", text)));
    let is_apart = has_samples || !view.whole.errors.is_empty();
    remarks(notes.map(|(kind, text)| format!("{kind}: {}", escaped(text))), is_apart, out)?;
    details(view, out)
}

/// Why it may not be believed, what went wrong, and what became of its gates.
fn doubts(view: &View<'_>, is_apart: bool, out: &mut dyn Write) -> Result<(), ReportError> {
    let failure = view.run.ending.as_ref().and_then(|ending| ending.failure.as_ref());
    for cause in &view.validity.causes {
        writeln!(out, "- {} → {}", escaped(&cause.sentence), escaped(&cause.remedy))?;
    }
    if let Some(failure) = failure {
        writeln!(out, "- {} → {}", escaped(&words::failure(failure)), escaped(&failure.way_out))?;
    }
    let tail = failure.map(|failure| words::tail(view.run.outputs(), failure.process.as_deref()));
    if let Some(tail) = tail.filter(|tail| !tail.is_empty()) {
        writeln!(out)?;
        tail.iter().try_for_each(|line| writeln!(out, "> {}  ", escaped(line)))?;
    }
    if failure.is_some() && !view.run.gates().is_empty() {
        writeln!(out)?;
    }
    for gate in view.run.gates() {
        writeln!(out, "- {}", escaped(&words::gate(gate)))?;
    }
    let is_said = failure.is_some() || !view.validity.causes.is_empty() || !view.run.gates().is_empty();
    if is_said && is_apart {
        writeln!(out)?;
    }
    Ok(())
}

/// What few need to see at once: accounts, costs, the course over time, steps.
fn details(view: &View<'_>, out: &mut dyn Write) -> Result<(), ReportError> {
    writeln!(out, "\n<details>\n<summary>All figures</summary>\n")?;
    let [planned, sent] = words::identity(&view.whole.counts);
    writeln!(out, "- {planned}\n- {sent}")?;
    let mut called = "";
    for (name, value) in super::terminal::facts(view) {
        // A line without a name goes on with the one before it.
        called = if name.is_empty() { called } else { name };
        writeln!(out, "- {called}: {}", escaped(&value))?;
    }
    for [name, bars, ends] in over_time::lines(view.run)? {
        writeln!(out, "- {name}: `{bars}` {ends}")?;
    }
    if let Some(steps) = times::steps(view, escaped) {
        writeln!(out)?;
        steps.write_markdown(out)?;
    }
    if let Some(statements) = statements::of_run(view, escaped) {
        writeln!(out)?;
        statements.write_markdown(out)?;
    }
    Ok(writeln!(out, "\n</details>")?)
}

fn several(views: &[View<'_>], out: &mut dyn Write) -> Result<(), ReportError> {
    comparison::summary(views, escaped).write_markdown(out)?;
    writeln!(out)?;
    comparison::service(views, escaped).write_markdown(out)?;
    let of_run = |(name, view): (String, &View<'_>)| {
        let causes = view.validity.causes.iter().map(|cause| &cause.sentence);
        let texts = causes.chain(&view.run.new.stamps).chain(&view.notes);
        texts.map(|text| format!("{}: {}", escaped(&name), escaped(text))).collect::<Vec<_>>()
    };
    let each = comparison::names(views).into_iter().zip(views).flat_map(of_run);
    remarks(comparison::warning(views).into_iter().chain(each), true, out)
}

fn errors(view: &View<'_>, out: &mut dyn Write) -> Result<(), ReportError> {
    if view.whole.errors.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n| errors | class | message |\n|--:|:--|:--|")?;
    for error in &view.whole.errors {
        writeln!(
            out,
            "| {} | {} | {} |",
            count(error.count),
            escaped(&error.class),
            escaped(&error.message)
        )?;
    }
    if let Some(class) = view.whole.errors.first().and_then(ErrorLine::explained) {
        writeln!(out, "\nhelp (`{}`): {}", class.name, class.help)?;
    }
    Ok(())
}

fn remarks(
    texts: impl Iterator<Item = String>,
    is_apart: bool,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    for (place, text) in texts.enumerate() {
        if place == 0 && is_apart {
            writeln!(out)?;
        }
        writeln!(out, "- {text}")?;
    }
    Ok(())
}

/// A text that Markdown and HTML take as it is.
pub(crate) fn escaped(text: &str) -> String {
    let text = harmless(text, TEXT_CHARACTERS_MAX);
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // GitHub looks for mentions in what is shown, where an escape is no longer seen.
            '@' => escaped.push_str("@<!-- -->"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => escaped.extend(['\\', character]),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_mentioned_and_nothing_is_markup() {
        assert_eq!(escaped("ask @octo-cat"), "ask @<!-- -->octo-cat");
        assert_eq!(escaped("<b>*_[x](y)"), "&lt;b&gt;\\*\\_\\[x\\](y)");
    }
}
