//! Finds processes of dead keepers by their marker, and ends them.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use crate::Signal;
use crate::deadline::Deadline;
use crate::marker::{Marker, Owner, marked};
use crate::processes::{self, Seen};
use crate::{disks, hosts, limits};

const GRACE: Duration = Duration::from_secs(1);
const KILL_TIMEOUT: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(20);

/// A leftover process that was ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedLeftover {
    /// Process ID.
    pub pid: u32,
    /// Command line, shortened.
    pub command: String,
    /// Whether it was killed because TERM was not enough.
    pub was_killed: bool,
}

/// Leftovers of the systems of other Tenbins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Processes of dead Tenbin processes. They were ended.
    pub ended: Vec<EndedLeftover>,
    /// Process IDs of systems from another PID namespace, whose Tenbin may still run. They were not touched.
    pub elsewhere: Vec<u32>,
    /// Number of systems with control groups of dead Tenbin processes. The groups were removed.
    pub groups: usize,
    /// Number of hosts of dead Tenbin processes. They were removed.
    pub hosts: usize,
    /// Number of disks of dead Tenbin processes. They were unmounted.
    pub disks: usize,
}

/// Ends the processes and keepers of systems of dead Tenbin processes. Takes up to four seconds if processes ignore TERM.
///
/// Processes that may have a living Tenbin are not touched: a Tenbin in another PID namespace cannot be looked up. A process that
/// overwrites its environment, as some do to change their title, is not found.
pub fn sweep() -> Leftovers {
    let of = |owner: Owner| {
        let all = marked().into_iter().filter(move |(_, marker)| marker.owner() == owner);
        all.map(|(seen, _)| seen).collect::<Vec<Seen>>()
    };
    let ended = end(|| {
        let mut found = of(Owner::Dead);
        found.extend(limits::orphaned_processes());
        found
    });
    let elsewhere = of(Owner::Elsewhere).iter().map(|seen| seen.pid).collect();
    let (groups, hosts) = (limits::remove_orphaned(), hosts::remove_orphaned());
    Leftovers { ended, elsewhere, groups, hosts, disks: disks::remove_orphaned() }
}

/// Ends all processes of one system that have no keeper, found by their marker and by the process group of their start.
pub(crate) fn end_system(marker: Marker, groups: &[Seen]) -> Vec<EndedLeftover> {
    end(|| {
        let marked = marked().into_iter().filter(|(_, other)| *other == marker).map(|(seen, _)| seen);
        let mut found: Vec<Seen> = marked.collect();
        if !groups.is_empty() {
            let all = processes::pids().into_iter().filter_map(processes::look);
            found.extend(
                all.filter(|seen| !seen.is_zombie && groups.iter().any(|group| is_in_group(seen, group))),
            );
        }
        found
    })
}

/// A group keeps its ID as long as it has members, so a different leader means a different group.
fn is_in_group(seen: &Seen, leader: &Seen) -> bool {
    let leader_now = processes::look(leader.pid);
    seen.group == leader.pid && leader_now.is_none_or(|now| now.started_ticks == leader.started_ticks)
}

fn end(find: impl Fn() -> Vec<Seen>) -> Vec<EndedLeftover> {
    let mut swept: BTreeMap<(u32, u64), EndedLeftover> = BTreeMap::new();
    let grace = Deadline::after(GRACE);
    let until = Deadline::after(GRACE + KILL_TIMEOUT);
    let mut is_sure = true;
    loop {
        let found = find();
        if (found.is_empty() && is_sure) || until.is_over() {
            return swept.into_values().collect();
        }
        // A process has no environment for a moment during `execve`, so one empty search is not enough.
        is_sure = found.is_empty();
        let must_die = grace.is_over();
        for seen in found {
            let key = (seen.pid, seen.started_ticks);
            let is_new = !swept.contains_key(&key);
            let entry = swept.entry(key).or_insert_with(|| EndedLeftover {
                pid: seen.pid,
                command: processes::command_line(seen.pid),
                was_killed: false,
            });
            if must_die {
                entry.was_killed |= processes::signal(&seen, Signal::KILL);
            } else if is_new {
                processes::signal(&seen, Signal::TERM);
            }
        }
        thread::sleep(PAUSE);
    }
}
