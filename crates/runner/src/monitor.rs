//! Monitors a load: notices when the system dies, and reads probes once per second.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use evidence::{ConnectionsByProcess, Ending, Reading, RunId, SteadyStart, Verdict};
use lab::probes::{Completion, HeldConnections, Look, LookTimes, NotAvailable, Subject};
use lab::{Output, Stopped};
use plan::Stacks;
use progress::Readings;
use store::{Store, StoreError};

use crate::connections_by_process;
use crate::database_cost::CostMeter;
use crate::database_watch::{DatabaseWatch, MonitoredDatabase};
use crate::environment::EnvironmentBefore;
use crate::events::Events;
use crate::feed::Feed;
use crate::own_figures::OwnFigures;
use crate::profile::RunProfiler;
use crate::stage::kept;
use crate::systems::{Lab, StartedSystem, Watch};

/// Shortest interval of a look; shorter ones contain hardly any data.
const LOOK_MIN: Duration = Duration::from_millis(200);

/// Observer of a load, called by the thread that stores the results about twenty times per second.
pub(crate) trait Monitor {
    /// The load starts.
    fn begins(&mut self, origin: Instant);
    /// Stores new observations. Returns whether the system has ended, so that the load should end.
    fn poll(&mut self, feed: Feed<'_>) -> Result<bool, StoreError>;
    /// The load has ended.
    fn ends(&mut self, feed: Feed<'_>) -> Result<(), StoreError>;
    /// Time that machine and generator lost during the load. Called after the end.
    fn taken(&self) -> UnavailableTime;
    /// Notes a probe that was not available.
    fn lacks(&mut self, what: &str, because: String);
    /// Root processes of the system, and of its profiler.
    fn roots(&self) -> Vec<u32>;
}

/// Time that was available neither to the system nor to the generator.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UnavailableTime {
    /// Steal time, summed over cores, in seconds.
    steal_s: f64,
    /// Observed time of all cores, in seconds.
    cores_s: f64,
    /// Time for which the generator's control group was throttled, in seconds. `None` if not measured.
    pub(crate) throttled_s: Option<f64>,
    /// Number of looks at each proxy, and number of looks that found it busy.
    aside: BTreeMap<String, [u64; 2]>,
    /// Connections by process, with the time of the reading in nanoseconds since the load started.
    held: Vec<(u64, HeldConnections)>,
}

impl UnavailableTime {
    /// Proxy with the highest share of busy looks, and that share.
    pub(crate) fn busiest_proxy(&self) -> Option<(String, f64)> {
        let share = |[looks, busy]: &[u64; 2]| *busy as f64 / *looks as f64;
        let shares = self.aside.iter().map(|(name, looks)| (name.clone(), share(looks)));
        shares.max_by(|(_, a), (_, b)| a.total_cmp(b))
    }

    /// Share of all cores' time that the host gave to others. `None` if not measured.
    pub(crate) fn steal_share(&self) -> Option<f64> {
        (self.cores_s > 0.0).then(|| self.steal_s / self.cores_s)
    }

    /// Connections by process of the system. `None` if they were not read.
    pub(crate) fn connections(&self) -> Option<ConnectionsByProcess> {
        connections_by_process::from_readings(&self.held)
    }

    fn note_held_connections(&mut self, look: &mut Look, origin: Instant) {
        if let Some(held) = look.held.take() {
            self.held.push((held.at.saturating_duration_since(origin).as_nanos() as u64, held));
        }
    }

    fn note(&mut self, look: &Look, aside: &[String]) {
        if look.over >= LOOK_MIN {
            for name in aside {
                let of_it = look.readings.iter().filter(|one| one.subject == *name);
                // A proxy that waits for a core is late as well, and could never use 90 % of one. So the waiting time is added.
                let wanted =
                    of_it.filter(|one| matches!(one.metric, "cpu_user_s" | "cpu_sys_s" | "run_queue_wait_s"));
                let cpu_s: f64 = wanted.map(|one| one.value).sum();
                let [looks, busy] = self.aside.entry(name.clone()).or_default();
                *looks += 1;
                *busy += u64::from(cpu_s > judge::PROXY_BUSY_MIN_SHARE * look.over.as_secs_f64());
            }
        }
        for reading in &look.readings {
            match (reading.subject.as_str(), reading.metric) {
                ("machine", "steal_s") => {
                    self.steal_s += reading.value;
                    self.cores_s += look.over.as_secs_f64();
                }
                ("generator", "throttled_s") => *self.throttled_s.get_or_insert(0.0) += reading.value,
                _ => {}
            }
        }
    }
}

/// Monitors machine and generator, and the system if the lab started it.
pub(crate) struct MonitoredSystem<'a> {
    lab: &'a dyn Lab,
    system: Option<Box<dyn StartedSystem>>,
    is_somebody_elses: bool,
    subject: Option<Subject>,
    roots: Vec<u32>,
    /// Process names of proxies.
    aside: Vec<String>,
    taken: UnavailableTime,
    watch: Option<Box<dyn Watch>>,
    completion: Completion,
    clock: Option<Clock>,
    /// Planned warm-up, and planned length of the load with it. A load without a planned length has `None`.
    planned: (Duration, Option<Duration>),
    /// Database of the load. `None` if it has none.
    database: Option<MonitoredDatabase>,
    inside: Option<Box<dyn DatabaseWatch>>,
    /// Counters of the database before the load. `None` if they are not read.
    costs: Option<CostMeter>,
    /// Share of the time for which the busiest thread of the system ran or was ready before the load, until it is stored.
    at_rest: Option<f64>,
    /// Profiler of the CPU time of the system.
    profiler: RunProfiler,
    /// Events of the run.
    events: Events<'a>,
    /// Figures that the plan defines itself.
    figures: OwnFigures,
    /// Failure by which the system died. `None` if it lives.
    died: Option<lab::Failure>,
    /// Probes that were not available.
    not_available: Vec<NotAvailable>,
}

/// Numbers looks by seconds since the load started.
struct Clock {
    origin: Instant,
    next_second: u64,
}

impl<'a> MonitoredSystem<'a> {
    /// Monitors a system that the lab started.
    pub(crate) fn system(
        lab: &'a dyn Lab,
        system: Box<dyn StartedSystem>,
        subject: Subject,
        events: Events<'a>,
    ) -> Self {
        Self { system: Some(system), events, ..Self::of(lab, subject) }
    }

    /// Monitors a system that Tenbin did not start, and that is looked for later.
    pub(crate) fn external(lab: &'a dyn Lab) -> Self {
        Self { is_somebody_elses: true, ..Self::of(lab, Subject::default()) }
    }

    /// Like [`Self::external`], with commands of the plan that run under load.
    pub(crate) fn external_with_events(
        lab: &'a dyn Lab,
        commands: Box<dyn StartedSystem>,
        events: Events<'a>,
    ) -> Self {
        Self { system: Some(commands), events, ..Self::external(lab) }
    }

    /// Sets the subject found for a system that Tenbin did not start. Has no effect on a system that it did start.
    pub(crate) fn set_found_system(&mut self, found: Subject) {
        if let Some(subject) = self.subject.as_mut().filter(|_| self.is_somebody_elses) {
            *subject = found;
        }
    }

    fn of(lab: &'a dyn Lab, subject: Subject) -> Self {
        let roots = subject.roots.iter().chain(&subject.aside).map(|(_, pid)| *pid).collect();
        let aside = subject.aside.iter().map(|(name, _)| name.clone()).collect();
        Self {
            lab,
            system: None,
            is_somebody_elses: false,
            subject: Some(subject),
            roots,
            aside,
            taken: UnavailableTime::default(),
            watch: None,
            completion: Completion::default(),
            clock: None,
            planned: (Duration::ZERO, None),
            database: None,
            inside: None,
            costs: None,
            at_rest: None,
            profiler: RunProfiler::default(),
            events: Events::default(),
            figures: OwnFigures::default(),
            died: None,
            not_available: Vec::new(),
        }
    }

    /// Monitors the database of the load from inside, too.
    pub(crate) fn with_database(self, database: Option<MonitoredDatabase>) -> Self {
        Self { database, ..self }
    }

    /// Reads the counters of the database, before the load begins.
    pub(crate) fn begin_costs(&mut self) {
        self.costs = self.database.as_ref().and_then(|database| self.lab.meter_costs(database));
    }

    /// Observes the threads of the system before the load.
    pub(crate) fn observe_idle_threads(&mut self, before: &EnvironmentBefore) {
        self.at_rest = self.lab.busiest_thread_at_rest(&before.families(&self.roots));
    }

    /// Stores readings that cover the whole load in an extra second after the last one of the load: growth of the database counters, and
    /// the earlier utilization of threads.
    fn store_whole_load(&mut self, feed: Feed<'_>) -> Result<(), StoreError> {
        let Some(clock) = &mut self.clock else { return Ok(()) };
        let mut readings = self.costs.take().map_or_else(Vec::new, CostMeter::end);
        readings.extend(self.at_rest.take().map(|share| Reading {
            subject: "system".to_owned(),
            metric: evidence::BUSIEST_THREAD_REST_SHARE.to_owned(),
            label: String::new(),
            value: share,
        }));
        if readings.is_empty() {
            return Ok(());
        }
        let second = clock.next_second;
        clock.next_second += 1;
        // Uses whole seconds, because the readings cover the whole load.
        let at_ns = second.saturating_mul(1_000_000_000);
        feed.readings(Readings { at_ns, second, readings })
    }

    /// Sets the planned warm-up, and the planned length of the load, warm-up included. Looks then end where these end.
    pub(crate) fn expect_load(&mut self, warm_up: Duration, length: Option<Duration>) {
        self.planned = (warm_up, length);
    }

    /// Profiles CPU time from the end of the warm-up to the end of the load.
    pub(crate) fn set_profiler(&mut self, profiler: RunProfiler) {
        self.profiler = profiler;
    }

    /// Reads figures of the plan during the load, too.
    pub(crate) fn set_figures(&mut self, figures: OwnFigures) {
        self.figures = figures;
    }

    /// Figures of the plan, once the load has ended.
    pub(crate) fn take_figures(&mut self) -> OwnFigures {
        std::mem::take(&mut self.figures)
    }

    /// Sets the root process of the load generator, if it is not this process.
    pub(crate) fn set_generator(&mut self, keeper_pid: Option<u32>) {
        self.roots.extend(keeper_pid);
        if let Some(subject) = &mut self.subject {
            subject.tool = keeper_pid;
        }
    }

    /// Whether there is a profile to store.
    pub(crate) fn is_profiled(&self) -> bool {
        self.profiler.is_enabled()
    }

    /// Stores the CPU profile, while the processes still run.
    pub(crate) fn store_profile(
        &mut self,
        stacks: Stacks,
        store: &Store,
        run: &RunId,
    ) -> Result<(), StoreError> {
        self.profiler.keep(stacks, store, run)
    }

    /// Stores looks. The newest also gets the readings of the database since the previous one.
    fn keep(
        &mut self,
        feed: Feed<'_>,
        mut looks: Vec<Look>,
        said: impl FnOnce(&mut Self) -> Vec<lab::probes::Reading>,
    ) -> Result<(), StoreError> {
        if let Some(newest) = looks.last_mut() {
            newest.readings.extend(said(self));
        }
        if let Some(clock) = &self.clock {
            looks.iter_mut().for_each(|look| self.taken.note_held_connections(look, clock.origin));
        }
        let looks = self.completion.complete(looks);
        self.store_complete(feed, looks)
    }

    fn store_complete(&mut self, feed: Feed<'_>, looks: Vec<Look>) -> Result<(), StoreError> {
        looks.iter().for_each(|look| self.taken.note(look, &self.aside));
        self.clock.as_mut().map_or(Ok(()), |clock| keep(feed, clock, looks))
    }

    /// Notes a process that ended without being stopped.
    fn note_death(&mut self) {
        if self.died.is_none() {
            self.died = self.system.as_mut().and_then(|system| system.died());
        }
    }

    /// Waits for the events that ended with the load, and stores them.
    pub(crate) fn end_events(&mut self, feed: Feed<'_>) -> Result<(), StoreError> {
        self.events.end(feed)
    }

    /// Takes the system, so that it is not stopped with the monitor. `None` if it is gone.
    pub(crate) fn take_system(&mut self) -> Option<Box<dyn StartedSystem>> {
        self.note_death();
        if self.died.is_none() { self.system.take() } else { None }
    }

    /// Time that the start waited for the system to become steady. `None` if it did not wait.
    pub(crate) fn steady_start(&self) -> Option<SteadyStart> {
        let steady = self.system.as_ref()?.steady()?;
        Some(SteadyStart {
            waited_s: steady.waited.as_secs_f64(),
            processes: steady.processes,
            changes: steady.changes,
            cores_used: steady.cores_used,
            is_steady: steady.is_steady,
        })
    }

    /// Whether a process ended without being stopped.
    pub(crate) fn has_died(&mut self) -> bool {
        self.note_death();
        self.died.is_some()
    }

    /// Stops the system, if the lab started it.
    pub(crate) fn stop(mut self) -> MonitoringResult<'a> {
        self.events.abandon();
        let stopped = self.system.take().map(StartedSystem::stop).unwrap_or_default();
        self.left(stopped)
    }

    /// Leaves the system up in `up`, if the lab started it.
    pub(crate) fn leave_running(mut self, up: &mut Option<Box<dyn StartedSystem>>) -> MonitoringResult<'a> {
        *up = self.system.take();
        self.left(Stopped::default())
    }

    fn left(mut self, Stopped { failures, outputs, .. }: Stopped) -> MonitoringResult<'a> {
        self.not_available.extend(self.profiler.missing());
        MonitoringResult {
            died: self.died,
            events: self.events,
            not_available: self.not_available,
            failures,
            outputs,
        }
    }
}

/// Facts that remain after a system was stopped.
#[derive(Debug, Default)]
pub(crate) struct MonitoringResult<'a> {
    events: Events<'a>,
    died: Option<lab::Failure>,
    not_available: Vec<NotAvailable>,
    failures: Vec<lab::Failure>,
    outputs: Vec<Output>,
}

impl MonitoringResult<'_> {
    /// Adds the facts to the ending of a run. Returns the output of the processes.
    pub(crate) fn add_to(self, ending: &mut Ending) -> Vec<Output> {
        ending.not_available =
            self.not_available.into_iter().map(|probe| (probe.probe, probe.because)).collect();
        ending.notes.extend(self.failures.iter().map(|failure| plan::mask_secrets(&failure.to_string())));
        if let Some(died) = self.died {
            ending.verdict = Verdict::Aborted;
            ending.failure = Some(kept(&died));
        }
        self.events.add_to(ending);
        self.outputs
    }
}

impl Monitor for MonitoredSystem<'_> {
    fn begins(&mut self, origin: Instant) {
        if let Some(subject) = self.subject.take() {
            self.profiler.begin(self.lab, &subject.roots);
            let (warm_up, length) = self.planned;
            self.watch = Some(self.lab.watch(subject, LookTimes::of_load(origin, warm_up, length)));
            self.clock = Some(Clock { origin, next_second: 0 });
            // The load already has its connections, so the monitor takes none of them.
            self.inside = self.database.as_ref().and_then(|database| self.lab.watch_database(database));
        }
        self.figures.start(origin, self.planned.0);
        if let Some(system) = &mut self.system {
            self.events.begin(&mut **system, origin);
        }
    }

    fn poll(&mut self, feed: Feed<'_>) -> Result<bool, StoreError> {
        if let Some(watch) = &mut self.watch {
            let looks = watch.take();
            let said = |this: &mut Self| this.inside.as_mut().map_or_else(Vec::new, |inside| inside.take());
            self.keep(feed, looks, said)?;
        }
        self.note_death();
        let has_failed = self.events.poll(feed)?;
        Ok(self.died.is_some() || has_failed)
    }

    fn ends(&mut self, feed: Feed<'_>) -> Result<(), StoreError> {
        // A slow store may have prevented the last check.
        self.note_death();
        self.profiler.stop();
        self.figures.stop();
        self.events.interrupt();
        let Some(watch) = self.watch.take() else { return Ok(()) };
        let (looks, not_available) = watch.end();
        self.not_available = not_available;
        let (said, lacks) = self.inside.take().map(|inside| inside.end()).unwrap_or_default();
        self.not_available.extend(lacks);
        self.keep(feed, looks, |_| said)?;
        let waiting = self.completion.rest();
        self.store_complete(feed, waiting)?;
        self.store_whole_load(feed)
    }

    fn taken(&self) -> UnavailableTime {
        self.taken.clone()
    }

    fn lacks(&mut self, what: &str, because: String) {
        self.not_available.push(NotAvailable { probe: what.to_owned(), because });
    }

    fn roots(&self) -> Vec<u32> {
        self.roots.iter().copied().chain(self.profiler.keeper_pid()).collect()
    }
}

fn keep(feed: Feed<'_>, clock: &mut Clock, looks: Vec<Look>) -> Result<(), StoreError> {
    for look in looks {
        let Some(second) = clock.second(look.at, look.over) else { continue };
        let readings = look.readings.into_iter().map(|reading| Reading {
            subject: reading.subject,
            metric: reading.metric.to_owned(),
            label: reading.label,
            value: reading.value,
        });
        let at = look.at.saturating_duration_since(clock.origin);
        let readings = readings.chain(bounds(at, look.over)).collect();
        let at_ns = at.as_nanos() as u64;
        feed.readings(Readings { at_ns, second, readings })?;
    }
    Ok(())
}

/// Bounds of a look as readings, so that its values count as those of the measured window only if it lies within.
fn bounds(at: Duration, over: Duration) -> [Reading; 2] {
    [(evidence::LOOK_FROM, at.saturating_sub(over)), (evidence::LOOK_TO, at)].map(|(metric, time)| Reading {
        subject: "machine".to_owned(),
        metric: metric.to_owned(),
        label: String::new(),
        value: time.as_secs_f64(),
    })
}

impl Clock {
    /// Second in which a look ends. `None` if the look is too short. Each second has at most one look.
    fn second(&mut self, at: Instant, over: Duration) -> Option<u64> {
        if over < LOOK_MIN {
            return None;
        }
        let since = at.saturating_duration_since(self.origin).saturating_sub(LOOK_MIN);
        let second = since.as_secs().max(self.next_second);
        self.next_second = second + 1;
        Some(second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_core_counts_as_busy_time_of_a_proxy() {
        let look = |cpu_s: f64, wait_s: f64| {
            let reading = |metric, value| lab::probes::Reading {
                subject: "proxy far".to_owned(),
                metric,
                label: String::new(),
                value,
            };
            let readings = vec![reading("cpu_sys_s", cpu_s), reading("run_queue_wait_s", wait_s)];
            Look::of(Instant::now(), Duration::from_secs(1), readings)
        };
        let mut taken = UnavailableTime::default();
        let aside = ["proxy far".to_owned()];
        for (cpu_s, wait_s) in [(0.95, 0.0), (0.6, 0.35), (0.6, 0.1), (0.1, 0.1)] {
            taken.note(&look(cpu_s, wait_s), &aside);
        }
        assert_eq!(taken.busiest_proxy(), Some(("proxy far".to_owned(), 0.5)));
    }

    #[test]
    fn look_is_numbered_by_the_second_that_it_ends() {
        let origin = Instant::now();
        let mut clock = Clock { origin, next_second: 0 };
        let mut second = |at_ms: u64, over_ms: u64| {
            clock.second(origin + Duration::from_millis(at_ms), Duration::from_millis(over_ms))
        };
        assert_eq!(second(1_000, 1_000), Some(0));
        assert_eq!(second(2_050, 1_050), Some(1), "a little late");
        assert_eq!(second(3_900, 1_850), Some(3), "so late that a second was missed");
        assert_eq!(second(4_000, 100), None, "hardly anything new");
        assert_eq!(second(4_300, 400), Some(4), "the last one");
    }
}
