//! The queue of one subscriber: bounded, and never waited for.

use std::collections::VecDeque;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::stream::Frame;

/// How much of a second a subscriber receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The figures alone: a queue takes a few hundred bytes for each frame.
    Figures,
    /// All intervals too, with their histograms: up to some megabytes for each second, step, and worker.
    Intervals,
}

/// A frame for a subscriber.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    /// Frames that the subscriber lost directly before this one.
    pub missed: u64,
    /// The frame.
    pub frame: Arc<Frame>,
}

/// The receiving end of a queue. Dropping it ends the subscription.
#[derive(Debug)]
pub struct Subscription {
    queue: Arc<Queue>,
}

impl Subscription {
    pub(crate) fn of(queue: Arc<Queue>) -> Self {
        Self { queue }
    }

    /// Waits for the next frame. `None` if the queue is empty, and the stream or the subscription has ended.
    pub fn recv(&self) -> Option<Received> {
        let waits = |state: &mut State| state.frames.is_empty() && !state.is_closed;
        let mut state =
            self.queue.filled.wait_while(self.queue.state(), waits).unwrap_or_else(PoisonError::into_inner);
        state.pop()
    }

    /// Like [`Self::recv`], but waits at most `wait`.
    ///
    /// # Errors
    /// `Timeout` if no frame came in this time. `Disconnected` if none will come.
    pub fn recv_timeout(&self, wait: Duration) -> Result<Received, RecvTimeoutError> {
        let waits = |state: &mut State| state.frames.is_empty() && !state.is_closed;
        let waited = self.queue.filled.wait_timeout_while(self.queue.state(), wait, waits);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match state.pop() {
            Some(received) => Ok(received),
            None if state.is_closed => Err(RecvTimeoutError::Disconnected),
            None => Err(RecvTimeoutError::Timeout),
        }
    }

    /// Takes no more frames. Those in the queue can still be received.
    pub fn close(&self) {
        self.queue.close();
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// The frames that a subscriber has not received yet.
#[derive(Debug)]
pub(crate) struct Queue {
    frames_max: usize,
    detail: Detail,
    state: Mutex<State>,
    filled: Condvar,
}

#[derive(Debug, Default)]
struct State {
    frames: VecDeque<Arc<Frame>>,
    /// Frames that were lost since the last one was received.
    missed: u64,
    is_closed: bool,
}

impl State {
    fn pop(&mut self) -> Option<Received> {
        let frame = self.frames.pop_front()?;
        Some(Received { missed: std::mem::take(&mut self.missed), frame })
    }
}

impl Queue {
    pub(crate) fn new(frames_max: usize, detail: Detail) -> Self {
        Self { frames_max: frames_max.max(1), detail, state: Mutex::default(), filled: Condvar::new() }
    }

    pub(crate) const fn detail(&self) -> Detail {
        self.detail
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state().is_closed
    }

    /// Adds a frame, in place of the oldest one if there is no room. The oldest one goes because the newest says how a run ended.
    pub(crate) fn push(&self, frame: Arc<Frame>) {
        let mut state = self.state();
        if state.is_closed {
            return;
        }
        if state.frames.len() == self.frames_max {
            state.frames.pop_front();
            state.missed += 1;
        }
        state.frames.push_back(frame);
        drop(state);
        self.filled.notify_one();
    }

    pub(crate) fn close(&self) {
        self.state().is_closed = true;
        self.filled.notify_all();
    }

    // A subscriber holds the lock only to take a frame out.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
