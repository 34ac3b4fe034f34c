//! Taking turns: in every round each tool has one, A B A B, so that what the machine does meanwhile meets them all.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use harness::child;
use harness::interrupt::Interrupt;
use harness::row::{Done, Turn};
use harness::time_file;
use harness::timed::{self, last_words};

use crate::cases::{Case, Work};
use crate::databases::Databases;
use crate::flags::Flags;
use crate::installed::Installed;
use crate::row::Row;
use crate::tools::{Measured, Order, Tool};

/// How much longer than its load a tool may take, or how long the loading of tables may.
const PATIENCE_BEYOND: Duration = Duration::from_secs(300);
/// Pause after a turn, in which the server takes note of closed connections.
const PAUSE: Duration = Duration::from_millis(500);

/// What all turns share.
pub(crate) struct Bench<'a> {
    pub(crate) flags: &'a Flags,
    pub(crate) installed: &'a Installed,
    pub(crate) databases: &'a Databases,
    /// For files that nobody needs afterwards.
    pub(crate) folder: &'a Path,
    pub(crate) client_core: usize,
    pub(crate) interrupt: &'a Interrupt,
}

impl Bench<'_> {
    /// Every turn of a case. Fewer after Ctrl-C.
    pub(crate) fn measure(&self, case: &Case, say_aside: fn(&str)) -> Vec<Row> {
        let mut rows = Vec::new();
        for round in 1..=self.flags.rounds {
            say_aside(&format!("{}: round {round} of {}", case.name, self.flags.rounds));
            for tool in &case.tools {
                let turn = self.turn(case, tool).map_or_else(Turn::Failed, Turn::Done);
                if self.interrupt.is_asked() {
                    return rows;
                }
                rows.push(Row { case: case.name.clone(), round, tool: tool.name, turn });
                thread::sleep(PAUSE);
            }
        }
        rows
    }

    fn turn(&self, case: &Case, tool: &Tool) -> Result<Done<Option<Measured>>, String> {
        let is_loading = case.load.work == Work::Loading;
        let store = self.folder.join("bench.sqlite").to_string_lossy().into_owned();
        let port = self.databases.port(case.load);
        let order = Order { load: case.load, port, seconds: self.flags.seconds, store: &store };
        let time_file = self.folder.join("time.txt");
        let mut command = if is_loading {
            // Loading may use every core there is, as the server does then.
            let _ = fs::remove_file(&time_file);
            let mut command = Command::new(&self.installed.time);
            command.args(["-f", time_file::FORMAT, "-o"]).arg(&time_file);
            command
        } else {
            timed::pinned(&self.installed.taskset, &self.installed.time, self.client_core, &time_file)
        };
        command.arg(self.installed.program(tool.name)?).args((tool.arguments)(&order));
        command.current_dir(self.folder).env("PGSSLMODE", "disable");
        let patience = Duration::from_secs(self.flags.seconds.into()) + PATIENCE_BEYOND;
        let output = child::run(&mut command, patience, self.interrupt)?;
        if !output.status.code().is_some_and(|code| tool.good_exits.contains(&code)) {
            return Err(format!("{}; {}", output.status, last_words(&output.stderr, &output.stdout)));
        }
        let measured = if is_loading { None } else { Some((tool.parse)(&output.stdout)?) };
        let text =
            fs::read_to_string(&time_file).map_err(|error| format!("time(1) left no file: {error}"))?;
        Ok(Done { measured, used: time_file::parse(&text)? })
    }
}
