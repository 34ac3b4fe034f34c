//! Disks of the machine, and disk I/O limits of control groups.

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::evidence::Evidence;
use super::words::percent;
use super::{Coverage, Rule, Rung, SATURATED_MIN_SHARE, UNSATURATED_MAX_SHARE};
use crate::causes::Resource;
use crate::group_io::LimitedIo;
use crate::words::decimal;

/// Min share of time in which some task waited for a disk. Some disks serve many requests at once, and are busy long
/// before they are saturated.
const DISK_PRESSURE_MIN_SHARE: f64 = 0.2;

/// Bytes per second below which the system counts as not using disks.
const IDLE_MAX_BYTES_PER_S: f64 = 1024.0;
/// Share of requests in flight that sleep for a disk, below which disks do not matter.
const DISK_SLEEP_MIN_SHARE: f64 = 0.05;

impl Resource {
    /// Disks of the machine.
    pub const DISK: Self = Self::new("disk", "disks")
        .of_the_machine()
        .next("count reads, writes and flushes per request, keep more in memory, or use a faster disk");
}

/// If no task waits for a disk, no request does.
pub(super) const NOTHING_WAITED: Refutation = Refutation {
    when: "something in its own control group, or else on the machine, waited for disks less than 20 % of the time",
    is_read: |evidence| evidence.disk_pressure().is_some_and(|waited| waited.share < DISK_PRESSURE_MIN_SHARE),
};

/// Rules out disks that only other processes use.
const NOT_BY_THE_SYSTEM: Refutation = Refutation {
    when: "the system read and wrote less than 1 KiB a second on disks, and less than 5 % of its requests in flight slept for one",
    is_read: |evidence| {
        let bytes = evidence.disk_bytes_per_s();
        bytes.is_some_and(|[read, written]| read + written < IDLE_MAX_BYTES_PER_S)
            && evidence.disk_sleep_share() < DISK_SLEEP_MIN_SHARE
    },
};

pub(super) const LIMIT_OF_DISKS: Rule = Rule {
    finds: &[Resource::DISK],
    when: "a control group of the system did 90 % of the reads or writes, or of the bytes, that it may do on a disk, and something waited for \
           disks 20 % of the time",
    why: "the kernel lets what is more wait, however idle the disk is",
    refuted_by: &[NOTHING_WAITED],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: limit_of_disks,
};

fn limit_of_disks(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let limited = evidence.limited_io().filter(|limited| limited.share() >= SATURATED_MIN_SHARE)?;
    let LimitedIo { what, disk, per_s, max_per_s } = &limited;
    let waited = evidence.disk_pressure();
    let pressure =
        waited.map_or_else(String::new, |waited| format!(", and {} of the time", waited.words("disks")));
    let because = format!(
        "its control group did {} of {} allowed {what} per second on {disk}{pressure}",
        decimal(*per_s, 0),
        decimal(*max_per_s, 0)
    );
    let next = "raise the limit (`io` in `resources` of the plan, or that of its container), or do fewer and larger reads and writes per request";
    let of_group = evidence.signal(|signals| signals.group_pressures[2]).unwrap_or(0.0);
    // An event loop itself does not sleep for a disk, so the pressure of its group counts, too.
    let slept = Some(evidence.disk_sleep_share().max(of_group)).filter(|share| *share > 0.0);
    let share = slept.or(waited.map(|waited| waited.share));
    Some(suspected(Resource::DISK, Scope::ControlGroup, because).direct(share).next(next))
}

pub(super) const DISKS: Rule = Rule {
    finds: &[Resource::DISK],
    when: "something waited for disks 20 % of the time and a disk was 75 % busy; where waiting is not reported, a disk was 90 % busy",
    why: "some disks serve many requests at once, and are busy long before they are exhausted",
    refuted_by: &[NOTHING_WAITED, NOT_BY_THE_SYSTEM],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: disks,
};

fn disks(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let waited = evidence.disk_pressure();
    let busy = evidence.signal(|signals| signals.disk_busy);
    let is_short = match (waited, busy) {
        (Some(_), Some(busy)) => busy >= UNSATURATED_MAX_SHARE,
        (Some(_), None) => true,
        (None, busy) => busy.is_some_and(|busy| busy >= SATURATED_MIN_SHARE),
    };
    let busy = busy.map(|busy| format!("a disk was busy {} of the time", percent(busy)));
    let pressure = waited.map(|waited| format!("{} of it", waited.words("disks")));
    let because = [busy, pressure].into_iter().flatten().collect::<Vec<_>>().join(", and ");
    is_short.then(|| {
        suspected(Resource::DISK, Scope::Machine, because).indirect(waited.map(|waited| waited.share))
    })
}
