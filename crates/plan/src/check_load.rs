//! Rules of a load, shared by command lines and plan files.

use load::open::EVEN;
use load::open::{Profile, Stage};
use load::{Closed, Load, Open, Recording, Schedule, Spacing, Stop, ThinkTime};
use wire::step::Unit;

use crate::error::{PlanError, Problem};
use crate::plan::{Pin, Stacks, connections};
use crate::spec::{Field, LoadSpec, Spanned};

/// Default number of connections. A closed load has one user for each.
pub const CONNECTIONS_DEFAULT: u64 = 50;
const CONNECTIONS_MAX: u64 = 1_000_000;
/// Max connections that an open load may grow to by itself.
const GROWN_CONNECTIONS_MAX: u32 = 10_000;
const POOL_MAX: u64 = 1_000_000;
const PIPELINE_MAX: u64 = 10_000;
const REQUESTS_MAX: u64 = u64::MAX >> 16;
const DURATION_DEFAULT_NS: u64 = 10_000_000_000;
const TIMEOUT_DEFAULT_NS: u64 = 10_000_000_000;
/// Default timeout if a load ends after a number of transactions. Such statements may be slow, and the duration is not limited.
const COUNTED_TIMEOUT_DEFAULT_NS: u64 = 3_600_000_000_000;
const THREADS_MAX: u64 = 1024;
const MILLISECOND_NS: u64 = 1_000_000;
const EXTEND_MAX: u64 = 10;
const LOG_PER_SECOND_MAX: u64 = 100_000;
pub(crate) const SEED_DEFAULT: u64 = 1;
/// Shortest delay after which a request is dropped. Starts are grouped at a small fraction of this delay.
const SHED_AFTER_MIN_NS: u64 = 1_000_000;

/// Facts about the target system that the rules of a load depend on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Destination {
    /// Unit of its steps.
    pub(crate) unit: Unit,
    /// Connect timeout from the URL, in nanoseconds. `None` if the URL does not set one.
    pub(crate) connect_timeout_ns: Option<u64>,
    /// Max requests in flight on one connection, as limited by the protocol. `None` if the protocol is not known yet.
    pub(crate) pipeline_max: Option<u32>,
}

/// A load without contradictions.
#[derive(Clone, Debug)]
pub(crate) struct CheckedLoad {
    pub(crate) load: Load,
    pub(crate) stop: Stop,
    pub(crate) extend: u32,
    pub(crate) warm_up_ns: u64,
    pub(crate) timeout_ns: u64,
    pub(crate) connect_timeout_ns: u64,
    pub(crate) threads: Option<u32>,
    pub(crate) pin: Pin,
    pub(crate) seed: u64,
    pub(crate) log_per_second: u32,
    pub(crate) profile: Option<Stacks>,
    pub(crate) keep_alive: bool,
    pub(crate) connection_lifetime_ns: Option<u64>,
    pub(crate) retry_stale: bool,
    pub(crate) grows_to: Option<u32>,
    /// Requests in flight on each connection. The users or slots of `load` are connections times this number.
    pub(crate) pipeline: u32,
    pub(crate) pool: Option<u32>,
    pub(crate) checks_room: bool,
    pub(crate) latency_limit_ns: Option<u64>,
}

impl LoadSpec {
    /// Whether the load is open: requests start at scheduled times.
    pub(crate) fn is_open(&self) -> bool {
        let plays_all = self.recorded.is_some() && self.users.is_none();
        self.rate_per_s.is_some() || self.stages.is_some() || plays_all
    }

    /// Field that sets a profile of the load over time. `None` if there is none. A capacity search cannot choose the amount of load if
    /// there is such a profile.
    pub(crate) fn profile_field(&self) -> Option<Field> {
        let stages = self.stages.as_ref().map(|_| Field::STAGES);
        let recorded = self.recorded.as_ref().map(|_| Field::RECORDED);
        stages.or(recorded).or(self.replay.as_ref().map(|_| Field::REPLAY))
    }

    /// Checks the load. Appends all errors to `errors`.
    pub(crate) fn check(&self, destination: Destination, errors: &mut Vec<PlanError>) -> CheckedLoad {
        let mut checker = Checker { spec: self, errors };
        let pool = checker.check_pool(destination.unit);
        let pipeline = checker.pipeline(destination);
        let (load, stop, warm_up_ns) = checker.load();
        let extend = checker.extend();
        let given_ns = checker.positive(Field::TIMEOUT, &self.timeout_ns);
        let is_number = stop.at_ns.is_none() && destination.unit.has_sessions();
        let default_ns = if is_number { COUNTED_TIMEOUT_DEFAULT_NS } else { TIMEOUT_DEFAULT_NS };
        let timeout_ns = given_ns.unwrap_or(default_ns);
        let connect_timeout_ns =
            checker.connect_timeout(destination.connect_timeout_ns, timeout_ns, given_ns);
        let threads = checker.threads(&load);
        let load = with_pipeline(load, pipeline);
        let pin = checker.read(Field::PIN, &self.pin).unwrap_or(Pin::No);
        let log = checker.count(Field::LOG_REQUESTS, &self.log_requests, 0, LOG_PER_SECOND_MAX);
        let profile = checker.read(Field::PROFILE, &self.profile).flatten();
        let is_true = |value: &Option<Spanned<bool>>| value.as_ref().and_then(Spanned::get) != Some(&false);
        let grows_to = self.grows_to(&load, timeout_ns);
        CheckedLoad {
            load,
            stop,
            extend,
            warm_up_ns,
            timeout_ns,
            connect_timeout_ns,
            threads,
            pin,
            seed: self.seed.as_ref().and_then(Spanned::get).copied().unwrap_or(SEED_DEFAULT),
            log_per_second: log.unwrap_or(0) as u32,
            profile,
            keep_alive: is_true(&self.keep_alive),
            connection_lifetime_ns: checker.connection_lifetime(),
            grows_to,
            retry_stale: self.retry_stale.as_ref().and_then(Spanned::get) == Some(&true),
            pipeline,
            pool: pool.map(|pool| pool as u32),
            checks_room: is_true(&self.room_check),
            latency_limit_ns: self.latency_limit_ns.as_ref().and_then(Spanned::get).copied(),
        }
    }
}

impl LoadSpec {
    /// Max connections of an open load if the plan sets no number. At most rate × timeout requests are in flight, because each ends by its
    /// timeout. `None` if the initial connections are enough.
    fn grows_to(&self, load: &Load, timeout_ns: u64) -> Option<u32> {
        let Load::Open(open) = load else { return None };
        let peak_per_s = Some(open.schedule.peak_per_s()).filter(|_| self.connections.is_none())?;
        let in_flight = (peak_per_s * timeout_ns as f64 / 1e9).ceil();
        (in_flight > f64::from(open.connections))
            .then_some(in_flight.min(f64::from(GROWN_CONNECTIONS_MAX)) as u32)
    }
}

/// Reads the values of a load and collects their errors.
struct Checker<'a> {
    spec: &'a LoadSpec,
    errors: &'a mut Vec<PlanError>,
}

impl Checker<'_> {
    fn error<T>(&mut self, field: Field, value: &Option<Spanned<T>>, problem: Problem) {
        let at = value.as_ref().and_then(Spanned::at);
        self.errors.push(PlanError { field, problem, at });
    }

    fn read<T: Clone>(&mut self, field: Field, value: &Option<Spanned<T>>) -> Option<T> {
        if let Some(wrong) = value.as_ref().and_then(Spanned::wrong) {
            self.error(field, value, wrong.into());
        }
        value.as_ref().and_then(Spanned::get).cloned()
    }

    fn positive(&mut self, field: Field, value: &Option<Spanned<u64>>) -> Option<u64> {
        let ns = self.read(field, value)?;
        if ns == 0 {
            self.error(field, value, Problem::NoTime);
        }
        Some(ns.max(1))
    }

    fn rate(&mut self, field: Field, value: &Option<Spanned<f64>>) -> Option<f64> {
        let per_s = self.read(field, value)?;
        if per_s <= 0.0 {
            self.error(field, value, Problem::NoRate);
            return None;
        }
        Some(per_s)
    }

    fn count(&mut self, field: Field, value: &Option<Spanned<u64>>, min: u64, max: u64) -> Option<u64> {
        let have = self.read(field, value)?;
        if !(min..=max).contains(&have) {
            self.error(field, value, Problem::OutOfRange { have, min, max });
        }
        Some(have.clamp(min, max))
    }

    /// Requests in flight on each connection.
    fn pipeline(&mut self, destination: Destination) -> u32 {
        let spec = self.spec;
        let depth = self.count(Field::PIPELINE, &spec.pipeline, 1, PIPELINE_MAX).unwrap_or(1) as u32;
        let protocol_max =
            if destination.unit.has_sessions() { 1 } else { destination.pipeline_max.unwrap_or(depth) };
        if depth > protocol_max {
            self.error(Field::PIPELINE, &spec.pipeline, Problem::NoPipeline { max: protocol_max });
        } else if depth > 1 && spec.keep_alive.as_ref().and_then(Spanned::get) == Some(&false) {
            self.error(Field::PIPELINE, &spec.pipeline, Problem::PipelineWithoutReuse);
        }
        depth.min(protocol_max)
    }

    /// Checks values that apply only to databases. Returns the size of the pool.
    fn check_pool(&mut self, unit: Unit) -> Option<u64> {
        let spec = self.spec;
        if unit.has_sessions() {
            return self.count(Field::POOL, &spec.pool, 1, POOL_MAX);
        }
        let asks_no_room = spec.room_check.as_ref().and_then(Spanned::get) == Some(&false);
        if spec.latency_limit_ns.is_some() {
            self.error(Field::LATENCY_LIMIT, &spec.latency_limit_ns, Problem::NeedsDatabase);
        }
        if spec.pool.is_some() {
            self.error(Field::POOL, &spec.pool, Problem::NeedsDatabase);
        }
        if asks_no_room {
            self.error(Field::ROOM_CHECK, &spec.room_check, Problem::NeedsDatabase);
        }
        None
    }

    fn load(&mut self) -> (Load, Stop, u64) {
        let spec = self.spec;
        let warm_up_ns = self.read(Field::WARM_UP, &spec.warm_up_ns).unwrap_or(0);
        let requests = self.count(Field::REQUESTS, &spec.requests, 1, REQUESTS_MAX);
        let (field, given) = match spec.is_open() {
            true => (Field::CONNECTIONS, &spec.connections),
            false => (Field::USERS, &spec.users),
        };
        let connections = self.count(field, given, 1, CONNECTIONS_MAX).unwrap_or(CONNECTIONS_DEFAULT) as u32;
        let given_ns = self.positive(Field::MEASURED, &spec.measured_ns);
        let stages = spec.stages.is_some().then(|| self.stages());
        let recording = self.recording(warm_up_ns);
        self.forbid_contradictions();

        let staged_ns = stages
            .as_ref()
            .map(|stages| stages.iter().fold(0u64, |total_ns, stage| total_ns.saturating_add(stage.for_ns)));
        let recorded_ns = recording.as_ref().map(|recording| end_ns(recording).saturating_sub(warm_up_ns));
        let recorded_ns = recorded_ns.map(|ns| given_ns.map_or(ns, |given_ns| given_ns.min(ns)));
        let measured_ns =
            staged_ns.or(recorded_ns).or(given_ns).or(requests.is_none().then_some(DURATION_DEFAULT_NS));
        // The plan is for the longest run that extensions can lead to.
        let times = u64::from(self.extensions_max()).saturating_add(1);
        let measured_ns = measured_ns.map(|ns| ns.saturating_mul(times));
        let at_ns = measured_ns.map(|ns| ns.saturating_add(warm_up_ns));
        // All values are read, even those that do not fit the load, so that all errors are reported at once.
        let seed = self.read(Field::SEED, &spec.seed).unwrap_or(SEED_DEFAULT);
        let process = self.read(Field::ARRIVALS, &spec.arrivals).unwrap_or(&EVEN);
        let spacing = Spacing { process, seed };
        let shed_after_ns = self.read(Field::SHED_AFTER, &spec.shed_after_ns);
        // As in pgbench, a transaction that exceeds the latency limit before it is sent is skipped.
        let limit_ns = self.positive(Field::LATENCY_LIMIT, &spec.latency_limit_ns);
        let shed_after_ns = shed_after_ns.or(limit_ns);
        let closed = self.closed(connections, seed);
        let recorded = recording.map(Schedule::Recorded);
        let load = match (self.profile(stages, measured_ns), recorded) {
            (Some(profile), _) => {
                self.check_profile(&profile, warm_up_ns, shed_after_ns);
                let schedule = Schedule::Rate(profile.with_warm_up(warm_up_ns), spacing);
                Load::Open(Open { schedule, connections, shed_after_ns })
            }
            (None, Some(schedule)) if spec.is_open() => {
                Load::Open(Open { schedule, connections, shed_after_ns })
            }
            (None, Some(schedule)) => Load::Closed(Closed { schedule: Some(schedule), ..closed }),
            (None, None) => {
                if at_ns.is_some_and(|at_ns| closed.ramp_up_ns >= at_ns) {
                    self.error(Field::RAMP_UP, &spec.ramp_up_ns, Problem::RampTooLong);
                }
                Load::Closed(closed)
            }
        };
        (load, Stop { at_ns, requests }, warm_up_ns)
    }

    /// Max number of extensions of the measured time. [`Self::extend`] reports a wrong number.
    fn extensions_max(&self) -> u32 {
        let times = self.spec.extend.as_ref().and_then(Spanned::get).copied().unwrap_or(0);
        if self.spec.profile_field().is_some() { 0 } else { times.min(EXTEND_MAX) as u32 }
    }

    /// Reads and checks the max number of extensions.
    fn extend(&mut self) -> u32 {
        let spec = self.spec;
        let extend = self.count(Field::EXTEND, &spec.extend, 0, EXTEND_MAX).unwrap_or(0) as u32;
        if extend > 0 && spec.stages.is_some() {
            self.error(Field::EXTEND, &spec.extend, Problem::ExtendedStages);
        } else if extend > 0 && spec.requests.is_some() {
            self.error(Field::EXTEND, &spec.extend, Problem::ExtendedRequests);
        }
        extend
    }

    /// Recorded arrivals. `None` if the load has none, or if they cannot be read.
    fn recording(&mut self, warm_up_ns: u64) -> Option<Recording> {
        let spec = self.spec;
        let recording = match self.read(Field::RECORDED, &spec.recorded)?.arrivals() {
            Ok(recording) => recording,
            Err(wrong) => {
                self.error(Field::RECORDED, &spec.recorded, (&wrong).into());
                return None;
            }
        };
        if end_ns(&recording) <= warm_up_ns {
            self.error(Field::RECORDED, &spec.recorded, Problem::RecordingTooShort);
        }
        if let Some(users) = spec.users.as_ref().and_then(Spanned::get) {
            let of = |arrival: &load::Arrival| arrival.session;
            let sessions =
                recording.arrivals().iter().filter_map(of).max().map_or(0, |last| u64::from(last) + 1);
            let arrivals = recording.arrivals().iter().filter(|arrival| of(arrival).is_none()).count() as u64;
            if arrivals > 0 {
                self.error(Field::RECORDED, &spec.recorded, Problem::NoSessions { arrivals });
            } else if sessions > *users {
                self.error(Field::USERS, &spec.users, Problem::TooManySessions { sessions, users: *users });
            }
        }
        Some(recording)
    }

    fn connection_lifetime(&mut self) -> Option<u64> {
        let spec = self.spec;
        let lifetime_ns = self.positive(Field::CONNECTION_LIFETIME, &spec.connection_lifetime_ns);
        let is_kept = spec.keep_alive.as_ref().and_then(Spanned::get) != Some(&false);
        let problem = Problem::LifetimeOfOneRequest;
        self.forbid_if(!is_kept, Field::CONNECTION_LIFETIME, &spec.connection_lifetime_ns, problem);
        lifetime_ns
    }

    fn check_profile(&mut self, profile: &Profile, warm_up_ns: u64, shed_after_ns: Option<u64>) {
        let spec = self.spec;
        // Stages that could not be read leave an empty profile. They are already reported.
        let is_read = !profile.segments().is_empty();
        if is_read && profile.peak_per_s() <= 0.0 {
            self.error(Field::STAGES, &spec.stages, Problem::NoPeak);
        } else if is_read && warm_up_ns > 0 && profile.first_per_s() <= 0.0 {
            self.error(Field::WARM_UP, &spec.warm_up_ns, Problem::ColdWarmUp);
        }
        if shed_after_ns.is_some_and(|ns| ns < SHED_AFTER_MIN_NS) {
            let (field, value) = match &spec.shed_after_ns {
                Some(_) => (Field::SHED_AFTER, &spec.shed_after_ns),
                None => (Field::LATENCY_LIMIT, &spec.latency_limit_ns),
            };
            self.error(field, value, Problem::ShedTooSoon);
        }
    }

    fn profile(&mut self, stages: Option<Vec<Stage>>, measured_ns: Option<u64>) -> Option<Profile> {
        let spec = self.spec;
        let rate = self.rate(Field::RATE, &spec.rate_per_s);
        let from = self.read(Field::RAMP_FROM, &spec.ramp_from_per_s);
        match (stages, from, rate, measured_ns) {
            (Some(stages), from, ..) => Some(Profile::stages(from.unwrap_or(0.0), &stages)),
            (None, Some(from), Some(to), Some(for_ns)) => Some(Profile::ramp(from, to, for_ns)),
            (None, Some(_), Some(_), None) => {
                self.error(Field::RAMP_FROM, &spec.ramp_from_per_s, Problem::RampWithoutTime);
                None
            }
            (None, _, Some(per_s), _) => Some(Profile::constant(per_s)),
            (None, _, None, _) => None,
        }
    }

    /// Reads the stages. Empty if they are wrong.
    fn stages(&mut self) -> Vec<Stage> {
        let spec = self.spec;
        let stages = self.read(Field::STAGES, &spec.stages).unwrap_or_default();
        let is_read = spec.stages.as_ref().is_some_and(|stages| stages.wrong().is_none());
        if is_read && stages.iter().all(|stage| stage.for_ns == 0) {
            self.error(Field::STAGES, &spec.stages, Problem::NoTimeInStages);
            return Vec::new();
        }
        stages
    }

    fn closed(&mut self, users: u32, seed: u64) -> Closed {
        let spec = self.spec;
        Closed {
            users,
            ramp_up_ns: self.read(Field::RAMP_UP, &spec.ramp_up_ns).unwrap_or(0),
            think_time: self.read(Field::THINK, &spec.think).unwrap_or(ThinkTime::None),
            pacing_ns: self.read(Field::PACING, &spec.pacing_ns).unwrap_or(0),
            throughput_per_s: self.rate(Field::THROUGHPUT, &spec.throughput_per_s),
            seed,
            schedule: None,
            is_unpaced: false,
        }
    }

    fn forbid_contradictions(&mut self) {
        let spec = self.spec;
        let is_open = spec.is_open();
        self.forbid_if(!is_open, Field::SHED_AFTER, &spec.shed_after_ns, Problem::NeedsRate);
        self.forbid_if(!is_open, Field::ARRIVALS, &spec.arrivals, Problem::NeedsRate);
        self.forbid_if(!is_open, Field::RAMP_FROM, &spec.ramp_from_per_s, Problem::NeedsRate);
        let is_recorded = spec.recorded.is_some();
        let of_users = if is_recorded { Problem::SetByRecording } else { Problem::NeedsUsers };
        let has_times = is_open || is_recorded;
        self.forbid_if(has_times, Field::THINK, &spec.think, of_users.clone());
        self.forbid_if(has_times, Field::PACING, &spec.pacing_ns, of_users.clone());
        self.forbid_if(has_times, Field::RAMP_UP, &spec.ramp_up_ns, of_users.clone());
        self.forbid_if(has_times, Field::THROUGHPUT, &spec.throughput_per_s, of_users);
        self.forbid_if(is_recorded, Field::RATE, &spec.rate_per_s, Problem::SetByRecording);
        self.forbid_if(is_recorded, Field::RAMP_FROM, &spec.ramp_from_per_s, Problem::SetByRecording);
        self.forbid_if(is_recorded, Field::STAGES, &spec.stages, Problem::SetByRecording);
        self.forbid_if(is_recorded, Field::ARRIVALS, &spec.arrivals, Problem::SetByRecording);
        self.forbid_if(is_recorded, Field::EXTEND, &spec.extend, Problem::SetByRecording);
        let is_shed = spec.shed_after_ns.is_some();
        self.forbid_if(is_shed, Field::LATENCY_LIMIT, &spec.latency_limit_ns, Problem::TwoLimits);
        self.forbid_if(is_open, Field::POOL, &spec.pool, Problem::PoolOfRate);
        let is_staged = spec.stages.is_some();
        self.forbid_if(is_staged, Field::RATE, &spec.rate_per_s, Problem::TwoRates);
        self.forbid_if(is_staged, Field::MEASURED, &spec.measured_ns, Problem::TwoTimes);
    }

    /// Reports a value that was given where it is not allowed.
    fn forbid_if<T>(
        &mut self,
        is_wrong_here: bool,
        field: Field,
        value: &Option<Spanned<T>>,
        problem: Problem,
    ) {
        if is_wrong_here && value.is_some() {
            self.error(field, value, problem);
        }
    }

    /// Connect timeout in nanoseconds. `of_url` is the one from the URL, which applies if the load sets none.
    fn connect_timeout(&mut self, of_url: Option<u64>, timeout_ns: u64, given_ns: Option<u64>) -> u64 {
        let spec = self.spec;
        let given = self.positive(Field::CONNECT_TIMEOUT, &spec.connect_timeout_ns);
        if given.is_some_and(|given| given > timeout_ns) {
            let problem = Problem::ConnectTooLong { timeout_ns };
            self.error(Field::CONNECT_TIMEOUT, &spec.connect_timeout_ns, problem);
        }
        let default_ns = given_ns.unwrap_or(TIMEOUT_DEFAULT_NS);
        given.or(of_url.map(|ns| ns.min(timeout_ns))).unwrap_or(default_ns)
    }

    fn threads(&mut self, load: &Load) -> Option<u32> {
        let spec = self.spec;
        let threads = self.count(Field::THREADS, &spec.threads, 1, THREADS_MAX)?;
        let connections = connections(load);
        if threads > u64::from(connections) {
            let problem = Problem::TooManyThreads { threads, connections };
            self.error(Field::THREADS, &spec.threads, problem);
        }
        Some(threads as u32)
    }
}

/// First whole millisecond after the last arrival.
fn end_ns(recording: &Recording) -> u64 {
    let last_ns = recording.arrivals().last().map_or(0, |arrival| arrival.at_ns);
    (last_ns / MILLISECOND_NS).saturating_add(1).saturating_mul(MILLISECOND_NS)
}

/// Multiplies the users of a closed load, or the slots of an open one, by `depth`.
fn with_pipeline(load: Load, depth: u32) -> Load {
    match load {
        Load::Closed(closed) => Load::Closed(Closed { users: closed.users.saturating_mul(depth), ..closed }),
        Load::Open(open) => Load::Open(Open { connections: open.connections.saturating_mul(depth), ..open }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::LOAD_KEYS;
    use crate::units::show_duration;

    #[test]
    fn reference_states_actual_defaults() {
        for (name, default) in [
            ("timeout", show_duration(TIMEOUT_DEFAULT_NS)),
            ("for", show_duration(DURATION_DEFAULT_NS)),
            ("connections", CONNECTIONS_DEFAULT.to_string()),
            ("extend", format!("0, max {EXTEND_MAX}")),
        ] {
            let key = LOAD_KEYS.iter().find(|key| key.name == name).expect("it is a key");
            assert!(key.sentence.ends_with(&format!("default {default}.")), "{name}: {}", key.sentence);
        }
    }
}
