//! Pressure: share of time in which a task waited for a resource, in the system's own control group if known, otherwise
//! on the machine.

use super::evidence::Evidence;
use super::words::percent;
use crate::signals::Signals;

/// Share of time in which a task waited, and whether the task belonged to the system's control group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pressure {
    pub(super) share: f64,
    is_of_group: bool,
}

impl Pressure {
    /// Describes the pressure: `something on the machine waited for disks 40 %`.
    pub(super) fn words(self, resource: &str) -> String {
        let who = if self.is_of_group { "its own control group" } else { "something on the machine" };
        format!("{who} waited for {resource} {}", percent(self.share))
    }
}

impl Evidence<'_> {
    pub(super) fn cpu_pressure(&self) -> Option<Pressure> {
        self.pressure(0, |signals| signals.cpu_pressure)
    }

    pub(super) fn memory_pressure(&self) -> Option<Pressure> {
        self.pressure(1, |signals| signals.memory_pressure)
    }

    pub(super) fn disk_pressure(&self) -> Option<Pressure> {
        self.pressure(2, |signals| signals.disk_pressure)
    }

    /// Returns the pressure of the system's own control group if known. Other tasks on the machine may wait for
    /// resources that the system does not need.
    fn pressure(&self, kind: usize, of_machine: fn(&Signals) -> Option<f64>) -> Option<Pressure> {
        let of_group = self.signal(|signals| signals.group_pressures[kind]);
        let of_group = of_group.map(|share| Pressure { share, is_of_group: true });
        of_group.or_else(|| Some(Pressure { share: self.signal(of_machine)?, is_of_group: false }))
    }
}
