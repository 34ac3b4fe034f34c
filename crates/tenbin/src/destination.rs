//! Where results go: the terminal, a file, or both; and a browser, if one is asked for.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use report::{FORMATS, Format, Options, ReportError};

use crate::browser;
use crate::exit::BadArguments;
use crate::output;

/// In which format, and into which file.
#[derive(Args, Debug)]
pub(crate) struct ResultFlags {
    #[arg(long, value_name = "FORMAT", help_heading = "Results", help = formats(|_| true))]
    format: Option<String>,
    /// Write it to this file, such as report.html; the ending says the format.
    #[arg(short, long, value_name = "PATH", help_heading = "Results")]
    output: Option<PathBuf>,
    /// Show the page in a browser: --format html, in a temporary file if there is no -o.
    #[arg(long, help_heading = "Results")]
    open: bool,
}

/// Writes a report in a format.
pub(crate) type Report<'a> = &'a dyn Fn(&Format, &Options, &mut dyn Write) -> Result<(), ReportError>;

/// Where results go, known to be writable.
pub(crate) struct Destination {
    pub(crate) format: &'static Format,
    to: To,
    is_opened: bool,
}

enum To {
    Stdout,
    File(PathBuf),
    TemporaryFile,
}

/// Names that are tried for a temporary file.
const NAMES_MAX: u32 = 100;
/// What nobody may read but who measured.
const PRIVATE: u32 = 0o600;
/// Columns in a file.
const WIDTH: usize = 120;

/// What is said of `--format` where some formats, or all, have room for the result.
pub(crate) fn formats(is_meant: fn(&Format) -> bool) -> String {
    let names = report::format_names(is_meant);
    format!("How to write the result: {names} [default: terminal, or as -o ends]")
}

impl ResultFlags {
    /// Of a command that has flags of its own, and no page to show.
    pub(crate) fn of(format: Option<String>, output: Option<PathBuf>) -> Self {
        Self { format, output, open: false }
    }

    /// What the flags say together. Nothing is measured for a result that cannot be written.
    pub(crate) fn check(&self) -> anyhow::Result<Destination> {
        let path = self.output.as_deref().filter(|path| *path != Path::new("-"));
        let format = self.format(path)?;
        if self.open && format.name != "html" {
            return Err(bad(
                format!("--open shows a page in a browser, and {} is no page", format.name),
                "add --format html, or leave out --open",
            ));
        }
        if self.open && self.output.is_some() && path.is_none() {
            return Err(bad(
                "--open -o -: a browser cannot look at standard output".to_owned(),
                "name a file, or leave out -o: the page is in a temporary file then",
            ));
        }
        let to = match path {
            Some(path) => To::File(writable(path)?),
            None if self.open => To::TemporaryFile,
            None if format.name == "html" && output::is_on_terminal() => {
                return Err(bad(
                    "--format html: a page is for a browser, not for a terminal".to_owned(),
                    "add -o report.html, or --open to see it at once",
                ));
            }
            None => To::Stdout,
        };
        Ok(Destination { format, to, is_opened: self.open })
    }

    /// The named format, or the one that the file or `--open` asks for.
    fn format(&self, path: Option<&Path>) -> anyhow::Result<&'static Format> {
        let named = |name: &str| report::format(name);
        let known = |of: fn(&Format) -> &str| FORMATS.iter().map(of).collect::<Vec<_>>();
        match (&self.format, path) {
            (Some(name), _) => named(name).ok_or_else(|| {
                let known = known(|format| format.name).join(", ");
                BadArguments(format!("--format {name:?} is not known; write one of {known}")).into()
            }),
            (None, Some(path)) => {
                let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
                let is_meant = |format: &&Format| ending.as_deref() == Some(format.extension);
                FORMATS.iter().find(is_meant).ok_or_else(|| {
                    let known = known(|format| format.extension).join(", .");
                    bad(
                        format!("-o {}: its ending does not say the format", path.display()),
                        &format!("let it end in one of .{known}, or add --format"),
                    )
                })
            }
            (None, None) => {
                let name = if self.open { "html" } else { "terminal" };
                named(name).with_context(|| format!("the format {name} is missing in this program"))
            }
        }
    }
}

impl Destination {
    /// Writes the report to where it goes. If that is a file and `is_shown`, it is shown on stdout too, as for a terminal.
    pub(crate) fn write(&self, is_shown: bool, report: Report<'_>) -> anyhow::Result<()> {
        let in_file = |out: &mut dyn Write| report(self.format, &Options { color: false, width: WIDTH }, out);
        let written = match &self.to {
            To::Stdout => return output::write(|options, out| report(self.format, options, out)),
            To::File(path) => replace(path, in_file)
                .map(|()| path.clone())
                .with_context(|| format!("{} cannot be written", path.display())),
            To::TemporaryFile => temporary(in_file).context("a temporary file cannot be written"),
        };
        // Shown even if the file could not be written: it may be all that there is to see.
        let shown = match report::format("terminal").filter(|_| is_shown) {
            Some(terminal) => output::write(|options, out| report(terminal, options, out)),
            None => Ok(()),
        };
        let path = written?;
        output::remark(&format!("written to {}", path.display()));
        if self.is_opened {
            browser::open(&path);
        }
        shown
    }
}

fn bad(what: String, way_out: &str) -> anyhow::Error {
    BadArguments(format!("{what}\n  way out: {way_out}")).into()
}

/// The file that a path leads to, if it can be written.
fn writable(path: &Path) -> anyhow::Result<PathBuf> {
    let refuse = |error: &dyn std::fmt::Display| {
        bad(
            format!("-o {}: it cannot be written: {error}", path.display()),
            "name a file in a folder that you may write to",
        )
    };
    // A link stays a link: what it leads to is written.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::symlink_metadata(&target).is_ok_and(|there| there.is_symlink()) && !target.exists() {
        return Err(refuse(&"it is a link to nothing"));
    }
    match fs::metadata(&target) {
        Ok(there) if there.is_dir() => return Err(refuse(&"it is a folder")),
        // Such as /dev/null: written, and never replaced.
        Ok(there) if !there.is_file() => return Ok(target),
        Ok(_) => {
            OpenOptions::new().write(true).open(&target).map_err(|error| refuse(&error))?;
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(refuse(&error)),
        Err(_) if target.file_name().is_none() || target.as_os_str().as_encoded_bytes().ends_with(b"/") => {
            return Err(refuse(&"it names no file"));
        }
        Err(_) => {}
    }
    let (beside, _) = create_beside(&target).map_err(|error| refuse(&error))?;
    fs::remove_file(beside).map_err(|error| refuse(&error))?;
    Ok(target)
}

/// Writes a file at once: whoever looks sees the old one or the new one, and after an error the old one.
fn replace(
    path: &Path,
    report: impl FnOnce(&mut dyn Write) -> Result<(), ReportError>,
) -> Result<(), ReportError> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return fill(OpenOptions::new().write(true).open(path)?, report);
    }
    let (beside, file) = create_beside(path)?;
    // Who could not read the old one cannot read the new one either.
    let allowed = match fs::metadata(path) {
        Ok(there) => file.set_permissions(there.permissions()),
        Err(_) => Ok(()),
    };
    let written = allowed.map_err(ReportError::from).and_then(|()| fill(file, report));
    or_removed(&beside, written.and_then(|()| Ok(fs::rename(&beside, path)?)))
}

/// Nothing is left of a file that could not be written to its end.
fn or_removed(path: &Path, written: Result<(), ReportError>) -> Result<(), ReportError> {
    if written.is_err() {
        // It may be gone already; the first error is what matters.
        let _ = fs::remove_file(path);
    }
    written
}

fn fill(
    file: File,
    report: impl FnOnce(&mut dyn Write) -> Result<(), ReportError>,
) -> Result<(), ReportError> {
    let mut out = BufWriter::new(file);
    report(&mut out)?;
    Ok(out.flush()?)
}

/// A new file in the same folder. Its name is short, whatever the other one is called.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    for number in 0..NAMES_MAX {
        let beside = path.with_file_name(format!(".tenbin-{}-{number}.part", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(&beside) {
            Ok(file) => return Ok((beside, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("every name beside it is taken"))
}

/// Writes a new file that only its owner can read, and says where.
fn temporary(report: impl FnOnce(&mut dyn Write) -> Result<(), ReportError>) -> Result<PathBuf, ReportError> {
    let folder = std::env::temp_dir();
    for number in 0..NAMES_MAX {
        let path = folder.join(format!("tenbin-{}-{number}.html", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(&path) {
            Ok(file) => return or_removed(&path, fill(file, report)).map(|()| path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::other("every name for it is taken").into())
}
