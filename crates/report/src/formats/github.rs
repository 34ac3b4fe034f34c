//! Workflow commands of GitHub Actions: failures become annotations of the commit.
//!
//! <https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands>

use std::io;

use super::{Format, FormatWriter};
use crate::checks::{self, Check, Group};
use crate::error::ReportError;

pub(super) const FORMAT: Format = Format {
    name: "github",
    sentence: "annotations of GitHub Actions: conditions and runs that failed",
    extension: "github",
    way: FormatWriter::Picked {
        runs: |views, out| write(&checks::of_runs(views), out),
        study: Some(|study, out| write(&checks::of_study(study), out)),
        compared: Some(|compared, out| write(&checks::of_compared(compared), out)),
    },
};

fn write(groups: &[Group], out: &mut dyn io::Write) -> Result<(), ReportError> {
    let checks: Vec<&Check> = groups.iter().flat_map(|group| &group.checks).collect();
    let mut passed = 0;
    for check in &checks {
        let Some(command) = check.outcome.github() else {
            passed += 1;
            continue;
        };
        let title = escape_property(&format!("{}: {}", check.of, check.name));
        writeln!(out, "::{command} title={title}::{}", escape_message(&check.message))?;
    }
    let all = checks.len();
    Ok(writeln!(out, "::notice title=tenbin::{passed} of {all} checks passed")?)
}

/// Escapes the message of a command.
fn escape_message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a command, in which colons and commas are special, too.
fn escape_property(text: &str) -> String {
    escape_message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_command_delimiters() {
        assert_eq!(escape_message("50 %\n::error::x"), "50 %25%0A::error::x");
        assert_eq!(escape_property("a,b:c"), "a%2Cb%3Ac");
    }
}
