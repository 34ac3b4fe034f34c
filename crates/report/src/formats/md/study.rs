//! A study in Markdown.

use std::io::Write;

use super::escaped;
use crate::Options;
use crate::error::ReportError;
use crate::study::{Item, StudyView, Tone};

/// Writes the page of a study.
pub(crate) fn write(
    view: &StudyView<'_>,
    _options: &Options,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    for (place, item) in crate::study::page(view, escaped).iter().enumerate() {
        if place > 0 {
            writeln!(out)?;
        }
        match item {
            Item::Title(text) => writeln!(out, "## {text}")?,
            Item::Head(text) => writeln!(out, "### {text}")?,
            Item::Text(Tone::Plain, text) => writeln!(out, "{text}")?,
            Item::Text(_, text) => writeln!(out, "**{text}**")?,
            Item::Facts(facts) => {
                facts.iter().try_for_each(|(name, value)| writeln!(out, "- {name}: {value}"))?;
            }
            Item::Table(table) => table.write_markdown(out)?,
            Item::Points(points) => points.iter().try_for_each(|point| writeln!(out, "- {point}"))?,
            // Two spaces at its end keep a line a line.
            Item::Quote(lines) => lines.iter().try_for_each(|line| writeln!(out, "> {line}  "))?,
        }
    }
    Ok(())
}
