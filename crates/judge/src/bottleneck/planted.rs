//! Artificial evidence for tests: a closed load on a system that uses little of two cores. Tests change single
//! readings.

use std::sync::OnceLock;

use evidence::{Ending, Model, Run};
use fixtures::{OwnStore, new_run};
use record::{Counts, MinMedianMax, Spread, WindowCounts};

use super::{Bottleneck, CombinedFigures, Evidence, RunEvidence, causes};
use crate::endpoint_pool::EndpointPool;
use crate::measured::Measured;
use crate::pace::Pace;
use crate::resources::{Core, Resources, Usage};
use crate::signals::Signals;
use crate::waits::Workers;
use crate::window::Window;

/// Length of the measured window, in seconds.
pub(super) const SECONDS: f64 = 10.0;

pub(super) struct Planted {
    pub(super) run: Run,
    pub(super) measured: Measured,
    pub(super) signals: Signals,
    pub(super) together: CombinedFigures,
    pub(super) pools: Vec<EndpointPool>,
}

impl Planted {
    /// Plants a closed load of `users` who always wait for an answer, at `per_s` answers per second.
    pub(super) fn closed(users: u64, per_s: f64, fastest_ms: f64) -> Self {
        static RUN: OnceLock<Run> = OnceLock::new();
        let kept = || OwnStore::new().kept(&new_run(), &[], &[], &Ending::default());
        let mut planted = Self {
            run: RUN.get_or_init(kept).clone(),
            measured: Measured::default(),
            signals: Signals { cores: 2, busy: Some(0.1), busy_cores: Some(0.2), ..Signals::default() },
            together: CombinedFigures::default(),
            pools: Vec::new(),
        };
        planted.connections(users);
        planted.answers(per_s, users as f64 / per_s * 1e3);
        planted.measured.pace.fastest_ns = Some(fastest_ms * 1e6);
        planted.uses(0.1, 0.0);
        planted
    }

    /// Plants an open load over `connections` with `planned_per_s` planned and `per_s` answered requests per second.
    pub(super) fn open(connections: u64, planned_per_s: f64, per_s: f64, mean_ms: f64) -> Self {
        let mut planted = Self::closed(connections, per_s, mean_ms);
        planted.run.new.model = Model::Open;
        planted.answers(per_s, mean_ms);
        let counted = (planned_per_s * SECONDS) as u64;
        planted.together.counts.planned = counted;
        planted.together.counts.not_sent = counted.saturating_sub(planted.together.counts.sent);
        planted.measured.counts = planted.together.counts;
        if let Some(window) = &mut planted.measured.window {
            window.offered = Some(counted);
        }
        planted
    }

    pub(super) fn connections(&mut self, connections: u64) {
        let requests = MinMedianMax { min: 1.0, median: 1.0, max: 1.0 };
        let spread = Spread {
            connections,
            unserved: Some(0),
            requests,
            response_mean_ns: None,
            response_max_ns: None,
        };
        self.run.ending.get_or_insert_default().spread = Some(spread);
    }

    /// Sets the ok answers: `per_s` per second, with a mean time of `mean_ms`.
    pub(super) fn answers(&mut self, per_s: f64, mean_ms: f64) {
        let ok = (per_s * SECONDS).round() as u64;
        let counts = Counts { planned: ok, sent: ok, ok, ..Counts::default() };
        let in_window = WindowCounts { ok, ..WindowCounts::default() };
        self.measured.counts = counts;
        self.measured.window =
            Some(Window { length_s: SECONDS, counts: in_window, offered: None, backlog: None });
        self.measured.response.mean_ns = Some(mean_ms * 1e6);
        self.measured.response.count = ok;
        self.together =
            CombinedFigures { counts, samples: ok, ok_ns: Some(mean_ms * 1e6), ..CombinedFigures::default() };
        self.spread(0.9 * mean_ms, mean_ms, 1.3 * mean_ms);
        self.measured.pace.first_byte_ns = Some(mean_ms * 1e6);
        self.measured.pace.bytes_per_answer = Some(100.0);
    }

    /// Sets p10, p50, and p90 of the answers.
    pub(super) fn spread(&mut self, low_ms: f64, middle_ms: f64, high_ms: f64) {
        let pace = &mut self.measured.pace;
        (pace.ok_ns, pace.quick_ns) =
            (Some([low_ms, middle_ms, high_ms].map(|ms| ms * 1e6)), Some(low_ms * 1e6));
    }

    /// Sets the mean number of cores that the system used, and of runnable threads without a core.
    pub(super) fn uses(&mut self, cores: f64, waited: f64) {
        let usage = |cpu: f64| Usage { cpu_user_s: cpu * SECONDS, ..Usage::default() };
        let system = Usage { run_queue_wait_s: Some(waited * SECONDS), ..usage(cores) };
        self.measured.resources = Some(Resources {
            covered_s: SECONDS,
            system: Some(system),
            generator: Some(usage(0.05)),
            processes: vec![("app".to_owned(), system)],
            cores: ["core0", "core1"].map(|name| Core { name: name.to_owned(), busy: 0.1 }).to_vec(),
        });
    }

    /// Sets the threads of the process that can carry requests, by state.
    pub(super) fn threads(&mut self, states: &[(&str, f64)]) -> &mut Workers {
        let workers = self.signals.waits.workers.entry("app".to_owned()).or_default();
        workers.states = states.iter().map(|(state, threads)| ((*state).to_owned(), *threads)).collect();
        workers
    }

    pub(super) fn pace(&mut self) -> &mut Pace {
        &mut self.measured.pace
    }

    pub(super) fn evidence(&self) -> RunEvidence<'_> {
        RunEvidence {
            run: &self.run,
            measured: &self.measured,
            signals: Some(&self.signals),
            in_flight: None,
            pools: &self.pools,
        }
    }

    pub(super) fn with_evidence<T>(&self, what: impl FnOnce(&Evidence<'_>) -> T) -> T {
        let runs = vec![self.evidence()];
        what(&Evidence { runs, together: self.together.clone(), has_failed: false })
    }

    pub(super) fn causes(&self) -> Vec<Bottleneck> {
        self.with_evidence(causes)
    }

    /// Returns the codes of the causes, most likely first.
    pub(super) fn said(&self) -> Vec<&'static str> {
        self.causes().iter().map(|cause| cause.resource.code).collect()
    }
}
