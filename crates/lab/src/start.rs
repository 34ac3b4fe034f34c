//! Starts a system: files, ports, commands before, and one process after another.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use crate::disks::Disk;
use crate::folder::Folder;
use crate::hosts::Namespace;
use crate::kept_process::{KeeperOptions, KeptProcess};
use crate::limits::{Groups, Kernel};
use crate::marker::Marker;
use crate::system::{Background, Running};
use crate::{Command, Failure, Process, Recipe, Stage, System, commands, in_words, ports, ready, steady};

/// Starts a system: writes its files, runs its commands before, and starts its processes one after another, each when the previous one is
/// ready.
///
/// Calls `cancel` every few milliseconds. Each step has a timeout.
///
/// # Errors
///
/// First failure. All processes have been ended by then, and the commands after have run.
pub fn start(recipe: Recipe, cancel: &dyn Fn() -> bool) -> Result<System, Failure> {
    let Recipe {
        dir,
        files,
        contents,
        copy_to,
        before,
        after,
        processes,
        ports,
        cores,
        limits,
        limits_to_come,
        network,
        disk_bytes,
        steady_within,
        keeper,
        name: _,
    } = recipe;
    let folder = Folder::make(&dir, contents.as_deref(), &files)?;
    check_ports(&ports)?;
    let marker = Marker::new();
    let namespace = network.map(|network| Namespace::make(network, marker)).transpose()?;
    let limits = Groups::make(&limits, &limits_to_come, marker, &Kernel::here());
    let limits = limits.inspect_err(|_| {
        // The error of the limits is more useful than one of the removal.
        let _ = namespace.as_ref().map(Namespace::remove);
    })?;
    let disk = disk_bytes.map(|bytes| Disk::make(folder.path(), bytes, marker)).transpose();
    let disk = disk.inspect_err(|_| {
        let _ = (limits.remove(), namespace.as_ref().map(Namespace::remove));
    })?;
    let mut system = System {
        setting: KeeperOptions {
            keeper,
            cores,
            marker,
            groups: limits.memberships(),
            namespace: namespace.as_ref().map(|one| one.name().to_owned()),
            disk: disk.as_ref().map(|disk| disk.point().to_owned()),
        },
        namespace,
        disk,
        limits,
        killed_for_memory: 0,
        running: Vec::with_capacity(processes.len()),
        background: Background::default(),
        after,
        ports,
        folder: Some(folder),
        copy_to,
        outputs: Vec::new(),
        steady: None,
    };
    let all_up = before
        .iter()
        .try_for_each(|command| system.run_before(command, cancel))
        .and_then(|()| processes.into_iter().try_for_each(|process| system.bring_up(process, cancel)))
        .and_then(|()| steady_within.map_or(Ok(()), |within| system.wait_until_steady(within, cancel)));
    match all_up {
        Ok(()) => Ok(system),
        Err(failure) => Err(system.stop_failed_start(failure)),
    }
}

fn without_help(failure: &Failure) -> String {
    let process = failure.process.as_ref().map(|process| format!("{process} "));
    format!("{}{}", process.unwrap_or_default(), failure.what)
}

fn check_ports(wanted: &[u16]) -> Result<(), Failure> {
    let Some(port) = wanted.iter().find(|port| !ports::is_free(Ipv4Addr::LOCALHOST, **port)) else {
        return Ok(());
    };
    let holder = ports::holder(*port).unwrap_or_else(|| "somebody".to_owned());
    Err(Failure {
        stage: Stage::Port,
        process: None,
        what: format!("port {port} on 127.0.0.1 is taken by {holder}"),
        way_out: "stop that, or let {port} choose a free one".to_owned(),
        outputs: Vec::new(),
    })
}

impl System {
    /// Stops a system that could not be started. Adds what the stop found to the failure.
    fn stop_failed_start(mut self, mut failure: Failure) -> Failure {
        self.explain_memory(&mut failure);
        let stopped = self.stop();
        for also in stopped.failures {
            failure.what.push_str(&format!("; and then {}", without_help(&also)));
        }
        failure.outputs = stopped.outputs;
        failure
    }

    fn run_before(&mut self, command: &Command, cancel: &dyn Fn() -> bool) -> Result<(), Failure> {
        match commands::run(&self.setting, command, command.within, cancel) {
            Ok(commands::CommandSuccess::Over(output)) => self.outputs.push(output),
            Ok(commands::CommandSuccess::StillBusy(kept)) => self.background.lock().push(kept),
            Err(fault) => {
                let (failure, output) = fault.failure(Stage::Before, command);
                self.outputs.extend(output);
                return Err(failure);
            }
        }
        Ok(())
    }

    /// Waits until all measured processes are steady. A system that is still not steady after `within` is used nevertheless.
    fn wait_until_steady(&mut self, within: Duration, cancel: &dyn Fn() -> bool) -> Result<(), Failure> {
        let measured = |running: &&Running| !running.process.is_aside && !running.process.is_started_by_event;
        let kept: Vec<&KeptProcess> =
            self.running.iter().filter(measured).map(|running| &*running.kept).collect();
        let has_died = || self.running.iter().any(|running| running.kept.state().died().is_some());
        self.steady = Some(steady::wait(&kept, within, &|| cancel() || has_died()));
        self.died().map_or(Ok(()), Err)
    }

    fn bring_up(&mut self, process: Process, cancel: &dyn Fn() -> bool) -> Result<(), Failure> {
        let process = Arc::new(process);
        let Process { name, command, ready, .. } = &*process;
        let failure = |stage, what, way_out| {
            let process = Some(name.clone());
            Failure { stage, process, what, way_out, outputs: Vec::new() }
        };
        if cancel() {
            let what = "the start was given up before it was started".to_owned();
            return Err(failure(Stage::Start, what, "start it again".to_owned()));
        }
        let free = process.is_aside.then(|| self.setting.unrestricted());
        let setting = free.as_ref().unwrap_or(&self.setting);
        let kept = match process.is_started_by_event {
            true => KeptProcess::hold(setting, name),
            false => KeptProcess::start(setting, name, command),
        };
        let kept = kept.map_err(|why| {
            let what = format!("`{}` could not be started: {why}", in_words::command(command));
            failure(Stage::Start, what, "install it, or write its full path".to_owned())
        })?;
        self.running.push(Running { kept: Arc::new(kept), process: Arc::clone(&process), is_mourned: false });
        let Some((this, others)) = self.running.split_last().filter(|_| !process.is_started_by_event) else {
            return Ok(());
        };
        let has_other_died = || others.iter().any(|other| other.kept.state().died().is_some());
        let is_ready = ready::wait(&self.setting, ready, &this.kept, &|| cancel() || has_other_died());
        let Err(not_ready) = is_ready else { return Ok(()) };
        // The failure of a process that died is more useful than the failure of a process that waited.
        if has_other_died()
            && let Some(died) = self.died()
        {
            return Err(died);
        }
        if let Some(running) = self.running.last_mut() {
            running.is_mourned = true;
        }
        Err(failure(Stage::Ready, not_ready.what, not_ready.way_out))
    }
}
