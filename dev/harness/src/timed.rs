//! Runs a program pinned to one core under GNU time.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::time_file;

const ERROR_CHARS_MAX: usize = 200;

/// Returns the command `taskset -c CORE time …`, to which the caller adds the tool's command. Removes the time file of an earlier
/// turn, so that it is not mistaken for the new one.
pub fn pinned(taskset: &Path, time: &Path, core: usize, time_file: &Path) -> Command {
    let _ = fs::remove_file(time_file);
    let mut command = Command::new(taskset);
    command.args(["-c", &core.to_string()]).arg(time);
    command.args(["-f", time_file::FORMAT, "-o"]).arg(time_file);
    command
}

/// Returns the last line of a failed tool's output, from standard error if it is not empty.
pub fn last_words(stderr: &str, stdout: &str) -> String {
    let last =
        |text: &str| text.lines().rfind(|line| !line.trim().is_empty()).map(str::trim).map(str::to_owned);
    let words = last(stderr).or_else(|| last(stdout)).unwrap_or_else(|| "it said nothing".to_owned());
    words.chars().map(|c| if c.is_control() { ' ' } else { c }).take(ERROR_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_are_one_short_line() {
        assert_eq!(
            last_words("first\n  apr_socket: closed\u{7} (104)\n\n", "out"),
            "apr_socket: closed  (104)"
        );
        assert_eq!(last_words("\n", "usage\n"), "usage");
        assert_eq!(last_words("", ""), "it said nothing");
        assert_eq!(last_words(&"x".repeat(9_999), "").len(), ERROR_CHARS_MAX);
    }
}
