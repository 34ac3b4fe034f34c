//! State that all cases share: programs, temporary folder, seed, and slots for parallel runs.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use harness::interrupt::Interrupt;
use harness::quiet::measured;

use crate::flags::{Flags, Profile};
use crate::grade::Finding;
use crate::slots::Slots;

/// Context of one grading.
pub(crate) struct Bench<'a> {
    pub(crate) tenbin: PathBuf,
    /// Program that provides the built-in target.
    pub(crate) target: PathBuf,
    pub(crate) profile: Profile,
    pub(crate) seed: u64,
    pub(crate) interrupt: &'a Interrupt,
    folder: &'a Path,
    slots: Slots,
    names: AtomicU32,
    begun: Instant,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(flags: &Flags, folder: &'a Path, interrupt: &'a Interrupt) -> anyhow::Result<Self> {
        let program = |path: &Path| {
            path.canonicalize().with_context(|| {
                format!("there is no program {}; build it with `make build`", path.display())
            })
        };
        let tenbin = program(&flags.tenbin)?;
        Ok(Self {
            target: flags.target.as_deref().map_or_else(|| Ok(tenbin.clone()), program)?,
            tenbin,
            profile: flags.profile,
            seed: flags.seed,
            interrupt,
            folder,
            slots: Slots::new(flags.at_once),
            names: AtomicU32::new(0),
            begun: Instant::now(),
        })
    }

    /// Returns the time since the grading began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Returns a unique path with this extension in the temporary folder.
    pub(crate) fn file(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.names.fetch_add(1, Ordering::Relaxed)))
    }

    /// Returns the path of the shared store. Runs share it because it contains measurements that are made once for all of them.
    pub(crate) fn store(&self) -> PathBuf {
        self.folder.join("tenbin.sqlite")
    }

    /// Makes several attempts in parallel, as slots become free.
    pub(crate) fn attempt_in_parallel(
        &self,
        tries: u32,
        one: impl Fn(u32) -> Result<Finding, String> + Sync,
    ) -> Vec<Result<Finding, String>> {
        thread::scope(|scope| {
            let one = &one;
            let running: Vec<_> = (0..tries)
                .map(|number| {
                    scope.spawn(move || {
                        let _slot = self.slots.take();
                        self.attempt(|| one(number))
                    })
                })
                .collect();
            running
                .into_iter()
                .map(|one| one.join().unwrap_or_else(|_| Err("it panicked".to_owned())))
                .collect()
        })
    }

    /// Makes an attempt, repeated as described at [`Self::repeat_if_disturbed`].
    pub(crate) fn attempt(&self, one: impl Fn() -> Result<Finding, String>) -> Result<Finding, String> {
        let one = || if self.interrupt.is_asked() { Err("interrupted".to_owned()) } else { one() };
        self.repeat_if_disturbed(one, |found| match found {
            Ok(found) => (!found.is_right).then(|| found.what.clone()),
            Err(error) => Some(error.clone()),
        })
    }

    /// Runs a measurement. The short profile repeats it if the result is wrong and the machine was busy. The full profile does not,
    /// because its error rate counts.
    pub(crate) fn repeat_if_disturbed<T>(
        &self,
        one: impl Fn() -> T,
        fault: impl Fn(&T) -> Option<String>,
    ) -> T {
        match self.profile {
            Profile::Short => measured(one, |found| fault(found).filter(|_| !self.interrupt.is_asked())).0,
            Profile::Full => one(),
        }
    }

    /// Returns the seed of an attempt at a case.
    pub(crate) fn seed_of(&self, case: u64, number: u32) -> u64 {
        self.seed.wrapping_mul(1_000_000).wrapping_add(case * 1_000 + u64::from(number)) % 1_000_000_000
    }
}
