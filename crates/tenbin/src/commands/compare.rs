//! `tenbin compare`: shows two stored runs or two stored studies side by side.

use std::path::PathBuf;

use ::report::{self, Compared, Format, ReportError};
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use evidence::RunId;
use judge::Condition;
use plan::Fault;

use crate::commands::StoreFlag;
use crate::commands::completions::stored;
use crate::commands::stored::StoredName;
use crate::destination::{ResultFlags, formats};
use crate::exit::{BadArguments, Exit};

/// Arguments of `tenbin compare`.
#[derive(Args, Debug)]
pub(crate) struct CompareFlags {
    /// Baseline: name, label, or exported file of a run or a study, or a plan for its newest study; a unique beginning is enough
    #[arg(value_name = "A", add = ArgValueCompleter::new(stored))]
    first: String,
    /// Run or study to compare with it; "last" is the newest
    #[arg(value_name = "B", add = ArgValueCompleter::new(stored))]
    second: String,
    #[arg(long, value_name = "NAME", help_heading = "Results", help = formats(Format::supports_comparison))]
    format: Option<String>,
    /// Write the report to a file; its ending selects the format: compared.md
    #[arg(short, long, value_name = "PATH", help_heading = "Results")]
    output: Option<PathBuf>,
    /// Fail if a condition is true: 'throughput<95% of baseline, errors>1%'; repeatable
    ///
    /// A is the baseline. Exit code 3 means that a condition is true. A condition of the baseline that the runs cannot decide does not
    /// fail, and the report says so. It takes 4 valid runs or more on each side.
    #[arg(long, value_name = "LIST", help_heading = "Results")]
    fail_if: Vec<String>,
    #[command(flatten)]
    store: StoreFlag,
}

/// Loads both runs or studies, and writes them side by side.
pub(crate) fn run(flags: &CompareFlags) -> anyhow::Result<Exit> {
    let results = ResultFlags::of(flags.format.clone(), flags.output.clone());
    let destination = results.check()?;
    let format = destination.format;
    if !format.supports_comparison() {
        let what = format!("--format {}: it has no room for two things side by side", format.name);
        return Err(bad_arguments(
            &what,
            &format!("write {}", report::format_names(Format::supports_comparison)),
        ));
    }
    let failing = failing(&flags.fail_if)?;
    if failing.is_empty() && [report::JUNIT, report::GITHUB].contains(&format) {
        let what = format!("--format {} reports conditions, and there is none", format.name);
        return Err(bad_arguments(
            &what,
            "add --fail-if 'throughput<95% of baseline', or write another format",
        ));
    }
    let sides = [StoredName::of(&flags.first, &flags.store)?, StoredName::of(&flags.second, &flags.store)?];
    let compared = compared(&sides, &failing)?;
    let is_shown = !failing.is_empty();
    destination.write(is_shown, &|format, options, out| compared.write(format, options, out))?;
    Ok(compared.ending())
}

/// Conditions of `--fail-if`, or all errors in them.
fn failing(lists: &[String]) -> anyhow::Result<Vec<Condition>> {
    let mut failing = Vec::new();
    let mut errors = Vec::new();
    for list in lists {
        match Condition::parse_failures(list) {
            Ok(conditions) => failing.extend(conditions),
            Err(error) => errors.push(Fault::from_condition("--fail-if", &error).to_string()),
        }
    }
    if errors.is_empty() { Ok(failing) } else { Err(BadArguments(errors.join("\n")).into()) }
}

fn compared(sides: &[StoredName; 2], failing: &[Condition]) -> anyhow::Result<Compared> {
    let [first, second] = sides;
    let compared = match sides.each_ref().map(StoredName::is_study) {
        [true, true] => of_studies(sides, failing)?,
        [true, false] if second.is_last() => of_studies(sides, failing)?,
        [false, true] if first.is_last() => of_studies(sides, failing)?,
        [false, false] => {
            let ids = [first.run()?, second.run()?];
            if ids[0] == ids[1] {
                return Err(same_side_error(ids[0].as_str()));
            }
            let origins = [first.origin(ids[0].as_str())?, second.origin(ids[1].as_str())?];
            Compared::of_runs(&first.store.load(&ids[0])?, &second.store.load(&ids[1])?, failing)
                .map(|compared| compared.with_origins(origins))
        }
        [is_first, _] => {
            let [study, run] = if is_first { [first, second] } else { [second, first] };
            let (study, run) = (&study.name, &run.name);
            let what = format!("{study} is a study and {run} a run, and only two of a kind can be compared");
            return Err(bad_arguments(
                &what,
                "name two studies (tenbin history) or two runs (tenbin history --runs)",
            ));
        }
    };
    compared.map_err(|error| match error {
        ReportError::NotComparable { .. } => BadArguments(error.to_string()).into(),
        other => other.into(),
    })
}

fn of_studies(
    [first, second]: &[StoredName; 2],
    failing: &[Condition],
) -> anyhow::Result<Result<Compared, ReportError>> {
    let ids = [first.store.find_study(&first.name)?, second.store.find_study(&second.name)?];
    if ids[0] == ids[1] {
        return Err(same_side_error(ids[0].as_str()));
    }
    let studies = [first.store.load_study(&ids[0])?, second.store.load_study(&ids[1])?];
    let are_sliced = studies.each_ref().map(|study| study.new.compare.procedure.slices().is_some());
    if are_sliced[0] != are_sliced[1] {
        let [sliced, whole] = if are_sliced[0] { ids } else { [ids[1].clone(), ids[0].clone()] };
        let what = format!(
            "{sliced} was made in slices, next to another system, and {whole} in whole runs: their figures mean different things"
        );
        return Err(bad_arguments(
            &what,
            "measure both with `interleave: runs`, or both with `interleave: slices`",
        ));
    }
    let load = |run: &RunId| match studies[0].runs.iter().any(|of_first| of_first.id == *run) {
        true => Ok(first.store.load(run)?),
        false => Ok(second.store.load(run)?),
    };
    let origins = [first.origin(ids[0].as_str())?, second.origin(ids[1].as_str())?];
    let compared = Compared::of_studies(&studies[0], &studies[1], &load, failing);
    Ok(compared.map(|compared| compared.with_origins(origins)))
}

fn same_side_error(id: &str) -> anyhow::Error {
    bad_arguments(
        &format!("both names mean {id}, which is always equal to itself"),
        "name another one (tenbin history)",
    )
}

fn bad_arguments(what: &str, way_out: &str) -> anyhow::Error {
    BadArguments(format!("{what}\n  help: {way_out}")).into()
}
