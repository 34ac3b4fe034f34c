//! Probe for this process itself, measured like the system.

use std::time::Duration;

use super::GENERATOR;
use super::group::{LookContext, describe_one, seconds};
use super::member::{Member, ProbeCapabilities};
use super::process_values::ProcessValues;
use super::sheet::{Probe, Sheet};

/// Max number of threads that are read, more than any load generator uses.
const THREADS_MAX: usize = 2_000;

pub(crate) struct Generator {
    reach: ProbeCapabilities,
    this: Member,
}

impl Generator {
    pub(crate) fn new(reach: ProbeCapabilities) -> Self {
        Self { this: Member::new(std::process::id(), &reach), reach }
    }
}

impl Probe for Generator {
    fn look(&mut self, sheet: &mut Sheet) {
        let Some(seen) = self.this.look() else {
            return sheet
                .note_unavailable("generator", || "/proc/PID/stat of this process cannot be read".into());
        };
        let [user, sys, ..] = seen.uses;
        let (mut figures, mut threads_left) = (ProcessValues::default(), THREADS_MAX);
        figures.add("cpu_user_s", Some(seconds(user.own)));
        figures.add("cpu_sys_s", Some(seconds(sys.own)));
        let mut now = LookContext {
            reach: &self.reach,
            last_look_ticks: None,
            threads_left: &mut threads_left,
            threads_after: Some(1),
            threads_cost: Duration::ZERO,
        };
        describe_one(&mut self.this, &seen, &mut now, &mut figures, sheet);
        figures.write(GENERATOR, sheet);
    }
}
