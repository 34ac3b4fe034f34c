//! Disks of the machine.

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::evidence::Evidence;
use super::words::percent;
use super::{BUSY, ROOMY, Rule};
use crate::causes::Resource;

/// Of the time, what some task waited for a disk. Some disks serve many requests at once, and are busy long before they are short.
const DISK_PRESSURE: f64 = 0.2;

/// Of a second: who writes and computes in turns leaves the disk alone meanwhile.
const HALF: f64 = 0.5;
/// Of a second.
const LITTLE: f64 = 1024.0;
/// Of the requests in flight.
const SELDOM: f64 = 0.05;

impl Resource {
    /// Its disks.
    pub const DISK: Self = Self::new("disk", "disks")
        .of_the_machine()
        .next("count reads, writes and flushes per request, keep more in memory, or use a faster disk");
}

/// Of a disk that nothing waits for, no request waits for it.
pub(super) const NOTHING_WAITED: Refutation = Refutation {
    when: "something on the machine waited for disks less than 20 % of the time",
    is_read: |evidence| {
        evidence.signal(|signals| signals.disk_pressure).is_some_and(|waited| waited < DISK_PRESSURE)
    },
};

/// Others may use the disk.
const NOT_BY_THE_SYSTEM: Refutation = Refutation {
    when: "the system read and wrote less than 1 KiB a second on disks, and less than 5 % of its requests in flight slept for one",
    is_read: |evidence| {
        let bytes = evidence.disk_bytes_per_s();
        bytes.is_some_and(|[read, written]| read + written < LITTLE) && evidence.slept_for_disk() < SELDOM
    },
};

pub(super) const DISKS: Rule = Rule {
    finds: &[Resource::DISK],
    when: "something waited for disks 20 % of the time and a disk was 75 % busy, or 50 % where one request at a time went on; where waiting \
           is not reported, a disk was 90 % busy",
    why: "some disks serve many requests at once, and are busy long before they are exhausted",
    refuted_by: &[NOTHING_WAITED, NOT_BY_THE_SYSTEM],
    find: disks,
};

fn disks(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let waited = evidence.signal(|signals| signals.disk_pressure);
    let busy = evidence.signal(|signals| signals.disk_busy);
    let enough = if evidence.goes_on_one_at_a_time() { HALF } else { ROOMY };
    let is_short = match (waited, busy) {
        (Some(_), Some(busy)) => busy >= enough,
        (Some(_), None) => true,
        (None, busy) => busy.is_some_and(|busy| busy >= BUSY),
    };
    let busy = busy.map(|busy| format!("a disk was busy {} of the time", percent(busy)));
    let pressure =
        waited.map(|waited| format!("something on the machine waited for disks {} of it", percent(waited)));
    let because = [busy, pressure].into_iter().flatten().collect::<Vec<_>>().join(", and ");
    is_short.then(|| suspected(Resource::DISK, Scope::Machine, because).indirect(waited))
}
