//! What watching a system may cost: one budget, and how it is divided.
//!
//! Every look reads what grows for each process. What is read of each thread, and what hardly changes, is read in some looks only
//! where it costs more than its part. Samples of threads get what looks leave.

use std::time::Duration;

/// Of a core, what looks and samples of threads may cost together. Sockets and the database have parts of their own.
const WHOLE: f64 = 0.009;
/// Of that, what is read of each thread in looks.
const THREADS: f64 = 0.003;
/// Of a core, what samples get: at least, and at most.
const SAMPLES: [f64; 2] = [0.001, 0.008];
/// Looks between two readings of threads, at most.
const LOOKS_MAX: u32 = 10;
/// How fast a new measurement changes what is known.
const WEIGHT: f64 = 0.3;

/// How often what is read.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    /// CPU time of one reading of all threads, the last.
    threads: Duration,
    /// Looks since then.
    looks: u32,
    /// Of a core, what looks cost lately.
    looks_share: Option<f64>,
}

impl Budget {
    /// Another look begins: after how many looks threads are read again in it; `None` if they are not.
    pub(crate) fn begin_look(&mut self) -> Option<u32> {
        self.looks = self.looks.saturating_add(1);
        let pause = (self.threads.as_secs_f64() / THREADS).ceil() as u32;
        (self.looks >= pause.clamp(1, LOOKS_MAX)).then(|| std::mem::take(&mut self.looks))
    }

    /// It cost so much, of which so much was for threads if they were read, and the one before it was so long ago.
    pub(crate) fn end_look(&mut self, cost: Duration, threads: Option<Duration>, over: Option<Duration>) {
        self.threads = threads.unwrap_or(self.threads);
        let Some(over_s) = over.map(|over| over.as_secs_f64()).filter(|over_s| *over_s > 0.1) else { return };
        let share = cost.as_secs_f64() / over_s;
        let known = self.looks_share.get_or_insert(share);
        *known += WEIGHT * (share - *known);
    }

    /// Of a core, what samples of threads may cost.
    pub(crate) fn of_samples(&self) -> f64 {
        let [least, most] = SAMPLES;
        (WHOLE - self.looks_share.unwrap_or(0.0)).clamp(least, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Option<Duration> = Some(Duration::from_secs(1));

    /// In which of ten looks threads are read, and after how many.
    fn readings(threads_ms: u64) -> Vec<Option<u32>> {
        let mut budget = Budget::default();
        let look = |budget: &mut Budget| {
            let after = budget.begin_look();
            let threads = after.map(|_| Duration::from_millis(threads_ms));
            budget.end_look(Duration::from_millis(1), threads, SECOND);
            after
        };
        (0..7).map(|_| look(&mut budget)).collect()
    }

    #[test]
    fn threads_are_read_as_often_as_their_part_allows() {
        assert_eq!(readings(1), [Some(1); 7]);
        assert_eq!(readings(6), [Some(1), None, Some(2), None, Some(2), None, Some(2)]);
        assert_eq!(readings(100), [Some(1), None, None, None, None, None, None]);
    }

    #[test]
    fn samples_get_what_looks_leave() {
        let mut budget = Budget::default();
        assert_eq!(budget.of_samples(), 0.008);
        budget.end_look(Duration::from_millis(4), None, None);
        assert_eq!(budget.of_samples(), 0.008, "the first look is compared with nothing");
        (0..50).for_each(|_| budget.end_look(Duration::from_millis(4), None, SECOND));
        assert!((budget.of_samples() - 0.005).abs() < 1e-6);
        (0..50).for_each(|_| budget.end_look(Duration::from_millis(50), None, SECOND));
        assert_eq!(budget.of_samples(), 0.001);
    }
}
