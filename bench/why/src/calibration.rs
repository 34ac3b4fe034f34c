//! Calibration: how often a statement is right, by the share of the response time that it claims.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

use crate::cases::UNKNOWN;
use crate::grade::{Grade, Verdict};

/// Head of the table in a document.
const HEAD: &str = "| share stated | statements | right |\n|---|--:|--:|\n";
/// Names of the rows, each with the smallest share in it, highest first.
const ROWS: [(&str, f64); 3] = [("90 % or more", 0.9), ("50 % to 90 %", 0.5), ("less than 50 %", 0.0)];

/// Numbers of statements and of right ones: a row for each range of shares, and one for statements without a share.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Calibration {
    rows: Vec<(&'static str, [usize; 2])>,
}

impl Calibration {
    /// Counts the runs that name a resource.
    pub(crate) fn of(grades: &[Grade]) -> Self {
        let names = ROWS.iter().map(|(name, _)| *name).chain(["none"]);
        let mut rows: Vec<(&'static str, [usize; 2])> = names.map(|name| (name, [0, 0])).collect();
        for grade in grades.iter().filter(|grade| !UNKNOWN.contains(&grade.said.resource.as_str())) {
            let row = match grade.said.share {
                Some(share) => ROWS.iter().position(|(_, least)| share >= *least).unwrap_or(ROWS.len() - 1),
                None => ROWS.len(),
            };
            let [all, right] = &mut rows[row].1;
            *all += 1;
            *right += usize::from(grade.verdict == Verdict::Right);
        }
        Self { rows }
    }

    /// The table in Markdown.
    pub(crate) fn table(&self) -> String {
        let row = |(name, [all, right]): &(&str, [usize; 2])| format!("| {name} | {all} | {right} |\n");
        HEAD.to_owned() + &self.rows.iter().map(row).collect::<String>()
    }

    /// Replaces the table of a document.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let shown = path.display();
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
        let from = text.find(HEAD).with_context(|| format!("{shown} has no table with the head {HEAD:?}"))?;
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
    use crate::grade::Said;

    #[test]
    fn statements_are_counted_by_stated_share() {
        let grade = |resource: &str, share| {
            let said = Said { resource: resource.to_owned(), share, ..Said::nothing("so it is") };
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
}
