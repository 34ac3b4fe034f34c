//! The system waits for something of its own while nothing that was read is short.

use super::evidence::Evidence;
use super::evidence::share;
use super::threads::what_they_did;
use super::words::{cores_of, percent};
use super::{Bottleneck, ROOMY, Rule, suspected};
use crate::causes::Resource;
use crate::words::{counted, decimal};

impl Resource {
    /// The system's own waiting.
    pub const WAITING: Self = Self::new("waiting", "waiting inside the system");
}

pub(super) const ITS_OWN_WAITING: Rule = Rule {
    finds: &[Resource::WAITING],
    when: "the cores were less than 75 % busy, and nothing above fired",
    why: "workers, threads, locks, or what the system calls: samples of its threads hint at it, and prove none of them. One run of a closed load without think time cannot show whether more users would get more",
    find: its_own_waiting,
};

fn its_own_waiting(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    evidence.signal(|signals| signals.busy).filter(|busy| *busy < ROOMY)?;
    let cores = evidence.cores()?;
    let used = cores.system?;
    let waiting = match evidence.users() {
        Some([users, waiting]) => {
            format!("on average {} of {} users waited for it", decimal(waiting, 1), decimal(users, 0))
        }
        None => format!(
            "{} of {} that were asked for ended ok",
            percent(share(evidence.together.counts.ok, evidence.together.counts.planned)),
            counted(evidence.together.counts.planned, evidence.together.unit)
        ),
    };
    let too_few = if evidence.users().is_some() { "; or more users would get more" } else { "" };
    let because = format!(
        "{waiting}, while it used {} of {} and no resource that was read was exhausted: it may wait for its workers, threads, or \
         locks, or for what it calls{too_few}",
        decimal(used, 2),
        cores_of(cores.all)
    );
    let threads = what_they_did(&evidence.workers()).map_or_else(String::new, |did| format!("; {did}"));
    suspected(Resource::WAITING, format!("{because}{threads}"))
}
