//! Runs a case: executes its plan as a user would, and reads the named bottleneck from the result.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use harness::child;
use harness::figures;
use harness::group::Group;
use harness::interrupt::Interrupt;
use harness::timed::last_words;
use serde_json::Value;

use crate::cases::{Case, Generator};
use crate::grade::{Grade, NamedBottleneck};
use crate::neighbor::Neighbor;
use crate::refuted::refutations;

/// Folder of plans and planted programs.
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cases");
/// Time limit of a run. Even creating, filling, loading, and stopping a database takes less.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Max time of an experiment, and time limit of a case that has one.
const EXPERIMENT_WITHIN: &str = "240s";
const EXPERIMENT_TIMEOUT: Duration = Duration::from_secs(480);
/// Number of ranked causes that count.
const RANKS: usize = 3;

/// Returns the absolute path of the program to grade.
///
/// # Errors
/// The file does not exist.
pub(crate) fn program(tenbin: &Path) -> anyhow::Result<PathBuf> {
    tenbin
        .canonicalize()
        .with_context(|| format!("there is no program {}; build it with `make build`", tenbin.display()))
}

/// Program, folder, and conditions that all runs share.
pub(crate) struct Runs<'a> {
    tenbin: PathBuf,
    folder: &'a Path,
    is_noisy: bool,
    interrupt: &'a Interrupt,
}

impl<'a> Runs<'a> {
    pub(crate) fn new(
        tenbin: &Path,
        folder: &'a Path,
        is_noisy: bool,
        interrupt: &'a Interrupt,
    ) -> anyhow::Result<Self> {
        Ok(Self { tenbin: program(tenbin)?, folder, is_noisy, interrupt })
    }

    /// Whether Ctrl-C was pressed.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_asked()
    }

    /// Runs a case and grades the named bottleneck.
    pub(crate) fn grade(&self, case: &'static Case, number: u32) -> Grade {
        let begun = Instant::now();
        let said =
            self.said(case, number).unwrap_or_else(|error| NamedBottleneck::without_bottleneck(&error));
        Grade::of(case, number, self.is_noisy, said, begun.elapsed())
    }

    fn said(&self, case: &Case, number: u32) -> Result<NamedBottleneck, String> {
        let group = match case.generator {
            Generator::Free => None,
            Generator::Quota(cores) => Some(Group::make(cores)?),
        };
        let mut command =
            group.as_ref().map_or_else(|| Command::new(&self.tenbin), |group| group.command(&self.tenbin));
        let result = self.folder.join(format!("{}-{number}.json", case.name));
        // Deletes the result of an earlier run, so that it is not read as the result of this one.
        let _ = fs::remove_file(&result);
        command.arg("run").arg(Path::new(CASES).join(format!("{}.yaml", case.name)));
        command.args(["--format", "json", "-o"]).arg(&result);
        if case.report.is_some() {
            command.args(["--why", "--why-within", EXPERIMENT_WITHIN]);
        }
        command.arg("--store").arg(self.folder.join("tenbin.sqlite"));
        let neighbor = case.neighbor.or(self.is_noisy.then_some(Neighbor::Sometimes));
        let neighbor = neighbor.map(|neighbor| neighbor.start(Path::new(CASES), TIMEOUT)).transpose()?;
        let timeout = if case.report.is_some() { EXPERIMENT_TIMEOUT } else { TIMEOUT };
        let output = child::run(&mut command, timeout, self.interrupt)?;
        drop(neighbor);
        // The exit code does not matter: a system that failed has a result, too. A rejected plan has none.
        match fs::read_to_string(&result) {
            Ok(text) => read_bottleneck(&figures::json(&text)?),
            Err(_) => Ok(NamedBottleneck::without_bottleneck(&error_in(&output.stderr, &output.stdout))),
        }
    }
}

/// Joins the statements of a system in instrumented runs.
fn reported(said: &Value) -> String {
    let said = said.as_array().map_or(&[][..], Vec::as_slice);
    said.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("; ")
}

/// Reads the named bottleneck from the first run of a study.
fn read_bottleneck(study: &Value) -> Result<NamedBottleneck, String> {
    // Runs of an experiment follow the run of the case.
    let Some(run) = study["runs"].as_array().and_then(|runs| runs.first()) else {
        return Err("the result has no run".to_owned());
    };
    let word = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let bottleneck = &run["bottleneck"];
    if bottleneck.is_null() {
        let failure = word(&run["failure"], "what");
        return Ok(NamedBottleneck::without_bottleneck(if failure.is_empty() {
            "no bottleneck"
        } else {
            &failure
        }));
    }
    let resource = word(bottleneck, "resource");
    let causes = bottleneck["causes"].as_array().map_or(&[][..], Vec::as_slice);
    let mut ranked = vec![resource.clone()];
    ranked.extend(causes.iter().map(|cause| word(cause, "resource")).filter(|code| *code != resource));
    ranked.truncate(RANKS);
    Ok(NamedBottleneck {
        refuted: refutations(&resource, run),
        sentence: word(bottleneck, "because"),
        report: reported(&study["diagnosis"]["runtimes"]["said"]),
        share: bottleneck["share"].as_f64(),
        certainty: word(bottleneck, "certainty"),
        validity: word(&run["validity"], "verdict"),
        throughput_per_s: run["throughput_per_s"].as_f64(),
        resource,
        ranked,
    })
}

/// Returns the line with the error, or the last line of output if there is none.
pub(crate) fn error_in(stderr: &str, stdout: &str) -> String {
    let error = stderr.lines().find(|line| line.contains("error:"));
    error.map_or_else(|| last_words(stderr, stdout), |line| line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bottleneck_is_read_with_its_alternatives() {
        let study = serde_json::json!({ "runs": [{
            "validity": { "verdict": "valid" },
            "bottleneck": {
                "resource": "disk",
                "because": "it was busy",
                "certainty": "suspected",
                "causes": [{ "resource": "disk" }, { "resource": "lock" }, { "resource": "pool" }, { "resource": "load" }],
            },
        }] });
        let said = read_bottleneck(&study).unwrap();
        assert_eq!((said.resource.as_str(), said.sentence.as_str()), ("disk", "it was busy"));
        assert_eq!(said.ranked, ["disk", "lock", "pool"]);
        let silent =
            serde_json::json!({ "runs": [{ "bottleneck": null, "failure": { "what": "it ended" } }] });
        assert_eq!(read_bottleneck(&silent).unwrap().sentence, "it ended");
        assert!(read_bottleneck(&serde_json::json!({ "runs": [] })).is_err());
    }
}
