//! Text from files, made harmless: whatever it holds, it can neither move a cursor nor break a line.

use std::fmt::Write as _;

/// Characters that act on their surroundings instead of being seen.
pub(crate) fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// A text with everything unseen written out, so that no file can move the cursor of whoever reads its faults.
pub(crate) fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for character in text.chars() {
        if is_unseen(character) {
            let _ = write!(visible, "{}", character.escape_default());
        } else {
            visible.push(character);
        }
    }
    visible
}
