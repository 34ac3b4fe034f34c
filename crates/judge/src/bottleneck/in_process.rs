//! Calls of an in-process database, observed by a monitor in the generator.

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::evidence::Evidence;
use super::load::WAITING_USERS_MAX_SHARE;
use super::words::percent;
use super::{Coverage, Rule, Rung};
use crate::causes::Resource;
use crate::words::{count, decimal, many};

/// Min mean number of users in calls that is not noise.
const USERS_MIN: f64 = 0.5;
/// Max number of transactions of a starved user, as a share of the median user's.
const STARVED_MAX_SHARE: f64 = 0.2;
/// Min number of transactions of the median user that allows a comparison with it.
const TRANSACTIONS_MIN: f64 = 20.0;

impl Resource {
    /// Work of an in-process database.
    pub const IN_PROCESS: Self = Self::new("in_process", "the database in this process");
}

impl Evidence<'_> {
    /// Returns whether the database runs in the process of the generator.
    pub(super) fn is_in_process(&self) -> bool {
        self.signal(|signals| signals.inside.as_ref()?.level("in_process")).is_some()
    }

    /// Returns the waits for a file lock, as counted in this process; `None` if there were none.
    pub(super) fn counted_lock_waits(&self) -> Option<String> {
        let per_s = |metric: &str| self.signal(|signals| signals.inside.as_ref()?.rate(metric));
        let waits = per_s("lock_waits").filter(|waits| *waits > 0.0)?;
        let tries = per_s("lock_tries").unwrap_or(0.0) / waits;
        let rejected = per_s("lock_rejections").unwrap_or(0.0);
        Some(format!(
            "calls waited for the lock {} times per second with {} tries each, and {} statements per second ended with SQLITE_BUSY",
            decimal(waits, 1),
            decimal(tries, 1),
            decimal(rejected, 1)
        ))
    }

    /// Describes a user with far fewer transactions than others; `None` if all users got similar numbers.
    fn starved_user(&self) -> Option<String> {
        let spread = self.runs.iter().find_map(|run| run.run.ending.as_ref()?.spread.as_ref())?;
        let requests = spread.requests;
        let is_starved =
            requests.median >= TRANSACTIONS_MIN && requests.min < STARVED_MAX_SHARE * requests.median;
        is_starved.then(|| {
            format!(
                "a user is starved: it ended {} {}, the median user {}",
                count(requests.min as u64),
                many(self.together.unit),
                count(requests.median as u64)
            )
        })
    }
}

/// Returns advice for a wait inside a database opened by this process.
pub(super) fn wait_advice(resource: Resource) -> String {
    let next = if resource == Resource::DATABASE_LOCK {
        "keep write transactions short and begin them with BEGIN IMMEDIATE, put several changes into one transaction, or set \
         journal_mode=wal, with which readers do not wait for the writer. One file has one writer at a time"
    } else if resource == Resource::DATABASE_LOG {
        "put several changes into one transaction, or, where the last transactions may be lost, set journal_mode=wal with \
         synchronous=normal"
    } else {
        resource.next
    };
    next.to_owned()
}

/// A user in a call is not paused, even if its transaction has not ended yet.
pub(super) const USERS_ARE_IN_CALLS: Refutation = Refutation {
    when: "half of the users or more were in calls of a database in this process",
    is_read: |evidence| {
        let users = evidence.users().map_or(0.0, |[users, _]| users);
        in_calls(evidence).is_some_and(|active| active >= WAITING_USERS_MAX_SHARE * users)
    },
};

/// Returns the mean number of users in calls; `None` if the database is not in this process.
fn in_calls(evidence: &Evidence<'_>) -> Option<f64> {
    let active = || evidence.signal(|signals| Some(signals.inside.as_ref()?.active));
    evidence.is_in_process().then(active).flatten()
}

pub(super) const CALLS_IN_PROCESS: Rule = Rule {
    finds: &[Resource::IN_PROCESS],
    when: "the database is in the process of the generator, and users were in calls for half of a user's time or more",
    why: "calls say themselves whether they wait for the lock of the file or for a disk; the rest of a call is its own work",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: calls_in_process,
};

fn calls_in_process(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let active = in_calls(evidence).filter(|active| *active >= USERS_MIN)?;
    let waits = evidence.database_waits();
    let share = |name: &str| waits.iter().find(|(wait, _)| wait == name).map_or(0.0, |(_, share)| *share);
    let because = format!(
        "on average {} users were in a call: {} of that computing, reading, or writing, {} waiting for a disk (fsync), {} waiting for the lock of \
         the file",
        decimal(active, 1),
        percent(share(crate::inside::ON_CPU)),
        percent(share("IO:fsync")),
        percent(share("Lock:file"))
    );
    let cause = suspected(Resource::IN_PROCESS, Scope::System, because);
    let cause = cause
        .next("add users until throughput stops growing, and profile the statements")
        .and(evidence.starved_user());
    Some(cause.indirect(evidence.in_flight_share(share(crate::inside::ON_CPU) * active)).symptom())
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use crate::inside::DatabaseStatistics;

    fn sqlite(users: u64, waits: &[(&str, f64)]) -> Planted {
        let mut planted = Planted::closed(users, 1_300.0, 0.7);
        planted.answers(1_300.0, 0.75);
        planted.measured.resources = None;
        planted.signals.inside = Some(DatabaseStatistics {
            active: waits.iter().map(|(_, users)| users).sum(),
            waits: waits.iter().map(|(wait, users)| ((*wait).to_owned(), *users)).collect(),
            levels: [("in_process".to_owned(), 1.0)].into(),
            per_s: [("lock_waits".to_owned(), 1_300.0), ("lock_tries".to_owned(), 3_900.0)].into(),
            seconds: 10.0,
            ..DatabaseStatistics::default()
        });
        planted
    }

    #[test]
    fn users_that_wait_for_the_lock_of_a_file_are_not_in_think_time() {
        let causes = sqlite(4, &[("Lock:file", 3.0), ("IO:fsync", 0.9), ("CPU", 0.1)]).causes();
        assert_eq!(causes[0].resource.code, "database_lock", "{causes:?}");
        assert!(causes[0].next.contains("journal_mode=wal"), "{causes:?}");
        assert!(
            causes[0].for_.iter().any(|reading| reading.contains("1,300.0 times per second with 3.0 tries")),
            "{causes:?}"
        );
        let texts: String =
            causes.iter().map(|cause| format!("{} {:?}", cause.because, cause.for_)).collect();
        assert!(!texts.contains("think time") && !texts.contains("was not read"), "{texts}");
    }

    #[test]
    fn single_user_that_waits_for_the_disk_is_no_lack_of_users() {
        let causes = sqlite(1, &[("IO:fsync", 0.8), ("CPU", 0.2)]).causes();
        assert_eq!(causes[0].resource.code, "database_log", "{causes:?}");
        let computing = sqlite(1, &[("CPU", 0.95)]).said();
        assert_eq!(computing, ["in_process"]);
    }
}
