//! Runs the graded program, and reads its result.

use std::fs;
use std::process::Command;
use std::time::Duration;

use harness::child::{self, Child};
use harness::figures;
use harness::timed::last_words;
use serde_json::Value;

use crate::bench::Bench;

/// Exit codes with a result: success, a system that failed in every run, a breached gate, an invalid run, and an unavailable system.
const USABLE_EXIT_CODES: [i32; 5] = [0, 1, 3, 4, 6];

/// Max number of attempts at a run whose result Tenbin itself doubts, which is correct on a machine with other work.
pub(crate) const ATTEMPTS: u32 = 3;

/// Makes a run, and repeats it while Tenbin reports a starved generator, up to [`ATTEMPTS`] runs in total. Returns the last result.
pub(crate) fn run_unstarved(one: impl Fn() -> Result<Output, String>) -> Result<Output, String> {
    let mut said = one()?;
    for _ in 1..ATTEMPTS {
        if !said.is_starved() {
            break;
        }
        said = one()?;
    }
    Ok(said)
}

/// Result of a command of Tenbin.
pub(crate) struct Output {
    /// Exit code.
    pub(crate) exit: i32,
    /// Content of the JSON file.
    pub(crate) json: Value,
}

impl Bench<'_> {
    /// Runs Tenbin with these arguments, and reads its result.
    pub(crate) fn tenbin(&self, words: &[&str], time_limit: Duration) -> Result<Output, String> {
        let mut command = Command::new(&self.tenbin);
        self.run(command.args(words), time_limit)
    }

    /// Runs a command that ends with arguments of Tenbin, and reads the result.
    pub(crate) fn run(&self, command: &mut Command, time_limit: Duration) -> Result<Output, String> {
        self.run_while(command, time_limit, |_| Ok(()))
    }

    /// Like [`Self::run`], but calls `disturb` while the command runs.
    pub(crate) fn run_while(
        &self,
        command: &mut Command,
        time_limit: Duration,
        disturb: impl FnOnce(&mut Child) -> Result<(), String>,
    ) -> Result<Output, String> {
        let result = self.file("json");
        if !command.get_args().any(|word| word == "--store") {
            command.arg("--store").arg(self.store());
        }
        command.args(["--format", "json", "-o"]).arg(&result);
        let output = child::run_while(command, time_limit, self.interrupt, disturb)?;
        let exit = output.status.code().unwrap_or(-1);
        if !USABLE_EXIT_CODES.contains(&exit) {
            let words = last_words(&output.stderr, &output.stdout);
            return Err(format!("tenbin ended with {exit}: {words}"));
        }
        let text = fs::read_to_string(&result).map_err(|error| format!("no result: {error}"))?;
        // Limits disk usage: the result of a long study takes megabytes, and there are many.
        let _ = fs::remove_file(&result);
        Ok(Output { exit, json: figures::json(&text)? })
    }
}

impl Output {
    /// Returns a number of the result by its JSON pointer.
    pub(crate) fn at(&self, pointer: &str) -> Result<f64, String> {
        figures::at(&self.json, pointer)
    }

    /// Returns a string of the result, or an empty string if there is none.
    pub(crate) fn word(&self, pointer: &str) -> &str {
        self.json.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns a list of the result, or an empty list if there is none.
    pub(crate) fn list(&self, pointer: &str) -> &[Value] {
        self.json.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Returns whether the run is invalid because the generator was short of CPU.
    fn is_starved(&self) -> bool {
        let (verdict, codes) = self.validity();
        let is_shortage = |code: &String| code.starts_with("generator") || code == "steal";
        verdict == "invalid" && codes.iter().any(is_shortage)
    }

    /// Returns the validity verdict of a single run, and the codes of its causes.
    pub(crate) fn validity(&self) -> (String, Vec<String>) {
        let codes = self.list("/validity/causes").iter().filter_map(|cause| cause["code"].as_str());
        (self.word("/validity/verdict").to_owned(), codes.map(str::to_owned).collect())
    }
}

/// Checks that the counts of a run add up: planned = sent + not sent, and sent = the sum of all outcomes.
pub(crate) fn check_counts(run: &Value) -> Result<(), String> {
    let sum = |paths: &[&str]| -> Result<f64, String> {
        paths.iter().map(|path| figures::at(run, path)).sum::<Result<f64, String>>()
    };
    let planned = sum(&["/offered/planned"])?;
    let sent = sum(&["/offered/sent"])?;
    let ended = sum(&[
        "/outcomes/ok",
        "/outcomes/rejected",
        "/outcomes/failed",
        "/outcomes/timed_out",
        "/outcomes/unfinished",
    ])?;
    if planned != sent + figures::at(run, "/offered/not_sent")? || sent != ended {
        return Err(format!("planned {planned}, sent {sent}, ended {ended}: the accounts do not add up"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_that_does_not_add_up_is_found() {
        let mut run = serde_json::json!({
            "offered": { "planned": 10, "sent": 8, "not_sent": 2 },
            "outcomes": { "ok": 4, "rejected": 1, "failed": 1, "timed_out": 1, "unfinished": 1 },
        });
        assert_eq!(check_counts(&run), Ok(()));
        run["outcomes"]["ok"] = 5.into();
        assert!(check_counts(&run).unwrap_err().contains("do not add up"));
        run["outcomes"] = serde_json::json!({});
        assert!(check_counts(&run).is_err());
    }
}
