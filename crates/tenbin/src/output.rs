//! Writes all text of the program: results to stdout, everything else to stderr. No other module of this crate writes there.
//!
//! In text for people, secrets are replaced and control characters from servers are escaped.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::{PoisonError, RwLock};

use anyhow::Context;
use plan::Secrets;
use report::{Options, ReportError, shortened, visible, visible_lines};
use runner::RunError;

use crate::exit::{BadArguments, CannotRun};

/// Escape sequence that erases the current line.
const WIPE: &str = "\r\x1b[2K";

/// Secrets of the plans that were read. Replaced in all text.
static SECRETS: RwLock<Option<Secrets>> = RwLock::new(None);

/// Registers secrets to be replaced in all later text.
pub(crate) fn register_secrets(secrets: &Secrets) {
    if !secrets.is_empty() {
        *SECRETS.write().unwrap_or_else(PoisonError::into_inner) = Some(secrets.clone());
    }
}

/// Replaces the registered secrets in a text.
fn redacted(text: &str) -> Cow<'_, str> {
    match &*SECRETS.read().unwrap_or_else(PoisonError::into_inner) {
        Some(secrets) => Cow::Owned(secrets.redact_text(text)),
        None => Cow::Borrowed(text),
    }
}

/// Prefix of the first line of an error.
pub(crate) const ERROR: &str = "error: ";

/// Prints an error. Lines that quote a server are indented, so that none of them looks like a line of the program.
pub(crate) fn print_error(error: &anyhow::Error) {
    let text = visible_lines(&redacted(&explain(error)));
    let is_own_list = error.is::<BadArguments>()
        || error.is::<CannotRun>()
        || matches!(error.downcast_ref(), Some(RunError::Plan(_)));
    // A list of errors already begins with the prefix.
    let (text, start) = match is_own_list {
        true if text.starts_with(ERROR) => (text, ""),
        true => (text, ERROR),
        false => (indented(&text), ERROR),
    };
    // Without stderr, the error cannot be printed.
    let _ = writeln!(io::stderr(), "{start}{text}");
}

/// Joins an error and its causes. Leaves out a cause that the text already quotes.
fn explain(error: &anyhow::Error) -> String {
    error.chain().skip(1).map(ToString::to_string).fold(error.to_string(), |text, cause| {
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    })
}

/// Indents every line but the first.
fn indented(text: &str) -> String {
    let lines = text.split('\n').enumerate().map(|(number, line)| {
        if number == 0 || line.starts_with(' ') { line.to_owned() } else { format!("  {line}") }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Warns of something that spoils the result, or may.
pub(crate) fn warn(message: &str) {
    remark(&format!("warning: {message}"));
}

/// Notes something that the user may not expect, and that spoils nothing.
pub(crate) fn note(message: &str) {
    remark(&format!("note: {message}"));
}

/// Prints a line that is not a result.
pub(crate) fn remark(message: &str) {
    let _ = writeln!(io::stderr(), "{}", visible_lines(&redacted(message)));
}

/// Prints a question without a newline, so that the user answers on its line.
pub(crate) fn ask(question: &str) {
    let _ = write!(io::stderr(), "{}", visible(question));
}

/// Whether stderr is a terminal, and can show a live line.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Replaces the live line.
pub(crate) fn show_line(line: &str) {
    let columns = rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
    let _ = io::stderr().write_all(line_update(line, columns).as_bytes());
}

/// Erases the previous line, and cuts the new one below `columns`. The terminal would wrap a longer line, and only its last part
/// could be erased.
///
/// 0 columns mean a terminal of unknown width.
fn line_update(line: &str, columns: usize) -> String {
    let line = visible(&redacted(line));
    match columns {
        0 => format!("{WIPE}{line}"),
        _ => format!("{WIPE}{}", shortened(&line, columns.saturating_sub(1))),
    }
}

/// Erases the live line.
pub(crate) fn erase_line() {
    let _ = write!(io::stderr(), "{WIPE}");
}

/// Whether stdout is a terminal.
pub(crate) fn is_on_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Width of a report, in columns, if no terminal with a known width shows it.
pub(crate) const fn width(is_wide: bool) -> usize {
    if is_wide { 120 } else { 100 }
}

/// Writes a report to stdout, in the width of the terminal.
pub(crate) fn write(
    is_wide: bool,
    report: impl FnOnce(&Options, &mut dyn Write) -> Result<(), ReportError>,
) -> anyhow::Result<()> {
    let stdout = io::stdout();
    let is_terminal = is_on_terminal();
    let width = rustix::termios::tcgetwinsize(&stdout).map_or(0, |size| usize::from(size.ws_col));
    let color = is_terminal && std::env::var_os("NO_COLOR").is_none();
    let width = if is_terminal && width >= 40 { width } else { self::width(is_wide) };
    let options = Options { color, width, is_wide };
    let mut out = io::BufWriter::new(stdout.lock());
    report(&options, &mut out)?;
    out.flush().map_err(ReportError::from)?;
    Ok(())
}

/// Writes text for people to stdout, with secrets replaced and control characters escaped.
pub(crate) fn lines(text: &str) -> anyhow::Result<()> {
    data(&visible_lines(&redacted(text)))
}

/// Writes output for programs to stdout, unchanged.
pub(crate) fn data(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.context("standard output cannot be written")
}

/// Whether the error is a broken pipe, because a reader such as `head` exited early. This is not a failure.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn live_line_stays_one_line_and_escapes_control_characters() {
        assert_eq!(line_update("a\x1b[2J\n\u{9b}\u{202e}b", 0), "\r\x1b[2Ka\\u{1b}[2J\\n\\u{9b}\\u{202e}b");
    }

    #[test]
    fn indents_every_further_line_of_an_error() {
        assert_eq!(indented("a\nerror: all is lost\n  help: b"), "a\n  error: all is lost\n  help: b");
    }
}
