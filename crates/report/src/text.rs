//! Text from plans and peers, made harmless: whatever it holds, it can neither move the cursor nor break a line.

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

/// Whether a character acts on its surroundings instead of being seen: control characters, direction marks,
/// zero-width characters, line separators, tags.
pub(crate) fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// At most so many characters of a text, the last of them an ellipsis if it had more.
pub(crate) fn shortened(text: &str, characters_max: usize) -> String {
    if text.chars().count() <= characters_max {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(characters_max.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// A text from outside for one place: [`visible`], and at most so many characters.
pub(crate) fn harmless(text: &str, characters_max: usize) -> String {
    shortened(&visible(text), characters_max)
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

/// Lines broken at spaces, the first with so much room, the others with so much; a longer word has a line of its own. A text that
/// fits stays as it is.
pub(crate) fn wrapped(text: &str, first_room: usize, room: usize) -> Vec<String> {
    if text.chars().count() <= first_room {
        return vec![text.to_owned()];
    }
    let mut lines = vec![String::new()];
    let mut left = first_room;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let length = word.chars().count();
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
        assert_eq!(shortened("天秤天秤", 3), "天秤…");
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(
            wrapped("one two  three incomprehensible", 7, 7),
            ["one two", "three", "incomprehensible"]
        );
        assert_eq!(wrapped("one two three", 3, 9), ["one", "two three"]);
        assert_eq!(wrapped("", 7, 7), [""]);
    }
}
