//! `tenbin machine`: measures this machine, or shows what Tenbin may read and change on it.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use machine::{DiskError, Effort, Findings, Site};
use report::{JSON, TERMINAL};
use runner::{Machine, StopLevel, Stopper, Tools};
use serde_json::{Value, json};

use super::permissions;
use crate::exit::{BadArguments, Exit};
use crate::{output, signals};

/// Duration of each load on a target that answers at once.
const NULL_SERVER: Duration = Duration::from_millis(500);
const NULL_SERVER_QUICK: Duration = Duration::from_millis(150);

/// Arguments of `tenbin machine`.
#[derive(Args, Debug)]
#[command(after_long_help = "Every figure is defined in docs/machine.md.")]
pub(crate) struct MachineFlags {
    /// At most 10 s instead of 30 s: shorter trials, a smaller file
    #[arg(long)]
    quick: bool,
    /// Folder of the disk's trials [default: $TMPDIR, or /tmp]
    #[arg(long, value_name = "PATH")]
    dir: Option<PathBuf>,
    /// Try what Tenbin reads and changes instead, and say what helps where it may not
    ///
    /// Takes about a second. Control groups, a file system, and a network namespace are made, and removed again.
    #[arg(long, conflicts_with_all = ["quick", "dir"])]
    permissions: bool,
    /// terminal or json
    #[arg(long, value_name = "NAME", default_value = TERMINAL.name, help_heading = "Results")]
    format: String,
}

/// Makes all trials, or tries all permissions, and prints the results.
pub(crate) fn run(flags: &MachineFlags) -> anyhow::Result<Exit> {
    let is_json = match flags.format.as_str() {
        name if name == JSON.name => true,
        name if name == TERMINAL.name => false,
        name => {
            let what =
                format!("--format: {name:?} is not a format of this command\n  help: write terminal or json");
            return Err(BadArguments(what).into());
        }
    };
    if flags.permissions {
        return permissions::run(is_json);
    }
    let effort = if flags.quick { Effort::QUICK } else { Effort::FULL };
    let dir = flags.dir.clone().unwrap_or_else(std::env::temp_dir);
    machine::check_folder(&dir, effort.file_bytes_max).map_err(|error| explain_no_disk(&error))?;
    let stopper = Stopper::default();
    let received_signals = signals::listen(stopper.clone())?;
    received_signals.mark_run_started();
    let is_stopped = || stopper.level() != StopLevel::Go;
    let site = Site { dir: &dir, effort, is_stopped: &is_stopped };
    let length = if flags.quick { NULL_SERVER_QUICK } else { NULL_SERVER };
    let tools = Tools::local(&stopper);
    let findings = machine::measure(&site, Some(&|| runner::null_server_per_s(&tools, length)));
    let here = Machine::here();
    if is_json {
        output::data(&format!("{:#}\n", to_json(&findings, &here, &dir, flags.quick)))?;
    } else {
        output::lines(&to_text(&findings, &here, &dir, effort))?;
    }
    Ok(received_signals.exit().unwrap_or(Exit::Ok))
}

fn explain_no_disk(error: &DiskError) -> anyhow::Error {
    let help = "name a folder on the disk to measure: --dir PATH";
    anyhow::anyhow!("{error}\n  help: {help}")
}

fn to_json(findings: &Findings, here: &Machine, dir: &std::path::Path, is_quick: bool) -> Value {
    let mut value = machine::json(findings);
    let head = json!({
        "schema": "tenbin.machine/1",
        "tenbin_version": env!("CARGO_PKG_VERSION"),
        "host": here.facts,
        "is_quick": is_quick,
        "dir": dir.display().to_string(),
    });
    if let (Some(value), Value::Object(head)) = (value.as_object_mut(), head) {
        value.extend(head);
    }
    value
}

fn to_text(findings: &Findings, here: &Machine, dir: &std::path::Path, effort: Effort) -> String {
    let text = |key: &str| here.facts.get(key).and_then(Value::as_str).unwrap_or("unknown");
    let memory = here.facts.get("memory_bytes").and_then(Value::as_u64);
    let memory = memory.map_or(String::new(), |bytes| format!(", {} GiB", bytes >> 30));
    let disk = match (&findings.file_system, findings.file_bytes) {
        (Some(name), Some(bytes)) => format!("; disk: {}, {name}, {} MiB", dir.display(), bytes >> 20),
        _ => String::new(),
    };
    let partial = if findings.is_partial { "; stopped early" } else { "" };
    format!(
        "{}: {}, {} cores{memory}, {}\n{} trials of each figure in {:.1} s{disk}{partial}\n\n{}",
        text("name"),
        here.processor,
        here.cores.len(),
        text("system"),
        effort.repetitions,
        findings.took_s,
        machine::table(findings)
    )
}
