//! A study in the terminal.

use std::io::{self, Write};

use super::{INDENT, Page, page};
use crate::Options;
use crate::error::ReportError;
use crate::study::{Item, Layout, StudyView, Tone};

/// Writes the page of a study.
pub(crate) fn write(view: &StudyView<'_>, options: &Options, out: &mut dyn Write) -> Result<(), ReportError> {
    let mut page = page(options, out);
    for (place, item) in crate::study::page(view, str::to_owned, Layout::Whole)?.iter().enumerate() {
        let is_apart = place > 0 && matches!(item, Item::Head(_) | Item::Facts(_));
        if is_apart {
            writeln!(page.out)?;
        }
        page.item(item)?;
    }
    Ok(())
}

impl Page<'_> {
    fn item(&mut self, item: &Item) -> io::Result<()> {
        match item {
            Item::Title(text) | Item::Head(text) => self.toned(Tone::Strong, "", text),
            Item::Text(tone, text) => self.toned(*tone, "", text),
            Item::Facts(facts) => {
                let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
                facts.iter().try_for_each(|(name, value)| {
                    let before = format!("{name:<width$}  ");
                    self.paragraph(&before, &" ".repeat(before.chars().count()), value)
                })
            }
            Item::Table(table) => table.write_terminal("", self.width, self.out),
            Item::Points(points) => points.iter().try_for_each(|point| self.paragraph(INDENT, "    ", point)),
            Item::Drawn(points) => points.iter().try_for_each(|(point, drawing)| {
                self.paragraph(INDENT, "    ", point)?;
                match drawing {
                    Some(drawing) => writeln!(self.out, "    {drawing}"),
                    None => Ok(()),
                }
            }),
            Item::Fold(head, items) => {
                self.toned(Tone::Strong, "", head)?;
                items.iter().try_for_each(|item| self.item(item))
            }
            Item::Quote(lines) => lines.iter().try_for_each(|line| self.paragraph("  │ ", "  │   ", line)),
        }
    }

    /// A paragraph in the colour of its tone.
    pub(super) fn toned(&mut self, tone: Tone, before: &str, text: &str) -> io::Result<()> {
        let style = self.style;
        let mut plain = Vec::new();
        Page { out: &mut plain, width: self.width, style }.paragraph(before, INDENT, text)?;
        for line in String::from_utf8_lossy(&plain).lines() {
            let line = match tone {
                Tone::Plain => line.to_owned(),
                Tone::Strong => style.bold(line),
                Tone::Doubtful => style.doubtful(line),
                Tone::Bad => style.bad(line),
            };
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }
}
