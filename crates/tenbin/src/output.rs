//! What the program says to people, and on which stream: results on stdout, everything else on stderr.

use std::io::{self, IsTerminal, Write};

use anyhow::Context;
use report::{Options, ReportError};

/// Says what went wrong.
pub(crate) fn complain(message: &str) {
    // Nobody is left to tell when stderr is gone.
    let _ = writeln!(io::stderr(), "tenbin: {message}");
}

/// An error with its causes. Many errors quote their cause themselves; it is not said twice.
pub(crate) fn explain(error: &anyhow::Error) -> String {
    error.chain().skip(1).map(ToString::to_string).fold(error.to_string(), |text, cause| {
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    })
}

/// Says something that is not a result.
pub(crate) fn remark(message: &str) {
    let _ = writeln!(io::stderr(), "{message}");
}

/// Writes a report to stdout, as wide as the terminal is.
pub(crate) fn write(
    report: impl FnOnce(&Options, &mut dyn Write) -> Result<(), ReportError>,
) -> anyhow::Result<()> {
    let stdout = io::stdout();
    let is_terminal = stdout.is_terminal();
    let width = rustix::termios::tcgetwinsize(&stdout).map_or(0, |size| usize::from(size.ws_col));
    let color = is_terminal && std::env::var_os("NO_COLOR").is_none();
    let options = Options { color, width: if is_terminal && width >= 40 { width } else { 120 } };
    let mut out = io::BufWriter::new(stdout.lock());
    report(&options, &mut out)?;
    out.flush().map_err(ReportError::from)?;
    Ok(())
}

/// Writes lines to stdout.
pub(crate) fn lines(text: &str) -> anyhow::Result<()> {
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
