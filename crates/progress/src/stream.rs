//! Stream that numbers events and distributes them to listeners and queues.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evidence::RunId;

use crate::event::{Intervals, RunEvent, Second};
use crate::queue::{Detail, Queue, Subscription};

/// Event with its position in the stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Number of the frame in the stream, from 0, without gaps.
    pub number: u64,
    /// Run that the event belongs to. `None` for an event of a study, or of a run without a name yet.
    pub run: Option<RunId>,
    /// Published event.
    pub event: RunEvent,
}

/// Function that is called for each frame.
type Listener = Box<dyn FnMut(&Frame) + Send>;

/// Ordered stream of events. Memory is bounded: a frame lives until its slowest subscriber has received or lost it.
#[derive(Default)]
pub struct Stream {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    next_number: u64,
    listeners: Vec<Listener>,
    queues: Vec<Arc<Queue>>,
}

impl Stream {
    /// Calls `listener` for each later frame, on the publishing thread, before any queue receives the frame. The listener gets every
    /// frame. It must not block while a load runs, and must never use the stream.
    pub fn listen(&self, listener: impl FnMut(&Frame) + Send + 'static) {
        self.inner().listeners.push(Box::new(listener));
    }

    /// Creates a queue of `frames` frames, at least one. It receives each later frame, and drops its oldest one when full. With
    /// [`Detail::Intervals`], it holds at most `frames` seconds with all their intervals.
    pub fn subscribe(&self, frames: usize, detail: Detail) -> Subscription {
        let queue = Arc::new(Queue::new(frames, detail));
        self.inner().queues.push(Arc::clone(&queue));
        Subscription::of(queue)
    }

    /// Sends an event to all listeners and queues. Never waits for a subscriber.
    pub fn publish(&self, run: Option<&RunId>, event: RunEvent) {
        let mut inner = self.inner();
        let frame = Frame { number: inner.next_number, run: run.cloned(), event };
        inner.next_number += 1;
        inner.listeners.iter_mut().for_each(|listener| listener(&frame));
        inner.queues.retain(|queue| !queue.is_closed());
        if inner.queues.is_empty() {
            return;
        }
        let brief = without_intervals(&frame).map(Arc::new);
        let full = Arc::new(frame);
        for queue in &inner.queues {
            let frame = match (queue.detail(), &brief) {
                (Detail::Figures, Some(brief)) => brief,
                _ => &full,
            };
            queue.push(Arc::clone(frame));
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes all queues. Subscribers can still receive the queued frames.
impl Drop for Stream {
    fn drop(&mut self) {
        self.inner().queues.iter().for_each(|queue| queue.close());
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Stream").finish_non_exhaustive()
    }
}

/// Returns a second without its intervals. `None` if the frame is not a second.
fn without_intervals(frame: &Frame) -> Option<Frame> {
    let RunEvent::Second(Second { second, figures, .. }) = &frame.event else { return None };
    let second = Second { second: *second, figures: *figures, intervals: Intervals::new() };
    Some(Frame { number: frame.number, run: frame.run.clone(), event: RunEvent::Second(second) })
}
