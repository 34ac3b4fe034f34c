//! The mark that every process of a system carries in its environment: which Tenbin it belongs to.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::namespaces::Namespaces;
use crate::processes::{self, Seen};

/// The environment variable.
pub(crate) const VARIABLE: &str = "TENBIN_SYSTEM";
const ENVIRONMENT_BYTES_MAX: u64 = 8 << 20;

/// "pid:start:number:pid namespace:time namespace": a Tenbin, by its pid and the tick it was started at, one of the systems
/// it started, and the namespaces in which that pid and that tick mean something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    pid: u32,
    started_ticks: u64,
    number: u32,
    namespaces: Namespaces,
}

/// What this process can tell about the Tenbin that a mark names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Lives,
    Dead,
    /// Its pid is one of other namespaces, and may mean another process here.
    Elsewhere,
}

impl Marker {
    /// A new one for a system of this process.
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

    /// Whether it names this Tenbin.
    pub(crate) fn is_of_this_process(self) -> bool {
        self.pid == std::process::id() && self.owner() == Owner::Lives
    }

    /// Whether the Tenbin that it names still runs.
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

/// All processes with a mark, except this one and those above it.
pub(crate) fn marked() -> Vec<(Seen, Marker)> {
    let own = processes::self_and_above();
    let others = processes::pids().into_iter().filter(|pid| !own.contains(pid));
    others
        .filter_map(|pid| {
            let seen = processes::look(pid)?;
            Some((seen, of(pid)?))
        })
        .filter(|(seen, _)| !seen.is_zombie)
        .collect()
}

/// The mark of a process, unless it has none, hides it, or belongs to another user.
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
    fn a_marker_is_read_as_it_was_written() {
        let marker = Marker::new();
        assert_eq!(Marker::parse(&marker.to_string()), Some(marker));
        assert_eq!(marker.owner(), Owner::Lives);
        assert_ne!(Marker::new(), marker);
        for text in ["", "1", "1:2", "1:2:3", "1:2:3:4", "1:2:3:4:5:6", "a:2:3:4:5", "-1:2:3:4:5"] {
            assert_eq!(Marker::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_that_was_given_again_is_another_owner() {
        let marker = Marker::new();
        let reused = Marker { started_ticks: marker.started_ticks + 1, ..marker };
        assert_eq!(reused.owner(), Owner::Dead);
    }

    #[test]
    fn a_number_of_other_namespaces_says_nothing_here() {
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
