//! Runs the turns of a case. Tools alternate (A B A B), so that changes in machine speed affect all of them.

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

/// Timeout of a turn, in addition to the duration of its load. Long enough for table loading.
const EXTRA_TIMEOUT: Duration = Duration::from_secs(300);
/// Pause after a turn, in which the server cleans up closed connections.
const PAUSE: Duration = Duration::from_millis(500);

/// Environment that all turns share.
pub(crate) struct Bench<'a> {
    pub(crate) flags: &'a Flags,
    pub(crate) installed: &'a Installed,
    pub(crate) databases: &'a Databases,
    /// Folder for temporary files.
    pub(crate) folder: &'a Path,
    pub(crate) client_core: usize,
    pub(crate) interrupt: &'a Interrupt,
}

impl Bench<'_> {
    /// Runs all turns of a case and returns their results. Stops early after Ctrl-C.
    pub(crate) fn measure(&self, case: &Case, print_progress: fn(&str)) -> Vec<Row> {
        let mut rows = Vec::new();
        for round in 1..=self.flags.rounds {
            print_progress(&format!("{}: round {round} of {}", case.name, self.flags.rounds));
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
            // Table loading may use every core, as its server does.
            let _ = fs::remove_file(&time_file);
            let mut command = Command::new(&self.installed.time);
            command.args(["-f", time_file::FORMAT, "-o"]).arg(&time_file);
            command
        } else {
            timed::pinned(&self.installed.taskset, &self.installed.time, self.client_core, &time_file)
        };
        command.arg(self.installed.program(tool.name)?).args((tool.arguments)(&order));
        command.current_dir(self.folder).env("PGSSLMODE", "disable");
        let time_limit = Duration::from_secs(self.flags.seconds.into()) + EXTRA_TIMEOUT;
        let output = child::run(&mut command, time_limit, self.interrupt)?;
        if !output.status.code().is_some_and(|code| tool.good_exits.contains(&code)) {
            return Err(format!("{}; {}", output.status, last_words(&output.stderr, &output.stdout)));
        }
        let measured = if is_loading { None } else { Some((tool.parse)(&output.stdout)?) };
        let text =
            fs::read_to_string(&time_file).map_err(|error| format!("time(1) left no file: {error}"))?;
        Ok(Done { measured, used: time_file::parse(&text)? })
    }
}
