//! A study in Markdown.

use std::io::{self, Write};

use super::escaped;
use crate::Options;
use crate::error::ReportError;
use crate::study::{Item, Layout, StudyView, Tone};

/// Writes the page of a study.
pub(crate) fn write(
    view: &StudyView<'_>,
    _options: &Options,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let items = crate::study::page(view, escaped, Layout::Folded)?;
    Ok(write_items(&items, 2, out)?)
}

/// Items with an empty line between them; the first heads are of this level.
fn write_items(items: &[Item], level: usize, out: &mut dyn Write) -> io::Result<()> {
    for (place, item) in items.iter().enumerate() {
        let before = place.checked_sub(1).map(|before| &items[before]);
        // Lists that follow one another are one list: apart, each of their lines would be a paragraph.
        if before.is_some_and(|before| !(is_list(before) && is_list(item))) {
            writeln!(out)?;
        }
        match item {
            Item::Title(text) => writeln!(out, "{} {text}", "#".repeat(level))?,
            Item::Head(text) => writeln!(out, "{} {text}", "#".repeat(level + 1))?,
            Item::Text(Tone::Plain, text) => writeln!(out, "{text}")?,
            Item::Text(_, text) => writeln!(out, "**{text}**")?,
            Item::Facts(facts) => {
                facts.iter().try_for_each(|(name, value)| writeln!(out, "- {name}: {value}"))?;
            }
            Item::Table(table) => table.write_markdown(out)?,
            Item::Points(points) => points.iter().try_for_each(|point| writeln!(out, "- {point}"))?,
            Item::Drawn(points) => points.iter().try_for_each(|(point, drawing)| match drawing {
                // Two spaces at its end keep a line a line.
                Some(drawing) => writeln!(out, "- {point}  \n  `{drawing}`"),
                None => writeln!(out, "- {point}"),
            })?,
            Item::Quote(lines) => lines.iter().try_for_each(|line| writeln!(out, "> {line}  "))?,
            Item::Fold(summary, items) => {
                // Markdown within HTML takes an empty line before it and after it.
                writeln!(out, "<details>\n<summary>{summary}</summary>\n")?;
                write_items(items, level + 1, out)?;
                writeln!(out, "\n</details>")?;
            }
        }
    }
    Ok(())
}

fn is_list(item: &Item) -> bool {
    matches!(item, Item::Facts(_) | Item::Points(_) | Item::Drawn(_))
}
