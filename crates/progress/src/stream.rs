//! The stream: numbers events, and passes them on.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evidence::RunId;

use crate::event::{Intervals, RunEvent, Second};
use crate::queue::{Detail, Queue, Subscription};

/// An event with its place in the stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Number in the stream, from 0, without gaps.
    pub number: u64,
    /// The run that the event belongs to; `None` if it belongs to a study, or to a run that has no name yet.
    pub run: Option<RunId>,
    /// The event.
    pub event: RunEvent,
}

/// A function that is called for each frame.
type Listener = Box<dyn FnMut(&Frame) + Send>;

/// One ordered stream of events. Memory is bounded: a frame lives until its slowest subscriber has received or lost it.
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
    /// Calls a function for each frame from now on, on the publishing thread, before any queue has the frame. The function loses
    /// nothing. While a load is under way it must not block, and it must never use the stream itself.
    pub fn listen(&self, listener: impl FnMut(&Frame) + Send + 'static) {
        self.inner().listeners.push(Box::new(listener));
    }

    /// A queue with room for `frames` frames, at least one. It gets each frame from now on, and loses its oldest one when it is full.
    /// With [`Detail::Intervals`] it holds at most as many seconds with all their intervals.
    pub fn subscribe(&self, frames: usize, detail: Detail) -> Subscription {
        let queue = Arc::new(Queue::new(frames, detail));
        self.inner().queues.push(Arc::clone(&queue));
        Subscription::of(queue)
    }

    /// Passes an event to all listeners and queues. Never waits for the owner of a queue.
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

/// Subscribers receive what is in their queues, and then the end.
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

/// A second without its intervals; `None` if the frame is no second.
fn without_intervals(frame: &Frame) -> Option<Frame> {
    let RunEvent::Second(Second { second, figures, .. }) = &frame.event else { return None };
    let second = Second { second: *second, figures: *figures, intervals: Intervals::new() };
    Some(Frame { number: frame.number, run: frame.run.clone(), event: RunEvent::Second(second) })
}
