//! Process that a keeper started, and all its descendants.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::io::{Errno, ioctl_fionbio, read};
use rustix::process::{Pid, WaitOptions, kill_process_group, wait};

use super::outbox::Outbox;
use crate::Signal;
use crate::exit::Exit;
use crate::processes::{self, Seen};

const CHUNK_BYTES: usize = 64 << 10;
/// Max chunks that are read before the keeper does other work.
const CHUNKS_PER_TURN: usize = 16;
/// Max passes that search for processes started while others were being paused.
const PAUSE_PASSES_MAX: usize = 20;

/// All processes below this keeper.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) main_pid: u32,
    /// Exit status of the main process. `None` while it runs.
    pub(crate) main_exit: Option<Exit>,
    /// Whether all processes have ended, so that no new one can appear.
    pub(crate) is_empty: bool,
    output: Option<io::PipeReader>,
    killed: BTreeSet<(u32, u64)>,
}

impl Tree {
    /// Starts a command in a new process group, without standard input, and with stdout and stderr in one pipe.
    pub(crate) fn start(argv: &[String], env: Vec<(String, String)>, dir: &Path) -> Result<Tree, String> {
        let Some((program, arguments)) = argv.split_first() else {
            return Err("its command line is empty".to_owned());
        };
        if !dir.is_dir() {
            return Err(format!("its working directory {} is no folder", dir.display()));
        }
        let start = || {
            let (output, writer) = io::pipe()?;
            ioctl_fionbio(&output, true)?;
            let child = Command::new(program)
                .args(arguments)
                .envs(env)
                .current_dir(dir)
                .stdin(Stdio::null())
                .stdout(writer.try_clone()?)
                .stderr(writer)
                .process_group(0)
                .spawn()?;
            Ok((child.id(), output))
        };
        let (main_pid, output) = start().map_err(|error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => format!("{program:?} was not found"),
            io::ErrorKind::PermissionDenied => format!("{program:?} may not be executed"),
            _ => format!("{program:?} could not be started: {error}"),
        })?;
        let output = Some(output);
        Ok(Tree { main_pid, main_exit: None, is_empty: false, output, killed: BTreeSet::new() })
    }

    /// Reading end of the output. `None` after end of file.
    pub(crate) fn output(&self) -> Option<&io::PipeReader> {
        self.output.as_ref()
    }

    /// Reads available output. Returns whether more may be available at once.
    pub(crate) fn read(&mut self, outbox: &mut Outbox) -> bool {
        let mut buffer = [0; CHUNK_BYTES];
        for _ in 0..CHUNKS_PER_TURN {
            let Some(output) = &self.output else { return false };
            match read(output, &mut buffer) {
                Ok(count) if count > 0 => outbox.push(&buffer[..count]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return false,
                _ => self.output = None,
            }
        }
        true
    }

    /// Reaps all children that have ended. Orphans are reparented to the keeper, so if it has no child, all descendants have ended.
    pub(crate) fn reap(&mut self) {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid.as_raw_nonzero().get().cast_unsigned() == self.main_pid => {
                    let code = status.exit_status().map(Exit::Code);
                    self.main_exit = code.or_else(|| status.terminating_signal().map(Exit::Signal));
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return,
                Err(_) => {
                    self.is_empty = true;
                    return;
                }
            }
        }
    }

    /// All descendants of the keeper that still run.
    pub(crate) fn all() -> Vec<Seen> {
        processes::below(std::process::id())
    }

    /// Sends a signal to the process group of the main process, or to all descendants if the main process has ended.
    pub(crate) fn tell(&self, signal: Signal) {
        match (self.main_exit, i32::try_from(self.main_pid).ok().and_then(Pid::from_raw)) {
            (None, Some(group)) => {
                // Errors are ignored: the process may have changed its group or ended, and both are detected later.
                let _ = kill_process_group(group, signal.raw());
            }
            _ => Tree::all().iter().for_each(|seen| {
                processes::signal(seen, signal);
            }),
        }
    }

    /// Pauses all descendants with SIGSTOP, including processes that they start meanwhile. Returns the number of paused processes.
    pub(crate) fn pause_all(&self) -> usize {
        let mut stopped: BTreeSet<(u32, u64)> = BTreeSet::new();
        for _ in 0..PAUSE_PASSES_MAX {
            let before = stopped.len();
            for seen in Tree::all() {
                if !stopped.contains(&(seen.pid, seen.started_ticks))
                    && processes::signal(&seen, Signal::STOP)
                {
                    stopped.insert((seen.pid, seen.started_ticks));
                }
            }
            // A process that was started between two passes is found by the second.
            if stopped.len() == before {
                break;
            }
        }
        stopped.len()
    }

    /// Kills all descendants that exist now.
    pub(crate) fn kill(&mut self) {
        for seen in Tree::all() {
            if processes::signal(&seen, Signal::KILL) {
                self.killed.insert((seen.pid, seen.started_ticks));
            }
        }
    }

    /// Forgets which processes were killed, because that is reported.
    pub(crate) fn forget_killed(&mut self) {
        self.killed.clear();
    }

    pub(crate) fn killed(&self) -> usize {
        self.killed.len()
    }

    pub(crate) fn is_main_killed(&self) -> bool {
        self.killed.iter().any(|(pid, _)| *pid == self.main_pid)
    }
}
