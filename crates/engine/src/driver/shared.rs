//! Sequence of send times shared by several workers. Each worker reserves the next send time when it is free, and waits for it.

use std::sync::{Arc, Mutex};

use super::{ArrivalQueue, OpenRequest};
use crate::embedded::lock_unpoisoned;

/// Access of one worker to the shared sequence.
pub(super) struct SharedArrivals {
    queue: Arc<Mutex<ArrivalQueue>>,
    /// Request that this worker has reserved and will start.
    next: Option<OpenRequest>,
    /// Whether `next` has been counted as planned.
    is_counted: bool,
    /// Whether the sequence has ended.
    is_exhausted: bool,
    /// Whether no more requests are started. Due requests are still counted as planned.
    pub(super) is_closed: bool,
}

impl SharedArrivals {
    pub(super) fn new(queue: Arc<Mutex<ArrivalQueue>>) -> Self {
        Self { queue, next: None, is_counted: false, is_exhausted: false, is_closed: false }
    }

    fn reserve(&mut self) {
        if self.next.is_none() && !self.is_exhausted && !self.is_closed {
            self.next = lock_unpoisoned(&self.queue).take_due(u64::MAX);
            (self.is_counted, self.is_exhausted) = (false, self.next.is_none());
        }
    }

    pub(super) fn take_start(&mut self, now_ns: u64) -> Option<OpenRequest> {
        let may_start = !self.is_closed && self.is_counted;
        self.next.take_if(|next| may_start && next.at_ns <= now_ns)
    }

    pub(super) fn take_due(&mut self, now_ns: u64, is_free: bool) -> Option<OpenRequest> {
        if is_free {
            self.reserve();
        }
        match self.next {
            Some(next) if !self.is_counted && next.at_ns <= now_ns => {
                self.is_counted = true;
                Some(next)
            }
            // No worker will start the remaining requests.
            _ if self.is_closed => lock_unpoisoned(&self.queue).take_due(now_ns),
            _ => None,
        }
    }

    pub(super) fn next_start_ns(&self) -> Option<u64> {
        match self.next {
            _ if self.is_closed => None,
            Some(next) => Some(next.at_ns),
            None if self.is_exhausted => None,
            // The shared sequence was not queried yet, so it may have more send times.
            None => Some(0),
        }
    }

    pub(super) fn next_wake_ns(&mut self) -> Option<u64> {
        self.reserve();
        self.next.filter(|_| !self.is_closed).map(|next| next.at_ns)
    }

    pub(super) fn end_at(&mut self, now_ns: u64) {
        lock_unpoisoned(&self.queue).end_at(now_ns);
        let is_counted = self.is_counted;
        self.next.take_if(|next| !is_counted && next.at_ns >= now_ns);
    }
}
