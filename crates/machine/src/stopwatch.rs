//! Stopwatch: the only module of this crate that reads a clock.

use std::time::{Duration, Instant};

/// Stopwatch that runs from its creation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        Instant::now().duration_since(self.0)
    }

    pub(crate) fn elapsed_s(self) -> f64 {
        self.elapsed().as_secs_f64()
    }

    pub(crate) fn elapsed_us(self) -> f64 {
        self.elapsed_s() * 1e6
    }
}

/// Repeats `work` in batches until `slice` has passed. Returns repetitions per second.
pub(crate) fn per_s(slice: Duration, batch: u32, mut work: impl FnMut()) -> f64 {
    let (watch, mut done) = (Stopwatch::start(), 0.0);
    loop {
        for _ in 0..batch {
            work();
        }
        done += f64::from(batch);
        let elapsed = watch.elapsed();
        if elapsed >= slice {
            return done / elapsed.as_secs_f64();
        }
    }
}
