//! Text from files, made harmless: whatever it holds, it can neither move a cursor nor break a line.

use std::fmt::Write as _;

pub(crate) use judge::is_unseen;

/// A text with everything unseen written out, so that no file can move the cursor of the reader of its errors.
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
