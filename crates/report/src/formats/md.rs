//! Markdown: for a pull request or a wiki.

use std::io::Write;

use crate::Options;
use crate::answer::Answer;
use crate::error::ReportError;
use crate::figures::ErrorLine;
use crate::text::harmless;
use crate::units::{count, rate};
use crate::view::View;
use crate::{
    answer, bottleneck, breaches, comparison, outage, over_time, statements, steadiness, system, times,
    transactions, words,
};

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
    writeln!(out, "### {}\n", escaped(&view.run.new.title))?;
    if view.place().is_some() {
        writeln!(out, "{}\n", escaped(&view.name()))?;
    }
    if let Some(failed) = breaches::of_run(view) {
        writeln!(out, "**{}**\n", escaped(&failed))?;
    }
    let Answer { text, how_sure, .. } = answer::of_run(view);
    writeln!(out, "**Answer: {text}** ({how_sure})\n")?;
    writeln!(out, "{}\n", escaped(&words::load(view)))?;
    writeln!(out, "- {}", escaped(&words::verdict(view)))?;
    for cause in &view.validity.causes {
        writeln!(out, "- {} → {}", escaped(&cause.sentence), escaped(&cause.remedy))?;
    }
    if let Some(failure) = view.run.ending.as_ref().and_then(|ending| ending.failure.as_ref()) {
        writeln!(out, "- {} → {}", escaped(&words::failure(failure)), escaped(&failure.way_out))?;
    }
    if let Some(limit) = bottleneck::worth_telling(view) {
        writeln!(out, "- suspected limit: {}: {}", limit.what, escaped(&limit.because))?;
    }
    for gate in view.run.gates() {
        writeln!(out, "- {}", escaped(&words::gate(gate)))?;
    }
    writeln!(out)?;
    if view.whole.samples() == 0 {
        writeln!(out, "Response and service time: n/a (0 samples)")?;
    } else {
        times::table(&view.whole).write_markdown(out)?;
    }
    errors(view, out)?;
    remarks(view.run.new.stamps.iter().chain(&view.notes).map(|text| escaped(text)), out)?;
    details(view, out)
}

/// What few need to see at once: accounts, costs, the course over time, steps.
fn details(view: &View<'_>, out: &mut dyn Write) -> Result<(), ReportError> {
    writeln!(out, "\n<details>\n<summary>All figures</summary>\n")?;
    let [planned, sent] = words::identity(&view.whole.counts);
    writeln!(out, "- {planned}\n- {sent}")?;
    let throughput = view.whole.answers_per_s().map(rate);
    let answers = view.noun().answers;
    writeln!(out, "- throughput {} {answers}/s", throughput.as_deref().unwrap_or("n/a"))?;
    if let Some(words) = transactions::without_connect(view) {
        writeln!(out, "- {words}")?;
    }
    for (name, words) in transactions::facts(&view.whole) {
        writeln!(out, "- {name}: {words}")?;
    }
    for [name, bars, ends] in over_time::lines(view.run)? {
        writeln!(out, "- {name} over time `{bars}` {ends}")?;
    }
    if let Some(words) = outage::words(view) {
        writeln!(out, "- outage: {words}")?;
    }
    if let Some(seen) = steadiness::of(view) {
        writeln!(out, "- steady: {}", escaped(&steadiness::words(seen)))?;
    }
    if let Some(ending) = &view.run.ending {
        writeln!(out, "- generator: {}", words::generator(view, &ending.generator))?;
    }
    for line in system::words(view) {
        writeln!(out, "- system: {}", escaped(&line))?;
    }
    if let Some(cores) = words::cores(view) {
        writeln!(out, "- cores: {cores}")?;
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
    remarks(comparison::warning(views).into_iter().chain(each), out)
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

fn remarks(texts: impl Iterator<Item = String>, out: &mut dyn Write) -> Result<(), ReportError> {
    for (place, text) in texts.enumerate() {
        if place == 0 {
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
