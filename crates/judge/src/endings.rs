//! Endings of commands: the single list from which exit codes, outcomes in JUnit and on GitHub, the key `ending` of
//! JSON, and the tables in docs/ci.md derive.
//!
//! A row of [`ENDINGS`] defines the meaning of an ending everywhere. The functions that select an ending are in `report`, for runs,
//! studies, and comparisons, and in `tenbin`, for errors and signals. If more than one ending applies, the first row counts.

use evidence::{Ending, GateResult, Verdict};

/// Ending of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandEnding {
    /// Stopped by SIGINT.
    Interrupted,
    /// Stopped by SIGTERM or SIGHUP.
    Terminated,
    /// The arguments or the plan are wrong.
    BadArguments,
    /// The store failed.
    Storage,
    /// The command itself failed.
    CouldNotRun,
    /// Tables violate the consistency conditions of their workload.
    Inconsistent,
    /// A condition failed.
    Breached,
    /// The figures are invalid.
    Invalid,
    /// A system did not start, or failed in each of its runs.
    SystemFailed,
    /// The system was unavailable for part of the time, or no request ended ok.
    Degraded,
    /// A condition is undecided, which is no failure for this command.
    Undecided,
    /// A search found that its conditions fail at every rate.
    NothingHolds,
    /// Everything went as requested.
    Ok,
}

/// Outcome of a test case in JUnit, or of a check on GitHub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckOutcome {
    /// The condition holds.
    Passed,
    /// The check was skipped: no result, and no failure.
    Skipped,
    /// The condition does not hold.
    Failed,
    /// The check could not give a result, which is a failure.
    Error,
}

impl CheckOutcome {
    /// All outcomes.
    pub const ALL: [Self; 4] = [Self::Passed, Self::Skipped, Self::Failed, Self::Error];

    /// Returns the element of a test case in JUnit; `None` if it passed.
    pub const fn junit(self) -> Option<&'static str> {
        match self {
            Self::Passed => None,
            Self::Skipped => Some("skipped"),
            Self::Failed => Some("failure"),
            Self::Error => Some("error"),
        }
    }

    /// Returns the workflow command that annotates the commit on GitHub; `None` if the check passed.
    pub const fn github(self) -> Option<&'static str> {
        match self {
            Self::Passed => None,
            Self::Skipped => Some("warning"),
            Self::Failed | Self::Error => Some("error"),
        }
    }
}

/// Commands with common endings: a column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandGroup {
    /// One load on a running server.
    Load,
    /// A plan, or two running servers.
    Study,
    /// A search for the maximum sustainable load.
    Capacity,
    /// Comparison of two stored runs or studies.
    Compare,
    /// Commands that read the store.
    Stored,
    /// Check of a plan, which may start its systems for a trial.
    Check,
    /// Commands that take a while and use no store.
    Work,
    /// Servers that run until a signal ends them.
    Serve,
    /// Commands that print or write a text.
    Text,
}

impl CommandGroup {
    /// All groups, in the order of columns.
    pub const ALL: [Self; 9] = [
        Self::Load,
        Self::Study,
        Self::Capacity,
        Self::Compare,
        Self::Stored,
        Self::Check,
        Self::Work,
        Self::Serve,
        Self::Text,
    ];

    /// Returns the commands of the group, as written on the command line.
    pub const fn commands(self) -> &'static [&'static str] {
        match self {
            Self::Load => &["URL"],
            Self::Study => &["run", "URL URL_B"],
            Self::Capacity => &["capacity"],
            Self::Compare => &["compare"],
            Self::Stored => &["report", "history", "export"],
            Self::Check => &["check"],
            Self::Work => &["prepare", "replay", "machine"],
            Self::Serve => &["target", "proxy"],
            Self::Text => &["init", "completions"],
        }
    }
}

/// Row of the table: an ending with its name, exit code, and check outcome.
#[derive(Debug)]
pub struct EndingRow {
    /// The ending.
    pub ending: CommandEnding,
    /// Name in JSON and in documents.
    pub name: &'static str,
    /// Exit code.
    pub code: u8,
    /// Outcome in JUnit and on GitHub.
    pub check: CheckOutcome,
    /// Verdicts of a single run that lead to this ending if no condition fails.
    pub verdicts: &'static [Verdict],
    /// Commands that can end this way.
    pub commands: &'static [CommandGroup],
    /// Description of the event, in words.
    pub sentence: &'static str,
}

use CommandGroup::{Capacity, Check, Compare, Load, Stored, Study, Work};

/// All endings. If more than one applies, the first counts.
pub const ENDINGS: [EndingRow; 13] = [
    EndingRow {
        ending: CommandEnding::Interrupted,
        name: "interrupted",
        code: 130,
        check: CheckOutcome::Error,
        verdicts: &[Verdict::Partial],
        commands: &[Load, Study, Capacity, Check, Work],
        sentence: "interrupted (SIGINT); the result so far is kept, and is no result of the system",
    },
    EndingRow {
        ending: CommandEnding::Terminated,
        name: "terminated",
        code: 143,
        check: CheckOutcome::Error,
        verdicts: &[],
        commands: &[Load, Study, Capacity, Check, Work],
        sentence: "terminated (SIGTERM, SIGHUP); the result so far is kept, and is no result of the system",
    },
    EndingRow {
        ending: CommandEnding::BadArguments,
        name: "bad_arguments",
        code: 2,
        check: CheckOutcome::Error,
        verdicts: &[],
        commands: &CommandGroup::ALL,
        sentence: "wrong arguments or a wrong plan; nothing was sent",
    },
    EndingRow {
        ending: CommandEnding::Storage,
        name: "storage",
        code: 5,
        check: CheckOutcome::Error,
        verdicts: &[],
        commands: &[Load, Study, Capacity, Compare, Stored],
        sentence: "the store cannot be read or written",
    },
    EndingRow {
        ending: CommandEnding::CouldNotRun,
        name: "could_not_run",
        code: 1,
        check: CheckOutcome::Error,
        verdicts: &[],
        commands: &CommandGroup::ALL,
        sentence: "the command could not run or did not finish",
    },
    EndingRow {
        ending: CommandEnding::Inconsistent,
        name: "inconsistent",
        code: 7,
        check: CheckOutcome::Failed,
        verdicts: &[],
        commands: &[Load, Study, Capacity],
        sentence: "the load left tables that violate the consistency conditions of their workload (tpcc-like)",
    },
    EndingRow {
        ending: CommandEnding::Breached,
        name: "breached",
        code: 3,
        check: CheckOutcome::Failed,
        verdicts: &[],
        commands: &[Load, Study, Compare],
        sentence: "a condition failed, or a gate is undecided or could not be judged",
    },
    EndingRow {
        ending: CommandEnding::Invalid,
        name: "invalid",
        code: 4,
        check: CheckOutcome::Error,
        verdicts: &[Verdict::Invalid],
        commands: &[Load, Study, Capacity, Compare],
        sentence: "invalid: the load generator was measured, not the server, and that leaves no verdict",
    },
    EndingRow {
        ending: CommandEnding::SystemFailed,
        name: "system_failed",
        code: 1,
        check: CheckOutcome::Failed,
        verdicts: &[Verdict::Aborted],
        commands: &[Load, Study, Capacity, Compare, Check],
        sentence: "a system did not start, or failed in each of its runs",
    },
    EndingRow {
        ending: CommandEnding::Degraded,
        name: "degraded",
        code: 6,
        check: CheckOutcome::Failed,
        verdicts: &[Verdict::Degraded],
        commands: &[Load, Study],
        sentence: "the server was gone for 5 % of the measured time or more, or no request ended ok",
    },
    EndingRow {
        ending: CommandEnding::Undecided,
        name: "undecided",
        code: 0,
        check: CheckOutcome::Skipped,
        verdicts: &[],
        commands: &[Study, Compare],
        sentence: "a condition is undecided: one of --fail-if, one without a stored baseline, or one of a quick study",
    },
    EndingRow {
        ending: CommandEnding::NothingHolds,
        name: "nothing_holds",
        code: 0,
        check: CheckOutcome::Skipped,
        verdicts: &[],
        commands: &[Capacity],
        sentence: "even the lowest rate of the search fails",
    },
    EndingRow {
        ending: CommandEnding::Ok,
        name: "ok",
        code: 0,
        check: CheckOutcome::Passed,
        verdicts: &[Verdict::Complete],
        commands: &CommandGroup::ALL,
        sentence: "success",
    },
];

impl CommandEnding {
    /// Returns the row of the ending.
    pub const fn row(self) -> &'static EndingRow {
        // Rows are in the order of the variants; a test checks this.
        &ENDINGS[self as usize]
    }

    /// Returns the exit code.
    pub const fn code(self) -> u8 {
        self.row().code
    }

    /// Returns the ending of a run with this verdict, regardless of conditions.
    pub fn of_verdict(verdict: Verdict) -> Self {
        let is_of = |row: &&EndingRow| row.verdicts.contains(&verdict);
        ENDINGS.iter().find(is_of).map_or(Self::CouldNotRun, |row| row.ending)
    }

    /// Returns the ending that comes first in the table.
    #[must_use]
    pub fn or_worse(self, other: Self) -> Self {
        if (other as usize) < self as usize { other } else { self }
    }
}

/// Returns the ending of a single run. Invalid figures neither meet nor breach a condition, and do not show whether
/// tables are consistent.
pub fn of_run(ending: &Ending, gates: &[GateResult]) -> CommandEnding {
    let is_breached = ending.verdict != Verdict::Invalid && gates.iter().any(|gate| !gate.holds());
    let by_verdict = CommandEnding::of_verdict(ending.verdict);
    match ending.is_inconsistent() {
        true => by_verdict.or_worse(CommandEnding::Inconsistent),
        false if is_breached => CommandEnding::Breached,
        false => by_verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_endings() {
        for (place, row) in ENDINGS.iter().enumerate() {
            assert_eq!(row.ending as usize, place, "{}", row.name);
            assert_eq!(row.ending.row().name, row.name);
        }
    }

    #[test]
    fn every_verdict_has_one_ending() {
        for verdict in Verdict::ALL {
            let of = ENDINGS.iter().filter(|row| row.verdicts.contains(&verdict)).count();
            assert_eq!(of, 1, "{verdict}");
        }
    }

    #[test]
    fn check_passes_exactly_if_the_exit_code_is_zero() {
        for row in &ENDINGS {
            let passes = matches!(row.check, CheckOutcome::Passed | CheckOutcome::Skipped);
            assert_eq!(passes, row.code == 0, "{}", row.name);
        }
    }
}
