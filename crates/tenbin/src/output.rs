//! What the program says, and on which stream: results on stdout, everything else on stderr. Text leaves here and nowhere else, and
//! whatever a server put into it is made harmless on the way.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::{PoisonError, RwLock};

use anyhow::Context;
use plan::Secrets;
use report::{Options, ReportError, shortened, visible, visible_lines};
use runner::RunError;

use crate::exit::{BadArguments, CannotRun};

/// Deletes the line that is being shown.
const WIPE: &str = "\r\x1b[2K";

/// What the plans that were read name as secret: no text shows it.
static SECRETS: RwLock<Option<Secrets>> = RwLock::new(None);

/// From now on no text shows these.
pub(crate) fn keep_out(secrets: &Secrets) {
    if !secrets.is_empty() {
        *SECRETS.write().unwrap_or_else(PoisonError::into_inner) = Some(secrets.clone());
    }
}

/// A text as it may be shown.
fn redacted(text: &str) -> Cow<'_, str> {
    match &*SECRETS.read().unwrap_or_else(PoisonError::into_inner) {
        Some(secrets) => Cow::Owned(secrets.redact_text(text)),
        None => Cow::Borrowed(text),
    }
}

/// What the first line of an error begins with.
pub(crate) const ERROR: &str = "error: ";

/// Prints an error. A server's words may have lines: none of them begins where the program's own do.
pub(crate) fn complain(error: &anyhow::Error) {
    let text = visible_lines(&redacted(&explain(error)));
    let is_own_list = error.is::<BadArguments>()
        || error.is::<CannotRun>()
        || matches!(error.downcast_ref(), Some(RunError::Plan(_)));
    // A list of errors begins with the first of them.
    let (text, start) = match is_own_list {
        true if text.starts_with(ERROR) => (text, ""),
        true => (text, ERROR),
        false => (indented(&text), ERROR),
    };
    // Without stderr the error cannot be printed.
    let _ = writeln!(io::stderr(), "{start}{text}");
}

/// An error with its causes. Many errors quote their cause themselves; it is not said twice.
fn explain(error: &anyhow::Error) -> String {
    error.chain().skip(1).map(ToString::to_string).fold(error.to_string(), |text, cause| {
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    })
}

/// The lines of a text, those after the first indented.
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

/// Prints something that is not a result.
pub(crate) fn remark(message: &str) {
    let _ = writeln!(io::stderr(), "{}", visible_lines(&redacted(message)));
}

/// Asks a question whose answer follows on the same line.
pub(crate) fn ask(question: &str) {
    let _ = write!(io::stderr(), "{}", visible(question));
}

/// Whether somebody watches lines that are shown for a while.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Shows a line in place of the one that is being shown.
pub(crate) fn show_line(line: &str) {
    let columns = rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
    let _ = io::stderr().write_all(shown(line, columns).as_bytes());
}

/// Wipes the line before, and cuts the new one below `columns`: the terminal would wrap a longer one, and only its last part could be
/// wiped. Zero columns are a terminal without a width.
fn shown(line: &str, columns: usize) -> String {
    let line = visible(&redacted(line));
    match columns {
        0 => format!("{WIPE}{line}"),
        _ => format!("{WIPE}{}", shortened(&line, columns.saturating_sub(1))),
    }
}

/// Deletes the line that is being shown.
pub(crate) fn wipe_line() {
    let _ = write!(io::stderr(), "{WIPE}");
}

/// Whether results go to a terminal.
pub(crate) fn is_on_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Columns where there is no terminal that has a width.
pub(crate) const fn width(is_wide: bool) -> usize {
    if is_wide { 120 } else { 100 }
}

/// Writes a report to stdout, as wide as the terminal is.
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

/// Writes lines to stdout.
pub(crate) fn lines(text: &str) -> anyhow::Result<()> {
    data(&visible_lines(&redacted(text)))
}

/// Writes what programs read to stdout, as it is.
pub(crate) fn data(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.context("standard output cannot be written")
}

/// Whether a reader such as `head` has simply seen enough.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_shown_stays_one_line_and_moves_nothing() {
        assert_eq!(shown("a\x1b[2J\n\u{9b}\u{202e}b", 0), "\r\x1b[2Ka\\u{1b}[2J\\n\\u{9b}\\u{202e}b");
    }

    #[test]
    fn no_line_of_an_error_begins_where_the_programs_own_do() {
        assert_eq!(indented("a\nerror: all is lost\n  help: b"), "a\n  error: all is lost\n  help: b");
    }
}
