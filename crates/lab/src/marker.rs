//! The mark that every process of a system carries in its environment: which Tenbin it belongs to.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::processes::{self, Seen};

/// The environment variable.
pub(crate) const VARIABLE: &str = "TENBIN_SYSTEM";
const ENVIRONMENT_BYTES_MAX: u64 = 8 << 20;

/// "pid:start:number": a Tenbin, by its pid and the tick it was started at, and one of the systems it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    pid: u32,
    started_ticks: u64,
    number: u32,
}

impl Marker {
    /// A new one for a system of this process.
    pub(crate) fn new() -> Marker {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let pid = std::process::id();
        let started_ticks = processes::look(pid).map_or(0, |seen| seen.started_ticks);
        Marker { pid, started_ticks, number: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    fn parse(text: &str) -> Option<Marker> {
        let mut parts = text.split(':');
        let marker = Marker {
            pid: parts.next()?.parse().ok()?,
            started_ticks: parts.next()?.parse().ok()?,
            number: parts.next()?.parse().ok()?,
        };
        parts.next().is_none().then_some(marker)
    }

    /// Whether the Tenbin that it names still runs.
    pub(crate) fn has_owner(self) -> bool {
        processes::look(self.pid)
            .is_some_and(|seen| seen.started_ticks == self.started_ticks && !seen.is_zombie)
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}", self.pid, self.started_ticks, self.number)
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
        assert!(marker.has_owner());
        assert_ne!(Marker::new(), marker);
        for text in ["", "1", "1:2", "1:2:3:4", "a:2:3", "-1:2:3"] {
            assert_eq!(Marker::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_that_was_given_again_is_another_owner() {
        let marker = Marker::new();
        assert!(!Marker { started_ticks: marker.started_ticks + 1, ..marker }.has_owner());
    }
}
