//! Versions of programs.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::child;
use crate::interrupt::Interrupt;

const TIMEOUT: Duration = Duration::from_secs(10);

/// Runs `program` with these arguments, and returns the version in its output. Empty if there is none.
pub fn ask(name: &str, program: &Path, arguments: &[&str], interrupt: &Interrupt) -> String {
    let output = child::run(Command::new(program).args(arguments), TIMEOUT, interrupt);
    output
        .ok()
        .and_then(|output| version_in(&output.stdout, name).or_else(|| version_in(&output.stderr, name)))
        .unwrap_or_default()
}

/// Returns the first word that looks like a version.
fn version_in(text: &str, name: &str) -> Option<String> {
    let is_version = |word: &&str| word.contains('.') && word.contains(|c: char| c.is_ascii_digit());
    let word = text.split_whitespace().find(is_version)?.trim_end_matches([',', ';']);
    let word = word.strip_prefix(name).and_then(|rest| rest.strip_prefix('/')).unwrap_or(word);
    Some(word.chars().filter(char::is_ascii_graphic).take(40).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_program_output() {
        let found = |text, name| version_in(text, name).unwrap_or_default();
        assert_eq!(found("nginx version: nginx/1.22.1\n", "nginx"), "1.22.1");
        assert_eq!(found("wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012", "wrk"), "debian/4.1.0-3+b2");
        assert_eq!(found("This is ApacheBench, Version 2.3 <$Revision: 1 $>", "ab"), "2.3");
        assert_eq!(found("h2load nghttp2/1.52.0", "h2load"), "nghttp2/1.52.0");
        assert_eq!(found("zrk 1.4.2", "zrk"), "1.4.2");
        assert_eq!(version_in("no version at all", "x"), None);
    }
}
