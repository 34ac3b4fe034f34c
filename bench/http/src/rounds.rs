//! Runs the turns of a case. Tools alternate (A B C A B C), so that changes in machine speed affect all of them.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::cases::Case;
use crate::flags::Flags;
use crate::installed::Installed;
use crate::measured::Measured;
use crate::nginx::Nginx;
use crate::row::Row;
use crate::tools::{Order, Tool};
use harness::child;
use harness::cores::Cores;
use harness::interrupt::Interrupt;
use harness::row::{Done, Turn};
use harness::time_file;
use harness::timed::{self, last_words};

/// Timeout of a turn, in addition to the duration of its load: time to connect and to wait for the last responses.
const EXTRA_TIMEOUT: Duration = Duration::from_secs(30);
/// Number of files that a tool may open in addition to its connections.
const EXTRA_FILES: u64 = 64;
/// Pause after a turn, in which nginx cleans up closed connections.
const PAUSE: Duration = Duration::from_millis(300);
/// Pause after a turn with at least [`MANY`] connections. Linux reuses a local port after a second.
const PAUSE_AFTER_MANY: Duration = Duration::from_millis(1_500);
const MANY: u32 = 1_000;

/// Environment that all turns share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bench<'a> {
    pub(crate) flags: &'a Flags,
    pub(crate) installed: &'a Installed,
    pub(crate) nginx: &'a Nginx,
    /// Folder for temporary files.
    pub(crate) folder: &'a Path,
    pub(crate) cores: Cores,
    /// Limit on open files per process.
    pub(crate) open_files: u64,
    pub(crate) interrupt: &'a Interrupt,
}

impl Bench<'_> {
    /// Runs all turns of a case and returns their results. Skips tools that are not installed, and stops early after Ctrl-C.
    pub(crate) fn measure(&self, case: &Case, print_progress: fn(&str)) -> Vec<Row> {
        let mut rows = Vec::new();
        for round in 1..=self.flags.rounds {
            print_progress(&format!("{}: round {round} of {}", case.name, self.flags.rounds));
            for tool in &case.tools {
                let Some(program) = self.installed.program(tool) else { continue };
                let turn = self.turn(case, tool, program).map_or_else(Turn::Failed, Turn::Done);
                if self.interrupt.is_asked() {
                    return rows;
                }
                rows.push(Row { case: case.name.to_owned(), round, tool: tool.name, turn });
                thread::sleep(if case.load.connections >= MANY { PAUSE_AFTER_MANY } else { PAUSE });
            }
        }
        rows
    }

    fn turn(&self, case: &Case, tool: &Tool, program: &Path) -> Result<Done<Measured>, String> {
        let need = u64::from(case.load.connections) + EXTRA_FILES;
        if need > self.open_files {
            return Err(format!("needs {need} open files, may have {}; raise ulimit -Hn", self.open_files));
        }
        let address = if case.load.is_tls { self.nginx.tls } else { self.nginx.plain };
        let store = self.folder.join("bench.sqlite").to_string_lossy().into_owned();
        let order = Order { load: case.load, address, seconds: self.flags.seconds, store: &store };
        let time_file = self.folder.join("time.txt");
        let mut command =
            timed::pinned(&self.installed.taskset, &self.installed.time, self.cores.client, &time_file);
        command.arg(program).args((tool.arguments)(&order)).current_dir(self.folder);
        let time_limit = Duration::from_secs(self.flags.seconds.into()) + EXTRA_TIMEOUT;
        let output = child::run(&mut command, time_limit, self.interrupt)?;
        if !output.status.code().is_some_and(|code| tool.good_exits.contains(&code)) {
            return Err(format!("{}; {}", output.status, last_words(&output.stderr, &output.stdout)));
        }
        let measured = (tool.parse)(&output.stdout)?;
        let text =
            fs::read_to_string(&time_file).map_err(|error| format!("time(1) left no file: {error}"))?;
        Ok(Done { measured, used: time_file::parse(&text)? })
    }
}
