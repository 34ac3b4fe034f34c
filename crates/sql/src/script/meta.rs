//! Parses meta commands and their arguments.

use std::ops::Range;

use crate::script::command::{Amount, SleepDuration};
use crate::script::expression::{Code, Reader, read, read_list};
use crate::script::player::LOADED_ROWS_MAX;
use crate::script::script_set::{Allow, Language, Names, is_name};
use crate::script::statement::LoadedRows;

/// A meta command.
#[derive(Debug)]
pub(crate) enum Meta {
    Set(u16, Code),
    If(Code),
    Elif(Code),
    Else,
    Endif,
    Sleep(SleepDuration),
    Gset(String),
    Aset(String),
    StartPipeline,
    SyncPipeline,
    EndPipeline,
    Copy(LoadedRows),
}

/// Invalid meta command: message, and position in the script if known.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) message: String,
    pub(crate) at: Option<usize>,
}

impl Problem {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), at: None }
    }

    fn at(message: impl Into<String>, at: usize) -> Self {
        Self { message: message.into(), at: Some(at) }
    }
}

/// Maximum number of words of a command including its name, as in pgbench.
const WORDS_MAX: usize = 256;

/// Rest of a command in its script, from after its backslash to the end of its line.
#[derive(Clone, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) source: &'a [u8],
    pub(crate) range: Range<usize>,
}

impl<'a> Line<'a> {
    /// Text from after a backslash to the end of the line. A backslash before the line end continues the line.
    pub(crate) fn from(source: &'a [u8], start: usize) -> Self {
        let mut end = start;
        while end < source.len() {
            let before = &source[start..end];
            let before = before.strip_suffix(b"\r").unwrap_or(before);
            if source[end] == b'\n' && before.last() != Some(&b'\\') {
                break;
            }
            end += 1;
        }
        Self { source, range: start..end }
    }

    /// Takes the next word with its position.
    pub(crate) fn word(&mut self) -> Option<(&'a [u8], usize)> {
        loop {
            let rest = &self.source[self.range.clone()];
            let skipped = match rest {
                [b'\\', b'\n', ..] => 2,
                [b'\\', b'\r', b'\n', ..] => 3,
                [byte, ..] if is_space(*byte) => 1,
                [] => return None,
                _ => break,
            };
            self.range.start += skipped;
        }
        let at = self.range.start;
        let rest = &self.source[self.range.clone()];
        let length = rest.iter().take_while(|byte| !is_space(**byte)).count();
        let (mut word, behind) = rest.split_at(length);
        if let ([first @ .., b'\\'], [b'\n', ..] | [b'\r', b'\n', ..]) = (word, behind) {
            word = first;
        }
        self.range.start += word.len();
        Some((word, at))
    }

    fn words(mut self) -> Vec<(&'a [u8], usize)> {
        std::iter::from_fn(|| self.word()).collect()
    }

    fn code(&self, names: &mut Names, language: Language) -> Result<Code, Problem> {
        let read = read(&self.source[self.range.clone()], Reader { names, language });
        read.map_err(|mistake| Problem::at(mistake.message, self.range.start + mistake.at))
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c)
}

/// Parses a command after its name was removed from its line.
pub(crate) fn parse(
    name: &[u8],
    line: Line<'_>,
    names: &mut Names,
    language: Language,
    allow: Allow,
) -> Result<Meta, Problem> {
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    match name.as_str() {
        "set" => set(line, names, language),
        "if" => line.code(names, language).map(Meta::If),
        "elif" => line.code(names, language).map(Meta::Elif),
        "sleep" => sleep(&line.words(), names),
        "else" => without_arguments(line, Meta::Else),
        "endif" => without_arguments(line, Meta::Endif),
        "startpipeline" => without_arguments(line, Meta::StartPipeline),
        "syncpipeline" => without_arguments(line, Meta::SyncPipeline),
        "endpipeline" => without_arguments(line, Meta::EndPipeline),
        "copy" => copy(line, names).map(Meta::Copy),
        "gset" => prefix(&line.words()).map(Meta::Gset),
        "aset" => prefix(&line.words()).map(Meta::Aset),
        "shell" | "setshell" => Err(shell(&name, &line.words(), allow)),
        "setrandom" => Err(set_random(&line.words())),
        _ => Err(Problem::new("invalid command")),
    }
}

/// Error for `\setrandom`, which pgbench supported until 9.5, with its replacement.
fn set_random(words: &[(&[u8], usize)]) -> Problem {
    let words: Vec<_> = words.iter().map(|(word, _)| String::from_utf8_lossy(word)).collect();
    let (name, call) = match words.iter().map(AsRef::as_ref).collect::<Vec<_>>()[..] {
        [name, low, high] | [name, low, high, "uniform"] => (name, format!("random({low}, {high})")),
        [name, low, high, shape @ ("gaussian" | "exponential"), parameter] => {
            (name, format!("random_{shape}({low}, {high}, {parameter})"))
        }
        _ => ("NAME", "random(LOW, HIGH)".to_owned()),
    };
    Problem::new(format!("invalid command, removed in pgbench 9.6; write \"\\set {name} {call}\""))
}

fn set(mut line: Line<'_>, names: &mut Names, language: Language) -> Result<Meta, Problem> {
    let Some((name, at)) = line.word() else { return Err(Problem::new("missing argument")) };
    let shown = String::from_utf8_lossy(name);
    if !is_name(name) {
        return Err(Problem::at(format!("invalid variable name ({shown})"), at));
    }
    let slot = names.slot(&shown).ok_or_else(|| Problem::at("too many variables", at))?;
    Ok(Meta::Set(slot, line.code(names, language)?))
}

/// Help for a `\copy` that cannot be read.
const COPY_HELP: &str = "write \\copy TABLE (COLUMNS) ROWS (VALUES), such as \\copy items (id, owner) 1000 (serial(), random(1, 50))";

/// Parses `TABLE (COLUMN, …) ROWS (EXPRESSION, …)`. Rows are a number or a variable.
fn copy(mut line: Line<'_>, names: &mut Names) -> Result<LoadedRows, Problem> {
    let wrong = |at: usize| Problem::at(COPY_HELP, at);
    let start = line.range.start;
    let text = String::from_utf8_lossy(&line.source[line.range.clone()]).into_owned();
    let (table, rest) = text.split_once('(').ok_or_else(|| wrong(start))?;
    let (columns, _) = rest.split_once(')').ok_or_else(|| wrong(start))?;
    let (name, list) = (table.trim(), columns.trim());
    let is_identifier = |text: &str| {
        !text.is_empty()
            && !text.contains([';', '\'', '\\', '\n', '(', '-', '/'])
            && !text.contains(char::is_whitespace)
    };
    let column_count = list.split(',').count();
    if !is_identifier(name) || !list.split(',').all(|column| is_identifier(column.trim())) {
        return Err(wrong(start));
    }
    line.range.start += table.len() + columns.len() + 2;
    let Some((word, at)) = line.word() else { return Err(wrong(line.range.end)) };
    // `1000(…)` needs no space.
    let digits = word.iter().position(|byte| *byte == b'(').unwrap_or(word.len());
    line.range.start = at + digits;
    let count = match word[..digits].strip_prefix(b":") {
        Some(variable) if is_name(variable) => {
            let variable = String::from_utf8_lossy(variable).into_owned();
            let slot = names.slot(&variable).ok_or_else(|| Problem::at("too many variables", at))?;
            Amount::Variable(slot, variable)
        }
        _ => {
            let rows =
                std::str::from_utf8(&word[..digits]).ok().and_then(|digits| digits.parse::<i64>().ok());
            let rows = rows.filter(|rows| (1..=LOADED_ROWS_MAX).contains(rows));
            Amount::Fixed(rows.ok_or_else(|| {
                Problem::at(format!("the number of rows is not between 1 and {LOADED_ROWS_MAX}"), at)
            })?)
        }
    };
    let list_at = line.range.start;
    let values = read_list(&line.source[line.range.clone()], Reader { names, language: Language::Extended })
        .map_err(|mistake| Problem::at(mistake.message, list_at + mistake.at))?;
    if values.len() != column_count {
        let message = format!("{column_count} columns, and {} values", values.len());
        return Err(Problem::at(message, list_at));
    }
    let columns = list.split(',').map(str::trim).collect::<Vec<_>>().join(", ");
    Ok(LoadedRows { table: name.to_owned(), columns, count, values, command: 0 })
}

fn without_arguments(mut line: Line<'_>, meta: Meta) -> Result<Meta, Problem> {
    match line.word() {
        Some((_, at)) => Err(Problem::at("unexpected argument", at)),
        None => Ok(meta),
    }
}

fn prefix(words: &[(&[u8], usize)]) -> Result<String, Problem> {
    match words {
        [] => Ok(String::new()),
        [(prefix, _)] => Ok(String::from_utf8_lossy(prefix).into_owned()),
        [_, (_, at), ..] => Err(Problem::at("too many arguments", *at)),
    }
}

/// Error for a command that would run programs.
fn shell(name: &str, words: &[(&[u8], usize)], allow: Allow) -> Problem {
    if words.len() >= WORDS_MAX {
        return Problem::new("too many arguments");
    }
    match (name, words.len()) {
        ("setshell", 0 | 1) => return Problem::new("missing argument"),
        ("shell", 0) => return Problem::new("missing command"),
        _ => {}
    }
    Problem::new(match allow {
        Allow::Nothing => "programs of the operating system may not be run from a script",
        Allow::Shell => "running programs of the operating system is not supported yet",
    })
}

/// Parses `n [us|ms|s]`, `1ms` without a space, or a variable instead of the number.
fn sleep(words: &[(&[u8], usize)], names: &mut Names) -> Result<Meta, Problem> {
    let (amount, at, unit) = match words {
        [] => return Err(Problem::new("missing argument")),
        [(amount, at)] => (*amount, *at, None),
        [(amount, at), unit] => (*amount, *at, Some(*unit)),
        [_, _, (_, at), ..] => return Err(Problem::at("too many arguments", *at)),
    };
    let (amount, unit) = match amount.strip_prefix(b":") {
        Some(name) => {
            let name = String::from_utf8_lossy(name).into_owned();
            let slot = names.slot(&name).ok_or_else(|| Problem::at("too many variables", at))?;
            (Amount::Variable(slot, name), unit)
        }
        None => fixed(amount, at, unit)?,
    };
    let unit_ns = match unit {
        None => 1_000_000_000,
        Some((unit, at)) => unit_ns(unit).ok_or_else(|| {
            let unit = String::from_utf8_lossy(unit);
            Problem::at(format!("unrecognized time unit, must be us, ms or s ({unit})"), at)
        })?,
    };
    Ok(Meta::Sleep(SleepDuration { amount, unit_ns }))
}

type Unit<'a> = Option<(&'a [u8], usize)>;

fn fixed<'a>(amount: &'a [u8], at: usize, unit: Unit<'a>) -> Result<(Amount, Unit<'a>), Problem> {
    let sign = usize::from(matches!(amount.first(), Some(b'+' | b'-')));
    let digits = amount[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, glued) = amount.split_at(sign + digits);
    let unit = match (glued, unit) {
        ([], unit) => unit,
        (_, None) if digits > 0 => Some((glued, at + number.len())),
        _ => {
            let amount = String::from_utf8_lossy(amount);
            return Err(Problem::at(format!("invalid sleep time, must be an integer ({amount})"), at));
        }
    };
    Ok((Amount::Fixed(crate::script::command::leading_int(number)), unit))
}

fn unit_ns(unit: &[u8]) -> Option<u64> {
    let is = |name: &[u8]| unit.eq_ignore_ascii_case(name);
    if is(b"us") {
        Some(1_000)
    } else if is(b"ms") {
        Some(1_000_000)
    } else {
        is(b"s").then_some(1_000_000_000)
    }
}
