//! Marker in the environment of every process of a system. It identifies the Tenbin that owns the process.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::namespaces::Namespaces;
use crate::processes::{self, Seen};

/// Name of the environment variable.
pub(crate) const VARIABLE: &str = "TENBIN_SYSTEM";
const ENVIRONMENT_BYTES_MAX: u64 = 8 << 20;

/// Identity of a system in the form "pid:start:number:pid namespace:time namespace". It has the PID and the start tick of a Tenbin process,
/// and the number of one of its systems. PID and tick are valid in the namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    pid: u32,
    started_ticks: u64,
    number: u32,
    namespaces: Namespaces,
}

/// State of the Tenbin that a marker names, as seen by this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Lives,
    Dead,
    /// The pid belongs to other namespaces, and may mean another process here.
    Elsewhere,
}

impl Marker {
    /// Creates a unique marker for a system of this process.
    pub(crate) fn new() -> Marker {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let pid = std::process::id();
        let started_ticks = processes::look(pid).map_or(0, |seen| seen.started_ticks);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Marker { pid, started_ticks, number, namespaces: Namespaces::of_this_process() }
    }

    pub(crate) fn parse(text: &str) -> Option<Marker> {
        let mut parts = text.split(':');
        let marker = Marker {
            pid: parts.next()?.parse().ok()?,
            started_ticks: parts.next()?.parse().ok()?,
            number: parts.next()?.parse().ok()?,
            namespaces: Namespaces { pid: parts.next()?.parse().ok()?, time: parts.next()?.parse().ok()? },
        };
        parts.next().is_none().then_some(marker)
    }

    /// Whether the marker names this process.
    pub(crate) fn is_of_this_process(self) -> bool {
        self.pid == std::process::id() && self.owner() == Owner::Lives
    }

    /// State of the Tenbin that it names.
    pub(crate) fn owner(self) -> Owner {
        self.owner_seen_from(Namespaces::of_this_process())
    }

    fn owner_seen_from(self, here: Namespaces) -> Owner {
        if !here.are_known() || self.namespaces != here {
            return Owner::Elsewhere;
        }
        match processes::look(self.pid) {
            Some(seen) if seen.started_ticks == self.started_ticks && !seen.is_zombie => Owner::Lives,
            _ => Owner::Dead,
        }
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Namespaces { pid, time } = self.namespaces;
        write!(out, "{}:{}:{}:{pid}:{time}", self.pid, self.started_ticks, self.number)
    }
}

/// Returns all processes with a marker, except this process and its ancestors.
pub(crate) fn marked() -> Vec<(Seen, Marker)> {
    let own = processes::self_and_ancestors();
    let others = processes::pids().into_iter().filter(|pid| !own.contains(pid));
    others
        .filter_map(|pid| {
            let seen = processes::look(pid)?;
            Some((seen, of(pid)?))
        })
        .filter(|(seen, _)| !seen.is_zombie)
        .collect()
}

/// Marker of a process. `None` if it has no marker, hides it, or belongs to another user.
fn of(pid: u32) -> Option<Marker> {
    let mut environment = Vec::new();
    let file = File::open(format!("/proc/{pid}/environ")).ok()?;
    file.take(ENVIRONMENT_BYTES_MAX).read_to_end(&mut environment).ok()?;
    let mut variables = environment.split(|byte| *byte == 0);
    let value = variables
        .find_map(|variable| variable.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"="))
        .and_then(|value| std::str::from_utf8(value).ok())?;
    Marker::parse(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marker_survives_a_round_trip_and_malformed_text_is_rejected() {
        let marker = Marker::new();
        assert_eq!(Marker::parse(&marker.to_string()), Some(marker));
        assert_eq!(marker.owner(), Owner::Lives);
        assert_ne!(Marker::new(), marker);
        for text in ["", "1", "1:2", "1:2:3", "1:2:3:4", "1:2:3:4:5:6", "a:2:3:4:5", "-1:2:3:4:5"] {
            assert_eq!(Marker::parse(text), None, "{text}");
        }
    }

    #[test]
    fn reused_pid_has_another_owner() {
        let marker = Marker::new();
        let reused = Marker { started_ticks: marker.started_ticks + 1, ..marker };
        assert_eq!(reused.owner(), Owner::Dead);
    }

    #[test]
    fn pid_of_other_namespaces_is_elsewhere() {
        let here = Namespaces::of_this_process();
        let dead_here = Marker { started_ticks: 1, ..Marker::new() };
        assert_eq!(dead_here.owner_seen_from(here), Owner::Dead);
        for there in [
            Namespaces { pid: here.pid + 1, ..here },
            Namespaces { time: here.time + 1, ..here },
            Namespaces { pid: 0, ..here },
        ] {
            assert_eq!(Marker { namespaces: there, ..dead_here }.owner(), Owner::Elsewhere, "{there:?}");
            assert_eq!(dead_here.owner_seen_from(there), Owner::Elsewhere, "{there:?}");
        }
        let unknown = Namespaces { pid: 0, ..here };
        assert_eq!(Marker { namespaces: unknown, ..dead_here }.owner_seen_from(unknown), Owner::Elsewhere);
    }
}
