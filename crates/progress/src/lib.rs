//! Events of runs and studies as one ordered stream, for any number of subscribers.
//!
//! `runner` and `study` publish typed events ([`RunEvent`]) to a [`Stream`]. Calling order:
//!
//! 1. [`Stream::subscribe`] returns a queue, which the subscriber empties on its own thread. A full queue drops its oldest frame, and the
//!    next received frame has the number of lost frames. So a stalled subscriber blocks no one.
//! 2. [`Stream::listen`] registers a function that is called on the publishing thread. It gets every frame, and must not block while a load
//!    runs.
//! 3. [`Stream::publish`] numbers an event, calls the listeners, and fills the queues.
//!
//! The store is no subscriber: publishers store an event before they publish it, so every second that is shown is stored.

mod event;
mod queue;
mod stream;
mod study_event;

pub use event::{Account, Began, Brief, Ended, Figures, Filling, Intervals, Readings, RunEvent, Second};
pub use queue::{Detail, Received, Subscription};
pub use stream::{Frame, Stream};
pub use study_event::{BlockEnded, Finding, Next, RemainingStudy, Standing, VerdictSoFar};
