//! Input of the rules: one run, or the medians of all runs of a configuration.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::str::FromStr;

use evidence::{EvidenceError, Model, Run, Unit};
use record::{ClassName, Counts, Phase, Tally};
use stats::median;

use super::{SATURATED_MIN_SHARE, UNSATURATED_MAX_SHARE};
use crate::causes::Doubt;
use crate::endpoint_pool::EndpointPool;
use crate::group_io::LimitedIo;
use crate::inside::class_of;
use crate::measured::Measured;
use crate::rates;
use crate::resources::{Resources, Usage};
use crate::signals::Signals;
use crate::waits::Workers;
use crate::words::decimal;

/// Min mean number of cores of another program that a sentence mentions, and max number of programs.
const OTHER_PROGRAM_MIN_CORES: f64 = 0.1;
const OTHER_PROGRAMS_MAX: usize = 2;

/// Min share of the busiest thread's running time under load that it also had before the load, if requests do not cause
/// it; and min running share of such a thread.
const AT_REST_MIN_SHARE: f64 = 0.8;
const AT_REST_MIN_RUNNING: f64 = 0.15;

/// Min share of connections that wait for their clients at which most of the response time passes outside of the system.
const ON_THE_WAY_MIN_SHARE: f64 = 0.5;
/// Max share of an answer's time after its first byte at which answers are sent at once.
const TRANSFER_MAX_SHARE: f64 = 0.2;
/// Min share of users waiting for an answer in a load without pauses.
pub(super) const NO_PAUSES_MIN_SHARE: f64 = 0.9;

/// Runs of one configuration under one load, with their combined figures.
pub struct Evidence<'a> {
    /// One run or more.
    pub runs: Vec<RunEvidence<'a>>,
    /// Combined figures of all runs.
    pub together: CombinedFigures,
    /// Whether the runs failed the conditions of a search. The load was then too high, even if all requests were
    /// answered in the end.
    pub has_failed: bool,
}

/// One run, with its figures and readings.
#[derive(Clone, Copy)]
pub struct RunEvidence<'a> {
    /// The stored run.
    pub run: &'a Run,
    /// Figures of the run.
    pub measured: &'a Measured,
    /// Readings of the machine during the run; `None` if nothing was sampled.
    pub signals: Option<&'a Signals>,
    /// Mean number of requests in flight, if counted. `None` if Little's law must supply it.
    pub in_flight: Option<f64>,
    /// Connections that users share at the endpoints of the run. Empty for seconds of a run.
    pub pools: &'a [EndpointPool],
}

/// Combined figures of several runs, over their measured time and all steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CombinedFigures {
    /// Unit of the counts.
    pub unit: Unit,
    /// Number of requests by outcome.
    pub counts: Counts,
    /// Requests that ended, except those ended by the end of the run.
    pub samples: u64,
    /// Number of requests by status code.
    pub statuses: BTreeMap<u16, u64>,
    /// Number of errors by class.
    pub errors: BTreeMap<ClassName, u64>,
    /// Mean service time of rejected requests, in nanoseconds.
    pub rejected_ns: Option<f64>,
    /// Mean service time of requests that ended ok, in nanoseconds.
    pub ok_ns: Option<f64>,
}

impl CombinedFigures {
    /// Combines stored runs of one plan; `None` if there is no run.
    pub fn of(runs: &[&Run]) -> Result<Option<Self>, EvidenceError> {
        let Some(first) = runs.first() else { return Ok(None) };
        let (mut whole, mut statuses) = (Tally::default(), BTreeMap::new());
        for run in runs {
            for (step, unit) in (0..=u16::MAX).zip(&run.new.units) {
                let tally = run.total(step, Phase::Measured)?;
                if !rates::can_be_summed(&tally) {
                    return Err(EvidenceError::DamagedRun { run: run.id.clone() });
                }
                for (status, count) in tally.statuses.iter().filter(|_| !unit.counts_tries()) {
                    let sum: &mut u64 = statuses.entry(status).or_default();
                    *sum = sum.saturating_add(count);
                }
                whole.merge(&tally);
            }
        }
        let mut errors: BTreeMap<ClassName, u64> = BTreeMap::new();
        for entry in whole.errors.entries() {
            let sum = errors.entry(entry.class.clone()).or_default();
            *sum = sum.saturating_add(entry.count);
        }
        Ok(Some(Self {
            unit: first.new.unit(),
            counts: whole.counts,
            samples: whole.response.all().count(),
            statuses,
            errors,
            rejected_ns: whole.service.rejected.mean_ns(),
            ok_ns: whole.service.ok.mean_ns(),
        }))
    }

    /// Returns the share of the planned requests that the system did not serve; 0 if none were planned.
    pub(super) fn error_share(&self) -> f64 {
        rates::error_share(&self.counts).unwrap_or(0.0)
    }
}

/// Mean number of cores in use, by user. `None` if not sampled.
pub(super) struct Cores {
    /// Number of cores of the machine.
    pub(super) all: usize,
    pub(super) system: Option<f64>,
    pub(super) generator: Option<f64>,
    /// Cores used by servers on this machine that the system calls, such as its database; 0 if there are none.
    pub(super) called: f64,
    /// Cores used by all other processes.
    pub(super) others: Option<f64>,
}

impl Evidence<'_> {
    /// Returns the median of a signal over all runs.
    pub(super) fn signal(&self, figure: impl Fn(&Signals) -> Option<f64>) -> Option<f64> {
        median(self.runs.iter().filter_map(|run| figure(run.signals?)))
    }

    /// Returns the waits of the threads of each process, the median of all runs. Names come from outside: escape them.
    pub(super) fn workers(&self) -> BTreeMap<String, Workers> {
        let mut of_runs: BTreeMap<&String, Vec<&Workers>> = BTreeMap::new();
        let sampled =
            self.runs.iter().filter_map(|run| run.signals).flat_map(|signals| &signals.waits.workers);
        sampled.for_each(|(name, workers)| of_runs.entry(name).or_default().push(workers));
        of_runs.into_iter().map(|(name, workers)| (name.clone(), Workers::middle(&workers))).collect()
    }

    /// Returns the number of sampled threads of the system that ran or were ready to run.
    pub(super) fn computing(&self) -> f64 {
        self.workers().values().map(Workers::computing).sum()
    }

    /// Returns the process of the plan whose number of processes changed in most seconds, and the share of these
    /// seconds. The name comes from outside: escape it.
    pub(super) fn changing_processes(&self) -> Option<(String, f64)> {
        let mut of_names: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
        let changing =
            self.runs.iter().filter_map(|run| run.signals).flat_map(|signals| &signals.waits.changing);
        changing.for_each(|(name, share)| of_names.entry(name).or_default().push(*share));
        let middles = of_names.into_iter().filter_map(|(name, shares)| Some((name.clone(), median(shares)?)));
        middles.max_by(|(_, one), (_, other)| one.total_cmp(other))
    }

    /// Returns the disk I/O that is nearest to its limit, from the median run.
    pub(super) fn limited_io(&self) -> Option<LimitedIo> {
        let mut all: Vec<&LimitedIo> =
            self.runs.iter().filter_map(|run| run.signals?.waits.limited_io.as_ref()).collect();
        all.sort_by(|one, other| one.share().total_cmp(&other.share()));
        all.get(all.len().saturating_sub(1) / 2).map(|limited| (*limited).clone())
    }

    /// Returns the largest value of a signal over all runs.
    pub(super) fn most(&self, figure: impl Fn(&Signals) -> Option<f64>) -> Option<f64> {
        self.runs.iter().filter_map(|run| figure(run.signals?)).reduce(f64::max)
    }

    /// Returns the sum of a signal over all runs; `None` if no run has it.
    pub(super) fn sum(&self, figure: impl Fn(&Signals) -> Option<f64>) -> Option<f64> {
        self.runs.iter().filter_map(|run| figure(run.signals?)).reduce(|a, b| a + b)
    }

    /// Returns the fullest accept queue of all runs: connections waiting, and the limit.
    pub(super) fn listen_queue(&self) -> Option<[f64; 2]> {
        let queues = self.runs.iter().filter_map(|run| run.signals?.listen_queue);
        queues.max_by(|a, b| (a[0] / a[1]).total_cmp(&(b[0] / b[1])))
    }

    /// Returns the length of the longest accept queue; 0 if there is none.
    pub(super) fn queued(&self) -> f64 {
        self.longest_queue().map_or(0.0, |(_, queued)| queued)
    }

    /// Returns the port or socket of the system with the longest accept queue, and its length. The name comes from
    /// outside: escape it.
    pub(super) fn longest_queue(&self) -> Option<(String, f64)> {
        let queues = self.runs.iter().filter_map(|run| run.signals).flat_map(|signals| &signals.queued);
        let (place, queued) = queues.max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        let is_port = place.bytes().all(|byte| byte.is_ascii_digit());
        Some((if is_port { format!("port {place}") } else { place.clone() }, *queued))
    }

    /// Returns the connections waiting to be accepted at `address`; `None` if it is not an address of the system.
    pub(super) fn queued_at(&self, address: &str) -> Option<f64> {
        let port = SocketAddr::from_str(address).ok()?.port().to_string();
        self.most(|signals| signals.queued.get(&port).copied())
    }

    /// Returns the cores in use, by user; `None` if they were not sampled.
    pub(super) fn cores(&self) -> Option<Cores> {
        let all = self.runs.iter().filter_map(|run| Some(run.signals?.cores)).max();
        let all = all.filter(|cores| *cores > 0)?;
        let used = |subject: fn(&Resources) -> Option<&Usage>| {
            let cores = |run: &RunEvidence<'_>| {
                let resources = run.measured.resources.as_ref()?;
                resources.cores_used(subject(resources)?)
            };
            median(self.runs.iter().filter_map(cores))
        };
        let (system, generator) =
            (used(|resources| resources.system.as_ref()), used(|resources| resources.generator.as_ref()));
        // An in-process database uses the generator's CPU time.
        let (system, generator) = if self.is_in_process() { (generator, None) } else { (system, generator) };
        let busy = self.signal(|signals| signals.busy_cores);
        // Servers on this machine that the system calls do not count as other processes.
        let called = self.signal(|signals| Some(signals.dependencies.cores())).unwrap_or(0.0);
        let own = [system, generator, Some(called)].into_iter().flatten().sum::<f64>();
        let others = busy.map(|busy| (busy - own).max(0.0));
        Some(Cores { all, system, generator, called, others })
    }

    /// Returns the other programs that used most CPU time: ` (rustc 1.21, make 0.30)`; empty if not read. Names come from
    /// outside: escape them.
    pub(super) fn named_others(&self) -> String {
        let mut cores: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let programs =
            self.runs.iter().filter_map(|run| run.signals).flat_map(|signals| &signals.other_programs);
        programs.for_each(|(name, used)| cores.entry(name).or_default().push(*used));
        let mean = |used: &[f64]| used.iter().sum::<f64>() / self.runs.len().max(1) as f64;
        let mut cores: Vec<(&str, f64)> = cores.iter().map(|(name, used)| (*name, mean(used))).collect();
        cores.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let named =
            cores.iter().filter(|(_, used)| *used >= OTHER_PROGRAM_MIN_CORES).take(OTHER_PROGRAMS_MAX);
        let named: Vec<String> = named.map(|(name, used)| format!("{name} {}", decimal(*used, 2))).collect();
        if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) }
    }

    /// Returns the name of the busiest core, and the share of the time for which it was busy. The name comes from
    /// outside: escape it.
    pub(super) fn busiest_core(&self) -> Option<(String, f64)> {
        let mut shares: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        self.each_core().for_each(|(name, busy)| shares.entry(name).or_default().push(busy));
        let middles = shares.into_iter().filter_map(|(name, busy)| Some((name.to_owned(), median(busy)?)));
        middles.max_by(|(_, a), (_, b)| a.total_cmp(b))
    }

    fn each_core(&self) -> impl Iterator<Item = (&str, f64)> {
        let cores = self
            .runs
            .iter()
            .filter_map(|run| run.measured.resources.as_ref())
            .flat_map(|resources| &resources.cores);
        cores.map(|core| (core.name.as_str(), core.busy))
    }

    /// Returns the process of the system that used most CPU, and the number of cores it used. The name comes from
    /// outside: escape it.
    pub(super) fn busiest_process(&self) -> Option<(String, f64)> {
        let processes = || {
            self.runs.iter().filter_map(|run| run.measured.resources.as_ref()).flat_map(|resources| {
                resources
                    .processes
                    .iter()
                    .filter_map(|(name, usage)| Some((name, resources.cores_used(usage)?)))
            })
        };
        let (name, _) = processes().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let cores = median(processes().filter(|(other, _)| *other == name).map(|(_, cores)| cores))?;
        Some((name.clone(), cores))
    }

    /// Returns the process of the system that used most CPU, and its nice value. The name comes from outside: escape
    /// it.
    pub(super) fn niceness(&self) -> Option<(String, f64)> {
        let (name, _) = self.busiest_process()?;
        let resources = self.runs.iter().filter_map(|run| run.measured.resources.as_ref());
        let of_name =
            resources.flat_map(|resources| &resources.processes).filter(|(other, _)| *other == name);
        let nice = median(of_name.filter_map(|(_, usage)| usage.nice))?;
        Some((name, nice))
    }

    /// Returns the mean number of running threads of the system, and of runnable ones without a core.
    pub(super) fn ran_and_waited(&self) -> Option<[f64; 2]> {
        let usages = || {
            let resources = self.runs.iter().filter_map(|run| run.measured.resources.as_ref());
            resources.filter_map(|resources| Some((resources, resources.system.as_ref()?)))
        };
        let ran = median(usages().map(|(resources, usage)| resources.per_s(usage, usage.cpu_s())))?;
        let waited =
            usages().filter_map(|(resources, usage)| Some(resources.per_s(usage, usage.run_queue_wait_s?)));
        Some([ran, median(waited)?])
    }

    /// Returns the share of the response time in which threads of the system waited for a core.
    pub(super) fn core_wait_of_response(&self) -> Option<f64> {
        let of_view = |run: &RunEvidence<'_>| {
            let resources = run.measured.resources.as_ref()?;
            let system = resources.system.as_ref()?;
            let wait_per_s = resources.per_s(system, system.run_queue_wait_s?);
            let responses_per_s = run.measured.window?.ended_per_s() * run.measured.response.mean_ns? / 1e9;
            Some(wait_per_s / responses_per_s).filter(|share| share.is_finite())
        };
        median(self.runs.iter().filter_map(of_view))
    }

    /// Returns the number of connections of the load, the median of all runs.
    pub(super) fn connections(&self) -> Option<f64> {
        let connections =
            |run: &RunEvidence<'_>| Some(run.run.ending.as_ref()?.spread.as_ref()?.connections as f64);
        median(self.runs.iter().filter_map(connections)).filter(|connections| *connections > 0.0)
    }

    /// Returns the connections that the users of a closed load share, and the number of users; `None` if each user has
    /// a connection.
    pub(super) fn shared_connections(&self) -> Option<[f64; 2]> {
        let ([users, _], connections) = (self.users()?, self.connections()?);
        (connections < users).then_some([connections, users])
    }

    /// Returns the users of a closed load, and the mean number that waited for an answer or a connection: medians of
    /// all runs. `None` for any other load.
    pub(super) fn users(&self) -> Option<[f64; 2]> {
        if !self.runs.iter().all(|run| run.run.new.model == Model::Closed) {
            return None;
        }
        // Runs of other generators record connections only.
        let users = |run: &RunEvidence<'_>| match run.run.new.users {
            Some(users) => Some(f64::from(users)),
            None => Some(run.run.ending.as_ref()?.spread.as_ref()?.connections as f64),
        };
        // Little's law: the number in flight is arrival rate × time in the system. A connection that is never accepted
        // holds a request that never ends, so it is added.
        let waiting = |run: &RunEvidence<'_>| {
            let by_law = || {
                let ended = run.measured.window?.ended_per_s() * run.measured.response.mean_ns? / 1e9;
                let queued =
                    run.signals.and_then(|signals| signals.queued.values().copied().reduce(f64::max));
                Some(ended + queued.unwrap_or(0.0))
            };
            run.in_flight.or_else(by_law)
        };
        let users = median(self.runs.iter().filter_map(users)).filter(|users| *users > 0.0)?;
        Some([users, median(self.runs.iter().filter_map(waiting))?.min(users)])
    }

    /// Returns the max number of users whose requests the system can have at once, and the mean number whose requests
    /// it had. The connections that users share limit both.
    pub(super) fn users_at_system(&self) -> Option<[f64; 2]> {
        let users = self.users()?;
        Some(self.connections().map_or(users, |connections| users.map(|users| users.min(connections))))
    }

    /// Returns the mean number of requests in flight at the system, by Little's law if not counted. Excludes waits for a
    /// connection, in an open load or among users who share connections, and requests that were seen to be on the way.
    pub(super) fn in_flight(&self) -> Option<f64> {
        if let Some([_, waiting]) = self.users_at_system() {
            return Some(waiting * (1.0 - self.on_the_way_share())).filter(|waiting| *waiting > 0.0);
        }
        let counted = |run: &RunEvidence<'_>| {
            let connections = run.run.ending.as_ref().and_then(|ending| ending.spread.as_ref());
            // Further requests wait for a connection.
            let most = connections.map_or(f64::INFINITY, |spread| spread.connections as f64);
            run.in_flight.map(|in_flight| in_flight.min(most))
        };
        if let Some(in_flight) = median(self.runs.iter().filter_map(counted)) {
            return Some(in_flight).filter(|in_flight| *in_flight > 0.0);
        }
        let mean_ns = self.together.ok_ns?;
        let in_flight = |run: &RunEvidence<'_>| Some(run.measured.window?.ended_per_s() * mean_ns / 1e9);
        median(self.runs.iter().filter_map(in_flight)).filter(|in_flight| *in_flight > 0.0)
    }

    /// Returns the share of the load's connections on which the system waited for its clients, in a closed load without
    /// pauses: requests or answers were on the way. Excludes the time for which the generator ran or was ready to run,
    /// because all connections may wait for it then. 0 below half, because the kernel's ticks hide short times.
    pub(super) fn on_the_way_share(&self) -> f64 {
        let by_generator = |run: &RunEvidence<'_>| {
            let resources = run.measured.resources.as_ref()?;
            let generator = resources.generator.as_ref()?;
            let busy_s = generator.cpu_s() + generator.run_queue_wait_s.unwrap_or(0.0);
            Some(resources.per_s(generator, busy_s)).filter(|share| share.is_finite())
        };
        let by_generator = median(self.runs.iter().filter_map(by_generator)).unwrap_or(0.0);
        let idle = self.signal(|signals| signals.idle_connections_share).unwrap_or(0.0);
        let share = idle - by_generator;
        let is_without_pauses =
            self.users().is_some_and(|[users, waiting]| waiting >= NO_PAUSES_MIN_SHARE * users);
        // A system that still sends an answer has sent last, too.
        let is_whole = self.transfer().is_none_or(|transfer| transfer <= TRANSFER_MAX_SHARE);
        if is_without_pauses && is_whole && share >= ON_THE_WAY_MIN_SHARE { share } else { 0.0 }
    }

    /// Returns the number of threads or sessions that each hold one request, as a share of the requests in flight. By
    /// Little's law this is their share of the response time.
    pub(super) fn in_flight_share(&self, holding: f64) -> Option<f64> {
        Some((holding / self.in_flight()?).clamp(0.0, 1.0))
    }

    /// Returns the share of the response time in which threads slept for a disk, a peer, or the reader of a pipe.
    pub(super) fn asleep(&self) -> f64 {
        let states = ["disk", "socket_write", "pipe_write", "connect"];
        let asleep = |workers: &Workers| {
            let in_states: f64 = states.iter().map(|state| workers.in_state(state)).sum();
            in_states + workers.dependencies.values().sum::<f64>()
        };
        let asleep = self.workers().values().map(asleep).sum();
        self.in_flight_share(asleep).unwrap_or(0.0)
    }

    /// Returns the share of the response time in which threads slept for a disk.
    pub(super) fn disk_sleep_share(&self) -> f64 {
        let slept = self.workers().values().map(|workers| workers.in_state("disk")).sum();
        self.in_flight_share(slept).unwrap_or(0.0)
    }

    /// Returns the bytes per second that the system read from disks and wrote to them; `None` if not sampled.
    pub(super) fn disk_bytes_per_s(&self) -> Option<[f64; 2]> {
        let usages = || {
            let resources = self.runs.iter().filter_map(|run| run.measured.resources.as_ref());
            resources.filter_map(|resources| Some((resources, resources.system.as_ref()?)))
        };
        let per_s = |bytes: fn(&Usage) -> Option<f64>| {
            median(usages().filter_map(|(resources, usage)| Some(resources.per_s(usage, bytes(usage)?))))
        };
        Some([per_s(|usage| usage.disk_read_bytes)?, per_s(|usage| usage.disk_written_bytes)?])
    }

    /// Returns the share of the response time in which sessions of a database waited for something inside it.
    pub(super) fn database_sleep_share(&self) -> f64 {
        let waits = self.database_waits().into_iter();
        let is_asleep = |wait: &str| ["Lock", "LWLock", "IO", "Commit"].contains(&class_of(wait));
        let share: f64 = waits.filter(|(wait, _)| is_asleep(wait)).map(|(_, share)| share).sum();
        let active = self.signal(|signals| Some(signals.inside.as_ref()?.active)).unwrap_or(0.0);
        self.in_flight_share(share * active).unwrap_or(0.0)
    }

    /// Returns the share of the response time that a saturated resource can explain: the time without other waits.
    pub(super) fn awake_share(&self) -> f64 {
        1.0 - self.asleep().max(self.database_sleep_share()).min(1.0)
    }

    /// States and waits of active database sessions, as shares of these sessions, largest first: medians of all runs. Names come
    /// from outside: escape them.
    pub(super) fn database_waits(&self) -> Vec<(String, f64)> {
        let insides: Vec<_> = self.runs.iter().filter_map(|run| run.signals?.inside.as_ref()).collect();
        let ranked: Vec<BTreeMap<&str, f64>> =
            insides.iter().map(|inside| inside.ranked().into_iter().collect()).collect();
        let mut names: Vec<&str> = ranked.iter().flat_map(|of_run| of_run.keys().copied()).collect();
        names.sort_unstable();
        names.dedup();
        let share = |name: &str| median(ranked.iter().map(|of_run| of_run.get(name).copied().unwrap_or(0.0)));
        let mut waits: Vec<(String, f64)> =
            names.into_iter().filter_map(|name| Some((name.to_owned(), share(name)?))).collect();
        waits.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        waits
    }

    /// Returns the process and state with the most threads that can carry requests: name, state, number of threads, and
    /// their share of the process's threads.
    pub(super) fn largest_wait(&self) -> Option<(String, String, f64, f64)> {
        let workers = self.workers();
        let states = workers.iter().flat_map(|(name, workers)| {
            workers
                .states
                .iter()
                .map(move |(state, threads)| (name, state, *threads, threads / workers.all()))
        });
        let states = states.filter(|(_, _, threads, share)| *threads >= 0.5 && share.is_finite());
        let (name, state, threads, share) = states.max_by(|a, b| a.2.total_cmp(&b.2))?;
        Some((name.clone(), state.clone(), threads, share))
    }

    /// Returns the share of time for which a thread of the system computes that did so before the load, too; 0 if there
    /// is none. Requests do not cause it.
    pub(super) fn ran_before_the_load(&self) -> f64 {
        let at_rest = self.signal(|signals| signals.thread_at_rest).unwrap_or(0.0);
        let ran = self.signal(|signals| signals.busiest_thread).unwrap_or(0.0);
        let is_same = at_rest >= AT_REST_MIN_SHARE * ran.max(AT_REST_MIN_RUNNING);
        if is_same { ran } else { 0.0 }
    }

    /// Returns whether requests saturate a thread of the system, a core, or all cores, so that a higher load would not
    /// raise its throughput.
    pub(super) fn is_exhausted(&self) -> bool {
        let without_load = self.ran_before_the_load();
        let thread = without_load == 0.0
            && self
                .signal(|signals| signals.busiest_thread)
                .is_some_and(|share| share >= SATURATED_MIN_SHARE);
        let is_busy = self.signal(|signals| signals.busy).is_some_and(|busy| busy >= SATURATED_MIN_SHARE);
        let cores = self.cores();
        let is_used = |at_least: f64| {
            let used = cores.as_ref().and_then(|cores| cores.system);
            used.is_some_and(|used| used - without_load >= at_least)
        };
        let half = cores.as_ref().map_or(0.0, |cores| 0.5 * cores.all as f64);
        let core = self.busiest_core().is_some_and(|(_, busy)| busy >= SATURATED_MIN_SHARE);
        thread || core && is_used(UNSATURATED_MAX_SHARE) || is_busy && is_used(half)
    }

    /// Returns whether all runs are open loads that failed no search, and at least 99 % of the planned requests ended
    /// ok or were lost to events.
    pub(super) fn is_answered_in_full(&self) -> bool {
        let counts = &self.together.counts;
        let is_open = self.runs.iter().all(|run| run.run.new.model == Model::Open);
        let served = u128::from(counts.ok) + u128::from(self.lost_to_events());
        is_open && !self.has_failed && served * 100 >= u128::from(counts.planned) * 99
    }

    /// Returns the number of requests lost to events of the plan, as far as known; at most the number that did not end
    /// ok.
    pub(super) fn lost_to_events(&self) -> u64 {
        let lost = self.runs.iter().filter_map(|run| Some(run.measured.events?.lost));
        let counts = &self.together.counts;
        lost.fold(0, u64::saturating_add).min(counts.planned.saturating_sub(counts.ok))
    }

    /// Returns whether at least 90 % of the requests that did not end ok were lost to events of the plan.
    pub(super) fn is_lost_to_events(&self) -> bool {
        let counts = &self.together.counts;
        let bad = counts.planned.saturating_sub(counts.ok);
        bad > 0 && u128::from(self.lost_to_events()) * 10 >= u128::from(bad) * 9
    }

    /// Returns the first cause of doubt that `wanted` accepts, as a sentence, and the number of runs with one. Comes
    /// from outside: escape it.
    pub(super) fn causes(&self, wanted: impl Fn(Doubt) -> bool) -> Option<(&str, usize)> {
        let is_meant = |cause: &&evidence::Cause| Doubt::named(&cause.code).is_some_and(&wanted);
        let mut causes = self.endings().filter_map(|ending| ending.validity.causes.iter().find(is_meant));
        let first = causes.next()?;
        Some((&first.sentence, 1 + causes.count()))
    }

    fn endings(&self) -> impl Iterator<Item = &evidence::Ending> {
        self.runs.iter().filter_map(|run| run.run.ending.as_ref())
    }

    /// Returns whether the system's resources were sampled in any run.
    pub(super) fn is_system_read(&self) -> bool {
        let resources = self.runs.iter().filter_map(|run| run.measured.resources.as_ref());
        resources.filter_map(|resources| resources.system.as_ref()).next().is_some()
    }

    /// Returns whether the system was seen on the generator's machine in any run.
    pub(super) fn is_local(&self) -> bool {
        self.endings().any(|ending| ending.is_system_local)
    }

    /// Returns the rejected answers with this status, as a share of the requests that ended.
    pub(super) fn share_of_status(&self, status: u16) -> f64 {
        let answers = self.together.statuses.get(&status).copied().unwrap_or(0);
        share(answers.min(self.together.counts.rejected), self.together.samples)
    }
}

/// Returns the share of `part` in `whole`; 0 if `whole` is 0.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
