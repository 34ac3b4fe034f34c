//! Runs and studies whose figures are known, through a real store.

#![allow(dead_code, reason = "every test takes what it needs")]

use std::collections::BTreeMap;

use record::{ConnectionTotals, Finish, Interval, Outcome, Phase, Spread, Tally};
use serde_json::json;
use store::{
    Compare, Ending, Failure, Generator, Level, Model, NewRun, NewStudy, Place, Procedure, Run, Store, Study,
    StudyEnding, StudyId, Unit, Validity, Verdict, stage,
};

const SECOND_NS: u64 = 1_000_000_000;

/// A system that answers one request after the other, under a load that comes at a steady rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    pub(crate) rate_per_s: u64,
    /// How long one request takes.
    pub(crate) service_ns: u64,
    pub(crate) warm_up_s: u64,
    pub(crate) measured_s: u64,
    /// Every one of so many fails; 0: none.
    pub(crate) fails_every: u64,
    /// Nobody is answered for so long, this long after the measured time began.
    pub(crate) stall: Option<(u64, u64)>,
    /// Whether requests wait in the generator, and not in the system.
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

/// So many connections, each with a request.
pub(crate) fn connections(count: u64) -> Spread {
    let totals = ConnectionTotals { requests: 1, response_sum_ns: 1, response_max_ns: 1 };
    Spread::over(&vec![totals; count as usize]).unwrap()
}

pub(crate) fn ending() -> Ending {
    Ending {
        ended_at_unix_ms: 20_000,
        verdict: Verdict::Complete,
        validity: Validity { verdict: Level::Valid, causes: Vec::new() },
        generator: Generator::default(),
        spread: None,
        planned_left: 0,
        notes: Vec::new(),
        resolved_ns: None,
        tls: None,
        system: None,
        failure: None,
        not_available: Vec::new(),
        steadiness: None,
        window_ns: None,
        outage: None,
    }
}

pub(crate) fn invalid() -> Ending {
    Ending {
        verdict: Verdict::Invalid,
        validity: Validity { verdict: Level::Invalid, causes: Vec::new() },
        ..ending()
    }
}

pub(crate) fn died() -> Ending {
    let failure = Failure {
        stage: "died".to_owned(),
        process: None,
        what: "it ended with signal 11".to_owned(),
        way_out: "see what it wrote".to_owned(),
    };
    Ending { verdict: Verdict::Aborted, failure: Some(failure), ..ending() }
}

pub(crate) fn cut_short() -> Ending {
    Ending { verdict: Verdict::Partial, ..ending() }
}

/// A store in a folder of its own.
pub(crate) struct Stored {
    _folder: tempfile::TempDir,
    pub(crate) store: Store,
}

impl Stored {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("s")).unwrap();
        Self { _folder: folder, store }
    }

    /// A run with its seconds; `None`: it never had any.
    pub(crate) fn run(&self, at: Option<(&StudyId, &Place)>, queue: Option<&Queue>, ending: &Ending) -> Run {
        let shape = queue.copied().unwrap_or_default();
        let new = NewRun {
            started_at_unix_ms: 0,
            title: "made up".to_owned(),
            plan_text: String::new(),
            plan_json: json!({}),
            plan_hash: String::new(),
            tenbin_version: "0.1.0".to_owned(),
            host: json!({}),
            load_words: String::new(),
            model: Model::Open,
            steps: vec!["/".to_owned()],
            units: vec![Unit::Requests],
            parts: Vec::new(),
            warm_up_ns: shape.warm_up_s * SECOND_NS,
            planned_duration_ns: Some(shape.measured_s * SECOND_NS),
            latency_limit_ns: None,
            connects_each: false,
            stamps: Vec::new(),
            place: at.map(|(study, place)| (study.clone(), place.clone())),
            system_version: None,
        };
        let id = self.store.begin(&new).unwrap();
        self.store.keep_second(&id, 0, &queue.map(Queue::intervals).unwrap_or_default()).unwrap();
        self.store.finish(&id, ending).unwrap();
        self.store.load(&id).unwrap()
    }

    pub(crate) fn study(&self, procedure: Procedure, blocks: u32, planned: Vec<Place>) -> StudyId {
        let new = NewStudy {
            started_at_unix_ms: 0,
            title: "made up".to_owned(),
            question: None,
            source: String::new(),
            plan_hash: String::new(),
            tenbin_version: "0.1.0".to_owned(),
            host: json!({}),
            seed: 7,
            is_quick: false,
            compare: Compare {
                by: "throughput".to_owned(),
                higher_is_better: true,
                matters: 0.03,
                blocks,
                procedure,
                also: Vec::new(),
                baseline: None,
                within_s: None,
            },
            gates: Vec::new(),
            planned,
            stamps: Vec::new(),
        };
        self.store.begin_study(&new).unwrap()
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

/// A place under the load `steady`.
pub(crate) fn place(position: u32, block: u32, stage: &str, system: &str) -> Place {
    Place {
        block,
        position,
        system: system.to_owned(),
        variant: String::new(),
        knobs: Vec::new(),
        load: "steady".to_owned(),
        stage: stage.to_owned(),
        users: None,
        rate_per_s: None,
    }
}

/// A place of a search.
pub(crate) fn level(position: u32, stage: &str, users: Option<u32>, rate_per_s: Option<f64>) -> Place {
    Place { users, rate_per_s, ..place(position, position, stage, "a") }
}

pub(crate) const BLOCK: &str = stage::BLOCK;
