//! JUnit XML format for build servers: a test case for each condition and each run.

use std::fmt::{self, Display};
use std::io;

use judge::CheckOutcome;

use super::{Format, FormatWriter};
use crate::checks::{self, Check, Group};
use crate::error::ReportError;

pub(super) const FORMAT: Format = Format {
    name: "junit",
    sentence: "JUnit's XML, for build servers: conditions and runs as test cases",
    extension: "xml",
    way: FormatWriter::Picked {
        runs: |views, out| write(&checks::of_runs(views), out),
        study: Some(|study, out| write(&checks::of_study(study), out)),
        compared: Some(|compared, out| write(&checks::of_compared(compared), out)),
    },
};

/// Name of the report.
const NAME: &str = "tenbin";

fn write(groups: &[Group], out: &mut dyn io::Write) -> Result<(), ReportError> {
    let total = Counts::of(groups.iter().flat_map(|group| &group.checks));
    let Counts { tests, skipped, failures, errors } = total;
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        out,
        r#"<testsuites name="{NAME}" tests="{tests}" skipped="{skipped}" failures="{failures}" errors="{errors}">"#
    )?;
    groups.iter().try_for_each(|group| write_suite(group, out))?;
    writeln!(out, "</testsuites>")?;
    Ok(())
}

fn write_suite(group: &Group, out: &mut dyn io::Write) -> io::Result<()> {
    let Counts { tests, skipped, failures, errors } = Counts::of(&group.checks);
    write!(
        out,
        r#"    <testsuite name="{}" tests="{tests}" skipped="{skipped}" errors="{errors}" failures="{failures}""#,
        Escaped(&group.name)
    )?;
    if let Some(s) = group.duration_s.filter(|s| s.is_finite() && *s >= 0.0) {
        write!(out, r#" time="{s:.3}""#)?;
    }
    if group.checks.is_empty() {
        return writeln!(out, "/>");
    }
    writeln!(out, ">")?;
    group.checks.iter().try_for_each(|check| write_case(check, out))?;
    writeln!(out, "    </testsuite>")
}

fn write_case(check: &Check, out: &mut dyn io::Write) -> io::Result<()> {
    let (name, class) = (Escaped(&check.name), Escaped(&check.of));
    write!(out, r#"        <testcase name="{name}" classname="{class}""#)?;
    let Some(element) = check.outcome.junit() else { return writeln!(out, "/>") };
    writeln!(out, ">")?;
    writeln!(out, r#"            <{element} message="{}"/>"#, Escaped(&check.message))?;
    writeln!(out, "        </testcase>")
}

/// Number of checks by outcome.
#[derive(Default)]
struct Counts {
    tests: usize,
    skipped: usize,
    failures: usize,
    errors: usize,
}

impl Counts {
    fn of<'a>(checks: impl IntoIterator<Item = &'a Check>) -> Self {
        checks.into_iter().fold(Self::default(), |mut counts, check| {
            counts.tests += 1;
            match check.outcome {
                CheckOutcome::Passed => {}
                CheckOutcome::Skipped => counts.skipped += 1,
                CheckOutcome::Failed => counts.failures += 1,
                CheckOutcome::Error => counts.errors += 1,
            }
            counts
        })
    }
}

/// Text as the value of an XML 1.0 attribute, without characters that XML forbids.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '&' => f.write_str("&amp;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&apos;"),
            '\t' | '\n' | '\r' => write!(f, "&#{};", u32::from(character)),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => Ok(()),
            _ => fmt::Write::write_char(f, character),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_markup_and_drops_what_xml_forbids() {
        assert_eq!(
            Escaped("<a b=\"c\" d='e'>&\n\u{1b}\u{ffff}").to_string(),
            "&lt;a b=&quot;c&quot; d=&apos;e&apos;&gt;&amp;&#10;"
        );
    }
}
