//! Load of a URL without a step: a mix of commands on random keys. Each iteration runs one command.

use std::sync::Arc;

use load::values::{DataSource, Source};
use load::{Order, Scenario, Scenarios, ThinkTime, Visit};
use wire::step::{Step, Workload, WorkloadSize};

use crate::fault::Fault;
use crate::units;

/// Name of the variable with the number of a key.
const KEY_VARIABLE: &str = "key";
const KEYS_MAX: u64 = 1 << 53;
const DATA_BYTES_MAX: u64 = 64 << 20;
/// Key distributions, by the words of the flag.
pub const KEY_DISTRIBUTIONS: [&str; 4] = ["uniform", "zipf", "latest", "sequence"];
const COMMANDS_FLAG: &str = "--commands";
const KEYS_FLAG: &str = "--keys";
const DATA_SIZE_FLAG: &str = "--data-size";
const KEY_DISTRIBUTION_FLAG: &str = "--key-distribution";

/// Flags of a command mix, as they were written.
#[derive(Clone, Debug, Default)]
pub struct CommandMixSpec {
    /// Commands, separated by commas.
    pub commands: Option<String>,
    /// Number of keys.
    pub keys: Option<String>,
    /// Size of the data of a command, in bytes.
    pub data_size: Option<String>,
    /// Distribution of keys: one of [`KEY_DISTRIBUTIONS`].
    pub key_distribution: Option<String>,
}

/// Steps of the mix, and their random keys. Each iteration runs one step.
pub(crate) struct CommandMix {
    pub(crate) steps: Vec<Arc<dyn Step>>,
    pub(crate) scenarios: Scenarios,
    pub(crate) variables: Vec<String>,
    pub(crate) data: Vec<DataSource>,
    /// Names of the commands, as in `set,get`.
    pub(crate) title: String,
}

impl CommandMixSpec {
    /// Flags, and whether each was given.
    pub fn given(&self) -> [(&'static str, bool); 4] {
        [
            (COMMANDS_FLAG, self.commands.is_some()),
            (KEYS_FLAG, self.keys.is_some()),
            (DATA_SIZE_FLAG, self.data_size.is_some()),
            (KEY_DISTRIBUTION_FLAG, self.key_distribution.is_some()),
        ]
    }

    /// Checks the flags and builds the mix, or reports all errors.
    pub(crate) fn check(&self, workload: &Workload, faults: &mut Vec<Fault>) -> Option<CommandMix> {
        let before = faults.len();
        let keys = self.keys(workload, faults);
        let data_bytes = self.data_bytes(workload, faults);
        let source = self.source(keys, faults);
        let size = WorkloadSize { key: KEY_VARIABLE, data_bytes };
        let title = self.commands.clone().unwrap_or_else(|| workload.default.to_owned());
        let steps = title.split(',').map(str::trim).filter_map(|name| {
            let step = (workload.step)(name, &size);
            if step.is_none() {
                let help =
                    format!("write some of {}; a plan sends any command", (workload.names)().join(","));
                faults.push(Fault::new(COMMANDS_FLAG, format!("unknown command {name:?}"), help));
            }
            step
        });
        let steps: Vec<Arc<dyn Step>> = steps.collect();
        if faults.len() > before {
            return None;
        }
        let visits = (0..steps.len() as u16).map(|step| (Visit::of(step, ThinkTime::None), 1.0));
        let order = match steps.len() {
            1 => Order::InTurn(vec![Visit::of(0, ThinkTime::None)]),
            _ => Order::Mix(visits.collect()),
        };
        let scenario = Scenario { name: String::new(), share: 1.0, once: Vec::new(), order };
        Some(CommandMix {
            steps,
            scenarios: Scenarios { list: vec![scenario] },
            variables: vec![KEY_VARIABLE.to_owned()],
            data: vec![DataSource { fills: vec![(0, 0)], source }],
            title,
        })
    }

    fn keys(&self, workload: &Workload, faults: &mut Vec<Fault>) -> u64 {
        let Some(text) = &self.keys else { return workload.keys_default };
        match units::count(text) {
            Ok(keys @ 1..=KEYS_MAX) => keys,
            Ok(keys) => {
                let what = format!("{keys} is not between 1 and {KEYS_MAX}");
                faults.push(Fault::new(KEYS_FLAG, what, "write a number of keys such as 100000"));
                1
            }
            Err(_) => {
                let what = format!("{text:?} is no number");
                faults.push(Fault::new(KEYS_FLAG, what, "write a number of keys such as 100000"));
                1
            }
        }
    }

    fn data_bytes(&self, workload: &Workload, faults: &mut Vec<Fault>) -> u64 {
        let Some(text) = &self.data_size else { return workload.data_bytes_default };
        match units::size_bytes(text) {
            Ok(bytes @ 1..=DATA_BYTES_MAX) => bytes,
            _ => {
                let what = format!("{text:?} is no size between 1 byte and 64MiB");
                faults.push(Fault::new(DATA_SIZE_FLAG, what, "write a size such as 1024 or 4KiB"));
                1
            }
        }
    }

    fn source(&self, keys: u64, faults: &mut Vec<Fault>) -> Source {
        let max = keys as i64 - 1;
        match self.key_distribution.as_deref().unwrap_or(KEY_DISTRIBUTIONS[0]) {
            "uniform" => Source::Uniform { min: 0, max },
            "zipf" => Source::Zipf { min: 0, max, exponent: 1.0, is_scattered: false },
            "latest" => Source::Latest { min: 0, max, exponent: 1.0, grows_with: None },
            "sequence" => Source::Sequence { from: 0, until: Some(max), by: 1 },
            other => {
                let what = format!("unknown distribution {other:?}");
                let help = format!("write one of {}", KEY_DISTRIBUTIONS.join(", "));
                faults.push(Fault::new(KEY_DISTRIBUTION_FLAG, what, help));
                Source::Uniform { min: 0, max }
            }
        }
    }
}
