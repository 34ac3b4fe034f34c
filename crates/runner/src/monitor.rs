//! Watches a load: the system may die, and probes look at it once a second.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use evidence::{ConnectionsByProcess, Ending, Reading, RunId, SteadyStart, Verdict};
use lab::probes::{Completion, Held, Look, NotAvailable, Subject};
use lab::{Output, Stopped};
use plan::Stacks;
use progress::Readings;
use store::{Store, StoreError};

use crate::connections_by_process;
use crate::database_watch::DatabaseWatch;
use crate::events::Events;
use crate::feed::Feed;
use crate::profile::RunProfiler;
use crate::stage::kept;
use crate::systems::{Lab, Started, Watch};

/// A look this soon after the one before has hardly anything in it.
const LOOK_MIN: Duration = Duration::from_millis(200);

/// Heard by the thread that keeps the results, about twenty times a second.
pub(crate) trait Monitor {
    /// The load begins.
    fn begins(&mut self, origin: Instant);
    /// What is new is kept. Answers whether the system is gone, so that going on makes no sense.
    fn attend(&mut self, feed: Feed<'_>) -> Result<bool, StoreError>;
    /// The load is over.
    fn ends(&mut self, feed: Feed<'_>) -> Result<(), StoreError>;
    /// What was taken from machine and generator, once it is over.
    fn taken(&self) -> Taken;
    /// Something else could not be learnt.
    fn lacks(&mut self, what: &str, because: String);
    /// Processes below which everything belongs to the system, or samples it.
    fn roots(&self) -> Vec<u32>;
}

/// Time that neither system nor generator had.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Taken {
    /// By other guests of the host, summed over cores.
    steal_s: f64,
    /// Of all cores, as far as it was read.
    cores_s: f64,
    /// By the quota of the generator's control group; `None` if not measured.
    pub(crate) throttled_s: Option<f64>,
    /// Of each proxy the looks, and how many of them found it busy.
    aside: BTreeMap<String, [u64; 2]>,
    /// Connections by process, as read during the load.
    held: Vec<(u64, Held)>,
}

impl Taken {
    /// The proxy that was busy most of the time, and in which share of the seconds it was.
    pub(crate) fn busiest_proxy(&self) -> Option<(String, f64)> {
        let share = |[looks, busy]: &[u64; 2]| *busy as f64 / *looks as f64;
        let shares = self.aside.iter().map(|(name, looks)| (name.clone(), share(looks)));
        shares.max_by(|(_, a), (_, b)| a.total_cmp(b))
    }

    /// Of the time of all cores, what the host gave to others.
    pub(crate) fn steal_share(&self) -> Option<f64> {
        (self.cores_s > 0.0).then(|| self.steal_s / self.cores_s)
    }

    /// Connections by process of the system; `None` if they were not read.
    pub(crate) fn connections(&self) -> Option<ConnectionsByProcess> {
        connections_by_process::of_readings(&self.held)
    }

    fn note_held(&mut self, look: &mut Look, origin: Instant) {
        if let Some(held) = look.held.take() {
            self.held.push((held.at.saturating_duration_since(origin).as_nanos() as u64, held));
        }
    }

    fn note(&mut self, look: &Look, aside: &[String]) {
        if look.over >= LOOK_MIN {
            for name in aside {
                let of_it = look.readings.iter().filter(|one| one.subject == *name);
                // One that others keep from its core is late as well, and can never use 90 % of it.
                let wanted =
                    of_it.filter(|one| matches!(one.metric, "cpu_user_s" | "cpu_sys_s" | "run_queue_wait_s"));
                let cpu_s: f64 = wanted.map(|one| one.value).sum();
                let [looks, busy] = self.aside.entry(name.clone()).or_default();
                *looks += 1;
                *busy += u64::from(cpu_s > judge::PROXY_BUSY * look.over.as_secs_f64());
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

/// Looks at machine and generator, and at the system if the lab has started it.
pub(crate) struct MonitoredSystem<'a> {
    lab: &'a dyn Lab,
    system: Option<Box<dyn Started>>,
    is_somebody_elses: bool,
    subject: Option<Subject>,
    roots: Vec<u32>,
    /// Proxies, by the names of their processes.
    aside: Vec<String>,
    taken: Taken,
    watch: Option<Box<dyn Watch>>,
    completion: Completion,
    clock: Option<Clock>,
    /// The database of the load, if it has one.
    database: Option<plan::Database>,
    inside: Option<Box<dyn DatabaseWatch>>,
    /// Where it spends CPU time.
    profiler: RunProfiler,
    /// What happens to it.
    events: Events<'a>,
    /// Why the system is gone, if it is.
    died: Option<lab::Failure>,
    /// Probes that could not look.
    not_available: Vec<NotAvailable>,
}

/// Looks in seconds since the load began.
struct Clock {
    origin: Instant,
    next_second: u64,
}

impl<'a> MonitoredSystem<'a> {
    /// A load on a system that the lab has started.
    pub(crate) fn system(
        lab: &'a dyn Lab,
        system: Box<dyn Started>,
        subject: Subject,
        events: Events<'a>,
    ) -> Self {
        Self { system: Some(system), events, ..Self::of(lab, subject) }
    }

    /// A load on a system that Tenbin did not start. Nothing is known of it before it is looked for.
    pub(crate) fn somebody_elses(lab: &'a dyn Lab) -> Self {
        Self { is_somebody_elses: true, ..Self::of(lab, Subject::default()) }
    }

    /// The same, with commands of the plan that are run under load.
    pub(crate) fn somebody_elses_with_events(
        lab: &'a dyn Lab,
        commands: Box<dyn Started>,
        events: Events<'a>,
    ) -> Self {
        Self { system: Some(commands), events, ..Self::somebody_elses(lab) }
    }

    /// What was found of a system that Tenbin did not start; of one that it did start, all is known already.
    pub(crate) fn runs_already(&mut self, found: Subject) {
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
            taken: Taken::default(),
            watch: None,
            completion: Completion::default(),
            clock: None,
            database: None,
            inside: None,
            profiler: RunProfiler::default(),
            events: Events::default(),
            died: None,
            not_available: Vec::new(),
        }
    }

    /// The same, and the database of the load from inside.
    pub(crate) fn with_database(self, database: Option<&plan::Database>) -> Self {
        Self { database: database.cloned(), ..self }
    }

    /// Samples where it spends CPU time, from the end of the warm-up to the end of the load.
    pub(crate) fn profile_with(&mut self, profiler: RunProfiler) {
        self.profiler = profiler;
    }

    /// The load is made by what runs below this process, if not by this one.
    pub(crate) fn load_comes_from(&mut self, keeper_pid: Option<u32>) {
        self.roots.extend(keeper_pid);
        if let Some(subject) = &mut self.subject {
            subject.tool = keeper_pid;
        }
    }

    /// Whether a profile is to be kept.
    pub(crate) fn is_profiled(&self) -> bool {
        self.profiler.is_on()
    }

    /// Keeps where it spent CPU time, while its processes still run.
    pub(crate) fn keep_profile(
        &mut self,
        stacks: Stacks,
        store: &Store,
        run: &RunId,
    ) -> Result<(), StoreError> {
        self.profiler.keep(stacks, store, run)
    }

    /// Keeps looks, the newest with what the database said since the one before.
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
            looks.iter_mut().for_each(|look| self.taken.note_held(look, clock.origin));
        }
        let looks = self.completion.complete(looks);
        self.keep_complete(feed, looks)
    }

    fn keep_complete(&mut self, feed: Feed<'_>, looks: Vec<Look>) -> Result<(), StoreError> {
        looks.iter().for_each(|look| self.taken.note(look, &self.aside));
        self.clock.as_mut().map_or(Ok(()), |clock| keep(feed, clock, looks))
    }

    /// A process that has ended although nobody asked it to.
    fn note_death(&mut self) {
        if self.died.is_none() {
            self.died = self.system.as_mut().and_then(|system| system.died());
        }
    }

    /// Waits for the end of the events that the end of the load has ended, and keeps them.
    pub(crate) fn end_events(&mut self, feed: Feed<'_>) -> Result<(), StoreError> {
        self.events.end(feed)
    }

    /// The system, which is not stopped with the rest; `None` if it is gone.
    pub(crate) fn take_system(&mut self) -> Option<Box<dyn Started>> {
        self.note_death();
        if self.died.is_none() { self.system.take() } else { None }
    }

    /// How long the start of the system waited for it to be steady; `None` if it did not.
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

    /// Whether a process has ended although nobody asked it to.
    pub(crate) fn has_died(&mut self) -> bool {
        self.note_death();
        self.died.is_some()
    }

    /// Stops the system, if the lab has started it.
    pub(crate) fn stop(mut self) -> Left<'a> {
        self.events.abandon();
        let stopped = self.system.take().map(Started::stop).unwrap_or_default();
        self.left(stopped)
    }

    /// Leaves the system up, if the lab has started it.
    pub(crate) fn leave(mut self, up: &mut Option<Box<dyn Started>>) -> Left<'a> {
        *up = self.system.take();
        self.left(Stopped::default())
    }

    fn left(mut self, Stopped { failures, outputs }: Stopped) -> Left<'a> {
        self.not_available.extend(self.profiler.missing());
        Left { died: self.died, events: self.events, not_available: self.not_available, failures, outputs }
    }
}

/// What is left to say of a system when it has been stopped.
#[derive(Debug, Default)]
pub(crate) struct Left<'a> {
    events: Events<'a>,
    died: Option<lab::Failure>,
    not_available: Vec<NotAvailable>,
    failures: Vec<lab::Failure>,
    outputs: Vec<Output>,
}

impl Left<'_> {
    /// Says it in the ending of a run; and what the processes wrote.
    pub(crate) fn tell(self, ending: &mut Ending) -> Vec<Output> {
        ending.not_available =
            self.not_available.into_iter().map(|probe| (probe.probe, probe.because)).collect();
        ending.notes.extend(self.failures.iter().map(|failure| plan::without_secrets(&failure.to_string())));
        if let Some(died) = self.died {
            ending.verdict = Verdict::Aborted;
            ending.failure = Some(kept(&died));
        }
        self.events.tell(ending);
        self.outputs
    }
}

impl Monitor for MonitoredSystem<'_> {
    fn begins(&mut self, origin: Instant) {
        if let Some(subject) = self.subject.take() {
            self.profiler.begin(self.lab, &subject.roots);
            self.watch = Some(self.lab.watch(subject));
            self.clock = Some(Clock { origin, next_second: 0 });
            // Now that the load has its connections, this takes none of them.
            self.inside = self.database.as_ref().and_then(|database| self.lab.watch_database(database));
        }
        if let Some(system) = &mut self.system {
            self.events.begin(&mut **system, origin);
        }
    }

    fn attend(&mut self, feed: Feed<'_>) -> Result<bool, StoreError> {
        if let Some(watch) = &mut self.watch {
            let looks = watch.take();
            let said = |this: &mut Self| this.inside.as_mut().map_or_else(Vec::new, |inside| inside.take());
            self.keep(feed, looks, said)?;
        }
        self.note_death();
        let has_failed = self.events.attend(feed)?;
        Ok(self.died.is_some() || has_failed)
    }

    fn ends(&mut self, feed: Feed<'_>) -> Result<(), StoreError> {
        // A store that was slow may have kept the last look from being made.
        self.note_death();
        self.profiler.stop();
        self.events.interrupt();
        let Some(watch) = self.watch.take() else { return Ok(()) };
        let (looks, not_available) = watch.end();
        self.not_available = not_available;
        let (said, lacks) = self.inside.take().map(|inside| inside.end()).unwrap_or_default();
        self.not_available.extend(lacks);
        self.keep(feed, looks, |_| said)?;
        let waiting = self.completion.rest();
        self.keep_complete(feed, waiting)
    }

    fn taken(&self) -> Taken {
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
        let readings: Vec<Reading> = look
            .readings
            .into_iter()
            .map(|reading| Reading {
                subject: reading.subject,
                metric: reading.metric.to_owned(),
                label: reading.label,
                value: reading.value,
            })
            .collect();
        let at_ns = look.at.saturating_duration_since(clock.origin).as_nanos() as u64;
        feed.readings(Readings { at_ns, second, readings })?;
    }
    Ok(())
}

impl Clock {
    /// The second that a look ends, and `None` for one that hardly saw anything of it. No second has two.
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
    fn a_proxy_that_waits_for_a_core_is_as_busy_as_one_that_has_it() {
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
        let mut taken = Taken::default();
        let aside = ["proxy far".to_owned()];
        for (cpu_s, wait_s) in [(0.95, 0.0), (0.6, 0.35), (0.6, 0.1), (0.1, 0.1)] {
            taken.note(&look(cpu_s, wait_s), &aside);
        }
        assert_eq!(taken.busiest_proxy(), Some(("proxy far".to_owned(), 0.5)));
    }

    #[test]
    fn a_look_belongs_to_the_second_that_it_ends() {
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
