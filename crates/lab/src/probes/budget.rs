//! Budget for the cost of observing a system: one limit for the observing thread, and its division among the parts.
//!
//! Values of the machine are read in every look, and their cost is deducted first. Processes are read in every look too. Values of each
//! thread, and values that seldom change, are read as often as the share of threads allows. If processes cost more than the rest of the
//! budget, they are read less often, and the looks in between wait for them. Samples of threads get the share that looks do not use.

use std::time::Duration;

/// Share of a core that the observing thread may use in total.
const TOTAL_SHARE: f64 = 0.009;
/// Share of a core for values of each thread in looks.
const THREADS_SHARE: f64 = 0.002;
/// Min and max share of a core for samples.
const SAMPLES_SHARE: [f64; 2] = [0.002, 0.008];
/// Min share of a core for processes, regardless of the cost of other parts.
const PROCESSES_MIN_SHARE: f64 = 0.002;
/// Max number of looks between two readings of threads or processes.
const LOOKS_MAX: u32 = 40;
/// Weight of a new measurement in the moving average of costs, from 0 to 1.
const WEIGHT: f64 = 0.3;

/// Decides how often each part is read.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    threads: Part,
    processes: Part,
    /// CPU time of samples since the last look.
    samples: Duration,
    /// CPU time of this thread at the end of the last look.
    used: Duration,
    /// Recent cost of everything else in looks, as a share of a core. `None` if it is unknown.
    rest_share: Option<f64>,
}

/// A part that is not read in every look.
#[derive(Debug, Default)]
struct Part {
    /// Recent CPU time of one reading. `None` if it is unknown.
    cost: Option<Duration>,
    /// Looks since the last reading.
    looks: u32,
}

/// Parts that a look reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    /// Looks since the processes were read last. `None` if this look does not read them.
    pub(crate) processes: Option<u32>,
    /// Looks since the threads were read last. `None` if this look does not read them. Threads are read only with processes.
    pub(crate) threads: Option<u32>,
}

/// CPU time that each part of a look took. `None` if the part was not read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// CPU time of processes, without their threads.
    pub(crate) processes: Option<Duration>,
    pub(crate) threads: Option<Duration>,
    /// CPU time for reading proportional set sizes, which have a separate budget.
    pub(crate) memory: Duration,
}

impl Part {
    /// Returns the number of looks since the last reading if the part is due or `is_wanted`. `share` is its share of a core at one look per
    /// second.
    fn look(&mut self, share: f64, is_wanted: bool) -> Option<u32> {
        self.looks = self.looks.saturating_add(1);
        (is_wanted || self.looks >= self.pause(share)).then(|| std::mem::take(&mut self.looks))
    }

    fn pause(&self, share: f64) -> u32 {
        let pause = (self.cost.unwrap_or_default().as_secs_f64() / share).ceil();
        (pause as u32).clamp(1, LOOKS_MAX)
    }

    /// Cost as a share of a core at the rate that `share` allows.
    fn cost_share(&self, share: f64) -> f64 {
        self.cost.unwrap_or_default().as_secs_f64() / f64::from(self.pause(share))
    }
}

impl Budget {
    /// Begins a look, and returns the parts to read. The last look reads all processes, so that nothing is lost.
    pub(crate) fn begin_look(&mut self, is_last: bool) -> Due {
        let processes = self.processes.look(self.processes_share(), is_last);
        let threads = match processes {
            Some(_) => self.threads.look(THREADS_SHARE, false),
            None => {
                self.threads.looks = self.threads.looks.saturating_add(1);
                None
            }
        };
        Due { processes, threads }
    }

    /// Records the CPU time of a sample.
    pub(crate) fn note_sample(&mut self, cost: Duration) {
        self.samples = self.samples.saturating_add(cost);
    }

    /// Records the cost of a look, the CPU time of the thread so far, and the time since the previous look. `over` is `None` for the
    /// first look, which another thread makes: it opens every file, so its cost is not representative.
    pub(crate) fn end_look(&mut self, cost: Cost, used: Duration, over: Option<Duration>) {
        self.threads.cost = cost.threads.or(self.threads.cost);
        let samples = std::mem::take(&mut self.samples);
        let Some(over) = over else { return };
        if let Some(processes) = cost.processes {
            let known = self.processes.cost.unwrap_or(processes);
            self.processes.cost = Some(known.mul_f64(1.0 - WEIGHT) + processes.mul_f64(WEIGHT));
        }
        let all = used.saturating_sub(std::mem::replace(&mut self.used, used)).saturating_sub(samples);
        let known = cost.processes.unwrap_or_default() + cost.threads.unwrap_or_default() + cost.memory;
        let rest = all.saturating_sub(known);
        let over_s = over.as_secs_f64();
        if over_s > 0.1 {
            let share = rest.as_secs_f64() / over_s;
            let known = self.rest_share.get_or_insert(share);
            *known += WEIGHT * (share - *known);
        }
    }

    /// Share of a core that samples of threads may cost.
    pub(crate) fn samples_share(&self) -> f64 {
        let [least, most] = SAMPLES_SHARE;
        (TOTAL_SHARE - self.rest_and_threads() - self.processes.cost_share(self.processes_share()))
            .clamp(least, most)
    }

    /// Share of a core that processes may cost.
    fn processes_share(&self) -> f64 {
        (TOTAL_SHARE - SAMPLES_SHARE[0] - self.rest_and_threads()).max(PROCESSES_MIN_SHARE)
    }

    fn rest_and_threads(&self) -> f64 {
        self.rest_share.unwrap_or(0.0) + self.threads.cost_share(THREADS_SHARE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Option<Duration> = Some(Duration::from_secs(1));

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Returns the parts read in each of `looks` looks, and the CPU time used, for a system with these costs per reading.
    fn simulate_looks(looks: u32, processes_ms: u64, threads_ms: u64, rest_ms: u64) -> (Vec<Due>, Duration) {
        let (mut budget, mut used) = (Budget::default(), Duration::ZERO);
        let mut look = |number| {
            let due = budget.begin_look(false);
            let cost = Cost {
                processes: due.processes.map(|_| ms(processes_ms)),
                threads: due.threads.map(|_| ms(threads_ms)),
                memory: Duration::ZERO,
            };
            if number > 0 {
                used += ms(rest_ms) + cost.processes.unwrap_or_default() + cost.threads.unwrap_or_default();
                let samples = Duration::from_secs_f64(budget.samples_share());
                budget.note_sample(samples);
                used += samples;
            }
            budget.end_look(cost, used, (number > 0).then_some(ms(1_000)));
            due
        };
        let dues = (0..looks).map(&mut look).collect();
        (dues, used)
    }

    #[test]
    fn threads_are_read_as_often_as_their_share_allows() {
        let readings = |threads_ms| -> Vec<Option<u32>> {
            simulate_looks(7, 1, threads_ms, 0).0.into_iter().map(|due| due.threads).collect()
        };
        assert_eq!(readings(1), [Some(1); 7]);
        assert_eq!(readings(4), [Some(1), None, Some(2), None, Some(2), None, Some(2)]);
        assert_eq!(readings(100), [Some(1), None, None, None, None, None, None]);
    }

    #[test]
    fn processes_are_read_as_often_as_the_rest_allows() {
        let readings = |processes_ms, rest_ms| -> Vec<Option<u32>> {
            simulate_looks(8, processes_ms, 0, rest_ms).0.into_iter().map(|due| due.processes).collect()
        };
        assert_eq!(readings(6, 0), [Some(1); 8]);
        // The cost of the rest is known after the second look.
        let one_in_two = [Some(1), Some(1), None, Some(2), None, Some(2), None, Some(2)];
        assert_eq!(readings(6, 2), one_in_two);
        assert_eq!(readings(13, 0), one_in_two);
    }

    #[test]
    fn no_system_costs_more_than_the_budget() {
        for (processes_ms, threads_ms, rest_ms) in
            [(0, 1, 2), (5, 3, 1), (20, 3, 2), (60, 30, 0), (10, 100, 0), (40, 20, 3)]
        {
            let of = |looks| simulate_looks(looks, processes_ms, threads_ms, rest_ms).1;
            let used = of(121) - of(21);
            assert!(used <= ms(1_000), "{processes_ms} {threads_ms} {rest_ms}: {used:?} in 100 s");
        }
    }

    #[test]
    fn last_look_reads_all_processes() {
        let mut budget = Budget::default();
        budget.processes.cost = Some(ms(40));
        let dues: Vec<Option<u32>> =
            [false, false, true].map(|is_last| budget.begin_look(is_last).processes).to_vec();
        assert_eq!(dues, [None, None, Some(3)]);
    }

    #[test]
    fn samples_get_the_share_that_looks_leave() {
        let mut budget = Budget::default();
        assert_eq!(budget.samples_share(), 0.008);
        budget.end_look(Cost::default(), ms(4), None);
        assert_eq!(budget.samples_share(), 0.008, "the first look is compared with nothing");
        let mut used = Duration::ZERO;
        let mut looks = |cost: Duration| {
            (0..50).for_each(|_| {
                used += cost;
                budget.end_look(Cost::default(), used, SECOND);
            });
            budget.samples_share()
        };
        assert!((looks(ms(4)) - 0.005).abs() < 1e-6);
        assert_eq!(looks(ms(50)), 0.002);
    }
}
