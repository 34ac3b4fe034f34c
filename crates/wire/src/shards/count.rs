//! Number of shards in use, which an event may change during a load.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicU32, Ordering};

/// Number of shards that get requests, counted from the first. Clones share the number.
#[derive(Clone, Debug, Default)]
pub struct ShardCount(Arc<AtomicU32>);

impl ShardCount {
    /// Creates a count. `None`: all shards.
    pub fn new(count: Option<u32>) -> Self {
        Self(Arc::new(AtomicU32::new(count.unwrap_or(0))))
    }

    /// The number. `None`: all shards.
    pub fn get(&self) -> Option<u32> {
        Some(self.0.load(Ordering::Relaxed)).filter(|count| *count > 0)
    }

    /// Changes the number for requests that begin from now on. A count of 0 is ignored.
    pub fn set(&self, count: u32) {
        if count > 0 {
            self.0.store(count, Ordering::Relaxed);
        }
    }

    /// Number of shards in use from `shards`, at least 1.
    pub(super) fn among(&self, shards: u32) -> u32 {
        self.get().unwrap_or(shards).min(shards).max(1)
    }
}

impl PartialEq for ShardCount {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for ShardCount {}
