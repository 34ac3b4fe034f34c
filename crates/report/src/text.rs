//! Text from plans and peers, made harmless: whatever it holds, it can neither move the cursor nor break a line.

pub(crate) use judge::is_unseen;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The text with everything invisible or directing written out: `\n`, `\u{1b}`, `\u{202e}`.
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

/// The same of a text that has lines of its own: they stay.
pub fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// A word as a shell reads it.
pub fn in_shell(word: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_./:=,@%+".contains(character);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// How many columns of a terminal a text takes: most characters of Chinese, Japanese, and Korean take two.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// The text and spaces up to so many columns.
pub(crate) fn padded(text: &str, to_columns: usize) -> String {
    format!("{text}{}", " ".repeat(to_columns.saturating_sub(columns(text))))
}

/// Spaces and the text, in so many columns.
pub(crate) fn padded_left(text: &str, to_columns: usize) -> String {
    format!("{}{text}", " ".repeat(to_columns.saturating_sub(columns(text))))
}

/// The room that a character takes: at least a column, so that no text is longer than it is wide.
fn room_of(character: char) -> usize {
    character.width().unwrap_or(1).max(1)
}

/// Cuts a text to at most `columns_max` columns of a terminal, the last of them an ellipsis if it had more.
pub fn shortened(text: &str, columns_max: usize) -> String {
    let mut left = columns_max;
    let fits = |character: char| {
        let fits = room_of(character) <= left;
        left = left.saturating_sub(room_of(character));
        fits
    };
    if text.chars().all(fits) {
        return text.to_owned();
    }
    let mut short = beginning(text, columns_max.saturating_sub(1)).to_owned();
    short.push('…');
    short
}

/// As much of the beginning as fits in so many columns.
fn beginning(text: &str, columns_max: usize) -> &str {
    let mut left = columns_max;
    for (place, character) in text.char_indices() {
        match left.checked_sub(room_of(character)) {
            Some(rest) => left = rest,
            None => return &text[..place],
        }
    }
    text
}

/// A text from outside for one place: [`visible`], and at most so many columns.
pub(crate) fn harmless(text: &str, columns_max: usize) -> String {
    shortened(&visible(text), columns_max)
}

/// The text with a capital letter at its beginning.
pub(crate) fn first_upper(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters.clone()).collect()
}

/// The first sentence of several, without its full stop.
pub(crate) fn first_sentence(text: &str) -> &str {
    let is_end =
        |(place, _): &(usize, &str)| text[place + 2..].chars().next().is_some_and(char::is_uppercase);
    let end = text.match_indices(". ").find(is_end).map_or(text.len(), |(place, _)| place);
    text[..end].trim_end_matches('.')
}

/// `a, b and 3 more`, or with semicolons `a; b; and 3 more`: at most so many, and how many more there are.
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

/// At most so many, and then one more about how many are left out.
pub(crate) fn cut_to<T>(all: &mut Vec<T>, most: usize, rest: impl Fn(usize) -> T) {
    if let Some(more @ 1..) = all.len().checked_sub(most) {
        all.truncate(most);
        all.push(rest(more));
    }
}

/// Lines broken at spaces, the first with so much room, the others with so much; a longer word has a line of its own, unless it is
/// of a script that breaks anywhere. A text that fits stays as it is.
pub(crate) fn wrapped(text: &str, first_room: usize, room: usize) -> Vec<String> {
    if columns(text) <= first_room {
        return vec![text.to_owned()];
    }
    let mut lines = vec![String::new()];
    let mut left = first_room;
    for word in text.split(' ').filter(|word| !word.is_empty()).flat_map(|word| broken(word, room)) {
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

/// A word that is longer than a line, in parts where it has wide characters, which may be broken between any two.
fn broken(word: &str, room: usize) -> Vec<&str> {
    let is_broken = columns(word) > room && word.chars().any(|character| room_of(character) > 1);
    let (mut parts, mut rest) = (Vec::new(), word);
    while is_broken && columns(rest) > room {
        let (part, after) = rest.split_at(beginning(rest, room).len());
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
    fn what_directs_a_terminal_is_written_out() {
        assert_eq!(visible("a\x1b[31mb\r\n\tc\u{7f}\u{9b}"), "a\\u{1b}[31mb\\r\\n\\tc\\u{7f}\\u{9b}");
        assert_eq!(visible("\u{202e}exe\u{2066}\u{200b}\u{feff}"), "\\u{202e}exe\\u{2066}\\u{200b}\\u{feff}");
        assert_eq!(visible("Größe 天秤 “x”"), "Größe 天秤 “x”");
        assert_eq!(visible_lines("a\x1b\nb\r\n\n"), "a\\u{1b}\nb\\r\n\n");
    }

    #[test]
    fn long_texts_are_cut_and_wrapped() {
        assert_eq!(shortened("天秤天秤", 5), "天秤…");
        assert_eq!([shortened("天秤天秤", 8), shortened("天秤天秤", 7)], ["天秤天秤", "天秤天…"]);
        assert_eq!(shortened("e\u{301}e\u{301}e\u{301}", 3), "e\u{301}…", "no text without end");
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(
            wrapped("one two  three incomprehensible", 7, 7),
            ["one two", "three", "incomprehensible"]
        );
        assert_eq!(wrapped("one two three", 3, 9), ["one", "two three"]);
        assert_eq!(wrapped("", 7, 7), [""]);
        assert_eq!(wrapped("天秤天秤天秤 ok", 8, 8), ["天秤天秤", "天秤 ok"]);
        assert_eq!([padded("天", 4), padded_left("天", 4)], ["天  ", "  天"]);
    }
}
