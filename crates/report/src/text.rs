//! Sanitizes text from plans and peers, so that it can neither move the cursor nor break a line.

pub(crate) use judge::is_unseen;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Escapes invisible and control characters: `\n`, `\u{1b}`, `\u{202e}`.
pub fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => visible.push_str("\\n"),
            '\r' => visible.push_str("\\r"),
            '\t' => visible.push_str("\\t"),
            _ if is_unseen(character) => visible.extend(character.escape_unicode()),
            _ => visible.push(character),
        }
    }
    visible
}

/// Like `visible`, but keeps line breaks.
pub fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// Quotes a word for a shell if necessary.
pub fn shell_quote(word: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_./:=,@%+".contains(character);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Width of a text in terminal columns. Most Chinese, Japanese, and Korean characters take two.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// Pads a text on the right to `to_columns` columns.
pub(crate) fn pad_right(text: &str, to_columns: usize) -> String {
    format!("{text}{}", " ".repeat(to_columns.saturating_sub(columns(text))))
}

/// Pads a text on the left to `to_columns` columns.
pub(crate) fn pad_left(text: &str, to_columns: usize) -> String {
    format!("{}{text}", " ".repeat(to_columns.saturating_sub(columns(text))))
}

/// Width of a character in columns, at least one, so that a text never has more characters than columns.
fn character_columns(character: char) -> usize {
    character.width().unwrap_or(1).max(1)
}

/// Cuts a text to at most `columns_max` terminal columns. The last one is an ellipsis if something was cut.
pub fn shortened(text: &str, columns_max: usize) -> String {
    let mut left = columns_max;
    let fits = |character: char| {
        let fits = character_columns(character) <= left;
        left = left.saturating_sub(character_columns(character));
        fits
    };
    if text.chars().all(fits) {
        return text.to_owned();
    }
    let mut short = longest_prefix(text, columns_max.saturating_sub(1)).to_owned();
    short.push('…');
    short
}

/// Longest prefix that fits into `columns_max` columns.
fn longest_prefix(text: &str, columns_max: usize) -> &str {
    let mut left = columns_max;
    for (place, character) in text.char_indices() {
        match left.checked_sub(character_columns(character)) {
            Some(rest) => left = rest,
            None => return &text[..place],
        }
    }
    text
}

/// Makes a text from outside [`visible`], and cuts it to `columns_max` columns.
pub(crate) fn sanitize(text: &str, columns_max: usize) -> String {
    shortened(&visible(text), columns_max)
}

/// Capitalizes the first letter.
pub(crate) fn capitalize(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters.clone()).collect()
}

/// First sentence of a text, without its full stop.
pub(crate) fn first_sentence(text: &str) -> &str {
    let is_end =
        |(place, _): &(usize, &str)| text[place + 2..].chars().next().is_some_and(char::is_uppercase);
    let end = text.match_indices(". ").find(is_end).map_or(text.len(), |(place, _)| place);
    text[..end].trim_end_matches('.')
}

/// Joins up to `most` texts, and adds the number of omitted ones: `a, b and 3 more`, or with semicolons `a; b; and 3 more`.
pub(crate) fn listed(all: impl IntoIterator<Item = String>, most: usize, separator: &str) -> String {
    let mut all: Vec<String> = all.into_iter().collect();
    let more = all.len().saturating_sub(most);
    all.truncate(most);
    let more = match more {
        0 => String::new(),
        _ => format!("{} and {more} more", separator.trim_end_matches([',', ' '])),
    };
    all.join(separator) + &more
}

/// Cuts a list to `most` items, and adds one more about the number of omitted items. A single further item takes no more space than that.
pub(crate) fn truncate_list<T>(all: &mut Vec<T>, most: usize, rest: impl Fn(usize) -> T) {
    if let Some(more @ 2..) = all.len().checked_sub(most) {
        all.truncate(most);
        all.push(rest(more));
    }
}

/// Wraps a text at spaces, the first line to `first_room` columns, the others to `room`. A longer word gets a separate line, unless its
/// script allows a break anywhere. A text that fits is returned unchanged.
pub(crate) fn wrap(text: &str, first_room: usize, room: usize) -> Vec<String> {
    if columns(text) <= first_room {
        return vec![text.to_owned()];
    }
    let mut lines = vec![String::new()];
    let mut left = first_room;
    for word in text.split(' ').filter(|word| !word.is_empty()).flat_map(|word| break_word(word, room)) {
        let length = columns(word);
        let is_empty = lines.last().is_some_and(String::is_empty);
        if !is_empty && length >= left {
            lines.push(String::new());
            left = room;
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
                left = left.saturating_sub(1);
            }
            line.push_str(word);
            left = left.saturating_sub(length);
        }
    }
    lines
}

/// Splits a word that is longer than a line if it has wide characters. A line may break between any two of them.
fn break_word(word: &str, room: usize) -> Vec<&str> {
    let is_broken = columns(word) > room && word.chars().any(|character| character_columns(character) > 1);
    let (mut parts, mut rest) = (Vec::new(), word);
    while is_broken && columns(rest) > room {
        let (part, after) = rest.split_at(longest_prefix(rest, room).len());
        if part.is_empty() {
            break;
        }
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_control_characters() {
        assert_eq!(visible("a\x1b[31mb\r\n\tc\u{7f}\u{9b}"), "a\\u{1b}[31mb\\r\\n\\tc\\u{7f}\\u{9b}");
        assert_eq!(visible("\u{202e}exe\u{2066}\u{200b}\u{feff}"), "\\u{202e}exe\\u{2066}\\u{200b}\\u{feff}");
        assert_eq!(visible("Größe 天秤 “x”"), "Größe 天秤 “x”");
        assert_eq!(visible_lines("a\x1b\nb\r\n\n"), "a\\u{1b}\nb\\r\n\n");
    }

    #[test]
    fn cuts_and_wraps_long_texts() {
        assert_eq!(shortened("天秤天秤", 5), "天秤…");
        assert_eq!([shortened("天秤天秤", 8), shortened("天秤天秤", 7)], ["天秤天秤", "天秤天…"]);
        assert_eq!(shortened("e\u{301}e\u{301}e\u{301}", 3), "e\u{301}…", "no text without end");
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(wrap("one two  three incomprehensible", 7, 7), ["one two", "three", "incomprehensible"]);
        assert_eq!(wrap("one two three", 3, 9), ["one", "two three"]);
        assert_eq!(wrap("", 7, 7), [""]);
        assert_eq!(wrap("天秤天秤天秤 ok", 8, 8), ["天秤天秤", "天秤 ok"]);
        assert_eq!([pad_right("天", 4), pad_left("天", 4)], ["天  ", "  天"]);
    }
}
