//! Splits a file of SQL into the statements to send, like the clients of each database.
//!
//! Bodies of triggers and routines stay whole, whether the file changes the delimiter around them or not. Commands of a client and rows
//! within the file are errors, because no server reads them.

use crate::databases::Engine;
use crate::split::{is_word_byte, quoted_end};

/// A statement of a file, without its delimiter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStatement<'a> {
    /// Text of the statement, without white space around it.
    pub text: &'a str,
    /// Line of its first word, counted from 1.
    pub line: usize,
}

/// Error for a text that is not a statement of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadStatements {
    /// Line of the text, counted from 1.
    pub line: usize,
    /// Description of the text.
    pub what: String,
    /// Advice.
    pub help: &'static str,
}

/// Objects with a body, in which semicolons do not end the statement.
const WITH_BODIES: [&str; 5] = ["TRIGGER", "PROCEDURE", "FUNCTION", "EVENT", "PACKAGE"];
/// Words before the kind of an object in CREATE: `CREATE OR REPLACE DEFINER = a@b TRIGGER`.
const HEAD_WORDS_MAX: usize = 10;
/// Blocks of MySQL that end with END and their own name.
const NAMED_BLOCKS: [&str; 4] = ["IF", "LOOP", "WHILE", "REPEAT"];

/// Splits a file into statements.
///
/// # Errors
///
/// A command of psql, or rows within the file.
pub fn statements(text: &str, engine: Engine) -> Result<Vec<FileStatement<'_>>, BadStatements> {
    let mut walk =
        StatementSplitter { text, engine, delimiter: ";", head: Head::default(), found: Vec::new() };
    walk.all()?;
    Ok(walk.found)
}

struct StatementSplitter<'a> {
    text: &'a str,
    engine: Engine,
    delimiter: &'a str,
    head: Head,
    found: Vec<FileStatement<'a>>,
}

/// Progress within a statement.
#[derive(Default)]
struct Head {
    /// Start of its first word. `None` before it.
    from: Option<usize>,
    words: usize,
    is_create: bool,
    has_body: bool,
    depth: u32,
    follows_end: bool,
    is_copy: bool,
    is_rows: bool,
}

impl<'a> StatementSplitter<'a> {
    fn all(&mut self) -> Result<(), BadStatements> {
        let (bytes, mut at) = (self.text.as_bytes(), 0);
        while at < bytes.len() {
            if let Some(end) = quoted_end(self.text, at, self.engine) {
                let is_comment = matches!(bytes[at], b'-' | b'#' | b'/');
                // MySQL executes the text of these comments.
                if !is_comment || self.text[at..].starts_with("/*!") {
                    self.head.from.get_or_insert(at);
                }
                at = end;
            } else if self.text[at..].starts_with(self.delimiter)
                && (self.head.depth == 0 || self.delimiter != ";")
            {
                self.end(at)?;
                at += self.delimiter.len();
            } else if is_word_byte(bytes[at]) {
                let end = at + bytes[at..].iter().take_while(|byte| is_word_byte(**byte)).count();
                at = self.word(at, end);
            } else {
                self.other(at)?;
                at += self.text[at..].chars().next().map_or(1, char::len_utf8);
            }
        }
        self.end(bytes.len())
    }

    /// Takes a word. Returns the place to continue from.
    fn word(&mut self, at: usize, end: usize) -> usize {
        let word = &self.text[at..end];
        let is = |known: &str| word.eq_ignore_ascii_case(known);
        if self.head.from.is_none()
            && is("DELIMITER")
            && self.engine.dialect().lexical_rules.has_hash_comments
        {
            let rest = &self.text[end..];
            let line = rest.lines().next().unwrap_or_default();
            self.delimiter = Some(line.trim()).filter(|text| !text.is_empty()).unwrap_or(";");
            return end + line.len();
        }
        let head = &mut self.head;
        head.from.get_or_insert(at);
        head.words += 1;
        match head.words {
            1 => (head.is_create, head.is_copy) = (is("CREATE"), is("COPY")),
            2..=HEAD_WORDS_MAX if head.is_create => {
                head.has_body |= WITH_BODIES.iter().any(|known| is(known));
            }
            _ => {}
        }
        head.is_rows |= head.is_copy && is("STDIN");
        if head.has_body {
            let is_named_end = head.follows_end && NAMED_BLOCKS.iter().any(|known| is(known));
            let is_case = is("CASE") && !head.follows_end && head.depth > 0;
            if is_named_end || is("BEGIN") || is_case {
                head.depth += 1;
            } else if is("END") {
                head.depth = head.depth.saturating_sub(1);
            }
        }
        head.follows_end = is("END");
        end
    }

    fn other(&mut self, at: usize) -> Result<(), BadStatements> {
        let byte = self.text.as_bytes()[at];
        if byte.is_ascii_whitespace() {
            return Ok(());
        }
        if byte == b'\\' && self.head.from.is_none() {
            let command = self.text[at..].split_whitespace().next().unwrap_or_default();
            let what = format!("{command} is a command of psql, and no statement");
            return Err(BadStatements { line: self.line(at), what, help: "remove it" });
        }
        self.head.from.get_or_insert(at);
        self.head.follows_end = false;
        Ok(())
    }

    fn end(&mut self, at: usize) -> Result<(), BadStatements> {
        let head = std::mem::take(&mut self.head);
        let Some(from) = head.from else { return Ok(()) };
        if head.is_rows {
            let what = "COPY … FROM stdin has its rows in the file".to_owned();
            let help = "write the rows as INSERT, or as a CSV file under `csv`";
            return Err(BadStatements { line: self.line(from), what, help });
        }
        self.found.push(FileStatement { text: self.text[from..at].trim_end(), line: self.line(from) });
        Ok(())
    }

    fn line(&self, at: usize) -> usize {
        self.text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1
    }
}

/// Name of the table that a statement creates, as written. `None` if it creates none.
pub fn created_table(statement: &str) -> Option<&str> {
    let mut words = statement.split_whitespace();
    if !words.next()?.eq_ignore_ascii_case("CREATE") {
        return None;
    }
    let is = |word: &str, known: &[&str]| known.iter().any(|known| word.eq_ignore_ascii_case(known));
    let mut word = words.next()?;
    while is(
        word,
        &["OR", "REPLACE", "GLOBAL", "LOCAL", "TEMP", "TEMPORARY", "UNLOGGED", "VIRTUAL", "FOREIGN"],
    ) {
        word = words.next()?;
    }
    if !is(word, &["TABLE"]) {
        return None;
    }
    word = words.next()?;
    while is(word, &["IF", "NOT", "EXISTS"]) {
        word = words.next()?;
    }
    Some(word.split('(').next().unwrap_or(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, engine: Engine) -> Vec<&str> {
        statements(text, engine).unwrap().into_iter().map(|statement| statement.text).collect()
    }

    #[test]
    fn statements_have_the_line_of_their_first_word() {
        let text = "-- a schema;\n\nCREATE TABLE t (a int);\n/* ; */ INSERT INTO t\nVALUES (';');\n-- end\n";
        let found = statements(text, Engine::PostgreSql).unwrap();
        assert_eq!(found[0], FileStatement { text: "CREATE TABLE t (a int)", line: 3 });
        assert_eq!(found[1], FileStatement { text: "INSERT INTO t\nVALUES (';')", line: 4 });
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn bodies_of_triggers_and_routines_stay_whole() {
        let trigger = "CREATE TRIGGER r AFTER INSERT ON t BEGIN UPDATE t SET a = CASE a WHEN 1 THEN 2 END; DELETE FROM u; END";
        assert_eq!(texts(&format!("{trigger}; SELECT 1"), Engine::Sqlite), [trigger, "SELECT 1"]);
        let procedure = "CREATE PROCEDURE p() BEGIN IF a THEN SELECT 1; END IF; CASE a WHEN 1 THEN SELECT 2; END CASE; END";
        assert_eq!(texts(&format!("{procedure};\nSELECT 1;"), Engine::MySql), [procedure, "SELECT 1"]);
        let by_delimiter = format!("DELIMITER //\n{procedure} //\nDELIMITER ;\nSELECT 1;");
        assert_eq!(texts(&by_delimiter, Engine::MySql), [procedure, "SELECT 1"]);
        let function = "CREATE FUNCTION f() RETURNS int AS $$ BEGIN RETURN 1; END $$ LANGUAGE plpgsql";
        assert_eq!(texts(&format!("{function}; BEGIN; COMMIT"), Engine::PostgreSql).len(), 3);
    }

    #[test]
    fn comments_are_no_statements_unless_mysql_executes_them() {
        assert_eq!(texts("/* a */; -- b", Engine::MySql).len(), 0);
        assert_eq!(texts("/*!40101 SET NAMES utf8 */; -- b", Engine::MySql).len(), 1);
    }

    #[test]
    fn commands_of_psql_and_rows_are_errors_with_their_line() {
        let wrong = |text: &str| statements(text, Engine::PostgreSql).unwrap_err();
        assert_eq!((wrong("SELECT 1;\n\\connect db\n").line, wrong("\\connect db").help), (2, "remove it"));
        let rows = wrong("CREATE TABLE t (a int);\nCOPY t (a) FROM stdin;\n1\n\\.\n");
        assert!(rows.line == 2 && rows.help.contains("INSERT"), "{rows:?}");
    }

    #[test]
    fn created_tables_have_the_name_as_written() {
        for (statement, name) in [
            ("CREATE TABLE items (id int)", Some("items")),
            ("create unlogged table if not exists shop.items(id int)", Some("shop.items")),
            ("CREATE TABLE \"Items\" AS SELECT 1", Some("\"Items\"")),
            ("CREATE INDEX i ON t (a)", None),
            ("DROP TABLE t", None),
        ] {
            assert_eq!(created_table(statement), name);
        }
    }
}
