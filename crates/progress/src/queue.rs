//! Bounded queue of one subscriber, which publishers never wait for.

use std::collections::VecDeque;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::stream::Frame;

/// Amount of detail in the seconds that a subscriber receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Figures only. A frame takes a few hundred bytes.
    Figures,
    /// Figures and all intervals with their histograms. A frame takes up to several megabytes for each second, step, and worker.
    Intervals,
}

/// Frame as received by a subscriber.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    /// Number of frames that the subscriber lost directly before this one.
    pub missed: u64,
    /// Received frame.
    pub frame: Arc<Frame>,
}

/// Receiving end of a queue. Dropping it ends the subscription.
#[derive(Debug)]
pub struct Subscription {
    queue: Arc<Queue>,
}

impl Subscription {
    pub(crate) fn of(queue: Arc<Queue>) -> Self {
        Self { queue }
    }

    /// Waits for the next frame. `None` if the queue is empty and the stream or the subscription has ended.
    pub fn recv(&self) -> Option<Received> {
        let waits = |state: &mut State| state.frames.is_empty() && !state.is_closed;
        let mut state =
            self.queue.filled.wait_while(self.queue.state(), waits).unwrap_or_else(PoisonError::into_inner);
        state.pop()
    }

    /// Like [`Self::recv`], but waits for at most `wait`.
    ///
    /// # Errors
    /// `Timeout` if no frame arrived within `wait`. `Disconnected` if no more frames will arrive.
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

    /// Stops receiving new frames. Queued frames can still be received.
    pub fn close(&self) {
        self.queue.close();
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// Frames that a subscriber has not received yet.
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
    /// Number of frames lost since the last received one.
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

    /// Adds a frame. A full queue drops its oldest frame, because the newest one says how a run ended.
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

    // Locks the queue only briefly: a subscriber holds the lock just to take out a frame.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
