//! Destinations of results: the terminal, a file, or both, and a browser on request.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use report::{FORMATS, Format, GITHUB, MARKDOWN, Options, PAGE, ReportError, TERMINAL};

use crate::browser;
use crate::commands::completions;
use crate::exit::BadArguments;
use crate::output;

/// In which format, and into which file.
#[derive(Args, Debug)]
pub(crate) struct ResultFlags {
    #[arg(
        long,
        value_name = "NAME",
        help_heading = "Results",
        help = formats(|_| true),
        add = ArgValueCompleter::new(completions::formats)
    )]
    format: Option<String>,
    /// Write the report to a file; its ending selects the format: report.html
    #[arg(short, long, value_name = "PATH", help_heading = "Results")]
    output: Option<PathBuf>,
    /// Open the HTML page in a browser; without -o, it is a temporary file
    #[arg(long, help_heading = "Results", hide_short_help = true)]
    open: bool,
    /// Print all figures
    #[arg(long, help_heading = "Results", hide_short_help = true)]
    wide: bool,
}

/// Function that writes a report in a format.
pub(crate) type Report<'a> = &'a dyn Fn(&Format, &Options, &mut dyn Write) -> Result<(), ReportError>;

/// Destination of results. Its file was writable when the flags were checked.
pub(crate) struct Destination {
    pub(crate) format: &'static Format,
    to: OutputPlace,
    is_opened: bool,
    is_wide: bool,
}

enum OutputPlace {
    Stdout,
    File(PathBuf),
    TemporaryFile,
}

/// Environment variable with the path of the job summary in GitHub Actions.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";
/// Max names that are tried for a temporary file.
const NAMES_MAX: u32 = 100;
/// File mode: only the owner can read and write.
const PRIVATE_MODE: u32 = 0o600;

/// Help of `--format` that lists the formats for which `is_included` is true.
pub(crate) fn formats(is_included: fn(&Format) -> bool) -> String {
    let names = report::format_names(is_included);
    format!("{names} [default: terminal]")
}

impl ResultFlags {
    /// Flags of a command that reads `--format` and `-o` itself, and has no page to open.
    pub(crate) fn of(format: Option<String>, output: Option<PathBuf>) -> Self {
        Self { format, output, open: false, wide: false }
    }

    /// Checks the flags together, so that nothing is measured for a result that cannot be written.
    pub(crate) fn check(&self) -> anyhow::Result<Destination> {
        let path = self.output.as_deref().filter(|path| *path != Path::new("-"));
        let format = self.format(path)?;
        if self.open && format != PAGE {
            return Err(bad_arguments(
                format!("--open shows a page in a browser, and {} is no page", format.name),
                "add --format html, or leave out --open",
            ));
        }
        if self.open && self.output.is_some() && path.is_none() {
            return Err(bad_arguments(
                "--open -o -: a browser cannot open standard output".to_owned(),
                "name a file, or leave out -o for a temporary file",
            ));
        }
        let to = match path {
            Some(path) => OutputPlace::File(check_writable(path)?),
            None if self.open => OutputPlace::TemporaryFile,
            None if format == PAGE && output::is_on_terminal() => {
                return Err(bad_arguments(
                    "--format html: a page is for a browser, not for a terminal".to_owned(),
                    "add -o report.html, or --open",
                ));
            }
            None => OutputPlace::Stdout,
        };
        Ok(Destination { format, to, is_opened: self.open, is_wide: self.wide })
    }

    /// Format that `--format` names, or else the one that the file extension or `--open` implies.
    fn format(&self, path: Option<&Path>) -> anyhow::Result<&'static Format> {
        let known = |of: fn(&Format) -> &str| FORMATS.iter().map(of).collect::<Vec<_>>();
        match (&self.format, path) {
            (Some(name), _) => report::format(name).ok_or_else(|| {
                let known = known(|format| format.name);
                let help = match plan::nearest_name(name, known.iter().copied()) {
                    Some(near) => format!("write {near}"),
                    None => format!("write one of {}", known.join(", ")),
                };
                BadArguments(format!("--format {name:?} is not known\n  help: {help}")).into()
            }),
            (None, Some(path)) => {
                let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
                let is_included = |format: &&Format| ending.as_deref() == Some(format.extension);
                FORMATS.iter().find(is_included).ok_or_else(|| {
                    let known = known(|format| format.extension).join(", .");
                    bad_arguments(
                        format!("-o {}: its ending selects no format", path.display()),
                        &format!("use one of the endings .{known}, or add --format"),
                    )
                })
            }
            (None, None) => Ok(if self.open { PAGE } else { TERMINAL }),
        }
    }
}

impl Destination {
    /// Returns an error if the format cannot show a study.
    pub(crate) fn check_study(&self) -> anyhow::Result<()> {
        let name = self.format.name;
        match self.format.supports_study() {
            true => Ok(()),
            false => Err(bad_arguments(
                format!("--format {name} is for single runs, and this makes several"),
                &format!("run it without --format, then write tenbin report RUN --format {name}"),
            )),
        }
    }

    /// Writes the report to its destination. If that is a file and `is_shown`, also prints it to stdout in the terminal format.
    pub(crate) fn write(&self, is_shown: bool, report: Report<'_>) -> anyhow::Result<()> {
        let (width, is_wide) = (output::width(self.is_wide), self.is_wide);
        let in_file =
            |out: &mut dyn Write| report(self.format, &Options { color: false, width, is_wide }, out);
        let written = match &self.to {
            OutputPlace::Stdout => {
                self.write_summary(report)?;
                return output::write(is_wide, |options, out| report(self.format, options, out));
            }
            OutputPlace::File(path) => replace(path, in_file)
                .map(|()| path.clone())
                .with_context(|| format!("{} cannot be written", path.display())),
            OutputPlace::TemporaryFile => {
                write_temporary(in_file).context("a temporary file cannot be written")
            }
        };
        // Print the report even if the file could not be written: the user may see it nowhere else.
        let shown = match is_shown {
            true => output::write(is_wide, |options, out| report(TERMINAL, options, out)),
            false => Ok(()),
        };
        let path = written?;
        self.write_summary(report)?;
        output::remark(&format!("written to {}", path.display()));
        if self.is_opened {
            browser::open(&path);
        }
        shown
    }
}

impl Destination {
    /// Adds the report to the summary of the job, in a job of GitHub Actions.
    fn write_summary(&self, report: Report<'_>) -> anyhow::Result<()> {
        let path = std::env::var_os(SUMMARY).map(PathBuf::from).filter(|path| !path.as_os_str().is_empty());
        let Some(path) = path.filter(|_| self.format == GITHUB) else { return Ok(()) };
        let written = OpenOptions::new().append(true).create(true).open(&path).map_err(ReportError::from);
        let options = Options { color: false, width: output::width(self.is_wide), is_wide: self.is_wide };
        written
            .and_then(|file| fill(file, |out| report(MARKDOWN, &options, out)))
            .with_context(|| format!("{} (${SUMMARY}) cannot be written", path.display()))
    }
}

fn bad_arguments(what: String, help: &str) -> anyhow::Error {
    BadArguments(format!("{what}\n  help: {help}")).into()
}

/// File that a path leads to, with links resolved. Returns an error if it cannot be written.
fn check_writable(path: &Path) -> anyhow::Result<PathBuf> {
    let refuse = |error: &dyn std::fmt::Display| {
        bad_arguments(
            format!("-o {}: cannot be written: {error}", path.display()),
            "name a file in a writable folder",
        )
    };
    // A symbolic link is kept: its target is written.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::symlink_metadata(&target).is_ok_and(|there| there.is_symlink()) && !target.exists() {
        return Err(refuse(&"it is a link to nothing"));
    }
    match fs::metadata(&target) {
        Ok(there) if there.is_dir() => return Err(refuse(&"it is a folder")),
        // A device such as /dev/null is written to, and never replaced.
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

/// Replaces a file atomically: readers see the old file or the new one. After an error, the old file remains.
fn replace(
    path: &Path,
    report: impl FnOnce(&mut dyn Write) -> Result<(), ReportError>,
) -> Result<(), ReportError> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return fill(OpenOptions::new().write(true).open(path)?, report);
    }
    let (beside, file) = create_beside(path)?;
    // The new file gets the permissions of the old one, so that no one else can read it.
    let allowed = match fs::metadata(path) {
        Ok(there) => file.set_permissions(there.permissions()),
        Err(_) => Ok(()),
    };
    let written = allowed.map_err(ReportError::from).and_then(|()| fill(file, report));
    remove_on_error(&beside, written.and_then(|()| Ok(fs::rename(&beside, path)?)))
}

/// Removes a file that could not be written to its end.
fn remove_on_error(path: &Path, written: Result<(), ReportError>) -> Result<(), ReportError> {
    if written.is_err() {
        // The file may already be removed, and the first error is the one to report.
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

/// Creates a file in the same folder. Its name is short, because `path` may have the longest name that is allowed.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    for number in 0..NAMES_MAX {
        let beside = path.with_file_name(format!(".tenbin-{}-{number}.part", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).mode(PRIVATE_MODE).open(&beside) {
            Ok(file) => return Ok((beside, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("every name next to it is taken"))
}

/// Writes a new file that only its owner can read, and returns its path.
fn write_temporary(
    report: impl FnOnce(&mut dyn Write) -> Result<(), ReportError>,
) -> Result<PathBuf, ReportError> {
    let folder = std::env::temp_dir();
    for number in 0..NAMES_MAX {
        let path = folder.join(format!("tenbin-{}-{number}.html", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).mode(PRIVATE_MODE).open(&path) {
            Ok(file) => return remove_on_error(&path, fill(file, report)).map(|()| path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::other("every name for it is taken").into())
}
