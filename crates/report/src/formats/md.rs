//! Markdown format, for a pull request or a wiki.

use std::io::{self, Write};

use super::{Format, FormatWriter};
use crate::Options;
use crate::item::{Item, Tone};
use crate::text::sanitize;
use crate::units::count;

pub(super) const FORMAT: Format = Format {
    name: "md",
    sentence: "Markdown, for a pull request",
    extension: "md",
    way: FormatWriter::Drawn { draw, escape: escaped },
};

/// Maximum number of characters of a text from outside.
const TEXT_CHARACTERS_MAX: usize = 300;
/// Heading level of the title.
const TITLE_LEVEL: usize = 2;

fn draw(items: &[Item], _options: &Options, out: &mut dyn Write) -> io::Result<()> {
    write_items(items, TITLE_LEVEL, out)
}

/// Writes items with an empty line between them. Headings begin one level below `level`.
fn write_items(items: &[Item], level: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut before: Option<&Item> = None;
    // Folded details can be unfolded, so that no hint about them is needed.
    for item in items.iter().filter(|item| !matches!(item, Item::Elsewhere(_))) {
        // Consecutive lists become one list. With an empty line between them, each item would be a paragraph.
        if before.is_some_and(|before| !(is_list(before) && is_list(item))) {
            writeln!(out)?;
        }
        write_item(item, level, out)?;
        before = Some(item);
    }
    Ok(())
}

fn is_list(item: &Item) -> bool {
    matches!(item, Item::Facts(_) | Item::Points(_) | Item::Drawn(_) | Item::Doubts(_) | Item::Notes(_))
}

fn write_item(item: &Item, level: usize, out: &mut dyn Write) -> io::Result<()> {
    match item {
        Item::Title(text) => writeln!(out, "{} {text}", "#".repeat(level)),
        Item::Head(text) => writeln!(out, "{} {text}", "#".repeat(level + 1)),
        Item::Text(Tone::Plain | Tone::Good, text) => writeln!(out, "{text}"),
        Item::Text(_, text) => writeln!(out, "**{text}**"),
        Item::Facts(facts) => facts.iter().try_for_each(|fact| {
            let drawing = fact.drawing.as_ref().map_or_else(String::new, |drawing| format!("`{drawing}` "));
            writeln!(out, "- {}: {drawing}{}", fact.name, fact.words)
        }),
        Item::Table(table) => table.write_markdown(out),
        Item::Points(points) | Item::Notes(points) => {
            points.iter().try_for_each(|(_, point)| writeln!(out, "- {point}"))
        }
        Item::Drawn(points) => points.iter().try_for_each(|(point, drawing)| match drawing {
            // Two trailing spaces make a line break.
            Some(drawing) => writeln!(out, "- {point}  \n  `{drawing}`"),
            None => writeln!(out, "- {point}"),
        }),
        Item::Doubts(doubts) => {
            doubts.iter().try_for_each(|[sentence, remedy]| writeln!(out, "- {sentence}  \n  help: {remedy}"))
        }
        Item::Quote(lines) => lines.iter().try_for_each(|line| writeln!(out, "> {line}  ")),
        Item::Errors(errors, help) => {
            writeln!(out, "| errors | class | message |\n|--:|:--|:--|")?;
            errors.iter().try_for_each(|error| {
                writeln!(out, "| {} | {} | {} |", count(error.count), error.class, error.message)
            })?;
            match help {
                Some([class, help]) => writeln!(out, "\nhelp (`{class}`): {help}"),
                None => Ok(()),
            }
        }
        Item::Parts(items) => write_items(items, level, out),
        Item::Fold(summary, items) => {
            // Markdown within HTML needs an empty line before and after it.
            writeln!(out, "<details>\n<summary>{summary}</summary>\n")?;
            write_items(items, level + 1, out)?;
            writeln!(out, "\n</details>")
        }
        Item::Elsewhere(_) => Ok(()),
    }
}

/// Escapes Markdown and HTML.
fn escaped(text: &str) -> String {
    let text = sanitize(text, TEXT_CHARACTERS_MAX);
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // GitHub searches the rendered text for mentions, in which the escapes are removed.
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
    fn escapes_mentions_and_markup() {
        assert_eq!(escaped("ask @octo-cat"), "ask @<!-- -->octo-cat");
        assert_eq!(escaped("<b>*_[x](y)"), "&lt;b&gt;\\*\\_\\[x\\](y)");
    }
}
