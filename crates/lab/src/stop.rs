//! Stops a system, and verifies that all of its processes have ended.

use std::net::Ipv4Addr;
use std::thread;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::keeper::messages::EndedProcesses;
use crate::kept_process::{KeeperOptions, KeptProcess};
use crate::leftovers::{self, EndedLeftover};
use crate::processes::Seen;
use crate::system::{RAISE_MEMORY_LIMIT, Running};
use crate::{Copied, Failure, Output, Signal, Stage, StopHow, Stopped, System, commands, in_words, ports};

/// Timeout for processes that were left running by commands before the start.
const BACKGROUND_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout for a port to become free after its process has ended.
const PORTS_TIMEOUT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);

impl System {
    /// Implements [`System::stop`].
    pub(crate) fn take_down(&mut self) -> Stopped {
        let mut failures: Vec<Failure> = std::iter::from_fn(|| self.died()).collect();
        failures.iter_mut().for_each(|failure| failure.outputs.clear());
        let mut outputs = Vec::new();
        let mut groups = Vec::new();
        while let Some(Running { kept, process, is_mourned }) = self.running.pop() {
            let stop = &process.stop;
            let name = kept.name.clone();
            let is_dead = is_mourned && kept.state().ended().is_some();
            let main = kept.state().main.clone();
            let (ending, output) = end(&self.setting, &kept, stop, &mut self.outputs);
            outputs.push(output);
            if ending.is_lost() {
                groups.extend(main);
            }
            failures.extend(ending.failures(&name, stop, is_dead));
        }
        outputs.reverse();
        outputs.append(&mut self.outputs);
        let copied = self.copy_folder().transpose();
        let copied = copied.unwrap_or_else(|failure| {
            failures.push(failure);
            None
        });
        self.run_after(&mut failures, &mut outputs);
        let background = std::mem::take(&mut *self.background.lock());
        for kept in background.into_iter().rev() {
            outputs.push(kept.stop(Some(Signal::TERM), BACKGROUND_TIMEOUT).1);
        }
        failures.extend(self.sweep(&groups));
        failures.extend(self.remove_limits());
        failures.extend(self.disk.take().and_then(|disk| disk.remove().err()));
        failures.extend(self.wait_for_ports());
        if let Some(Err(failure)) = self.folder.take().map(crate::folder::Folder::remove) {
            failures.push(failure);
        }
        Stopped { failures, outputs, copied }
    }

    /// Copies the folder, which no process uses any more, if the recipe requests it.
    fn copy_folder(&mut self) -> Option<Result<Copied, Failure>> {
        let (to, from) = (self.copy_to.take()?, self.folder.as_ref()?.path());
        Some(crate::copies::copy(from, &to).map_err(|error| {
            let what = format!("the folder cannot be copied to {}: {error}", to.display());
            failure(Stage::Files, None, what, "free space there, or set TMPDIR to another file system")
        }))
    }

    fn run_after(&mut self, failures: &mut Vec<Failure>, outputs: &mut Vec<Output>) {
        for command in std::mem::take(&mut self.after) {
            match commands::run(&self.setting, &command, command.within, &|| false) {
                Ok(done) => outputs.push(done.end()),
                Err(fault) => {
                    let (failure, output) = fault.failure(Stage::After, &command);
                    failures.push(failure);
                    outputs.extend(output);
                }
            }
        }
    }

    /// Removes limits and host. Returns their failures, and memory kills that were not reported before.
    fn remove_limits(&mut self) -> Vec<Failure> {
        let killed = self.limits.killed_for_memory().saturating_sub(self.killed_for_memory);
        let count = usize::try_from(killed).unwrap_or(usize::MAX);
        let what = format!("{} of it {}", in_words::processes(count), self.limits.killed_words());
        let told = (killed > 0).then(|| failure(Stage::Died, None, what, RAISE_MEMORY_LIMIT));
        let left = self.limits.remove().err();
        let way_out = "end the processes in it, and remove the folder by hand (rmdir)";
        let told = told.into_iter().chain(left.map(|what| failure(Stage::Stop, None, what, way_out)));
        let host = self.namespace.take().and_then(|namespace| namespace.remove().err());
        let way_out = "remove it by hand (ip netns del)";
        told.chain(host.map(|what| failure(Stage::Host, None, what, way_out))).collect()
    }

    /// Ends processes that outlived their keeper because it was killed.
    fn sweep(&self, groups: &[Seen]) -> Option<Failure> {
        let swept = leftovers::end_system(self.setting.marker, groups);
        if swept.is_empty() {
            return None;
        }
        let name = |swept: &EndedLeftover| format!("{} ({})", swept.pid, swept.command);
        let names: Vec<String> = swept.iter().take(5).map(name).collect();
        let what = format!(
            "{} had lost their keeper and were ended: {}",
            in_words::processes(swept.len()),
            names.join(", ")
        );
        Some(failure(Stage::Stop, None, what, "find out who kills processes here"))
    }

    fn wait_for_ports(&self) -> Option<Failure> {
        let until = Deadline::after(PORTS_TIMEOUT);
        let taken = || self.ports.iter().find(|port| !ports::is_free(Ipv4Addr::LOCALHOST, **port));
        while taken().is_some() && !until.is_over() {
            thread::sleep(PAUSE);
        }
        let port = taken()?;
        let holder = ports::holder(*port).unwrap_or_else(|| "somebody".to_owned());
        let what = format!("port {port} on 127.0.0.1 is still taken after the stop, by {holder}");
        Some(failure(Stage::Port, None, what, "stop that before the next run"))
    }
}

fn failure(stage: Stage, process: Option<&str>, what: String, way_out: &str) -> Failure {
    let (process, way_out) = (process.map(str::to_owned), way_out.to_owned());
    Failure { stage, process, what, way_out, outputs: Vec::new() }
}

/// Result of stopping one process.
#[derive(Debug)]
struct Ending {
    /// `None` if the keeper was lost.
    stop_result: Option<EndedProcesses>,
    /// Reason why the stop command failed. `None` if it succeeded or there is none.
    command_fault: Option<String>,
}

/// Stops one process: by its command if it has one that succeeds, else by its signal, and by KILL after the timeout.
fn end(
    setting: &KeeperOptions,
    kept: &KeptProcess,
    stop: &StopHow,
    outputs: &mut Vec<Output>,
) -> (Ending, Output) {
    let has_work = {
        let state = kept.state();
        state.ended().is_none() && !state.is_at_rest
    };
    let (mut signal, mut within, mut command_fault) = (Some(stop.signal), stop.within, None);
    if let (Some(command), true) = (&stop.command, has_work) {
        let until = Deadline::after(stop.within);
        match commands::run(setting, command, command.within.min(stop.within), &|| false) {
            Ok(done) => {
                outputs.push(done.end());
                (signal, within) = (None, until.left());
            }
            Err(fault) => {
                command_fault = Some(format!("the command `{}` {}", in_words::command(command), fault.what));
                outputs.extend(fault.output);
            }
        }
    }
    let (stop_result, output) = kept.stop(signal, within);
    (Ending { stop_result, command_fault }, output)
}

impl Ending {
    fn is_lost(&self) -> bool {
        self.stop_result.is_none()
    }

    fn failures(self, name: &str, stop: &StopHow, is_dead: bool) -> Vec<Failure> {
        let mut failures = Vec::new();
        let is_by_command = stop.command.is_some() && self.command_fault.is_none();
        if let Some(what) = self.command_fault {
            let what = format!("{what}, so it was stopped by {}", stop.signal);
            failures.push(failure(Stage::Stop, Some(name), what, "look at the output of that command"));
        }
        let within = in_words::duration(stop.within);
        let told = if is_by_command { "its stop command".to_owned() } else { stop.signal.to_string() };
        match self.stop_result {
            Some(stop_result) if stop_result.left > 0 => {
                let left = in_words::processes(stop_result.left);
                let what = format!("{left} below it did not end even when killed");
                let way_out = "wait for the disk or device they hang on, or restart the machine";
                failures.push(failure(Stage::Stop, Some(name), what, way_out));
            }
            Some(stop_result) if stop_result.killed > 0 => {
                let killed = in_words::processes(stop_result.killed);
                let what = if stop_result.is_main_killed {
                    format!("ignored {told} for {within} and was killed ({killed})")
                } else {
                    format!("left {killed} behind that had to be killed after {within}")
                };
                let way_out =
                    "give it longer with stop: { within: 30s }, or another signal with stop: { signal: INT }";
                failures.push(failure(Stage::Stop, Some(name), what, way_out));
            }
            None if !is_dead => {
                let what = "its keeper was killed before it was stopped".to_owned();
                failures.push(failure(Stage::Stop, Some(name), what, "find out who kills processes here"));
            }
            _ => {}
        }
        failures
    }
}
