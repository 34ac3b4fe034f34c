//! What all cases share: the program, a folder, a seed, and who may run now.

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

/// One grading.
pub(crate) struct Bench<'a> {
    pub(crate) tenbin: PathBuf,
    /// The program whose built-in target is loaded.
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

    /// Since the beginning.
    pub(crate) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// A file name that nobody else has.
    pub(crate) fn file(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.names.fetch_add(1, Ordering::Relaxed)))
    }

    /// The file in which all runs are kept. There is one: what is measured once for all runs is in it.
    pub(crate) fn store(&self) -> PathBuf {
        self.folder.join("tenbin.sqlite")
    }

    /// Makes several tries at the same time, as far as there is room.
    pub(crate) fn side_by_side(
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
                        self.tried(|| one(number))
                    })
                })
                .collect();
            running
                .into_iter()
                .map(|one| one.join().unwrap_or_else(|_| Err("it panicked".to_owned())))
                .collect()
        })
    }

    /// Makes a try, as often as [`Self::again`] says.
    pub(crate) fn tried(&self, one: impl Fn() -> Result<Finding, String>) -> Result<Finding, String> {
        let one = || if self.interrupt.is_asked() { Err("interrupted".to_owned()) } else { one() };
        self.again(one, |found| match found {
            Ok(found) => (!found.is_right).then(|| found.what.clone()),
            Err(error) => Some(error.clone()),
        })
    }

    /// Measures something. In the short profile, it is measured again if it has a fault and the machine was busy; in the full
    /// profile, the rate of faults counts.
    pub(crate) fn again<T>(&self, one: impl Fn() -> T, fault: impl Fn(&T) -> Option<String>) -> T {
        match self.profile {
            Profile::Short => measured(one, |found| fault(found).filter(|_| !self.interrupt.is_asked())).0,
            Profile::Full => one(),
        }
    }

    /// A seed for a try of a case.
    pub(crate) fn seed_of(&self, case: u64, number: u32) -> u64 {
        self.seed.wrapping_mul(1_000_000).wrapping_add(case * 1_000 + u64::from(number)) % 1_000_000_000
    }
}
