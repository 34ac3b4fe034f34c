//! Runs the plan of a plant as a user would, and reads the result.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use harness::child;
use harness::figures;
use harness::interrupt::Interrupt;
use serde_json::Value;

use super::answer::Answer;
use super::plan::{self, Length};
use super::plants::Plant;
use crate::neighbor::Neighbor;
use crate::run::{error_in, program};

/// Time limit of one run, including compilation, database start, and load.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Folder of the neighbor's script.
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cases");

/// Runs plants one after the other.
pub(crate) struct Runner<'a> {
    tenbin: PathBuf,
    folder: &'a Path,
    is_noisy: bool,
    interrupt: &'a Interrupt,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(
        tenbin: &Path,
        folder: &'a Path,
        is_noisy: bool,
        interrupt: &'a Interrupt,
    ) -> anyhow::Result<Self> {
        Ok(Self { tenbin: program(tenbin)?, folder, is_noisy, interrupt })
    }

    /// Runs the plant and returns the program's answer.
    pub(crate) fn ask(&self, plant: &Plant) -> Answer {
        let neighbor =
            self.is_noisy.then(|| Neighbor::Sometimes.start(Path::new(CASES), TIMEOUT)).transpose();
        let study = neighbor.and_then(|_neighbor| self.study(plant, &[], Length::Full));
        study.and_then(|study| Answer::read(&study)).unwrap_or_else(|error| Answer::failed(&error))
    }

    /// Measures successful requests per second without the causes in `removed`. Does not read the answer.
    pub(crate) fn throughput_per_s(&self, plant: &Plant, removed: &[char]) -> Result<f64, String> {
        let study = self.study(plant, removed, Length::Short)?;
        let failure = || study["runs"][0]["failure"]["what"].as_str().unwrap_or("no result").to_owned();
        let ok = study["runs"][0]["outcomes"]["ok"].as_f64().ok_or_else(failure)?;
        Ok(ok / plan::SHORT_S)
    }

    fn study(&self, plant: &Plant, removed: &[char], length: Length) -> Result<Value, String> {
        let name: String = plant.name.chars().chain(removed.iter().copied()).collect();
        let file = |extension: &str| self.folder.join(format!("{name}.{extension}"));
        fs::write(file("yaml"), plan::text(plant, removed, length)).map_err(|error| error.to_string())?;
        // Deletes the result of an earlier run, so that it is not read as the result of this one.
        let _ = fs::remove_file(file("json"));
        let mut command = Command::new(&self.tenbin);
        command.arg("run").arg(file("yaml")).args(["--format", "json", "-o"]).arg(file("json"));
        command.arg("--store").arg(self.folder.join("tenbin.sqlite"));
        let output = child::run(&mut command, TIMEOUT, self.interrupt)?;
        match fs::read_to_string(file("json")) {
            Ok(text) => figures::json(&text),
            Err(_) => Err(error_in(&output.stderr, &output.stdout)),
        }
    }
}
