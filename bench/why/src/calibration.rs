//! Calibration: how often a statement is right, by the share of the response time that it claims.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

use crate::cases::UNKNOWN;
use crate::grade::{Grade, Verdict};

/// Names of the rows by share, each with the lowest share in it, highest first.
const ROWS: [(&str, f64); 3] = [("90 % or more", 0.9), ("50 % to 90 %", 0.5), ("less than 50 %", 0.0)];
/// Names of the rows by rung.
const RUNGS: [&str; 3] = ["runtime", "kernel", "arithmetic"];

/// Cause that the program named first for a plant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statement<'a> {
    /// Code of the resource.
    pub(crate) resource: &'a str,
    /// Share of the response time that the statement claims. `None` if it claims none.
    pub(crate) share: Option<f64>,
    /// Rung of the statement. Empty if it is not counted by rung.
    pub(crate) rung: &'a str,
    /// Whether the statement names what was planted.
    pub(crate) is_right: bool,
}

/// Counts of all statements and of right ones, with one row per range of shares, one for statements without a share, and one per rung.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Calibration {
    /// Title of the first column.
    of: &'static str,
    rows: Vec<(String, [usize; 2])>,
}

impl Calibration {
    /// Counts the statements on known plants by stated share.
    pub(crate) fn of(grades: &[Grade]) -> Self {
        let statements = grades.iter().map(|grade| Statement {
            resource: &grade.said.resource,
            share: grade.said.share,
            rung: "",
            is_right: grade.verdict == Verdict::Right,
        });
        Self::count("share stated", statements)
    }

    /// Counts the statements that name a resource. `of` is the title of the first column.
    pub(crate) fn count<'a>(of: &'static str, statements: impl Iterator<Item = Statement<'a>>) -> Self {
        let names = ROWS.iter().map(|(name, _)| (*name).to_owned()).chain(["none".to_owned()]);
        let mut rows: Vec<(String, [usize; 2])> = names.map(|name| (name, [0, 0])).collect();
        let mut of_rungs: Vec<(String, [usize; 2])> =
            RUNGS.iter().map(|rung| (format!("any, on the rung `{rung}`"), [0, 0])).collect();
        for statement in statements.filter(|statement| !UNKNOWN.contains(&statement.resource)) {
            let row = match statement.share {
                Some(share) => ROWS.iter().position(|(_, least)| share >= *least).unwrap_or(ROWS.len() - 1),
                None => ROWS.len(),
            };
            let of_rung = RUNGS.iter().position(|rung| *rung == statement.rung);
            let counts = std::iter::once(&mut rows[row].1).chain(of_rung.map(|row| &mut of_rungs[row].1));
            for [all, right] in counts {
                *all += 1;
                *right += usize::from(statement.is_right);
            }
        }
        rows.extend(of_rungs.into_iter().filter(|(_, [all, _])| *all > 0));
        Self { of, rows }
    }

    fn head(&self) -> String {
        format!("| {} | statements | right |\n|---|--:|--:|\n", self.of)
    }

    /// Formats the table in Markdown.
    pub(crate) fn table(&self) -> String {
        let row = |(name, [all, right]): &(String, [usize; 2])| format!("| {name} | {all} | {right} |\n");
        self.head() + &self.rows.iter().map(row).collect::<String>()
    }

    /// Replaces the table in the document at `path`.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let shown = path.display();
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
        let head = self.head();
        let from =
            text.find(&head).with_context(|| format!("{shown} has no table with the head {head:?}"))?;
        let len = text[from..].find("\n\n").map_or(text.len() - from, |end| end + 1);
        let whole = [&text[..from], &self.table(), &text[from + len..]].concat();
        fs::write(path, whole).with_context(|| format!("cannot write {shown}"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::cases::named;
    use crate::grade::NamedBottleneck;

    #[test]
    fn statements_are_counted_by_stated_share() {
        let grade = |resource: &str, share| {
            let said = NamedBottleneck {
                resource: resource.to_owned(),
                share,
                ..NamedBottleneck::without_bottleneck("so it is")
            };
            Grade::of(named("c-mutex").unwrap(), 1, false, said, Duration::ZERO)
        };
        let grades = [
            grade("lock", Some(0.94)),
            grade("disk", Some(0.9)),
            grade("lock", None),
            grade("unknown", None),
        ];
        let table = Calibration::of(&grades).table();
        assert!(table.contains("| 90 % or more | 2 | 1 |\n| 50 % to 90 % | 0 | 0 |"), "{table}");
        assert!(table.ends_with("| none | 1 | 1 |\n"), "{table}");
    }

    #[test]
    fn statements_are_counted_by_rung() {
        let of = |rung, is_right| Statement { resource: "lock", share: Some(0.95), rung, is_right };
        let statements = [of("kernel", true), of("kernel", false), of("runtime", true)];
        let table = Calibration::count("share stated for blind plants", statements.into_iter()).table();
        assert!(table.starts_with("| share stated for blind plants | statements | right |\n"), "{table}");
        assert!(
            table
                .ends_with("| any, on the rung `runtime` | 1 | 1 |\n| any, on the rung `kernel` | 2 | 1 |\n"),
            "{table}"
        );
    }
}
