//! The events of runs and studies as one ordered stream, for any number of subscribers.
//!
//! `runner` and `study` publish typed facts ([`RunEvent`]) into a [`Stream`]. The order of calls:
//!
//! 1. [`Stream::subscribe`] gives a subscriber a queue of its own, which it empties from a thread of its own. A full queue loses its
//!    oldest frame, and the next frame that is received says how many were lost. So a subscriber that stalls delays nobody.
//! 2. [`Stream::listen`] registers a function that is called on the publishing thread. It loses nothing, and so may not block while
//!    a load is under way.
//! 3. [`Stream::publish`] numbers an event, calls the listeners, and fills the queues.
//!
//! The store is no subscriber: publishers keep a fact first and publish it then, so every second that is shown is kept.

mod event;
mod queue;
mod stream;
mod study_event;

pub use event::{Account, Began, Brief, Ended, Figures, Filling, Intervals, Readings, RunEvent, Second};
pub use queue::{Detail, Received, Subscription};
pub use stream::{Frame, Stream};
pub use study_event::{BlockEnded, Finding, Next, RemainingStudy, Standing, VerdictSoFar};
