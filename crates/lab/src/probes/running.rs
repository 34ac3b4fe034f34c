//! Follows a system that Tenbin did not start: selects its processes, and searches for them again after a restart.

use std::time::{Duration, Instant};

use super::own_time::own_time;
use super::sheet::Sheet;
use crate::listening::UnreadableSystem;
use crate::running::{self, Running, SearchedSystem, SystemLocator};

/// Max share of a core for searches.
const SHARE: f64 = 0.002;
/// Min time between two searches.
const PAUSE_MIN: Duration = Duration::from_secs(2);
/// Name of the missing value if no process is found.
const PROCESSES: &str = "processes of the system";

pub(crate) struct RunningSystem {
    sought: SearchedSystem,
    is_taken: bool,
    /// Whether the last search found processes that [`RunningSystem::look`] has not returned yet.
    has_more: bool,
    /// Earliest time of the next search. `None` before the first look.
    next: Option<Instant>,
    has_searched: bool,
}

impl RunningSystem {
    pub(crate) fn new(sought: SearchedSystem) -> Self {
        Self { sought, is_taken: false, has_more: false, next: None, has_searched: false }
    }

    /// Returns the processes to follow from now on, if they changed. `is_followed` returns whether a process still exists.
    pub(crate) fn look(
        &mut self,
        now: Instant,
        is_followed: impl Fn(u32) -> bool,
        sheet: &mut Sheet,
    ) -> Option<&Running> {
        let is_there = |running: &Running| running.roots.iter().any(|pid| is_followed(*pid));
        if !std::mem::replace(&mut self.is_taken, true) {
            self.next = now.checked_add(PAUSE_MIN);
        } else if std::mem::take(&mut self.has_more) {
            // The processes of the last search.
        } else if self.sought.found.as_ref().is_ok_and(is_there) || self.next.is_some_and(|next| now < next) {
            return None;
        } else {
            self.search(now);
        }
        match &self.sought.found {
            Ok(running) => {
                sheet.clear_unavailable(PROCESSES);
                Some(running)
            }
            Err(unseen) => {
                sheet.note_unavailable(PROCESSES, || unseen.because());
                None
            }
        }
    }

    /// Searches for processes that began to listen at the addresses of the system after it was found. Returns all its processes
    /// if there are more; the next [`RunningSystem::look`] returns them too. Finds none if the system was named in another way.
    pub(crate) fn late_listeners(&mut self, now: Instant) -> Option<&Running> {
        let is_due = !self.has_searched || self.next.is_none_or(|next| now >= next);
        let (SystemLocator::Listening(_), Ok(known), true) = (&self.sought.by, &self.sought.found, is_due)
        else {
            return None;
        };
        let known = known.roots.clone();
        self.search(now);
        let found = self.sought.found.as_ref().ok()?;
        let is_more = found.roots.iter().any(|pid| !known.contains(pid));
        self.has_more |= is_more;
        is_more.then_some(found)
    }

    fn search(&mut self, now: Instant) {
        self.has_searched = true;
        let begun = own_time();
        match (&self.sought.by, &self.sought.found) {
            // The PID may belong to another process now.
            (SystemLocator::Process(pid), found) => {
                if found.is_ok() {
                    let what = format!("process {pid} ended during the load");
                    let help = "name a file with its number, which is read again";
                    self.sought.found = Err(UnreadableSystem::here(what).with_help(help));
                }
            }
            (SystemLocator::Listening(_), _) => {
                // A failed search keeps the reason of the first failure.
                if let Ok(running) = running::find(&self.sought.by) {
                    self.sought.found = Ok(running);
                }
            }
            (by, _) => self.sought.found = running::find(by),
        }
        let pause = own_time().saturating_sub(begun).div_f64(SHARE);
        self.next = now.checked_add(pause.max(PAUSE_MIN));
    }
}
