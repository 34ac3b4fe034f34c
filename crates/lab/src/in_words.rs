//! Formats durations, counts, and command lines for messages.

use std::time::Duration;

use crate::Command;

const COMMAND_CHARS_MAX: usize = 100;

/// Formats as "300 ms", "1.5 s", or "10 s".
pub(crate) fn duration(duration: Duration) -> String {
    if duration < Duration::from_secs(1) {
        return format!("{} ms", duration.as_millis());
    }
    if duration.subsec_millis() == 0 {
        return format!("{} s", duration.as_secs());
    }
    format!("{:.1} s", duration.as_secs_f64())
}

/// Formats as "1 process" or "3 processes".
pub(crate) fn processes(count: usize) -> String {
    if count == 1 { "1 process".to_owned() } else { format!("{count} processes") }
}

/// Command line, escaped and cut to 100 characters.
pub(crate) fn command(command: &Command) -> String {
    let words = command.argv.join(" ");
    let mut text: String = words.chars().take(COMMAND_CHARS_MAX).collect();
    if text.len() < words.len() {
        text.push('…');
    }
    escaped(&text)
}

/// Escapes control characters that a terminal would act on. Leaves quotes and backslashes unchanged.
pub(crate) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\'' | '"' | '\\' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_formatted_with_their_unit() {
        let words = [300, 1500, 10_000, 0].map(|ms| duration(Duration::from_millis(ms)));
        assert_eq!(words, ["300 ms", "1.5 s", "10 s", "0 ms"]);
    }

    #[test]
    fn command_lines_are_escaped() {
        let argv = vec!["sh".to_owned(), "-c".to_owned(), "echo 'a'\n\u{1b}[2J".to_owned()];
        let line = Command { argv, env: Vec::new(), dir: "/".into(), within: Duration::ZERO };
        assert_eq!(command(&line), "sh -c echo 'a'\\n\\u{1b}[2J");
    }
}
