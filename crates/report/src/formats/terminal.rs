//! Terminal format, for reading at once.

use std::io::{self, Write};

use super::{Format, FormatWriter};
use crate::Options;
use crate::item::{ErrorText, Fact, Item, Tone};
use crate::style::Style;
use crate::text::{columns, pad_left, pad_right, sanitize, visible, wrap};
use crate::units::count;

pub(super) const FORMAT: Format = Format {
    name: "terminal",
    sentence: "for reading here and now",
    extension: "txt",
    way: FormatWriter::Drawn { draw, escape: visible },
};

/// Minimum width. A narrower terminal is ignored.
const WIDTH_MIN: usize = 60;
const INDENT: &str = "  ";
/// Indentation of lines that belong to an indented line above.
const INDENT_TWICE: &str = "    ";
/// Max number of characters of an external text, so that it cannot push other lines off the screen.
const TEXT_CHARACTERS_MAX: usize = 600;

fn draw(items: &[Item], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let style = Style { color: options.color };
    Page { out, width: options.width.max(WIDTH_MIN), is_wide: options.is_wide, style, indent: "" }
        .items(items)
}

struct Page<'a> {
    out: &'a mut dyn Write,
    width: usize,
    /// Whether details are shown.
    is_wide: bool,
    style: Style,
    /// Indentation of every line of tables, facts, and errors.
    indent: &'static str,
}

/// Whether a blank line separates the item from the item before it.
fn needs_blank_line(before: &Item, item: &Item) -> bool {
    match item {
        Item::Head(_) | Item::Facts(_) | Item::Notes(_) | Item::Fold(..) | Item::Elsewhere(_) => true,
        Item::Table(_) => matches!(before, Item::Table(_) | Item::Facts(_)),
        _ => false,
    }
}

impl Page<'_> {
    fn items(&mut self, items: &[Item]) -> io::Result<()> {
        let is_shown = |item: &&Item| match item {
            Item::Fold(..) => self.is_wide,
            Item::Elsewhere(_) => !self.is_wide,
            _ => true,
        };
        let mut before: Option<&Item> = None;
        for item in items.iter().filter(is_shown).collect::<Vec<_>>() {
            if before.is_some_and(|before| needs_blank_line(before, item)) {
                writeln!(self.out)?;
            }
            self.item(item)?;
            before = Some(item);
        }
        Ok(())
    }

    fn item(&mut self, item: &Item) -> io::Result<()> {
        match item {
            Item::Title(text) | Item::Head(text) => self.paragraph(Tone::Strong, ["", INDENT], text),
            Item::Text(tone, text) => self.paragraph(*tone, ["", INDENT], text),
            Item::Facts(facts) => self.facts(facts),
            Item::Table(table) => table.write_terminal(self.indent, self.width, self.out),
            Item::Points(points) => points
                .iter()
                .try_for_each(|(tone, point)| self.paragraph(*tone, [INDENT, INDENT_TWICE], point)),
            Item::Drawn(points) => points.iter().try_for_each(|(point, drawing)| {
                self.paragraph(Tone::Plain, [INDENT, INDENT_TWICE], point)?;
                match drawing {
                    Some(drawing) => writeln!(self.out, "{INDENT_TWICE}{drawing}"),
                    None => Ok(()),
                }
            }),
            Item::Doubts(doubts) => doubts.iter().try_for_each(|[sentence, remedy]| {
                self.paragraph(Tone::Plain, [INDENT, INDENT_TWICE], sentence)?;
                self.paragraph(Tone::Plain, ["  help: ", INDENT_TWICE], remedy)
            }),
            Item::Quote(lines) => {
                lines.iter().try_for_each(|line| self.paragraph(Tone::Plain, ["  │ ", "  │   "], line))
            }
            Item::Errors(errors, help) => self.errors(errors, help.as_ref()),
            Item::Notes(notes) => {
                notes.iter().try_for_each(|(tone, note)| self.paragraph(*tone, ["", INDENT], note))
            }
            Item::Parts(items) => {
                self.indent = INDENT;
                items.iter().try_for_each(|item| {
                    writeln!(self.out)?;
                    self.item(item)
                })?;
                self.indent = "";
                Ok(())
            }
            Item::Fold(head, items) => {
                self.paragraph(Tone::Strong, ["", INDENT], head)?;
                self.items(items)
            }
            Item::Elsewhere(text) => {
                // A command without line breaks can be copied.
                let parts = if columns(text) > self.width {
                    text.split(" · ").collect()
                } else {
                    vec![text.as_str()]
                };
                let lines = parts.iter().flat_map(|part| wrap(part, self.width, self.width));
                lines.into_iter().try_for_each(|line| writeln!(self.out, "{}", self.style.dim(&line)))
            }
        }
    }

    fn facts(&mut self, facts: &[Fact]) -> io::Result<()> {
        let name_width = facts.iter().map(|fact| columns(&fact.name)).max().unwrap_or(0);
        let after = " ".repeat(self.indent.len() + name_width + INDENT.len());
        let mut called = "";
        for fact in facts {
            let name = if fact.name == called { "" } else { &fact.name };
            called = &fact.name;
            let name = self.style.dim(&pad_right(name, name_width));
            let drawing =
                fact.drawing.as_ref().map_or_else(String::new, |drawing| format!("{drawing}{INDENT}"));
            let room = self.width.saturating_sub(after.len());
            let words = sanitize(&fact.words, TEXT_CHARACTERS_MAX);
            let first_room = room.saturating_sub(columns(&drawing));
            for (place, line) in wrap(&words, first_room, room).iter().enumerate() {
                let line = match place {
                    0 => format!("{}{name}{INDENT}{drawing}{line}", self.indent),
                    _ => format!("{after}{line}"),
                };
                writeln!(self.out, "{}", line.trim_end())?;
            }
        }
        Ok(())
    }

    fn errors(&mut self, errors: &[ErrorText], help: Option<&[String; 2]>) -> io::Result<()> {
        let indent = self.indent;
        writeln!(self.out, "{indent}errors")?;
        let digits = errors.iter().map(|error| count(error.count).len()).max().unwrap_or(0);
        let class_width = errors.iter().map(|error| columns(&error.class)).max().unwrap_or(0);
        for error in errors {
            let (count, class) =
                (pad_left(&count(error.count), digits), pad_right(&error.class, class_width));
            let before = format!("{indent}{count}  {class}  ");
            let after = " ".repeat(columns(&before));
            self.paragraph(Tone::Plain, [&before, &after], &error.message)?;
        }
        match help {
            Some([class, help]) => {
                self.paragraph(Tone::Plain, [&format!("{indent}help ({class}): "), INDENT_TWICE], help)
            }
            None => Ok(()),
        }
    }

    /// Writes a text from any source: sanitized, cut, wrapped, and in the color of its tone. The array has the prefixes of the
    /// first line and of the others.
    fn paragraph(&mut self, tone: Tone, [before, after]: [&str; 2], text: &str) -> io::Result<()> {
        let text = sanitize(text, TEXT_CHARACTERS_MAX);
        let room = |before: &str| self.width.saturating_sub(columns(before)).max(20);
        for (place, line) in wrap(&text, room(before), room(after)).iter().enumerate() {
            let line = format!("{}{line}", if place == 0 { before } else { after });
            let line = line.trim_end();
            let line = match tone {
                Tone::Plain => line.to_owned(),
                Tone::Strong => self.style.bold(line),
                Tone::Good => self.style.good(line),
                Tone::Doubtful => self.style.doubtful(line),
                Tone::Bad => self.style.bad(line),
            };
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }
}
