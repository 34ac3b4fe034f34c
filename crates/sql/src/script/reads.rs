//! Variables that a script reads, and whether an earlier command sets them. An undefined variable would be sent as NULL, or as its
//! name.

use std::collections::HashSet;
use std::ops::Range;

use crate::script::meta::Line;
use crate::script::pieces::{self, ReferenceSyntax, VariableReference};
use crate::script::scan::{Collected, End, Quote, Scanner, place_in_source};
use crate::script::script_set::{Language, is_name, is_name_byte, variable_name};

/// Variables that every client has from the start.
pub const PREDEFINED_VARIABLES: [&str; 4] = ["client_id", "default_seed", "random_seed", "scale"];

/// A variable that a script reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// Name as written, without colon or braces.
    pub name: String,
    /// Position in the script, including colon or braces.
    pub range: Range<usize>,
    /// Syntax of the reference.
    pub form: ReadForm,
    /// True if an earlier command sets the variable, or is expected to.
    pub is_given: bool,
}

/// Syntax of a variable reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadForm {
    /// `:name` in a statement or a command.
    Value,
    /// `:name` that may be the end of an array slice, such as `[1:n]`.
    Slice,
    /// `{name}`.
    Braces,
    /// `':name'` in quotes, where the extended language does not recognize a variable.
    Quoted,
}

/// Variables that commands set, accumulated over scripts.
#[derive(Clone, Debug, Default)]
pub struct DefinedVariables {
    names: HashSet<String>,
    rows: Vec<Row>,
}

/// Columns of a row that `\\gset` or `\\aset` stores in variables.
#[derive(Clone, Debug)]
struct Row {
    prefix: String,
    /// Lower-case words of the statement, which include its column names. `None` if the words do not include them.
    words: Option<HashSet<String>>,
}

impl DefinedVariables {
    /// True if a variable is set, or may be set by a column of a statement.
    pub fn has(&self, name: &str) -> bool {
        let is_column = |row: &Row| {
            let column = name.strip_prefix(row.prefix.as_str()).filter(|column| !column.is_empty());
            column.is_some_and(|column| {
                row.words.as_ref().is_none_or(|words| words.contains(&column.to_ascii_lowercase()))
            })
        };
        self.names.contains(name) || self.rows.iter().any(is_column)
    }

    /// Names that commands set.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}

/// Variables that a script reads, in text order. Adds the variables it sets to `given`.
pub fn reads(source: &str, language: Language, given: &mut DefinedVariables) -> Vec<Read> {
    let mut scanner = Scanner::new(source.as_bytes(), language);
    let (mut reads, mut statement) = (Vec::new(), Vec::new());
    loop {
        let (collected, end) = scanner.scan();
        if !collected.text.is_empty() {
            of_statement(&collected, language, given, &mut reads);
            statement = collected.text;
        }
        match end {
            End::Semicolon => {}
            End::Backslash => {
                let line = Line::from(source.as_bytes(), scanner.at);
                scanner.at = line.range.end;
                of_command(line, &statement, given, &mut reads);
            }
            // An unterminated quotation is reported as a separate error.
            End::Script | End::Open { .. } => return reads,
        }
    }
}

fn of_statement(collected: &Collected, language: Language, given: &DefinedVariables, reads: &mut Vec<Read>) {
    let Collected { text, quoted, start } = collected;
    let place = |range: &Range<usize>| {
        place_in_source(*start, range.start, quoted)..place_in_source(*start, range.end - 1, quoted) + 1
    };
    for VariableReference { name, range, mark } in pieces::names(text, quoted, language) {
        let form = match mark {
            ReferenceSyntax::Braces(_) | ReferenceSyntax::Unsafe(_) => ReadForm::Braces,
            ReferenceSyntax::Colon { is_quoted: true } => ReadForm::Quoted,
            ReferenceSyntax::Colon { .. } if is_after_operand(&text[..range.start]) => ReadForm::Slice,
            ReferenceSyntax::Colon { .. } => ReadForm::Value,
        };
        let is_given = given.has(&variable_name(name));
        reads.push(Read { name: name.to_owned(), range: place(&range), form, is_given });
    }
    if language == Language::Pgbench {
        return;
    }
    for quoted_part in quoted.iter().filter(|part| part.quote == Quote::Text) {
        let inner = &text[quoted_part.range.clone()];
        let name = inner.strip_prefix(b"':").and_then(|inner| inner.strip_suffix(b"'"));
        if let Some(name) = name.filter(|name| is_name(name)) {
            let (name, form) = (String::from_utf8_lossy(name).into_owned(), ReadForm::Quoted);
            let is_given = given.has(&name);
            reads.push(Read { name, range: place(&quoted_part.range), form, is_given });
        }
    }
}

/// True if a colon here follows an operand, as in an array slice.
fn is_after_operand(before: &[u8]) -> bool {
    before.last().is_some_and(|byte| is_name_byte(*byte) || matches!(byte, b']' | b')'))
}

fn of_command(mut line: Line<'_>, statement: &[u8], given: &mut DefinedVariables, reads: &mut Vec<Read>) {
    let Some((command, _)) = line.word() else { return };
    let command = command.to_ascii_lowercase();
    match command.as_slice() {
        b"gset" | b"aset" => {
            let prefix = line.word().map_or(&b""[..], |(word, _)| word);
            let prefix = String::from_utf8_lossy(prefix).into_owned();
            given.rows.push(Row { prefix, words: words(statement) });
        }
        b"set" | b"setshell" => {
            let Some((name, _)) = line.word() else { return };
            of_expression(&line, given, reads);
            given.names.insert(String::from_utf8_lossy(name).into_owned());
        }
        b"if" | b"elif" | b"sleep" | b"shell" | b"copy" => of_expression(&line, given, reads),
        _ => {}
    }
}

fn of_expression(line: &Line<'_>, given: &DefinedVariables, reads: &mut Vec<Read>) {
    let text = &line.source[line.range.clone()];
    let mut at = 0;
    let mut is_quoted = false;
    while let Some(byte) = text.get(at) {
        at += 1;
        is_quoted ^= *byte == b'\'';
        let length = text[at..].iter().take_while(|byte| is_name_byte(**byte)).count();
        if *byte != b':' || is_quoted || !is_name(&text[at..at + length]) {
            continue;
        }
        let name = String::from_utf8_lossy(&text[at..at + length]).into_owned();
        let start = line.range.start + at - 1;
        let is_given = given.has(&name);
        reads.push(Read { name, range: start..start + 1 + length, form: ReadForm::Value, is_given });
        at += length;
    }
}

/// Words of a statement, which include the names of its columns. `None` if a column name may come from a table (`*`), a cast, or a
/// statement that returns the result of another.
fn words(statement: &[u8]) -> Option<HashSet<String>> {
    let text = String::from_utf8_lossy(statement).to_lowercase();
    let is_word_byte = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == '$';
    let words: HashSet<String> =
        text.split(|sign| !is_word_byte(sign)).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    const STATEMENT_WORDS: [&str; 5] = ["select", "insert", "update", "delete", "with"];
    let first = text.split(|sign| !is_word_byte(sign)).find(|word| !word.is_empty())?;
    let tells = STATEMENT_WORDS.contains(&first)
        && !text.contains(['*'])
        && !text.contains("::")
        && !words.contains("cast");
    tells.then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undefined(source: &str, language: Language) -> Vec<String> {
        let mut given = DefinedVariables::default();
        let reads = reads(source, language, &mut given);
        for read in &reads {
            let written = &source[read.range.clone()];
            assert!(
                written.trim_matches('\'').trim_start_matches([':', '{']).starts_with(&read.name),
                "{written}"
            );
        }
        let open = reads.into_iter().filter(|read| !read.is_given);
        open.map(|read| format!("{:?} {}", read.form, read.name)).collect()
    }

    #[test]
    fn undefined_variables_are_found_where_they_are_read() {
        for (source, expected) in [
            ("SELECT :a, b::int, '12:30', a[1:2], x := 1;", &["Value a"][..]),
            ("\\set a 1\nSELECT :a, :b;\n\\set b :a + :c\n", &["Value b", "Value c"]),
            ("-- :x\nSELECT 1 /* :y */;\n\\if :z > 1\n\\sleep :s ms\n\\endif", &["Value z", "Value s"]),
            ("SELECT a[1:n], a[:n]", &["Slice n", "Value n"]),
            ("SELECT max(id) AS last FROM t \\gset\nSELECT :last, :lst;", &["Value lst"]),
            (
                "SELECT last FROM t \\gset p_\nSELECT :p_last, :last, :p_other;",
                &["Value last", "Value p_other"],
            ),
            ("SELECT * FROM t \\gset\nSELECT :anything;", &[]),
            ("SELECT 1::bigint \\gset\nSELECT :int8;", &[]),
            ("SELECT a\\; SELECT :b;", &["Value b"]),
            ("\\set x 'a:b' || :y", &["Value y"]),
            ("SELECT 'x:y', \"a:b\", $$ :c $$, a\\:b", &[]),
        ] {
            assert_eq!(undefined(source, Language::Extended), expected, "{source}");
        }
        assert_eq!(
            undefined("SELECT '{a}', t{b}, ':c', '{{d}}'", Language::Extended),
            ["Braces a", "Braces b", "Quoted c"]
        );
        assert_eq!(
            undefined("SELECT to_char(x, 'HH24:MI') || :y", Language::Pgbench),
            ["Quoted MI", "Value y"]
        );
    }
}
