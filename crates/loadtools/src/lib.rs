//! Parsers for the output of other load generators, one file for each. The crate runs no tool.
//!
//! Figures are taken as printed. A figure that a tool does not print, or rounds to 0, is `None`. Unknown output is an error, never
//! a figure of 0.

mod ab;
mod figures;
mod hey;
mod jmeter;
mod k6;
mod oha;
mod pgbench;
mod sysbench;
mod text;
mod words;
mod wrk;

use std::path::Path;

pub use figures::{Figures, ParseError, Times, ToolError};
pub use words::{Account, ErrorWord};

/// A load generator with a parser for its output.
#[derive(Debug)]
pub struct Tool {
    /// Name in reports.
    pub name: &'static str,
    /// Names of its program in commands, without folder and extension.
    pub programs: &'static [&'static str],
    /// Whether it counts database transactions; else requests.
    pub counts_transactions: bool,
    /// Description of what its times measure, as the end of a sentence.
    pub times: &'static str,
    /// Command or advice to install it.
    pub install: &'static str,
    /// Its words for requests that did not succeed.
    pub words: &'static [&'static ErrorWord],
    /// Parses its whole output.
    pub read: fn(&str) -> Result<Figures, ParseError>,
}

/// Every load generator with a parser.
pub const TOOLS: &[Tool] =
    &[wrk::WRK, ab::AB, hey::HEY, oha::OHA, k6::K6, jmeter::JMETER, pgbench::PGBENCH, sysbench::SYSBENCH];

/// Finds the tool that a command runs, by the first word that is a tool's program. `taskset -c 1 wrk` runs wrk, and `java -jar
/// ApacheJMeter.jar` runs JMeter.
pub fn find_in_command<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<&'static Tool> {
    let program = |word: &str| Some(Path::new(word).file_stem()?.to_str()?.to_owned());
    words.into_iter().find_map(|word| {
        let program = program(word)?;
        TOOLS.iter().find(|tool| tool.programs.contains(&program.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_tool_of_a_command() {
        let named = |command: &str| find_in_command(command.split(' ')).map(|tool| tool.name);
        assert_eq!(named("wrk -t1 http://127.0.0.1:1/"), Some("wrk"));
        assert_eq!(named("taskset -c 1 /usr/lib/postgresql/15/bin/pgbench -S"), Some("pgbench"));
        assert_eq!(named("java -Xmx512m -jar home/bin/ApacheJMeter.jar -n"), Some("JMeter"));
        assert_eq!(named("jmeter.sh -n"), Some("JMeter"));
        assert_eq!(named("curl http://127.0.0.1/wrk/"), Some("wrk"), "a word that names a program");
        assert_eq!(named("curl http://127.0.0.1/"), None);
    }

    #[test]
    fn program_names_of_tools_are_unique() {
        let programs: Vec<&str> = TOOLS.iter().flat_map(|tool| tool.programs).copied().collect();
        for (place, program) in programs.iter().enumerate() {
            assert!(!programs[..place].contains(program), "{program}");
        }
    }

    #[test]
    fn documentation_lists_every_tool() {
        let page = include_str!("../../../docs/tools.md");
        for Tool { name, times, install, .. } in TOOLS {
            assert!(page.contains(&format!("| {name} | {times} | ")), "{name}");
            assert!(page.contains(install), "{name}: {install}");
        }
        let rows =
            page.lines().take_while(|line| *line != "## The command").filter(|line| line.starts_with("| "));
        assert_eq!(rows.count(), TOOLS.len() + 1, "a row for each, and the heads");
    }

    #[test]
    fn error_words_are_unique_and_have_a_meaning() {
        for Tool { name, words, .. } in TOOLS {
            for (place, word) in words.iter().enumerate() {
                assert!(!word.word.is_empty() && !word.meaning.ends_with('.'), "{name}: {word:?}");
                assert!(words[..place].iter().all(|other| other.word != word.word), "{name}: {word:?}");
            }
        }
    }

    #[test]
    fn documentation_lists_every_error_word() {
        let rows = TOOLS.iter().flat_map(|tool| tool.words.iter().map(move |word| (tool.name, word)));
        let rows = rows.map(|(tool, ErrorWord { word, account, meaning })| {
            let account = match account {
                Account::Errors(class) => format!("`{class}`"),
                Account::Unfinished => "unfinished".to_owned(),
                Account::Note => "a note".to_owned(),
            };
            format!("| {tool} | {word} | {account} | {meaning} |\n")
        });
        let head = "| tool | its word | counted as | meaning |\n|---|---|---|---|\n".to_owned();
        let table: String = std::iter::once(head).chain(rows).collect();
        rules::files::assert_table("docs/tools.md", &table);
    }

    /// Empty, random, and cut output, and huge numbers, give an error or honest figures, never a panic.
    #[test]
    fn garbage_is_an_error() {
        let recorded = [
            include_str!("recorded/wrk-latency.txt"),
            include_str!("recorded/ab-half.txt"),
            include_str!("recorded/hey-ok.txt"),
            include_str!("recorded/jmeter-long.txt"),
            include_str!("recorded/pgbench-rate.txt"),
            include_str!("recorded/sysbench-read-only.txt"),
            include_str!("recorded/oha-ok.txt"),
            include_str!("recorded/k6-ok.txt"),
            include_str!("recorded/k6-half.txt"),
        ];
        for tool in TOOLS {
            for text in ["", "\n\n", "Segmentation fault", "{", "{}", "[1]", "\u{0}\u{7f}é NaN inf -1 1e999"]
            {
                assert!((tool.read)(text).is_err(), "{} {text:?}", tool.name);
            }
            for text in recorded {
                for digit in ["9", "-", "é", "99999999999999999999"] {
                    let broken = text.replace(|character: char| character.is_ascii_digit(), digit);
                    let figures = (tool.read)(&broken);
                    assert!(figures.is_err() || digit == "9", "{} {digit:?}: {figures:?}", tool.name);
                }
                let cuts = (0..text.len()).step_by(7).filter(|end| text.is_char_boundary(*end));
                cuts.for_each(|end| drop((tool.read)(&text[..end])));
            }
        }
    }
}
