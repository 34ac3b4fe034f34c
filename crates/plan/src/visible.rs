//! Escapes text from files, so that it can neither move the cursor nor break a line.

use std::fmt::Write as _;

pub(crate) use judge::is_unseen;

/// Escapes all invisible characters of a text, so that a file cannot move the cursor of a terminal that shows its errors.
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
