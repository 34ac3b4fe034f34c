//! Test support: runs and studies with known figures, written to a real store.

#![allow(dead_code, reason = "every test takes what it needs")]

use std::collections::BTreeMap;

use evidence::{
    Compare, Ending, Level, Model, NewRun, NewStudy, Procedure, Run, Study, StudyEnding, StudyId, StudyPlace,
    Validity, Verdict, stage,
};
pub(crate) use fixtures::ending;
use fixtures::{OwnStore, compare, failed, new_run, new_study};
use record::{ConnectionTotals, Finish, Interval, Outcome, Phase, Spread, Tally};

const SECOND_NS: u64 = 1_000_000_000;

/// A system that answers one request at a time, under a load with a constant rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    pub(crate) rate_per_s: u64,
    /// Service time of one request.
    pub(crate) service_ns: u64,
    pub(crate) warm_up_s: u64,
    pub(crate) measured_s: u64,
    /// Interval of failing requests: 10 for every tenth, 0 for none.
    pub(crate) fails_every: u64,
    /// Start and length of a stall in nanoseconds, from the beginning of the measured time.
    pub(crate) stall: Option<(u64, u64)>,
    /// Whether requests wait in the generator instead of the system.
    pub(crate) waits_to_be_sent: bool,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            rate_per_s: 1_000,
            service_ns: 500_000,
            warm_up_s: 1,
            measured_s: 12,
            fails_every: 0,
            stall: None,
            waits_to_be_sent: false,
        }
    }
}

impl Queue {
    fn intervals(&self) -> Vec<Interval> {
        let warm_up_ns = self.warm_up_s * SECOND_NS;
        let mut tallies: BTreeMap<(u64, Phase), Tally> = BTreeMap::new();
        let mut free_ns = 0;
        for number in 0..self.rate_per_s * (self.warm_up_s + self.measured_s) {
            let intended_ns = number * SECOND_NS / self.rate_per_s;
            let phase = if intended_ns < warm_up_ns { Phase::WarmUp } else { Phase::Measured };
            tallies.entry((intended_ns / SECOND_NS, phase)).or_default().note_sent(intended_ns);
            let mut begun_ns = intended_ns.max(free_ns);
            if let Some((from_ns, for_ns)) = self.stall {
                let (from_ns, to_ns) = (warm_up_ns + from_ns, warm_up_ns + from_ns + for_ns);
                begun_ns = if (from_ns..to_ns).contains(&begun_ns) { to_ns } else { begun_ns };
            }
            let finished_ns = begun_ns + self.service_ns;
            free_ns = finished_ns;
            let has_failed = self.fails_every > 0 && number % self.fails_every == 0;
            let outcome = if has_failed { Outcome::Failed } else { Outcome::Ok };
            tallies.entry((finished_ns / SECOND_NS, phase)).or_default().note_finished(&Finish {
                intended_ns,
                sent_ns: if self.waits_to_be_sent { begun_ns } else { intended_ns },
                first_byte_ns: None,
                finished_ns,
                outcome,
                status: 200,
            });
        }
        let interval = |((second, phase), tally)| Interval { second, phase, tally, sampled: Vec::new() };
        tallies.into_iter().map(interval).collect()
    }
}

/// Returns the totals of `count` connections, each with one request.
pub(crate) fn connections(count: u64) -> Spread {
    let totals = ConnectionTotals {
        requests: 1,
        response_sum_ns: 1,
        response_max_ns: 1,
        has_request: true,
        has_reply: true,
    };
    Spread::over(&vec![totals; count as usize]).unwrap()
}

pub(crate) fn invalid() -> Ending {
    Ending {
        verdict: Verdict::Invalid,
        validity: Validity { verdict: Level::Invalid, ..Validity::default() },
        ..ending()
    }
}

pub(crate) fn died() -> Ending {
    failed("died")
}

pub(crate) fn cut_short() -> Ending {
    Ending { verdict: Verdict::Partial, ..ending() }
}

/// A store in a directory of its own.
pub(crate) struct Stored {
    pub(crate) store: OwnStore,
}

impl Stored {
    pub(crate) fn new() -> Self {
        Self { store: OwnStore::new() }
    }

    /// Stores a run with the per-second data of a queue, or without data if there is none.
    pub(crate) fn run(
        &self,
        at: Option<(&StudyId, &StudyPlace)>,
        queue: Option<&Queue>,
        ending: &Ending,
    ) -> Run {
        let shape = queue.copied().unwrap_or_default();
        let new = NewRun {
            model: Model::Open,
            warm_up_ns: shape.warm_up_s * SECOND_NS,
            planned_duration_ns: Some(shape.measured_s * SECOND_NS),
            place: at.map(|(study, place)| (study.clone(), place.clone())),
            ..new_run()
        };
        self.store.kept(&new, &queue.map(Queue::intervals).unwrap_or_default(), &[], ending)
    }

    pub(crate) fn study(&self, procedure: Procedure, blocks: u32, planned: Vec<StudyPlace>) -> StudyId {
        let compare = Compare { blocks, procedure, ..compare() };
        self.store.begin_study(&NewStudy { compare, ..new_study(planned) }).unwrap()
    }

    pub(crate) fn load(&self, study: &StudyId) -> Study {
        self.store.load_study(study).unwrap()
    }

    pub(crate) fn end(&self, study: &StudyId, why: Option<&str>) {
        let why = why.map(str::to_owned);
        let verdict = if why.is_some() { Verdict::Complete } else { Verdict::Partial };
        self.store.finish_study(study, &StudyEnding { ended_at_unix_ms: 0, verdict, why }).unwrap();
    }
}

/// Returns a place under the load `steady`.
pub(crate) fn place(position: u32, block: u32, stage: &str, system: &str) -> StudyPlace {
    StudyPlace { block, position, stage: stage.to_owned(), ..fixtures::place(system, "") }
}

/// Returns a place of a search.
pub(crate) fn level(position: u32, stage: &str, users: Option<u32>, rate_per_s: Option<f64>) -> StudyPlace {
    StudyPlace { users, rate_per_s, ..place(position, position, stage, "a") }
}

pub(crate) const BLOCK: &str = stage::BLOCK;
