//! Maintenance of a database during the load: checkpoints and vacuum, if they slow down answers.

use std::collections::BTreeSet;

use super::cause::{Bottleneck, Scope, suspected};
use super::evidence::{Evidence, RunEvidence};
use super::{Coverage, Rule, Rung};
use crate::causes::Resource;
use crate::inside::Maintenance;
use crate::words::{count, duration};

/// Min ratio of the mean answer times in seconds with and without maintenance.
const SLOWER_MIN_RATIO: f64 = 1.5;
/// Min number of seconds of each kind. The first seconds of a load always differ.
const SECONDS_MIN: u64 = 3;
/// Max number of tables that a sentence mentions.
const TABLES_MAX: usize = 2;

impl Resource {
    /// Checkpoints and vacuum of a database.
    pub const MAINTENANCE: Self = Self::new("database_maintenance", "checkpoints or vacuum of the database");
}

pub(super) const MAINTENANCE: Rule = Rule {
    finds: &[Resource::MAINTENANCE],
    when: "answers took 1.5 times as long, on average, in seconds in which a checkpoint wrote or a table was vacuumed, as in the other seconds, with \
           three or more of each",
    why: "the database says when it did so. Maintenance that slows nothing down is no cause",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: maintenance,
};

/// Answers in seconds of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Answers {
    seconds: u64,
    count: f64,
    sum_ns: f64,
}

impl Answers {
    fn mean_ns(&self) -> f64 {
        self.sum_ns / self.count
    }
}

/// Sums the answers of the measured seconds without and with maintenance. `None` if there was no maintenance, or
/// seconds cannot be read.
fn answers(run: &RunEvidence<'_>) -> Option<[Answers; 2]> {
    let busy = &run.signals?.inside.as_ref()?.maintenance;
    let mut both = [Answers::default(); 2];
    if busy.is_empty() {
        return None;
    }
    let mut seconds: [BTreeSet<u64>; 2] = Default::default();
    for second in run.run.seconds() {
        let (_, interval) = second.ok()?;
        if interval.second * 1_000_000_000 < run.run.new.warm_up_ns {
            continue;
        }
        let times = interval.tally.response.all();
        let Some(mean_ns) = times.mean_ns() else { continue };
        let kind = usize::from(busy.contains_key(&interval.second));
        seconds[kind].insert(interval.second);
        both[kind].count += times.count() as f64;
        both[kind].sum_ns += mean_ns * times.count() as f64;
    }
    for (answers, seconds) in both.iter_mut().zip(seconds) {
        answers.seconds = seconds.len() as u64;
    }
    Some(both)
}

fn maintenance(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let found = evidence.runs.iter().filter_map(|run| Some((run, answers(run)?)));
    let (run, [without, with]) =
        found.max_by(|(_, [_, one]), (_, [_, other])| one.seconds.cmp(&other.seconds))?;
    let is_seen = without.seconds >= SECONDS_MIN && with.seconds >= SECONDS_MIN;
    if !is_seen || with.mean_ns() < SLOWER_MIN_RATIO * without.mean_ns() {
        return None;
    }
    let done = &run.signals?.inside.as_ref()?.maintenance;
    let because = format!(
        "in {} of {} seconds {}: answers took {} on average, in the other seconds {}",
        count(with.seconds),
        count(with.seconds + without.seconds),
        work_in_words(done.values()),
        duration(with.mean_ns()),
        duration(without.mean_ns())
    );
    let excess_ns = (with.mean_ns() - without.mean_ns()) * with.count;
    let share = excess_ns / (with.sum_ns + without.sum_ns);
    let next = if done.values().any(|one| !one.vacuumed.is_empty()) {
        "let autovacuum pause more often (autovacuum_vacuum_cost_delay), or change fewer rows"
    } else {
        "spread checkpoints over more time (max_wal_size, checkpoint_timeout, checkpoint_completion_target), or use a faster disk"
    };
    Some(suspected(Resource::MAINTENANCE, Scope::System, because).direct(Some(share)).next(next))
}

/// Describes maintenance: `a checkpoint wrote, and public.t was vacuumed`.
fn work_in_words<'a>(done: impl Iterator<Item = &'a Maintenance>) -> String {
    let (mut is_checkpoint, mut tables) = (false, BTreeSet::new());
    for one in done {
        is_checkpoint |= one.is_checkpoint;
        tables.extend(one.vacuumed.iter().map(String::as_str));
    }
    let named: Vec<&str> = tables.iter().copied().filter(|name| !name.is_empty()).take(TABLES_MAX).collect();
    let vacuum = match (tables.is_empty(), named.is_empty()) {
        (true, _) => None,
        (false, true) => Some("a table was vacuumed".to_owned()),
        (false, false) => Some(format!("vacuum ran on {}", named.join(", "))),
    };
    let checkpoint = is_checkpoint.then(|| "a checkpoint wrote".to_owned());
    [checkpoint, vacuum].into_iter().flatten().collect::<Vec<_>>().join(", or ")
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::OnceLock;

    use evidence::{NewRun, Run};
    use fixtures::{OwnStore, ending, new_run, reading};
    use record::{Finish, Interval, Outcome, Phase, Tally};

    use super::super::planted::Planted;
    use super::*;
    use crate::inside::{DATABASE, DatabaseStatistics};

    /// Builds one second of answers that each take `response_ns`.
    fn second(number: u64, response_ns: u64) -> Interval {
        let mut tally = Tally::default();
        for request in 0..50 {
            let intended_ns = number * 1_000_000_000 + request;
            tally.note_sent(intended_ns);
            let finished_ns = intended_ns + response_ns;
            tally.note_finished(&Finish {
                intended_ns,
                sent_ns: intended_ns,
                first_byte_ns: None,
                finished_ns,
                outcome: Outcome::Ok,
                status: 200,
            });
        }
        Interval { second: number, phase: Phase::Measured, tally, sampled: Vec::new() }
    }

    /// Builds a run of ten seconds with a checkpoint in the last four, in which an answer takes `slow_ms` instead of 10
    /// ms.
    fn run_with_checkpoint(slow_ms: u64) -> Run {
        let slow = |number: u64| if number < 6 { 10 } else { slow_ms };
        let seconds: Vec<Interval> = (0..10).map(|number| second(number, slow(number) * 1_000_000)).collect();
        let readings = (0..10).map(|number| {
            let written = if number < 6 { 0.0 } else { 900.0 };
            let of = |metric: &str, label: &str, value| reading(DATABASE, metric, label, value);
            (number, vec![of("db_samples", "", 5.0), of("db_buffers_written", "checkpointer", written)])
        });
        let new = NewRun { warm_up_ns: 0, ..new_run() };
        OwnStore::new().kept(&new, &seconds, &readings.collect::<Vec<_>>(), &ending())
    }

    /// Replaces the seconds of a run by those of [`run_with_checkpoint`], with 11 ms or 40 ms, and adds the checkpoint.
    pub(in super::super) fn with_checkpoints(slow_ms: u64, planted: &mut Planted) {
        static RUNS: OnceLock<[Run; 2]> = OnceLock::new();
        let runs = RUNS.get_or_init(|| [11, 40].map(run_with_checkpoint));
        let run = &runs[usize::from(slow_ms != 11)];
        let found = DatabaseStatistics::of(run).expect("statistics");
        planted.signals.inside.get_or_insert_default().maintenance = found.maintenance;
        let mut run = run.clone();
        (run.new.model, run.new.users) = (planted.run.new.model, planted.run.new.users);
        run.ending = planted.run.ending.take();
        planted.run = run;
    }

    fn causes(slow_ms: u64) -> Vec<&'static str> {
        let mut planted = Planted::closed(8, 50.0, 10.0);
        with_checkpoints(slow_ms, &mut planted);
        planted.said()
    }

    #[test]
    fn checkpoint_is_a_cause_only_if_answers_are_slower_meanwhile() {
        assert!(causes(40).contains(&"database_maintenance"), "{:?}", causes(40));
        assert!(!causes(11).contains(&"database_maintenance"));
    }

    #[test]
    fn names_work_in_words_with_its_tables() {
        let vacuum =
            |table: &str| Maintenance { vacuumed: [table.to_owned()].into(), ..Maintenance::default() };
        let checkpoint = Maintenance { is_checkpoint: true, ..Maintenance::default() };
        assert_eq!(work_in_words([checkpoint.clone()].iter()), "a checkpoint wrote");
        assert_eq!(work_in_words([checkpoint, vacuum("t")].iter()), "a checkpoint wrote, or vacuum ran on t");
        assert_eq!(work_in_words([vacuum("")].iter()), "a table was vacuumed");
    }
}
